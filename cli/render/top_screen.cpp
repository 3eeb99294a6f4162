// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/top_screen.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "cli/terminal/text_width.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kAround = 4;  // title, losses, the table's titles, and the line below it

constexpr std::size_t kRoomyWidth = 80;  // more keys are named at the bottom

constexpr std::array kHelp = {
    "  c  t  e  r     sort by calls, by time, by errors; reverse",
    "  v              by function, or by thread",
    "  w              calls that wait: apart, left out, alone",
    "  /              show lines with a text: Enter ends typing",
    "  Esc            show all lines again",
    "  p              pause; p again goes on",
    "  Up Down PgUp   select a line, which is then shown in",
    "    PgDn Home End  full at the bottom",
    "  Enter          the stack of the selected line, and back",
    "  q              quit; Ctrl-C does too",
    "",
    "  time/s  in calls that ended, of all threads, each second",
    "  *       a function outside of the application itself",
};

std::string lost_text(std::uint64_t lost) {
  return lost == 0 ? "LOST nothing" : "LOST " + plural(lost, "event");
}

// What was lost, and what is shown below: "LOST nothing  functions by calls  41 lines".
ScreenLine state_line(const TopPicture& picture, const TopView& view, std::size_t matching, std::size_t width) {
  const std::string& filter = view.choice.lines.filter;
  std::string text = lost_text(picture.lost);
  if (view.paused) text += "  PAUSED";
  const live::LineChoice& lines = view.choice.lines;
  text += fmt::format("  {}s by {}{}  ", by_name(view.choice.by), order_name(lines.order),
                      lines.reverse ? ", the least first" : "");
  if (view.choice.by == TopBy::kFunction && lines.waits != live::Waits::kApart)
    text += lines.waits == live::Waits::kNone ? "without calls that wait  " : "calls that wait  ";
  const std::string all = plural(top_line_count(picture, view.choice.by), "line");
  text += filter.empty() ? all : fmt::format("{} of {} with {}", group_digits(matching), all, in_quotes(filter));
  return {shorten(text, width, Shrink::kEnd), picture.lost == 0 ? Look::kPlain : Look::kReverse};
}

std::string selected_text(const TopPicture& picture, TopBy by, std::size_t place) {
  if (by == TopBy::kThread) {
    const live::ThreadLine& line = picture.threads[place];
    if (line.others) return "threads that found no room of their own in this time, together";
    return fmt::format("{}/{} {}: {} most often", line.pid, line.tid, line.name, top_call(line.call, line.abi));
  }
  const live::CallLine& line = picture.lines[place];
  const std::string from = top_call(line.call, line.abi) + " from " + top_function(line);
  return line.module.empty() ? from : from + " in " + line.module;
}

std::string bottom_text(const TopPicture& picture, const TopView& view, const std::vector<std::size_t>& places,
                        std::size_t width) {
  if (view.typing) return "/" + escape_terminal(view.choice.lines.filter) + "_  Enter: done, Esc: as before";
  if (!view.keys) return "Ctrl-C quits";
  if (view.help) return "any key goes back";
  if (view.open) return "Enter: back to the lines";
  if (view.selected && !places.empty())
    return printable(selected_text(picture, view.choice.by, places[std::min(*view.selected, places.size() - 1)]));
  const char* others = view.choice.by == TopBy::kThread ? "functions" : "threads";
  const char* pause = view.paused ? "go on" : "pause";
  if (width < kRoomyWidth) return fmt::format("q quit  c/t/e sort  v {}  / filter  p {}  ? help", others, pause);
  return fmt::format("q quit  c/t/e/r sort  v {}  / filter  p {}  Enter stack  ? help", others, pause);
}

// The lines between losses and the bottom; the selected one is always among them.
std::vector<ScreenLine> table_lines(const TopPicture& picture, const TopView& view,
                                    const std::vector<std::size_t>& places, ScreenSize size) {
  if (places.empty()) return {{}, {shorten("  " + top_empty(picture, view.choice), size.columns, Shrink::kEnd)}};
  const std::size_t page = top_page(view, size.rows);
  const std::size_t selected = std::min(view.selected.value_or(0), places.size() - 1);
  const std::size_t first = selected < page ? 0 : selected - page + 1;
  const std::size_t last = std::min(places.size(), first + page);
  const auto begin = places.begin();
  std::vector<std::size_t> shown(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last));
  // Their title takes the place of a line.
  std::size_t above = first;
  auto waits = first_wait(picture, view.choice.by, shown);
  if (waits && *waits != 0 && shown.size() == page) {
    if (selected + 1 == last && view.selected) {
      shown.erase(shown.begin());
      above++;
    } else {
      shown.pop_back();
    }
    waits = first_wait(picture, view.choice.by, shown);
  }
  std::vector<ScreenLine> lines;
  for (std::string& text : top_table(picture, view.choice.by, shown, size.columns))
    lines.push_back({std::move(text), lines.empty() ? Look::kStrong : Look::kPlain});
  if (view.selected) lines[selected - above + 1].look = Look::kReverse;
  if (waits && *waits != 0)
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(*waits) + 1, {std::string(kWaitsTitle), Look::kStrong});
  return lines;
}

std::vector<ScreenLine> stack_lines(const OpenStack& open, std::size_t page, std::size_t width) {
  std::vector<ScreenLine> lines{{shorten(open.title, width, Shrink::kMiddle), Look::kStrong}};
  if (open.functions.empty())
    lines.push_back({shorten("  (no stack: it is empty, or there was no room to keep it)", width, Shrink::kEnd)});
  const std::size_t end = std::min(open.functions.size(), open.first + page);
  for (std::size_t i = open.first; i < end; i++) {
    const live::StackFunction& function = open.functions[i];
    const std::string module = "  " + printable(std::string(base_name(function.module)));
    const std::size_t room = width - std::min(width, display_width(module) + 2);
    lines.push_back(
        {shorten("  " + shorten(printable(function.name), room, Shrink::kEnd) + module, width, Shrink::kEnd)});
  }
  return lines;
}

std::vector<ScreenLine> too_small(ScreenSize size, bool keys) {
  const std::string text =
      fmt::format("uscope top needs {} columns and {} lines; this terminal has {} and {}. {}", kLeastTopSize.columns,
                  kLeastTopSize.rows, size.columns, size.rows, keys ? "q quits" : "Ctrl-C quits");
  std::vector<ScreenLine> lines;
  for (std::size_t at = 0; at < text.size() && lines.size() < size.rows && size.columns != 0;) {
    // As many words as there is room for; a word that is too long is cut.
    std::size_t end = std::min(text.size(), at + size.columns);
    if (end < text.size())
      if (const std::size_t blank = text.rfind(' ', end); blank != std::string::npos && blank > at) end = blank;
    lines.push_back({text.substr(at, end - at)});
    at = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return lines;
}

}  // namespace

std::string stack_title(const TopPicture& picture, TopBy by, std::size_t place) {
  if (by == TopBy::kThread) {
    const live::ThreadLine& line = picture.threads[place];
    return printable(
        fmt::format("stack of the last call of {}/{} {}: {}", line.pid, line.tid, line.name, line.last_call));
  }
  const live::CallLine& line = picture.lines[place];
  std::string shared = "all " + plural(line.calls, "call");
  if (line.stack_calls < line.calls)
    shared = fmt::format("{} of {} ({} distinct stacks)", group_digits(line.stack_calls), plural(line.calls, "call"),
                         group_digits(line.stacks));
  return printable(fmt::format("stack of {} from {}: {}", top_call(line.call, line.abi), top_function(line), shared));
}

std::size_t top_page(const TopView& view, std::size_t rows) {
  const std::size_t room = rows > kAround ? rows - kAround : 1;
  if (view.open) return room;
  return view.most == 0 ? room : std::min(view.most, room);
}

std::vector<ScreenLine> top_screen(const TopPicture& picture, const TopView& view, ScreenSize size) {
  if (size.columns < kLeastTopSize.columns || size.rows < kLeastTopSize.rows) return too_small(size, view.keys);
  const std::vector<std::size_t> places = top_places(picture, view.choice);
  std::vector<ScreenLine> lines{{top_title(picture, "", size.columns), Look::kStrong},
                                state_line(picture, view, places.size(), size.columns)};
  if (view.help) {
    for (const char* line : kHelp) lines.push_back({line});
  } else if (view.open) {
    for (ScreenLine& line : stack_lines(*view.open, top_page(view, size.rows), size.columns))
      lines.push_back(std::move(line));
  } else {
    for (ScreenLine& line : table_lines(picture, view, places, size)) lines.push_back(std::move(line));
  }
  lines.resize(size.rows - 1);
  lines.push_back(
      {shorten(bottom_text(picture, view, places, size.columns), size.columns, Shrink::kMiddle), Look::kStrong});
  return lines;
}

}  // namespace uscope::cli

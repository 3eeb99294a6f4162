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

constexpr std::array kHelp = {
    "  c  t  e        sort by calls, by time, by errors",
    "  v              by function, or by thread",
    "  /              show lines with a text: Enter ends typing",
    "  Esc            show all lines again",
    "  p              pause; p again goes on",
    "  Up Down PgUp   select a line, which is then shown in",
    "    PgDn Home End  full at the bottom",
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
  text += fmt::format("  {}s by {}  ", by_name(view.choice.by), order_name(view.choice.lines.order));
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

std::string bottom_text(const TopPicture& picture, const TopView& view, const std::vector<std::size_t>& places) {
  if (view.typing) return "/" + escape_terminal(view.choice.lines.filter) + "_  Enter: done, Esc: as before";
  if (!view.keys) return "Ctrl-C quits";
  if (view.help) return "any key goes back";
  if (view.selected && !places.empty())
    return printable(selected_text(picture, view.choice.by, places[std::min(*view.selected, places.size() - 1)]));
  return fmt::format("q quit  c/t/e sort  v {}  / filter  p {}  ? help",
                     view.choice.by == TopBy::kThread ? "functions" : "threads", view.paused ? "go on" : "pause");
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
  const std::vector<std::size_t> shown(begin + static_cast<std::ptrdiff_t>(first),
                                       begin + static_cast<std::ptrdiff_t>(last));
  std::vector<ScreenLine> lines;
  for (std::string& text : top_table(picture, view.choice.by, shown, size.columns))
    lines.push_back({std::move(text), lines.empty() ? Look::kStrong : Look::kPlain});
  if (view.selected) lines[selected - first + 1].look = Look::kReverse;
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

std::size_t top_page(const TopView& view, std::size_t rows) {
  const std::size_t room = rows > kAround ? rows - kAround : 1;
  return view.most == 0 ? room : std::min(view.most, room);
}

std::vector<ScreenLine> top_screen(const TopPicture& picture, const TopView& view, ScreenSize size) {
  if (size.columns < kLeastTopSize.columns || size.rows < kLeastTopSize.rows) return too_small(size, view.keys);
  const std::vector<std::size_t> places = top_places(picture, view.choice);
  std::vector<ScreenLine> lines{{top_title(picture, "", size.columns), Look::kStrong},
                                state_line(picture, view, places.size(), size.columns)};
  if (view.help) {
    for (const char* line : kHelp) lines.push_back({line});
  } else {
    for (ScreenLine& line : table_lines(picture, view, places, size)) lines.push_back(std::move(line));
  }
  lines.resize(size.rows - 1);
  lines.push_back({shorten(bottom_text(picture, view, places), size.columns, Shrink::kMiddle), Look::kStrong});
  return lines;
}

}  // namespace uscope::cli

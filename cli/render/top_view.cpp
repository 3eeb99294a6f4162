// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/top_view.h"

#include <algorithm>

#include "cli/terminal/text_width.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kLongestFilter = 100;

void drop_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

KeyEffect type_filter(TopView& view, const Key& key) {
  std::string& filter = view.choice.lines.filter;
  switch (key.name) {
    case KeyName::kText:
      if (display_width(filter) < kLongestFilter) filter += key.text;
      break;
    case KeyName::kBackspace:
      drop_last_character(filter);
      break;
    case KeyName::kEnter:
      view.typing = false;
      break;
    case KeyName::kEscape:
      view.typing = false;
      filter = view.filter_before;
      break;
    default:
      return KeyEffect::kNothing;
  }
  view.selected.reset();
  return KeyEffect::kChanged;
}

// Where the selection is after a step of so many lines, downwards where `down`; the first step selects the first line.
KeyEffect step(TopView& view, std::size_t by, bool down, std::size_t lines) {
  if (lines == 0) return KeyEffect::kNothing;
  const std::size_t last = lines - 1;
  const std::size_t at = std::min(view.selected.value_or(0), last);
  if (!view.selected) {
    view.selected = by == 1 || !down ? 0 : std::min(by, last);
  } else {
    view.selected = down ? at + std::min(by, last - at) : at - std::min(by, at);
  }
  return KeyEffect::kChanged;
}

KeyEffect choose_order(TopView& view, live::Order order) {
  view.choice.lines.order = order;
  view.selected.reset();
  return KeyEffect::kChanged;
}

// While a stack is shown.
KeyEffect press_in_stack(TopView& view, const Key& key, std::size_t page) {
  OpenStack& open = *view.open;
  const std::size_t last = open.functions.size() - std::min(open.functions.size(), page);
  switch (key.name) {
    case KeyName::kText:
      if (key.text == "q" || key.text == "Q") return KeyEffect::kQuit;
      return KeyEffect::kNothing;
    case KeyName::kEnter:
    case KeyName::kEscape:
    case KeyName::kBackspace:
      view.open.reset();
      return KeyEffect::kChanged;
    case KeyName::kUp:
      open.first -= std::min<std::size_t>(open.first, 1);
      return KeyEffect::kChanged;
    case KeyName::kDown:
      open.first = std::min(open.first + 1, last);
      return KeyEffect::kChanged;
    case KeyName::kPageUp:
      open.first -= std::min(open.first, page);
      return KeyEffect::kChanged;
    case KeyName::kPageDown:
      open.first = std::min(open.first + page, last);
      return KeyEffect::kChanged;
    case KeyName::kHome:
      open.first = 0;
      return KeyEffect::kChanged;
    case KeyName::kEnd:
      open.first = last;
      return KeyEffect::kChanged;
    default:
      return KeyEffect::kNothing;
  }
}

live::Waits next_of(live::Waits waits) {
  if (waits == live::Waits::kApart) return live::Waits::kNone;
  return waits == live::Waits::kNone ? live::Waits::kOnly : live::Waits::kApart;
}

KeyEffect press_letter(TopView& view, const std::string& text) {
  if (text == "q" || text == "Q") return KeyEffect::kQuit;
  if (text == "c") return choose_order(view, live::Order::kCalls);
  if (text == "t") return choose_order(view, live::Order::kTime);
  if (text == "e") return choose_order(view, live::Order::kErrors);
  if (text == "v") {
    view.choice.by = view.choice.by == TopBy::kThread ? TopBy::kFunction : TopBy::kThread;
    view.selected.reset();
  } else if (text == "r") {
    view.choice.lines.reverse = !view.choice.lines.reverse;
    view.selected.reset();
  } else if (text == "w") {
    view.choice.lines.waits = next_of(view.choice.lines.waits);
    view.selected.reset();
  } else if (text == "/") {
    view.typing = true;
    view.filter_before = view.choice.lines.filter;
  } else if (text == "p" || text == " ") {
    view.paused = !view.paused;
  } else if (text == "?" || text == "h") {
    view.help = true;
  } else {
    return KeyEffect::kNothing;
  }
  return KeyEffect::kChanged;
}

}  // namespace

KeyEffect press(TopView& view, const Key& key, std::size_t lines, std::size_t page) {
  if (view.typing) return type_filter(view, key);
  if (view.help) {
    if (key.name == KeyName::kText && (key.text == "q" || key.text == "Q")) return KeyEffect::kQuit;
    view.help = false;
    return KeyEffect::kChanged;
  }
  if (view.open) return press_in_stack(view, key, page);
  switch (key.name) {
    case KeyName::kText:
      return press_letter(view, key.text);
    case KeyName::kUp:
      return step(view, 1, false, lines);
    case KeyName::kDown:
      return step(view, 1, true, lines);
    case KeyName::kPageUp:
      return step(view, page, false, lines);
    case KeyName::kPageDown:
      return step(view, page, true, lines);
    case KeyName::kHome:
      return step(view, lines, false, lines);
    case KeyName::kEnd:
      return step(view, lines, true, lines);
    case KeyName::kEnter:
      if (lines == 0) return KeyEffect::kNothing;
      if (!view.selected) view.selected = 0;
      return KeyEffect::kOpen;
    case KeyName::kEscape:
      view.choice.lines.filter.clear();
      view.selected.reset();
      return KeyEffect::kChanged;
    default:
      return KeyEffect::kNothing;
  }
}

}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/query_screen.h"

#include <algorithm>

#include "cli/terminal/text_width.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kAround = 2;  // the title, and the line at the bottom

// How many lines stay where they are: up to the rule below the table's titles.
std::size_t fixed_lines(const QueryPicture& picture) {
  for (std::size_t i = 0; i < picture.lines.size(); i++)
    if (picture.lines[i].starts_with("--") || picture.lines[i].starts_with("- ")) return i + 1;
  return 0;
}

std::size_t rows_of(const QueryPicture& picture) {
  return picture.lines.size() - fixed_lines(picture);
}

std::size_t page_of(const QueryPicture& picture, std::size_t rows) {
  const std::size_t taken = kAround + fixed_lines(picture);
  return rows > taken ? rows - taken : 1;
}

std::size_t last_first(const QueryPicture& picture, std::size_t rows) {
  const std::size_t page = page_of(picture, rows);
  return rows_of(picture) > page ? rows_of(picture) - page : 0;
}

}  // namespace

QueryKey press_query(QueryView& view, const Key& key, const QueryPicture& picture, std::size_t rows) {
  const std::size_t page = page_of(picture, rows);
  const std::size_t last = last_first(picture, rows);
  const std::size_t at = std::min(view.first, last);
  switch (key.name) {
    case KeyName::kUp:
      view.first = at - std::min<std::size_t>(at, 1);
      return QueryKey::kChanged;
    case KeyName::kDown:
      view.first = std::min(at + 1, last);
      return QueryKey::kChanged;
    case KeyName::kPageUp:
      view.first = at - std::min(at, page);
      return QueryKey::kChanged;
    case KeyName::kPageDown:
      view.first = std::min(at + page, last);
      return QueryKey::kChanged;
    case KeyName::kHome:
      view.first = 0;
      return QueryKey::kChanged;
    case KeyName::kEnd:
      view.first = last;
      return QueryKey::kChanged;
    case KeyName::kText:
      break;
    default:
      return QueryKey::kNothing;
  }
  if (key.text == "q" || key.text == "Q") return QueryKey::kQuit;
  if (key.text != "p" && key.text != " ") return QueryKey::kNothing;
  view.paused = !view.paused;
  return QueryKey::kChanged;
}

std::vector<ScreenLine> query_screen(const QueryPicture& picture, const QueryView& view, ScreenSize size) {
  const auto fitting = [&size](const std::string& text) { return shorten(text, size.columns, Shrink::kEnd); };
  std::vector<ScreenLine> lines{
      {fitting("uscope query: " + escape_terminal(picture.target) + (view.paused ? "  PAUSED" : "")), Look::kStrong}};
  if (picture.lines.empty()) lines.push_back({fitting("  " + picture.waiting)});
  const std::size_t fixed = fixed_lines(picture);
  for (std::size_t i = 0; i < fixed; i++) {
    const bool lost = picture.lines[i].starts_with("LOST");
    lines.push_back({fitting(picture.lines[i]), lost ? Look::kReverse : i + 2 == fixed ? Look::kStrong : Look::kPlain});
  }
  const std::size_t first = fixed + std::min(view.first, last_first(picture, size.rows));
  for (std::size_t i = first; i < picture.lines.size() && lines.size() + 1 < size.rows; i++)
    lines.push_back({fitting(picture.lines[i])});
  lines.resize(std::max<std::size_t>(size.rows, 1) - 1);
  lines.push_back({fitting(view.keys ? "q quit  arrows scroll  p " + std::string(view.paused ? "go on" : "pause")
                                     : std::string("Ctrl-C quits")),
                   Look::kStrong});
  return lines;
}

}  // namespace uscope::cli

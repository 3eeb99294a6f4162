// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/text_table.h"

#include <algorithm>

#include "support/text.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kIndent = 2;

}  // namespace

void TextTable::add_row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void TextTable::set_ink(std::string_view title, const InkOf& ink_of) {
  for (std::size_t i = 0; i < columns_.size(); i++)
    if (columns_[i].title == title) inks_[i] = ink_of;
}

void TextTable::set_ink(std::string_view title, Ink ink) {
  set_ink(title, [ink](std::string_view) { return ink; });
}

std::vector<std::size_t> TextTable::natural_widths() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < columns_.size(); i++) {
    result.push_back(display_width(columns_[i].title));
    for (const auto& row : rows_) result[i] = std::max(result[i], display_width(row[i]));
  }
  return result;
}

std::vector<bool> TextTable::shown_columns(TextWidth width) const {
  std::vector<bool> shown(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); i++)
    shown[i] = std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return !row[i].empty(); });
  if (!width.cuts) return shown;
  const std::vector<std::size_t> natural = natural_widths();
  for (;;) {
    std::size_t least = kIndent;
    std::size_t next = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); i++) {
      if (!shown[i]) continue;
      const bool shrinks = columns_[i].shrink != Shrink::kNever;
      least +=
          (least > kIndent ? kColumnGap : 0) + (shrinks ? std::min(natural[i], columns_[i].narrowest) : natural[i]);
      if (columns_[i].dispensable > (next < columns_.size() ? columns_[next].dispensable : 0)) next = i;
    }
    if (least <= width.columns || next == columns_.size()) return shown;
    shown[next] = false;
  }
}

std::vector<std::size_t> TextTable::widths(std::size_t width, const std::vector<bool>& shown) const {
  std::vector<std::size_t> result = natural_widths();
  std::size_t total = kIndent;
  for (std::size_t i = 0; i < columns_.size(); i++) {
    if (!shown[i]) result[i] = 0;
    if (shown[i]) total += result[i] + kColumnGap;
  }
  total -= std::min(total, kColumnGap);
  while (total > width) {
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); i++) {
      if (columns_[i].shrink == Shrink::kNever || result[i] <= columns_[i].narrowest) continue;
      if (widest == columns_.size() || result[i] > result[widest]) widest = i;
    }
    if (widest == columns_.size()) break;
    result[widest]--;
    total--;
  }
  return result;
}

std::string TextTable::render(TextWidth width) const {
  const std::vector<bool> shown = shown_columns(width);
  const std::vector<std::size_t> column_widths = widths(width.columns, shown);
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells, bool titles) {
    std::string text(kIndent, ' ');
    for (std::size_t i = 0; i < columns_.size(); i++) {
      if (!shown[i]) continue;
      const std::string cell = width.cuts ? shorten(cells[i], column_widths[i], columns_[i].shrink) : cells[i];
      const std::string padding(column_widths[i] - std::min(column_widths[i], display_width(cell)), ' ');
      const Ink ink = titles || !inks_[i] ? Ink::kPlain : inks_[i](cells[i]);
      const std::string painted = width.paint(ink, cell);
      text += columns_[i].align == Align::kRight ? padding + painted : painted + padding;
      text.append(kColumnGap, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  std::vector<std::string> titles;
  for (const TableColumn& column : columns_) titles.push_back(column.title);
  line(titles, true);
  for (const auto& row : rows_) line(row, false);
  return out;
}

std::string paragraph(const std::string& head, const std::string& text, std::size_t width) {
  return paragraph(head, text, width, display_width(head));
}

std::string paragraph(const std::string& head, const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::string line = head;
  std::size_t least = head.size();  // bytes of a line that has no word yet
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t blank = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, blank - at);
    if (line.size() > least && display_width(line) + 1 + display_width(word) > width) {
      out += line + "\n";
      line.assign(indent, ' ');
      least = indent;
    }
    line += (line.size() > least ? " " : "") + word;
    at = blank + 1;
  }
  return out + line + "\n";
}

}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/sql_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/render/histogram.h"
#include "cli/render/text_table.h"
#include "cli/terminal/text_width.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kRowsMeasured = 1000;

std::string hex(std::string_view bytes) {
  return "x'" + hex_of(bytes) + "'";
}

std::string padded(const std::string& cell, std::size_t width, bool number) {
  const std::string padding(width - std::min(width, display_width(cell)), ' ');
  return number ? padding + cell : cell + padding;
}

}  // namespace

std::string text_cell(const store::Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_NULL:
      return "NULL";
    case SQLITE_BLOB:
      return hex(row.text(column));
    default:
      return printable(row.text(column));
  }
}

nlohmann::ordered_json json_cell(const store::Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_INTEGER:
      return row.integer(column);
    case SQLITE_FLOAT:
      return row.real(column);
    case SQLITE_BLOB:
      return {{"blob", hex(row.text(column))}};
    default:
      return to_utf8(row.text(column));
  }
}

std::string csv_text(std::string_view text) {
  std::string safe = printable(text);
  if (safe.find_first_of("\",\r\n") == std::string::npos) return safe;
  std::string out = "\"";
  for (const char c : safe) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_cell(const store::Statement& row, int column) {
  if (row.type(column) == SQLITE_NULL) return "";
  return row.type(column) == SQLITE_BLOB ? hex(row.text(column)) : csv_text(row.text(column));
}

TextRows::TextRows(const store::Statement& statement, WriteText write, Paint paint)
    : write_(std::move(write)), paint_(paint) {
  for (int i = 0; i < statement.columns(); i++) titles_.push_back(escape_terminal(statement.column_name(i)));
  numbers_.assign(titles_.size(), true);
}

void TextRows::add(const store::Statement& row) {
  std::vector<std::string> cells;
  for (int i = 0; i < row.columns(); i++) {
    const int type = row.type(i);
    if (!measured_ && type != SQLITE_INTEGER && type != SQLITE_FLOAT && type != SQLITE_NULL)
      numbers_[static_cast<std::size_t>(i)] = false;
    const auto shown = cell_ ? cell_(row, i) : std::nullopt;
    cells.push_back(shown ? *shown : text_cell(row, i));
  }
  if (measured_) {
    print(cells);
    return;
  }
  rows_.push_back(std::move(cells));
  if (rows_.size() == kRowsMeasured) flush();
}

void TextRows::flush() {
  if (measured_) return;
  measured_ = true;
  for (std::size_t i = 0; i < titles_.size(); i++) {
    widths_.push_back(display_width(titles_[i]));
    for (const auto& row : rows_) widths_[i] = std::max(widths_[i], display_width(row[i]));
  }
  print(titles_, Ink::kHeading);
  std::vector<std::string> rules;
  for (const std::size_t width : widths_) rules.emplace_back(width, '-');
  print(rules);
  for (const auto& row : rows_) print(row);
  rows_.clear();
}

void TextRows::print(const std::vector<std::string>& cells, Ink ink) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); i++) {
    if (i) line.append(kColumnGap, ' ');
    line += padded(cells[i], widths_[i], numbers_[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  write_(paint_(ink, line) + "\n");
}

DrawnRows::DrawnRows(const store::Statement& statement, WriteText write, Paint paint)
    : write_(std::move(write)), rows_(statement, write_, paint) {
  rows_.set_cell([this](const store::Statement& row, int column) -> std::optional<std::string> {
    if (row.type(column) != SQLITE_TEXT || drawn_.size() >= kMostDrawn) return std::nullopt;
    auto lines = histogram_lines(row.text(column));
    if (lines.empty()) return std::nullopt;
    drawn_.push_back(std::move(lines));
    return fmt::format("[{}]", drawn_.size());
  });
}

void DrawnRows::flush() {
  rows_.flush();
  for (std::size_t i = 0; i < drawn_.size(); i++) {
    write_(fmt::format("\n[{}]\n", i + 1));
    for (const std::string& line : drawn_[i]) write_(line + "\n");
  }
  drawn_.clear();
}

}  // namespace uscope::cli

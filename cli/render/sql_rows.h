// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows of a statement for people and programs. Rows are printed as they come; a table takes the widths of its columns
// from the first rows, and a longer value later overflows its column.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/terminal/paint.h"
#include "store/db/statement.h"

namespace uscope::cli {

using WriteText = std::function<void(std::string_view)>;

// One value: "NULL", a number, x'…' of a blob, a text that is safe on a terminal.
[[nodiscard]] std::string text_cell(const store::Statement& row, int column);
// A blob is {"blob": "x'…'"}.
[[nodiscard]] nlohmann::ordered_json json_cell(const store::Statement& row, int column);
// Quoted where CSV needs it (RFC 4180); NULL is nothing.
[[nodiscard]] std::string csv_cell(const store::Statement& row, int column);
// The same of a title.
[[nodiscard]] std::string csv_text(std::string_view text);

// A table.
class TextRows {
 public:
  // Takes the titles from the statement.
  TextRows(const store::Statement& statement, WriteText write, Paint paint = {});

  // What a cell shows instead of its value.
  using Cell = std::function<std::optional<std::string>(const store::Statement& row, int column)>;
  void set_cell(Cell cell) { cell_ = std::move(cell); }

  // Of this statement, or another one with the same columns.
  void add(const store::Statement& row);
  // Prints what is kept for the widths of columns, and the titles if they are not there yet.
  void flush();

 private:
  void print(const std::vector<std::string>& cells, Ink ink = Ink::kPlain);

  WriteText write_;
  Paint paint_;
  Cell cell_;
  std::vector<std::string> titles_;
  std::vector<std::size_t> widths_;
  std::vector<bool> numbers_;
  std::vector<std::vector<std::string>> rows_;
  bool measured_ = false;
};

// A table below which what hist() gives stands as bars: a cell shows the number of its bars.
class DrawnRows {
 public:
  static constexpr std::size_t kMostDrawn = 10'000;  // the cells beyond show their texts

  DrawnRows(const store::Statement& statement, WriteText write, Paint paint = {});
  DrawnRows(const DrawnRows&) = delete;
  DrawnRows& operator=(const DrawnRows&) = delete;

  void add(const store::Statement& row) { rows_.add(row); }
  // Ends the table and draws.
  void flush();

 private:
  WriteText write_;
  TextRows rows_;
  std::vector<std::vector<std::string>> drawn_;  // lines of each
};

}  // namespace uscope::cli

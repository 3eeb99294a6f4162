// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tables for people: aligned columns that fit a width. TextTable makes every cell safe for a terminal, so that no
// renderer can forget to.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal/text_width.h"

namespace uscope::cli {

enum class Align { kLeft, kRight };

struct TableColumn {
  std::string title;
  Align align = Align::kLeft;
  Shrink shrink = Shrink::kNever;
  std::size_t narrowest = 12;  // shrinking leaves at least this many columns
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  // `cells` has one element for each column.
  void add_row(std::vector<std::string> cells);

  [[nodiscard]] bool empty() const { return rows_.empty(); }

  // Returns lines, each indented by two and ended by a newline. Columns without a value in any row are left out.
  [[nodiscard]] std::string render(std::size_t width) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t width, const std::vector<bool>& shown) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A heading and a text behind it, broken at blanks into lines that fit `width`; all lines but the first are indented by
// the heading's length. `text` must be safe for a terminal already (escape_terminal).
[[nodiscard]] std::string paragraph(const std::string& head, const std::string& text, std::size_t width);

}  // namespace uscope::cli

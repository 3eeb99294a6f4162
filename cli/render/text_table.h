// Tables for people: aligned columns that fit a width. Every cell is made safe for a terminal here, so that no renderer
// can forget it.
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
  std::size_t narrowest = 12;  // columns that shrinking leaves
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add_row(std::vector<std::string> cells);

  [[nodiscard]] bool empty() const { return rows_.empty(); }

  // Lines, each ended by a newline, indented by two. Columns without a value in any row are left out.
  [[nodiscard]] std::string render(std::size_t width) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t width, const std::vector<bool>& shown) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace uscope::cli

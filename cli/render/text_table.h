// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tables for people: aligned columns that fit a width. TextTable makes every cell safe for a terminal, so that no
// renderer can forget to.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/read/top_list.h"
#include "cli/terminal/text_width.h"
#include "support/text.h"

namespace uscope::cli {

constexpr std::size_t kColumnGap = 2;  // spaces between two columns

// A count as a cell. Zero is left blank, so that other values stand out.
[[nodiscard]] inline std::string count_cell(std::uint64_t count) {
  return count == 0 ? "" : group_digits(count);
}

// Likewise a time, in nanoseconds.
[[nodiscard]] inline std::string time_cell(std::uint64_t ns) {
  return ns == 0 ? "" : human_duration(static_cast<double>(ns));
}

enum class Align { kLeft, kRight };

struct TableColumn {
  std::string title;
  Align align = Align::kLeft;
  Shrink shrink = Shrink::kNever;
  std::size_t narrowest = 12;  // shrinking leaves at least this many columns
  int dispensable = 0;         // above 0: is left out where the table does not fit otherwise, highest first
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)), inks_(columns_.size()) {}

  // `cells` has one element for each column.
  void add_row(std::vector<std::string> cells);

  // The colour of the cells of a column, by its title. Nothing else tells what it tells: a cell says it in words too.
  void set_ink(std::string_view title, Ink ink);
  // The same by what a cell says.
  using InkOf = std::function<Ink(std::string_view cell)>;
  void set_ink(std::string_view title, const InkOf& ink_of);

  [[nodiscard]] bool empty() const { return rows_.empty(); }

  // Returns lines, each indented by two and ended by a newline. Columns without a value in any row are left out, and
  // dispensable ones if the others, shrunk, leave no room for them.
  [[nodiscard]] std::string render(TextWidth width) const;

 private:
  [[nodiscard]] std::vector<std::size_t> natural_widths() const;
  [[nodiscard]] std::vector<bool> shown_columns(TextWidth width) const;
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t width, const std::vector<bool>& shown) const;

  std::vector<TableColumn> columns_;
  std::vector<InkOf> inks_;  // like columns_; empty: plain
  std::vector<std::vector<std::string>> rows_;
};

// "first +2": the first of several items as `text` writes it, and how many others there are.
template <typename Item, typename Text>
[[nodiscard]] std::string first_of(const std::vector<Item>& items, const Text& text) {
  if (items.empty()) return "";
  return text(items.front()) + (items.size() > 1 ? fmt::format(" +{}", items.size() - 1) : "");
}

// The line above a list: "CALLS  12, the 8 with most time inside:", where `order` is "with most time inside".
template <typename Line>
[[nodiscard]] std::string section_head(const std::string& name, const analyzer::TopList<Line>& list,
                                       const std::string& order, Paint paint = {}) {
  std::string out = fmt::format("{}  {}", paint(Ink::kHeading, name), group_digits(list.total));
  if (list.lines.size() < list.total) {
    out += fmt::format(", the {} {}:", list.lines.size(), order);
  } else if (list.total > 1) {
    out += fmt::format(", {} first:", order);
  }
  return out + "\n";
}

// A heading and a text behind it, broken at blanks into lines that fit `width`; all lines but the first are indented by
// the heading's width. Both must be safe for a terminal already (printable).
[[nodiscard]] std::string paragraph(const std::string& head, const std::string& text, std::size_t width);
// The same with later lines further out than the head ends, in column `indent`.
[[nodiscard]] std::string paragraph(const std::string& head, const std::string& text, std::size_t width,
                                    std::size_t indent);

}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A UnwindTable as bytes: the counts, the statistics, then the parts one after the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolizer/rows/row_builder.h"

namespace uscope::symbolizer {

struct RowCounts {
  std::uint32_t text_start = 0;
  std::uint32_t text_end = 0;
  std::uint32_t rows = 0;
  std::uint32_t index = 0;
  std::uint32_t rules = 0;

  // The size of the parts.
  [[nodiscard]] std::uint64_t bytes() const {
    return std::uint64_t{rows} * sizeof(usc_row) + std::uint64_t{index} * sizeof(__u32) +
           std::uint64_t{rules} * sizeof(usc_rule);
  }
};

inline RowCounts counts_of(const UnwindTable& table) {
  return {table.text_start, table.text_end, static_cast<std::uint32_t>(table.rows.size()),
          static_cast<std::uint32_t>(table.index.size()), static_cast<std::uint32_t>(table.rules.size())};
}

// Makes room for the parts, whose content has not been checked yet.
inline void make_room(UnwindTable& table, const RowCounts& counts) {
  table.rows.resize(counts.rows);
  table.index.resize(counts.index);
  table.rules.resize(counts.rules);
  table.text_start = counts.text_start;
  table.text_end = counts.text_end;
}

inline std::array<std::span<const std::byte>, 3> parts_of(const UnwindTable& table) {
  return {std::as_bytes(std::span(table.rows)), std::as_bytes(std::span(table.index)),
          std::as_bytes(std::span(table.rules))};
}
inline std::array<std::span<std::byte>, 3> parts_of(UnwindTable& table) {
  return {std::as_writable_bytes(std::span(table.rows)), std::as_writable_bytes(std::span(table.index)),
          std::as_writable_bytes(std::span(table.rules))};
}

}  // namespace uscope::symbolizer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the row search and the unwind step (include/uscope/unwind.h) ask of whoever includes them, for an UnwindTable:
// `tables` is one; nullptr has no rules. Only usc_read_u64, the memory, is left to define.
#pragma once

#include "symbolizer/rows/row_builder.h"
#include "uscope/rows.h"

static inline const usc_row* usc_row_at(void* tables, __u32 number) {
  const auto* table = static_cast<const uscope::symbolizer::UnwindTable*>(tables);
  return number < table->rows.size() ? &table->rows[number] : nullptr;
}

static inline const __u32* usc_index_at(void* tables, __u32 number) {
  const auto* table = static_cast<const uscope::symbolizer::UnwindTable*>(tables);
  return number < table->index.size() ? &table->index[number] : nullptr;
}

static inline const usc_rule* usc_rule_at(void* tables, __u32 number) {
  const auto* table = static_cast<const uscope::symbolizer::UnwindTable*>(tables);
  return table != nullptr && number < table->rules.size() ? &table->rules[number] : nullptr;
}

namespace uscope::symbolizer {

// Where the rows lie for usc_row_find(), of a table that is searched alone.
inline usc_file_rows place_of(const UnwindTable& table) {
  usc_file_rows place{};
  place.row_count = static_cast<__u32>(table.rows.size());
  place.rule_count = static_cast<__u32>(table.rules.size());
  place.text_start = table.text_start;
  place.text_end = table.text_end;
  return place;
}

}  // namespace uscope::symbolizer

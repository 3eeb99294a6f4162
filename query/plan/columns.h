// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The columns of v_event, as the kernel side knows them: numbers that instructions compute with, and dimensions, which
// are small numbers there and become names in user space.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "query/plan/plan.h"
#include "uscope/query.h"

namespace uscope::query {

enum class ColumnKind {
  kNumber,     // `field` has it
  kDimension,  // follows from the key words `words`
  kUnknown,    // not known at the event: its row's number
};

struct Column {
  std::string_view name;
  ColumnKind kind;
  usc_query_field field;
  std::uint32_t words;  // bits by Key
};

constexpr std::uint32_t bit_of(Key key) {
  return std::uint32_t{1} << static_cast<unsigned>(key);
}

// In the order of the view; a test compares the two.
[[nodiscard]] const std::vector<Column>& all_columns();

// `name` in lower case; nullptr if there is none.
[[nodiscard]] const Column* find_column(std::string_view name);

[[nodiscard]] constexpr bool is_argument(usc_query_field field) {
  return field >= USC_QUERY_ARG0 && field <= USC_QUERY_ARG5;
}

// The field that a key word is made of.
[[nodiscard]] usc_query_field field_of(Key key);

}  // namespace uscope::query

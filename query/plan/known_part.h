// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What WHERE says of events of which only a few columns are known. The rest of it may hold or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/sql/tree.h"
#include "support/result.h"

namespace uscope::query {

enum class Holds : std::uint8_t { kNot, kMaybe, kSurely };

// The condition as SQL over these columns alone: what follows from other columns as well, or changes from call to call,
// is NULL, as far as AND, OR, NOT and parentheses lead to it.
[[nodiscard]] std::string known_part(const std::string& text, const Expr& condition,
                                     const std::vector<std::string_view>& columns);

// Whether such a condition holds for each of these rows, which SQLite decides. `columns`: the names of a row's texts;
// `source`: how the condition calls the table.
[[nodiscard]] Result<std::vector<Holds>> where_holds(const std::string& condition, const std::string& source,
                                                     const std::vector<std::string_view>& columns,
                                                     const std::vector<std::vector<std::string>>& rows);

}  // namespace uscope::query

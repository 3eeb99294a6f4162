// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Parses the SELECTs that can be cut: those of v_event alone. Precedence is that of SQLite's grammar.
#pragma once

#include <string>

#include "query/sql/tree.h"
#include "support/result.h"

namespace uscope::query {

// `text` is one statement that SQLite has found right. The error is no fault of the text: it says which part of the
// language this parser does not cut ("it joins tables"), as the end of a sentence "SQLite runs it over events,
// because".
[[nodiscard]] Result<Select> parse(const std::string& text);

}  // namespace uscope::query

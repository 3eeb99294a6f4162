// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Hits of probes as text: arguments by name, in the form that their types ask for.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/read/event_row.h"

namespace uscope::cli {

// A number of this C type, as far as the type is known: a pointer in hexadecimal, or NULL; else decimal, in the width
// and with the sign that the type has. An `unsigned long` of 2^40 and more, as most addresses are, is taken for one.
[[nodiscard]] std::string typed_value_text(const std::string& type, std::int64_t value);

// The arguments that its kind has: `fd=3, path="/etc/passwd"`.
[[nodiscard]] std::string hit_arguments_text(const analyzer::EventRow& event);

// What stands behind the arguments: ` = 5 <12.3 µs>`; empty for what happened at one moment.
[[nodiscard]] std::string hit_end_text(const analyzer::EventRow& event);

}  // namespace uscope::cli

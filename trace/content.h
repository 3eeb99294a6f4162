// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Contents: what calls carry, and the structures that they are given, taken out of the records that hold them.
#pragma once

#include <optional>
#include <string_view>

#include "uscope/record.h"

namespace uscope::trace {

// What one usc_string holds: one of the two, or of a vector both.
struct ContentParts {
  // As it lies in memory. Of a vector: the first fields of struct usc_vector, and its lengths as far as there are
  // buffers.
  std::optional<std::string_view> structure;
  // What the call carries; of a vector the bytes in all buffers, one behind the other.
  std::optional<std::string_view> data;
  bool redacted = false;  // there was data, and the tracer has left it out
};

// Of a usc_string whose kind is one of contents; `bytes` are its string.bytes at string.text. Neither is trusted.
// Others have no parts.
[[nodiscard]] ContentParts content_parts(const usc_string& string, std::string_view bytes);

}  // namespace uscope::trace

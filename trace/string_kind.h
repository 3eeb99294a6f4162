// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is known of a string by its kind: the columns of include/uscope/lists/string_kind.def.
#pragma once

#include <cstdint>

#include "uscope/record.h"

namespace uscope::trace {

// Explained in string_kind.def.
enum class StringHolds : std::uint8_t {
  NOTHING,
  TEXT,
  TEXT_NUL,
  ADDRESS,
  NUMBERS,
  DESCRIPTOR,
  OPENED,
  DATA,
  VECTOR,
  STRUCTURE,
  MESSAGES,
  ARGUMENTS
};

// NOTHING for a number that is no usc_string_kind.
[[nodiscard]] StringHolds string_holds(std::uint32_t kind);

// Whether strings of this kind are contents: data, vectors, structures.
[[nodiscard]] bool is_content(std::uint32_t kind);

// Whether the kernel wrote the string; false if the program passed it.
[[nodiscard]] bool is_from_kernel(std::uint32_t kind);

}  // namespace uscope::trace

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The fields of a structure that a system call takes, as they lie in the memory of a 64-bit program.
#pragma once

#include <cstdint>
#include <span>

namespace uscope::syscalls {

struct Layout;

struct LayoutField {
  enum Kind : std::uint8_t {
    kSigned,
    kUnsigned,
    kPointer,
    kText,     // an array of characters, up to a NUL
    kLayout,   // another structure
    kSignals,  // a set of signals, a bit for each
  };

  const char* name;  // "" of a structure that is one number
  std::uint16_t offset;
  std::uint16_t bytes;  // of one
  std::uint16_t count;  // of an array
  Kind kind;
  const Layout* layout;
};

// Without padding, unions and bit fields.
struct Layout {
  const char* name;
  std::uint16_t bytes;
  std::span<const LayoutField> fields;
};

}  // namespace uscope::syscalls

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
    kBits,     // a few bits of a number
    kBytes,    // as many as length_in() (structures.h) says
  };

  const char* name;  // "" of a structure that is one number
  std::uint16_t offset;
  std::uint16_t bytes;  // of one
  std::uint16_t count;  // of an array
  Kind kind;
  const Layout* layout;
  std::uint8_t shift = 0;  // of kBits: the lowest bit's place, and how many they are
  std::uint8_t width = 0;
};

// Without padding and unions; of unions without a name the first member.
struct Layout {
  const char* name;
  std::uint16_t bytes;
  std::span<const LayoutField> fields;
};

// What a command of a device takes.
struct CommandLayout {
  std::uint32_t command;
  const Layout* layout;
};

}  // namespace uscope::syscalls

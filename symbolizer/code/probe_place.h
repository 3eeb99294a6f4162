// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where in a function's first block a uprobe stands best. The kernel emulates some instructions (push, nop, jmp, call)
// and executes any other one out of line, step by step, which takes three to fifteen times as long. Most functions
// begin with such a push, or have one behind a few instructions that change no argument.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace uscope::symbolizer {

enum class Prologue : bool {
  kC,
  kGo,  // it begins with a comparison of the stack pointer, and begins anew once the stack has grown
};

// An offset in a function's code, at which every call of it comes by once, with all arguments still in their registers
// and the stack pointer as at the entry. `code` begins with the function's first instruction and reaches no further
// than its last one. Nothing: there is no such place, since the function consists of long nops. A probe never stands on
// a nop of several bytes: Linux 6.18 makes a call of a nop of five bytes, which writes into the program's red zone
// (linux-trace-kernel, May 2026), and refuses one of ten.
std::optional<std::size_t> probe_place(std::span<const std::byte> code, Prologue prologue);

}  // namespace uscope::symbolizer

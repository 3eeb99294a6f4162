// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Recognises code without unwind information by its instructions: signal trampolines, functions of the start files
// (crt_code.h), V8's builtins in a file without symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbolizer/code/text_reader.h"

namespace uscope::symbolizer {

// In a file.
struct OffsetRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

// Part of a hole, with one rule.
struct HolePiece {
  OffsetRange range;
  std::uint32_t rule = 0;
  bool trampoline = false;  // kSignalTrampolineRule holds, not `rule`
};

// Finds pieces of these holes (ascending, disjoint); they are sorted by start and may overlap by a byte.
std::vector<HolePiece> recognize_holes(std::span<const OffsetRange> holes, TextReader& text);

// Finds the hole that V8's builtins form, by the code that V8's compiler generates: a large hole full of functions with
// a frame pointer. The holes of libraries have hardly any of these. Only for files that are known to contain V8.
// Returns {0, 0} if there is none.
OffsetRange find_v8_hole(std::span<const OffsetRange> holes, TextReader& text);

}  // namespace uscope::symbolizer

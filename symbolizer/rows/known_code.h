// What is known of code that no unwind information describes, by looking at it: signal trampolines, gcc's
// __do_global_dtors_aux, V8's builtins in a file without symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbolizer/code/text_reader.h"

namespace uscope::symbolizer {

struct CodeRange {
  std::uint64_t start = 0;  // file offsets
  std::uint64_t end = 0;
};

// Part of a hole, in which one rule holds.
struct HolePiece {
  CodeRange range;
  std::uint32_t rule = 0;
  bool trampoline = false;  // kSignalTrampolineRule holds, not `rule`
};

// Pieces of these holes (ascending, disjoint), ascending by start; they may overlap by a byte.
std::vector<HolePiece> look_into_holes(std::span<const CodeRange> holes, TextReader& text);

// The hole that V8's builtins are, by what V8's own compiler writes: a large one, full of functions that make a frame
// by frame pointer. The holes of libraries have next to none. Meant for files that are known to hold V8. {0, 0}: none.
CodeRange find_v8_hole(std::span<const CodeRange> holes, TextReader& text);

}  // namespace uscope::symbolizer

// Whether a file is the one that was traced, and still holds what was mapped then: only then do its bytes name
// anything.
//
// Limits. A write is known by the times that it moves: where the kernel's clock for files is coarse (before Linux 6.13:
// 1 to 10 ms), one within the same tick as the change before it is not, unless it changes the size or truncates memory.
// A program that writes through a shared mapping moves them at its first write to a page only, until the kernel has
// written that page to the disk. What a process has changed in its own memory (code patched at run time) is no part of
// the file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "uscope/record.h"

namespace uscope::symbolizer {

// What the trace says of a file.
struct TracedFile {
  std::string build_id{};                   // raw bytes, empty where it has none or it is not known
  std::optional<usc_file_key> key{};        // what the kernel knew of the file, where the trace says
  std::span<const usc_segment> segments{};  // executable ones, where the trace says
};

// `held`: the descriptor has been open since the trace, so it is the same inode. `name` is for messages.
[[nodiscard]] bool holds_what_was_traced(int fd, const TracedFile& file, bool held, const std::string& name);

}  // namespace uscope::symbolizer

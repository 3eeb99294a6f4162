// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a file is the one that was traced and still holds the content that was mapped: only then can its bytes name
// anything.
//
// Limits. A write is detected by the times that it changes: if the kernel's clock for files is coarse (before Linux
// 6.13: 1 to 10 ms), a write within the same tick as the change before it goes undetected, unless it changes the size
// or truncates memory. A program that writes through a shared mapping changes them only at its first write to a page,
// until the kernel has written that page to disk. Changes of a process to its own memory (code patched at run time) are
// not part of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "uscope/record.h"

namespace uscope::symbolizer {

// The trace's record of a file.
struct TracedFile {
  std::string build_id{};                   // raw bytes; empty if it has none, or if unknown
  std::optional<usc_file_key> key{};        // the kernel's key of the file, if the trace has it
  std::span<const usc_segment> segments{};  // executable segments, if the trace has them
};

// `name` is for messages.
[[nodiscard]] bool holds_what_was_traced(int fd, const TracedFile& file, const std::string& name);

}  // namespace uscope::symbolizer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The walk in user space, on a copy of a stack: what the kernel left to the collector is finished here, with the same
// search, step and scope filter (include/uscope), against the mapping time line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "trace/ids.h"
#include "tracer/files/file_table.h"
#include "tracer/files/walk_tables.h"
#include "tracer/model/mapping_timeline.h"
#include "uscope/record.h"
#include "uscope/scope.h"

namespace uscope::tracer {

struct UserStack {
  std::vector<std::uint64_t> frames;  // words of uscope/records/frame_word.h, innermost first
  std::uint8_t ended = 0;             // as in usc_stack
  bool has_jit = false;
  trace::FileId waits_for;  // a file whose rows are being made, if any; then frames and end are unfinished
};

// The eight bytes of code at a pc, if they can be read (jit_code.h).
using CodeReader = std::function<std::optional<std::uint64_t>(std::uint64_t pc)>;

// What is known of code beside rows.
struct CodeSources {
  CodeReader memory;               // without it, all code without unwind data is taken to keep a frame pointer
  bool mappings_are_told = false;  // all of the address space: where there is none, there is no code
};

// Where compact rows have lost a register that a rule needs, the walk is made anew with rows that tell of all of them.
[[nodiscard]] UserStack walk_sample(const usc_sample& sample, const MappingTimeline& mappings, FileTable& files,
                                    UnwindTableSource& rows, const usc_scope& scope, const CodeSources& code = {});

}  // namespace uscope::tracer

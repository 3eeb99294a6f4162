// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Frames of the functions that no call frame information covers (musl, assembly), by their code: code/frame_proof.h.
// This file finds the functions, and decides which of the proofs hold when all functions are looked at together.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <span>
#include <vector>

#include "symbolizer/cfi/cfi_program.h"
#include "symbolizer/code/frame_proof.h"
#include "symbolizer/code/text_reader.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/rows/known_code.h"

namespace uscope::symbolizer {

// A stretch of a file in which the frame is found in one way.
struct CodeRow {
  OffsetRange range;
  FrameState state;
};

struct CodeRows {
  std::vector<CodeRow> rows;          // ascending, disjoint
  std::vector<std::uint64_t> starts;  // file offsets where functions without call frame information begin, ascending
  std::uint64_t functions = 0;        // that got rows
};

// What else may be known of the functions. For tests.
struct KnownStarts {
  bool symbols = true;                    // those of the symbol tables
  std::vector<std::uint64_t> named = {};  // further addresses of code, as data might hold them
};

// `holes`: ascending, disjoint.
CodeRows prove_rows(Elf* elf, const ElfFacts& facts, std::span<const OffsetRange> holes, const TextReader& text,
                    const KnownStarts& known = {});

[[nodiscard]] CfiState cfi_state_of(const FrameState& state);

}  // namespace uscope::symbolizer

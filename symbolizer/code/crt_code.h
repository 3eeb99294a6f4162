// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The functions that gcc's and glibc's start files add without unwind information: __do_global_dtors_aux, in every
// library and position-independent program, which runs C++ destructors, so that streams are flushed in it; _init and
// _fini, in every file, which a page fault or a timer finds, and which call old constructors and destructors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "uscope/rows.h"

namespace uscope::symbolizer {

// The rule that holds from `offset` on (in bytes after the function's first instruction).
struct CrtRow {
  std::size_t offset = 0;
  std::uint32_t rule = 0;
};

struct CrtFunction {
  std::size_t start = 0;  // offset in the code examined
  std::size_t size = 0;
  std::array<CrtRow, 4> rows{};  // the first `row_count` of them
  std::size_t row_count = 0;
};

// The longest such function.
constexpr std::size_t kMostCrtFunction = 64;

// Finds the functions that lie completely in `code`, in ascending order. All bytes except displacements are compared,
// so the rules are certain to match the instructions.
std::vector<CrtFunction> find_crt_functions(std::span<const std::byte> code);

}  // namespace uscope::symbolizer

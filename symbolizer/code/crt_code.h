// __do_global_dtors_aux, which gcc's crtbeginS.o puts into every library and position-independent program, without
// unwind information. Destructors of C++ run below it, so calls are made there whenever a program ends: streams are
// flushed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "uscope/rows.h"

namespace uscope::symbolizer {

// From `offset` (bytes behind the function's first instruction) on, this rule holds.
struct CrtRow {
  std::size_t offset = 0;
  std::uint32_t rule = 0;
};

struct CrtFunction {
  std::size_t start = 0;  // in the code looked at
  std::size_t size = 0;
  std::array<CrtRow, 4> rows{};
};

// The longest such function.
constexpr std::size_t kMostCrtFunction = 64;

// Those that lie whole in `code`, in ascending order. All of the function's bytes are compared but the displacements,
// so its rules are those that its instructions show.
std::vector<CrtFunction> find_crt_functions(std::span<const std::byte> code);

}  // namespace uscope::symbolizer

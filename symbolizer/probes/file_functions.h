// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The functions of a file, from its symbols and Go's table, and what proves that they are functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbolizer/cfi/fde_table.h"
#include "symbolizer/go/go_pclntab.h"
#include "symbolizer/names/symbols_table.h"

namespace uscope::symbolizer {

// What proves that code begins at an address.
enum class ProvenBy : std::uint8_t {
  kNothing,
  kSymbol,     // a symbol whose type is that of functions
  kFrameInfo,  // call frame information begins there
  kGoTable,
  kWalk,  // a walk from the entry of such a function reaches it (code_walk.h)
};

// One function under all its names, best first.
struct FileFunction {
  std::uint64_t start = 0;
  std::uint64_t size = 0;   // up to the next function at most; 0: not known
  std::uint64_t whole = 0;  // as the symbol says, though others may begin within; 0: it does not say
  ProvenBy proof = ProvenBy::kNothing;
  bool ifunc = false;
  bool go = false;
  std::vector<std::string_view> names;
};

// Parts of a function that the compiler moved away are no functions.
constexpr std::string_view kPartSuffix = ".cold";
[[nodiscard]] bool is_part(std::string_view name);

// Sorted by start. `symbols` are those of function_symbols().
[[nodiscard]] std::vector<FileFunction> file_functions(const std::vector<FunctionSymbol>& symbols,
                                                       const std::optional<GoPclntab>& go, const FdeTable& fdes);

}  // namespace uscope::symbolizer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The parameters and the result of a function of C or C++, from DWARF: names, types as C has them, and how the System V
// ABI passes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbolizer/names/symbols_dwarf.h"

namespace uscope::symbolizer {

struct DebugParameter {
  std::string name;        // valid UTF-8; empty if it has none
  std::string type;        // "const char *", "struct stat *"
  std::uint8_t bytes = 8;  // 1, 2, 4, 8
  std::uint8_t place = 0;  // which of the six integer registers, from 0
  bool is_signed = false;
  bool points_to_text = false;  // const char *
};

// The parameters of a DW_TAG_subprogram that are passed in integer registers, in order. Those in vector registers are
// left out; the list ends before the first one of which it is not certain where it is (a structure by value). Nullopt
// where not even the first one's place is certain: of other languages, and where the result may be returned through a
// hidden pointer.
std::optional<std::vector<DebugParameter>> read_parameters(Dwarf_Die function, const DwarfTexts& texts);

struct DebugResult {
  std::string type;        // "int", "char *", "void"
  std::uint8_t bytes = 0;  // 1, 2, 4, 8: of what the result register holds at the return; 0: it holds no result
  bool is_signed = false;
};

// What a DW_TAG_subprogram returns. Nullopt for languages whose functions return in ways of their own.
std::optional<DebugResult> read_result(Dwarf_Die function, const DwarfTexts& texts);

}  // namespace uscope::symbolizer

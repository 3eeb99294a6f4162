// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Inlined calls, files and lines from one ELF file's DWARF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/elf/elf_handles.h"
#include "symbolizer/names/debug_parameters.h"
#include "symbolizer/names/symbols_dwarf.h"
#include "symbolizer/names/symbols_ranges.h"
#include "trace/function_origin.h"

namespace uscope::symbolizer {

// A function at an address, according to DWARF.
struct DebugFrame {
  std::string function;     // demangled; empty if DWARF has no name
  std::uint64_t start = 0;  // ELF address of the entry of the function or of the inlined block; the lowest address, if
                            // the one looked up lies before the entry (as in cold parts)
  std::string file;         // valid UTF-8; empty if unknown
  std::uint32_t line = 0;   // 0: unknown
  bool inlined = false;
  trace::FunctionLanguage language = trace::FunctionLanguage::kUnknown;
};

// Reads only what is needed: units' ranges at the first look-up, a unit's functions and lines at the first address in
// it. Not thread-safe. DWARF is hostile input: all walks are iterative and bounded, and if it is damaged or a bound is
// reached, the answer has fewer frames or none, and the work stays bounded. Never opens another file: split units
// (.dwo) give lines only.
class DebugInfo {
 public:
  // Returns null if the file has no usable .debug_info (none, too large, compressed beyond the bound). `alternate` is
  // the file to which dwz moved DWARF: a file with a .gnu_debugaltlink is not read without the file of that build-id.
  // The caller owns both, and they must outlive the result.
  // Of a file that has one which is not usable, *trouble says why: a sentence about "it". Else *trouble is left alone.
  static std::unique_ptr<DebugInfo> open(Elf* elf, Elf* alternate = nullptr, std::string* trouble = nullptr);

  // The first of the files to which units' functions were split off (-gsplit-dwarf), as the unit names it; empty: none
  // were, or no address has been looked up.
  [[nodiscard]] const std::string& split_file() const { return split_file_; }

  // The frames at an ELF address, innermost first; the last is the physical function (inlined false). File and line of
  // the innermost frame are those of the address, those of an outer frame are the place of the call inlined into it.
  // Returns one frame without a function if only the line is known, and none if nothing is.
  std::vector<DebugFrame> find(std::uint64_t address);

  // The parameters of the function whose entry is at an ELF address (see read_parameters); nullopt also if there is no
  // such function.
  std::optional<std::vector<DebugParameter>> parameters(std::uint64_t entry);

  // What that function returns (see read_result).
  std::optional<DebugResult> result(std::uint64_t entry);

  // Memory held, in bytes; an estimate, since libdw does not report its own.
  [[nodiscard]] std::size_t footprint() const;

 private:
  static constexpr std::uint32_t kNoNode = 0xffffffff;

  // A function or an inlined call that has code.
  struct Node {
    Dwarf_Off die;
    std::uint64_t entry;
    std::uint64_t lowest;
    std::uint32_t parent;  // the node this one is inlined into, or kNoNode
    bool inlined;
  };

  // The parts of a compilation unit that have code, found in one walk over its DIEs.
  struct Unit {
    std::vector<Node> nodes;
    RangeMap map;
    bool lines = false;  // its line table is within bounds
  };

  class UnitWalk;

  DebugInfo(Elf* elf, Elf* alternate);
  void begin();
  void find_units();
  void add_unit_ranges(Dwarf_Die* die);
  const Unit& unit_of(Dwarf_Die* unit_die, Dwarf_Off offset);
  void forget();
  // The function whose entry is at an ELF address.
  std::optional<Dwarf_Die> function_at(std::uint64_t entry);
  // The unit whose code holds an address; null if there is none. Sets its DIE.
  const Unit* unit_at(std::uint64_t address, Dwarf_Die& unit_die);

  Elf* elf_;
  Elf* alternate_elf_;       // null: none
  std::uint64_t walk_left_;  // bytes that walks may still step over
  DwarfHandle alternate_;    // outlives dwarf_, which refers to it
  DwarfHandle dwarf_;
  DwarfTexts texts_;
  bool units_found_ = false;
  std::string split_file_;
  std::vector<Dwarf_Off> unit_offsets_;  // of unit DIEs; indexed by the owner numbers of units_
  std::vector<ClaimedRange> pending_;
  RangeMap units_;
  std::unordered_map<Dwarf_Off, Unit> loaded_;
  std::size_t loaded_bytes_ = 0;  // estimate for loaded_, and for libdw's data on it
};

}  // namespace uscope::symbolizer

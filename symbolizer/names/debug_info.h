// Inlined calls, files and lines of one ELF file's DWARF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/elf/elf_handles.h"
#include "symbolizer/names/symbols_dwarf.h"
#include "symbolizer/names/symbols_ranges.h"

namespace uscope::symbolizer {

// One function that an address belongs to, by DWARF.
struct DebugFrame {
  std::string function;     // demangled; empty where DWARF names none
  std::uint64_t start = 0;  // ELF address of the function's, or of the inlined block's, entry; its lowest address where
                            // the one asked lies before the entry (cold parts do)
  std::string file;         // valid UTF-8; empty where not known
  std::uint32_t line = 0;   // 0: not known
  bool inlined = false;
};

// Reads what is asked for and no more: units' ranges at the first look-up, a unit's functions and lines at the first
// address in it. Not thread-safe. DWARF is hostile input: all walks are iterative and bounded, and where it is damaged
// or a bound is reached the answer has fewer frames or none, never wrong work without end. Never opens another file:
// split units (.dwo) give lines only.
class DebugInfo {
 public:
  // Null where the file has no usable .debug_info (none, too large, compressed beyond the bound). What dwz moved into
  // another file is in `alternate`: a file with a .gnu_debugaltlink is not read without the one of that build-id. Both
  // are the caller's and must outlive the result.
  static std::unique_ptr<DebugInfo> open(Elf* elf, Elf* alternate = nullptr);

  // The frames at an ELF address, innermost first; the last is the physical function (inlined false). File and line of
  // the innermost are the address's, those of each outer one the place of the call inlined into it. One frame without a
  // function where only the line is known; empty where nothing is.
  std::vector<DebugFrame> find(std::uint64_t address);

  // Bytes of memory held, estimated: libdw does not tell.
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

  // What has code in a compilation unit, found in one walk over its DIEs.
  struct Unit {
    std::vector<Node> nodes;
    RangeMap map;
    bool lines = false;  // whether its line table is within bounds
  };

  class UnitWalk;

  DebugInfo(Elf* elf, Elf* alternate);
  void begin();
  void find_units();
  void add_unit_ranges(Dwarf_Die* die);
  const Unit& unit_of(Dwarf_Die* unit_die, Dwarf_Off offset);
  void forget();

  Elf* elf_;
  Elf* alternate_elf_;       // null: none
  std::uint64_t walk_left_;  // bytes that may still be stepped over in walks
  DwarfHandle alternate_;    // outlives dwarf_, which refers to it
  DwarfHandle dwarf_;
  DwarfTexts texts_;
  bool units_found_ = false;
  std::vector<Dwarf_Off> unit_offsets_;  // of unit DIEs; by the owner numbers of units_
  std::vector<ClaimedRange> pending_;
  RangeMap units_;
  std::unordered_map<Dwarf_Off, Unit> loaded_;
  std::size_t loaded_bytes_ = 0;  // estimate of loaded_ and of what libdw holds for it
};

}  // namespace uscope::symbolizer

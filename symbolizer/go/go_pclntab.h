// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The function table of a Go program (.gopclntab), which Go's own runtime uses to walk stacks and name functions. It is
// part of the running program, so stripped programs have it too. Layouts of Go 1.2, 1.16, 1.18 and 1.20 on
// (runtime/symtab.go, debug/gosym/pclntab.go), 64-bit little-endian. The table may be damaged or hostile: reads and
// work are bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "symbolizer/elf/elf_facts.h"

namespace uscope::symbolizer {

struct GoFunction {
  std::uint64_t start = 0;  // ELF address
  std::uint64_t limit = 0;  // the next function's start; padding may lie before it
  std::string_view name;    // as Go writes it: "main.(*T).Method"; valid as long as the table
  std::uint32_t pcsp = 0;   // offset of the stack pointer's steps; 0: none
  std::uint8_t flags = 0;   // kGoTopFrame, kGoWritesSp; always 0 before Go 1.17
};

// runtime/symtab.go's funcFlag.
constexpr std::uint8_t kGoTopFrame = 1;  // the outermost function of its stack
constexpr std::uint8_t kGoWritesSp = 2;  // writes the stack pointer in ways that pcsp does not record

// From the end of the previous stretch (or the function's start) up to `end`, the stack pointer is `delta` bytes below
// its value at the function's first instruction.
struct GoStretch {
  std::uint64_t end = 0;
  std::int64_t delta = 0;
};

class GoPclntab {
 public:
  // `bytes` begins with the table's header and may extend beyond the table; relocations must have been applied. Returns
  // nullopt for functions outside of `exec` and for any other damage: a table is used only if it is sound as a whole.
  // `entry` is the program's entry point, from which the start of the text is found if the header lacks it.
  static std::optional<GoPclntab> parse(std::vector<std::uint8_t> bytes, std::span<const Segment> exec,
                                        std::uint64_t entry);

  // Whether a table's header could begin here: a magic number, two zeros, quantum 1, pointers of 8 bytes.
  static constexpr std::size_t kHeadBytes = 8;
  static bool is_head(std::span<const std::uint8_t> bytes);

  [[nodiscard]] const std::vector<GoFunction>& functions() const { return functions_; }

  // The stretches of a function, in ascending order; the last one ends where the function's code ends. Returns false if
  // the table has no valid stretches for it. `steps` bounds the work and is counted down.
  bool stretches(const GoFunction& function, std::vector<GoStretch>& out, std::uint64_t& steps) const;

  // The function whose code contains `address`. If the address lies in padding, this is the function that starts
  // directly after it: Go puts functions' first addresses on stacks as if they had been called from there.
  [[nodiscard]] const GoFunction* containing(std::uint64_t address) const;

  // An upper bound on the steps through all functions' stretches, which no sound table reaches.
  [[nodiscard]] std::uint64_t most_steps() const { return 16 * static_cast<std::uint64_t>(bytes_.size()); }
  [[nodiscard]] std::size_t footprint() const { return bytes_.size() + functions_.capacity() * sizeof(GoFunction); }

 private:
  enum class Layout : std::uint8_t { kGo12, kGo116, kGo118, kGo120 };

  GoPclntab() = default;
  bool read_head(std::span<const Segment> exec, std::uint64_t entry);
  bool read_functions(std::span<const Segment> exec);
  bool read_function(std::uint64_t record, GoFunction& function) const;
  [[nodiscard]] std::optional<std::uint64_t> find_text_start(std::span<const Segment> exec, std::uint64_t entry);
  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t at, std::size_t bytes) const;
  [[nodiscard]] std::uint64_t entry_bytes() const { return layout_ >= Layout::kGo118 ? 4 : 8; }

  std::vector<std::uint8_t> bytes_;
  Layout layout_ = Layout::kGo12;
  std::uint64_t count_ = 0;
  std::uint64_t text_start_ = 0;
  std::uint64_t names_ = 0;    // offsets in bytes_
  std::uint64_t pctab_ = 0;    // pcsp is relative to this
  std::uint64_t functab_ = 0;  // pairs of a function's start and its record's offset from `records_`
  std::uint64_t records_ = 0;
  std::vector<GoFunction> functions_;  // by start
  // The work left, so that a table with overlapping parts costs no more than its size allows.
  mutable std::size_t name_bytes_left_ = 0;
  mutable std::uint64_t steps_left_ = 0;
};

}  // namespace uscope::symbolizer

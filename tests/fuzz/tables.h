// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Row search and unwind step over a UnwindTable and a memory made of bytes, for fuzz targets. Included once by a
// target.
#pragma once

#include <cstring>
#include <span>

#include "fuzz.h"
#include "symbolizer/rows/table_access.h"
#include "uscope/unwind.h"

namespace uscope::fuzz {

struct Memory {
  std::uint64_t base = 0;
  std::span<const std::uint8_t> bytes;
  std::uint64_t reads = 0;
};

}  // namespace uscope::fuzz

static inline int usc_read_u64(void* memory, __u64 address, __u64* value) {
  auto* from = static_cast<uscope::fuzz::Memory*>(memory);
  from->reads++;
  const std::uint64_t at = address - from->base;
  if (from->bytes.size() < 8 || at > from->bytes.size() - 8) return -1;
  std::memcpy(value, from->bytes.data() + at, sizeof(*value));
  return 0;
}

namespace uscope::fuzz {

// One step, and what include/uscope/unwind.h promises of it.
inline int step(usc_frame& frame, std::uint32_t rule, Memory& memory, symbolizer::UnwindTable& table) {
  const usc_frame before = frame;
  memory.reads = 0;
  const int result = usc_step(&frame, rule, &memory, &table);
  require(memory.reads <= USC_SIGCONTEXT_REGS + 1, "a step reads a bounded number of words");
  if (result != USC_STEP_CALLER) {
    require(std::memcmp(&before, &frame, sizeof(frame)) == 0, "a step that fails leaves the frame as it was");
    require(result <= USC_STEP_ROOT, "a step's result is known");
    require(result == USC_STEP_ROOT || -1 - result < static_cast<int>(USC_BROKEN_COUNT),
            "a step's error is one of the list");
    return result;
  }
  const usc_rule* shared =
      USC_RULE_KIND(rule) == USC_RULE_SHARED ? usc_rule_at(&table, USC_RULE_NUMBER(rule)) : nullptr;
  const bool crosses_signal = shared != nullptr && shared->cfa_kind == USC_CFA_SIGNAL;
  require(frame.pc != 0 || crosses_signal, "a caller has a pc, but for who called a null pointer and got a signal");
  if (shared == nullptr)
    require(frame.regs[USC_REG_SP] > before.regs[USC_REG_SP], "compact rows go up the stack");
  else if (!crosses_signal && shared->other_stack == 0)
    require(frame.regs[USC_REG_SP] >= before.regs[USC_REG_SP], "shared rules do not go down the stack");
  return result;
}

// A walk inside one file that lies at address 0.
inline void walk(usc_frame frame, Memory& memory, symbolizer::UnwindTable& table, const usc_file_rows& file,
                 int steps) {
  for (int i = 0; i < steps; i++) {
    const std::uint32_t rule = usc_row_find(&table, &file, frame.pc - (frame.exact != 0 ? 0 : 1));
    if (step(frame, rule, memory, table) != USC_STEP_CALLER) return;
  }
}

// A table that was built or read must hold what rows.h says, and every row of it must be one that can be stepped by.
inline void check_table(symbolizer::UnwindTable& table, std::span<const std::uint8_t> stack) {
  const auto checked = symbolizer::check_rows(table);
  require(static_cast<bool>(checked), checked ? "" : checked.error().what);
  constexpr std::size_t kMostWalks = 512;
  const usc_file_rows place = symbolizer::place_of(table);
  for (std::size_t i = 0; i < table.rows.size() && i < kMostWalks; i++) {
    Memory memory{0x7ffc0000, stack, 0};
    usc_frame frame{};
    frame.pc = table.rows[i].offset;
    for (std::size_t reg = 0; reg < 16; reg++) frame.regs[reg] = memory.base + 16 * reg;
    frame.regs[USC_REG_SP] = memory.base;
    frame.known = i % 2 == 0 ? USC_KNOWN_ALL : USC_KNOWN_STACK;
    frame.exact = i % 3 == 0 ? 1 : 0;
    walk(frame, memory, table, place, 16);
  }
}

}  // namespace uscope::fuzz

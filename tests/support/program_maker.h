// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Filter programs (include/uscope/program.h) as tests write them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "uscope/program.h"

namespace uscope::test {

inline usc_insn compare(int op, int field, std::uint64_t value, int on_true, int on_false, int bits = 64) {
  usc_insn insn{};
  insn.op = static_cast<__u8>(op);
  insn.field = static_cast<__u8>(field);
  insn.on_true = static_cast<__u8>(on_true);
  insn.on_false = static_cast<__u8>(on_false);
  insn.bits = static_cast<__u8>(bits);
  insn.value = value;
  return insn;
}

inline usc_insn end(usc_op op) {
  usc_insn insn{};
  insn.op = static_cast<__u8>(op);
  return insn;
}

inline usc_program program_of(std::initializer_list<usc_insn> instructions) {
  usc_program program{};
  program.version = USC_PROGRAM_VERSION;
  for (const usc_insn& insn : instructions) program.insn[program.length++] = insn;
  return program;
}

}  // namespace uscope::test

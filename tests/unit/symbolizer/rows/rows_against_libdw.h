// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows against libdw, which reads the same CFI by its own code: at each row's first address, at one inside each row,
// and at random addresses, both are evaluated on one made-up machine state (registers and a memory that answers each
// address with its hash), and must come to the same CFA, return address and registers.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>

#include "symbolizer/code/crt_code.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/elf_handles.h"
#include "tests/support/system_files.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {

constexpr std::uint64_t kStack = 0x7f0000000000;

inline std::uint64_t made_up_word(std::uint64_t address) {
  const std::uint64_t mixed = (address ^ address >> 29) * 0xbf58476d1ce4e5b9ull;
  return kStack + 0x100000 + ((mixed ^ mixed >> 32) & 0xfffff8);
}

inline usc_frame made_up_frame(std::uint64_t pc) {
  usc_frame frame{};
  frame.pc = pc;
  for (std::uint64_t i = 0; i < 16; i++) frame.regs[i] = kStack + 0x20000 + i * 0x1008;
  frame.regs[USC_REG_SP] = kStack;
  frame.regs[USC_REG_FP] = kStack + 0x10000;
  frame.known = USC_KNOWN_ALL;
  frame.exact = 1;
  return frame;
}

// libdw's location operations on the made-up state; nothing for an operation that this test does not know.
inline std::optional<std::uint64_t> evaluate(const Dwarf_Op* ops, std::size_t count, const usc_frame& frame,
                                             std::optional<std::uint64_t> cfa,
                                             std::optional<std::uint64_t> initial = {}) {
  static std::vector<std::uint64_t> stack;  // millions of calls: none allocates
  stack.clear();
  if (initial) stack.push_back(*initial);
  const auto pop = [&] {
    const std::uint64_t top = stack.empty() ? 0 : stack.back();
    if (!stack.empty()) stack.pop_back();
    return top;
  };
  const auto reg = [&](std::uint64_t number) { return number == 16 ? frame.pc : frame.regs[number & 15]; };
  for (std::size_t i = 0; i < count; i++) {
    const Dwarf_Op& op = ops[i];
    if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
      stack.push_back(reg(op.atom - DW_OP_breg0) + op.number);
    } else if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) {
      stack.push_back(op.atom - DW_OP_lit0);
    } else if (op.atom == DW_OP_bregx) {
      stack.push_back(reg(op.number) + op.number2);
    } else if (op.atom == DW_OP_call_frame_cfa) {
      if (!cfa) return std::nullopt;
      stack.push_back(*cfa);
    } else if (op.atom == DW_OP_plus_uconst) {
      stack.push_back(pop() + op.number);
    } else if (op.atom == DW_OP_deref) {
      stack.push_back(made_up_word(pop()));
    } else if (op.atom == DW_OP_plus || op.atom == DW_OP_and || op.atom == DW_OP_ge || op.atom == DW_OP_shl ||
               op.atom == DW_OP_mul || op.atom == DW_OP_minus) {
      const std::uint64_t right = pop();
      const std::uint64_t left = pop();
      stack.push_back(op.atom == DW_OP_plus    ? left + right
                      : op.atom == DW_OP_minus ? left - right
                      : op.atom == DW_OP_and   ? left & right
                      : op.atom == DW_OP_mul   ? left * right
                      : op.atom == DW_OP_shl   ? left << right
                                               : static_cast<std::uint64_t>(static_cast<std::int64_t>(left) >=
                                                                          static_cast<std::int64_t>(right)));
    } else {
      return std::nullopt;
    }
  }
  if (stack.empty()) return std::nullopt;
  return stack.back();
}

// What libdw says of a register in the caller's frame.
struct Recovered {
  enum { kSame, kUndefined, kValue, kUnknownForm } what = kUnknownForm;
  std::uint64_t value = 0;
  bool from_register = false;
};

inline Recovered recover(Dwarf_Frame* libdw, int number, const usc_frame& frame, std::uint64_t cfa) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  Recovered out;
  if (dwarf_frame_register(libdw, number, memory, &ops, &count) != 0) return out;
  if (count == 0) {
    out.what = ops == nullptr ? Recovered::kSame : Recovered::kUndefined;
    return out;
  }
  out.what = Recovered::kValue;
  if (count == 1 && (ops[0].atom == DW_OP_regx || (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31))) {
    out.from_register = true;
    out.value = frame.regs[(ops[0].atom == DW_OP_regx ? ops[0].number : ops[0].atom - DW_OP_reg0) & 15];
    return out;
  }
  const bool is_value = ops[count - 1].atom == DW_OP_stack_value;
  const auto found = evaluate(ops, is_value ? count - 1 : count, frame, cfa);
  if (!found) return Recovered{};
  out.value = is_value ? *found : made_up_word(*found);
  return out;
}

// One file, both ways.
class Comparison {
 public:
  Comparison(const UnwindTable& table, const ElfFacts& facts, Dwarf_CFI* eh, Dwarf_CFI* debug, int fd = -1)
      : table_(table), place_(place_of(table)), facts_(facts), eh_(eh), debug_(debug), fd_(fd) {}

  void at(std::uint64_t offset) {
    checked++;
    const std::uint32_t rule = rule_at(offset);
    if (wrong > 5) return;
    const auto address = address_of_offset(facts_.exec_segments, offset);
    Dwarf_Frame* found = nullptr;
    if (address && eh_ && dwarf_cfi_addrframe(eh_, *address, &found) != 0) found = nullptr;
    if (!found && address && debug_ && dwarf_cfi_addrframe(debug_, *address, &found) != 0) found = nullptr;
    const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> libdw(found, &std::free);
    const std::string difference = libdw ? compare(libdw.get(), rule, *address) : expect_hole(rule, offset);
    if (difference.empty()) return;
    wrong++;
    ADD_FAILURE() << "at file offset " << std::hex << offset << ", rule " << rule << ": " << difference;
  }

  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  std::uint64_t unsupported = 0;  // addresses where rows say that they cannot
  std::uint64_t roots = 0;
  std::uint64_t signals = 0;
  std::uint64_t syscalls = 0;

 private:
  // usc_row_find must find what a plain search finds.
  std::uint32_t rule_at(std::uint64_t offset) {
    const std::uint32_t rule = usc_row_find(const_cast<UnwindTable*>(&table_), &place_, offset);
    const usc_row* const first = table_.rows.data();
    const usc_row* const after =
        std::upper_bound(first, first + table_.rows.size(), offset,
                         [](std::uint64_t value, const usc_row& row) { return value < row.offset; });
    const std::uint32_t plain = after == first || offset >= table_.text_end ? USC_RULE_NONE : (after - 1)->rule;
    if (rule != plain) {
      wrong++;
      ADD_FAILURE() << "usc_row_find gives " << rule << " and a plain search " << plain << " at " << offset;
    }
    return rule;
  }

  std::string expect_hole(std::uint32_t rule, std::uint64_t offset) {
    if (USC_RULE_KIND(rule) == USC_RULE_NONE) return "";
    const auto entry = offset_of_address(facts_.exec_segments, facts_.entry);
    if (USC_RULE_KIND(rule) == USC_RULE_ROOT && table_.stats.entry_roots == 1 && entry && offset >= *entry &&
        offset < *entry + 128)
      return "";
    if (is_syscall_behind_fde(offset)) {
      syscalls++;
      return "";
    }
    // The byte before __start_context, once in libc.
    if (rule == USC_RULE_ROOT && table_.stats.coroutine_roots == 1 && (coroutine_ == 0 || coroutine_ == offset)) {
      coroutine_ = offset;
      return "";
    }
    if (is_in_crt_function(offset)) return "";
    return "libdw knows no FDE here";
  }

  bool is_in_crt_function(std::uint64_t offset) {
    std::array<std::byte, 2 * kMostCrtFunction> code{};
    const std::uint64_t from = offset - std::min<std::uint64_t>(offset, kMostCrtFunction);
    const ssize_t got = fd_ < 0 ? 0 : pread(fd_, code.data(), code.size(), static_cast<off_t>(from));
    for (const CrtFunction& function :
         find_crt_functions(std::span(code).first(got > 0 ? static_cast<std::size_t>(got) : 0)))
      if (offset >= from + function.start && offset < from + function.start + function.size) return true;
    return false;
  }

  // In a system call instruction that an FDE ends before, or at the byte behind one that an FDE ends with or before.
  bool is_syscall_behind_fde(std::uint64_t offset) {
    for (std::uint64_t back = 0; back < 3 && fd_ >= 0; back++) {
      unsigned char code[2];
      const auto before = address_of_offset(facts_.exec_segments, offset - back - 1);
      Dwarf_Frame* found = nullptr;
      if (pread(fd_, code, 2, static_cast<off_t>(offset - back)) != 2 || code[0] != 0x0f || code[1] != 0x05) continue;
      if (!before || !eh_ || dwarf_cfi_addrframe(eh_, *before, &found) != 0) continue;
      std::free(found);
      return true;
    }
    return false;
  }

  // In __start_context, which is as short as this, and whose first byte follows the one that expect_hole() has met.
  bool is_start_context(std::uint64_t address) const {
    constexpr std::uint64_t kMostBytes = 64;
    const auto offset = offset_of_address(facts_.exec_segments, address);
    return table_.stats.coroutine_roots == 1 && coroutine_ != 0 && offset && *offset > coroutine_ &&
           *offset <= coroutine_ + kMostBytes;
  }

  std::string compare(Dwarf_Frame* libdw, std::uint32_t rule, std::uint64_t address) {
    if (USC_RULE_KIND(rule) == USC_RULE_NONE) return "rows have a hole where libdw has an FDE";
    usc_frame frame = made_up_frame(address);
    const usc_frame before = frame;
    bool signal = false;
    dwarf_frame_info(libdw, nullptr, nullptr, &signal);
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    std::optional<std::uint64_t> cfa;
    if (dwarf_frame_cfa(libdw, &ops, &count) == 0) cfa = evaluate(ops, count, before, std::nullopt);
    const Recovered pc = recover(libdw, 16, before, cfa.value_or(0));
    TestMemory memory = [](std::uint64_t at, std::uint64_t* word) {
      *word = made_up_word(at);
      return true;
    };
    const int step = usc_step(&frame, rule, &memory, const_cast<UnwindTable*>(&table_));
    if (pc.what == Recovered::kUndefined) {
      roots++;
      return step == USC_STEP_ROOT ? "" : "the return address is undefined";
    }
    if (step == USC_STEP_ROOT) return is_start_context(address) ? "" : "rows end the stack here";
    if (step == USC_STEP_BROKEN(USC_BROKEN_BAD_RULE)) {
      unsupported++;
      return "";
    }
    if (!cfa) return "libdw has no CFA, or one that this test cannot evaluate";
    if (pc.what != Recovered::kValue) return "libdw has no return address";
    if (step == USC_STEP_BROKEN(USC_BROKEN_LOOP)) return *cfa <= before.regs[USC_REG_SP] ? "" : "not a loop";
    if (step != USC_STEP_CALLER) return "step " + std::to_string(step);
    if (signal) signals++;
    if (frame.pc != pc.value) return "return address differs";
    if ((frame.exact != 0) != signal) return "exactness differs";
    return compare_registers(libdw, rule, before, frame, *cfa);
  }

  std::string compare_registers(Dwarf_Frame* libdw, std::uint32_t rule, const usc_frame& before, const usc_frame& after,
                                std::uint64_t cfa) {
    for (int number = 0; number < 16; number++) {
      if (!(after.known & USC_KNOWN(number))) {
        if (number != USC_REG_FP && number != USC_REG_SP) continue;
        const Recovered lost = recover(libdw, number, before, cfa);
        if (lost.what != Recovered::kUndefined && !lost.from_register) return "rbp or rsp is unknown";
        continue;
      }
      const Recovered truth = recover(libdw, number, before, cfa);
      std::uint64_t expected = truth.value;
      // libdw's table of the ABI does not say that rbx is kept; compilers assume it.
      if (truth.what == Recovered::kSame || (number == USC_REG_RBX && truth.what == Recovered::kUndefined))
        expected = before.regs[number];
      else if (truth.what != Recovered::kValue)
        return "register " + std::to_string(number) + " is known in rows only";
      if (after.regs[number] != expected)
        return "register " + std::to_string(number) + " differs, rule " + std::to_string(USC_RULE_KIND(rule));
    }
    return "";
  }

  const UnwindTable& table_;
  const usc_file_rows place_;
  std::uint64_t coroutine_ = 0;
  const ElfFacts& facts_;
  Dwarf_CFI* eh_;
  Dwarf_CFI* debug_;
  int fd_;
};

struct Compared {
  UnwindTable table;
  std::uint64_t checked = 0;
  std::uint64_t unsupported = 0;
  std::uint64_t roots = 0;
  std::uint64_t signals = 0;
};

inline std::optional<Compared> compare_file(const std::string& path) {
  const UniqueFd fd = open_to_read(path);
  if (!fd) return std::nullopt;
  auto built = build_rows(fd.get(), path);
  EXPECT_TRUE(built) << built.error().what;
  auto facts = read_elf_facts(fd.get(), path);
  EXPECT_TRUE(facts);
  const auto sound = check_rows(*built);
  EXPECT_TRUE(sound) << sound.error().what;
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
  const CfiHandle eh(dwarf_getcfi_elf(elf.get()));
  const DwarfHandle dwarf(dwarf_begin(fd.get(), DWARF_C_READ));
  Dwarf_CFI* debug = dwarf ? dwarf_getcfi(dwarf.get()) : nullptr;
  EXPECT_TRUE(eh || debug);
  Comparison comparison(*built, *facts, eh.get(), debug, fd.get());
  std::mt19937_64 random(20240);
  for (std::size_t i = 0; i + 1 < built->rows.size() && comparison.wrong < 5; i++) {
    const std::uint64_t begin = built->rows[i].offset;
    const std::uint64_t end = built->rows[i + 1].offset;
    comparison.at(begin);
    comparison.at(end - 1);
    if (end - begin > 2) comparison.at(begin + random() % (end - begin));
  }
  EXPECT_EQ(comparison.wrong, 0u) << path;
  Compared out{std::move(*built), comparison.checked, comparison.unsupported, comparison.roots, comparison.signals};
  return out;
}

inline std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace uscope::symbolizer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows against libdw, which reads the same CFI by its own code: at each row's first address, at one inside each row,
// and at random addresses, both are evaluated on one made-up machine state (registers and a memory that answers each
// address with its hash), and must come to the same CFA, return address and registers.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
#include "symbolizer/elf/vdso_image.h"
#include "symbolizer/rows/vdso.h"
#include "tests/support/system_files.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kStack = 0x7f0000000000;

std::uint64_t made_up_word(std::uint64_t address) {
  const std::uint64_t mixed = (address ^ address >> 29) * 0xbf58476d1ce4e5b9ull;
  return kStack + 0x100000 + ((mixed ^ mixed >> 32) & 0xfffff8);
}

usc_frame made_up_frame(std::uint64_t pc) {
  usc_frame frame{};
  frame.pc = pc;
  for (std::uint64_t i = 0; i < 16; i++) frame.regs[i] = kStack + 0x20000 + i * 0x1008;
  frame.regs[USC_REG_RSP] = kStack;
  frame.regs[USC_REG_RBP] = kStack + 0x10000;
  frame.known = USC_KNOWN_ALL;
  frame.exact = 1;
  return frame;
}

// libdw's location operations on the made-up state; nothing for an operation that this test does not know.
std::optional<std::uint64_t> evaluate(const Dwarf_Op* ops, std::size_t count, const usc_frame& frame,
                                      std::optional<std::uint64_t> cfa, std::optional<std::uint64_t> initial = {}) {
  std::vector<std::uint64_t> stack;
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

Recovered recover(Dwarf_Frame* libdw, int number, const usc_frame& frame, std::uint64_t cfa) {
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
    const std::uint32_t rule = usc_row_find(const_cast<UnwindTable*>(&table_), &place_, offset, 0);
    const auto after = std::upper_bound(table_.rows.begin(), table_.rows.end(), offset,
                                        [](std::uint64_t value, const usc_row& row) { return value < row.offset; });
    const std::uint32_t plain =
        after == table_.rows.begin() || offset >= table_.text_end ? USC_RULE_NONE : (after - 1)->rule;
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

  // At the first or second byte of a system call instruction that begins where an FDE ends.
  bool is_syscall_behind_fde(std::uint64_t offset) {
    for (std::uint64_t back = 0; back < 2 && fd_ >= 0; back++) {
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
    if (step == USC_STEP_BROKEN(USC_BROKEN_LOOP)) return *cfa <= before.regs[USC_REG_RSP] ? "" : "not a loop";
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
        const bool told = number == USC_REG_RBP || number == USC_REG_RSP;
        const Recovered lost = recover(libdw, number, before, cfa);
        if (told && lost.what != Recovered::kUndefined && !lost.from_register) return "rbp or rsp is unknown";
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

std::optional<Compared> compare_file(const std::string& path) {
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

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class InstalledFile : public testing::TestWithParam<const char*> {};

TEST_P(InstalledFile, RowsEqualLibdw) {
  const std::string path = GetParam();
  const auto compared = compare_file(path);
  if (!compared) GTEST_SKIP() << path << " is not installed";
  const RowStats& stats = compared->table.stats;
  EXPECT_GT(stats.fdes, 100u);
  EXPECT_EQ(stats.fdes_refused, 0u);
  EXPECT_EQ(stats.bad_signal_frame, 0u);
  EXPECT_EQ(stats.unknown_registers, 0u);
  EXPECT_GE(compared->checked, stats.fdes);
  // What rows cannot say: longjmp (libc, ld.so), and a CFA found by multiplication in libcrypto's assembly.
  EXPECT_LE(stats.bad_stack_pointer, 8u);
  EXPECT_LE(stats.bad_cfa_expression, 3u);
  EXPECT_EQ(stats.bad_cfa + stats.bad_return_address, 0u);
  if (stats.bad_stack_pointer + stats.bad_cfa_expression == 0) {
    EXPECT_EQ(compared->unsupported, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, InstalledFile,
                         testing::Values(kLibc, kLoader, "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/python3",
                                         "/usr/sbin/mariadbd", "/usr/sbin/apache2",
                                         "/usr/lib/x86_64-linux-gnu/libpcre2-8.so.0",
                                         "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
                                         "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"));

TEST(Rows, SizesOfWellKnownFiles) {
  const UniqueFd libc = open_to_read(kLibc);
  const auto table = build_rows(libc.get(), "libc");
  ASSERT_TRUE(table);
  EXPECT_LE(table->bytes(), 256u * 1024);
  EXPECT_LE(table->rules.size(), 8u);
  const UniqueFd mariadbd = open_to_read("/usr/sbin/mariadbd");
  if (!mariadbd) GTEST_SKIP() << "mariadbd is not installed";
  const auto large = build_rows(mariadbd.get(), "mariadbd");
  ASSERT_TRUE(large);
  EXPECT_LE(large->bytes(), 1536u * 1024);
}

TEST(Rows, LibcHoldsRootsSignalFrameAndVfork) {
  const auto compared = compare_file(kLibc);
  ASSERT_TRUE(compared);
  EXPECT_GT(compared->signals, 0u);
  EXPECT_GT(compared->roots, 0u);
  const auto& rules = compared->table.rules;
  const auto signal =
      std::find_if(rules.begin(), rules.end(), [](const usc_rule& rule) { return rule.cfa_kind == USC_CFA_SIGNAL; });
  ASSERT_NE(signal, rules.end());
  EXPECT_EQ(signal->cfa_off, 40);
  const auto plt =
      std::find_if(rules.begin(), rules.end(), [](const usc_rule& rule) { return rule.cfa_kind == USC_CFA_PLT; });
  ASSERT_NE(plt, rules.end());
  EXPECT_EQ(plt->cfa_off, 11);
  const auto vfork = std::find_if(rules.begin(), rules.end(), [](const usc_rule& rule) {
    return rule.ra_kind == USC_RA_REG && rule.ra_reg == USC_REG_RDI;
  });
  ASSERT_NE(vfork, rules.end());
  EXPECT_EQ(vfork->cfa_kind, USC_CFA_REG);
  EXPECT_EQ(vfork->cfa_reg, USC_REG_RSP);
  EXPECT_EQ(vfork->cfa_off, 0);
}

// The same places with rows that tell of all registers: what compact rows say stands in them too.
TEST(Rows, AllRegistersAgreeWithCompactRows) {
  const char* path = kLibc;
  const UniqueFd fd = open_to_read(path);
  auto compact = build_rows(fd.get(), path);
  auto whole = build_rows(fd.get(), path, RowDetail::kAllRegisters);
  ASSERT_TRUE(compact && whole);
  ASSERT_TRUE(check_rows(*whole));
  EXPECT_GT(whole->rules.size(), compact->rules.size());
  const usc_file_rows compact_place = place_of(*compact);
  const usc_file_rows whole_place = place_of(*whole);
  TestMemory memory = [](std::uint64_t at, std::uint64_t* word) {
    *word = made_up_word(at);
    return true;
  };
  std::uint64_t steps = 0;
  for (std::uint64_t offset = compact->text_start; offset < compact->text_end; offset += 3) {
    usc_frame one = made_up_frame(offset);
    usc_frame other = one;
    const int first = usc_step(&one, usc_row_find(&*compact, &compact_place, offset, 0), &memory, &*compact);
    const int second = usc_step(&other, usc_row_find(&*whole, &whole_place, offset, 0), &memory, &*whole);
    ASSERT_EQ(first, second) << offset;
    ASSERT_EQ(one.pc, other.pc) << offset;
    ASSERT_EQ(one.regs[USC_REG_RSP], other.regs[USC_REG_RSP]) << offset;
    ASSERT_EQ(one.regs[USC_REG_RBP], other.regs[USC_REG_RBP]) << offset;
    ASSERT_EQ(one.known & ~other.known, 0u) << offset;
    steps++;
  }
  EXPECT_GT(steps, 100'000u);
}

// glibc's clone and clone3 end their FDEs before their system call instructions. These are taken in, and behind them,
// only for an interrupted pc, the row before the hole holds.
TEST(Rows, SystemCallBehindAnFdeBelongsToIt) {
  const UniqueFd fd = open_to_read(kLibc);
  auto table = build_rows(fd.get(), "libc");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->stats.syscalls_taken_in, 2u);
  const usc_file_rows place = place_of(*table);
  const std::vector<char> text = bytes_of(kLibc);
  const char clone3[] = {'\xb8', '\xb3', '\x01', '\x00', '\x00', '\x0f', '\x05'};  // mov $435,%eax; syscall
  const auto found = std::search(text.begin(), text.end(), std::begin(clone3), std::end(clone3));
  ASSERT_NE(found, text.end());
  const auto behind = static_cast<std::uint64_t>(found - text.begin()) + sizeof(clone3);
  EXPECT_EQ(usc_row_find(&*table, &place, behind, 1), USC_RULE_COMPACT(USC_RULE_RSP, 1, 0));
  EXPECT_EQ(usc_row_find(&*table, &place, behind, 0), USC_RULE_NONE);
}

TEST(Rows, ExactOffsetAtTheStartOfAHoleTakesTheRowBefore) {
  const UniqueFd fd = open_to_read(kLibc);
  auto table = build_rows(fd.get(), "libc");
  ASSERT_TRUE(table);
  const usc_file_rows place = place_of(*table);
  std::uint64_t holes = 0;
  for (std::size_t i = 1; i < table->rows.size(); i++) {
    const usc_row& row = table->rows[i];
    if (USC_RULE_KIND(row.rule) != USC_RULE_NONE) continue;
    holes++;
    ASSERT_EQ(usc_row_find(&*table, &place, row.offset, 0), USC_RULE_NONE) << row.offset;
    ASSERT_EQ(usc_row_find(&*table, &place, row.offset, 1), table->rows[i - 1].rule) << row.offset;
    if (row.offset + 1 < table->text_end && table->rows[i + 1].offset > row.offset + 1) {
      ASSERT_EQ(usc_row_find(&*table, &place, row.offset + 1, 1), USC_RULE_NONE);
    }
  }
  EXPECT_GT(holes, 1000u);
}

TEST(Rows, VdsoEqualsLibdw) {
  const auto image = vdso_image();
  ASSERT_FALSE(image.empty());
  auto table = vdso_rows();
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_TRUE(check_rows(*table));
  EXPECT_GE(table->stats.fdes, 4u);
  auto facts = read_elf_facts_from_memory(image, "vdso");
  ASSERT_TRUE(facts);
  auto elf = open_elf_in_memory(image, "vdso");
  ASSERT_TRUE(elf);
  const CfiHandle eh(dwarf_getcfi_elf(elf->get()));
  ASSERT_TRUE(eh);
  Comparison comparison(*table, *facts, eh.get(), nullptr);
  for (std::uint64_t offset = table->text_start; offset < table->text_end; offset++) comparison.at(offset);
  EXPECT_EQ(comparison.wrong, 0u);
  EXPECT_GT(comparison.checked, 500u);
}

// ---- small programs made on the spot ----

class Compiled : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/uscope-rows-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }

  std::string compile(const std::string& source, const std::string& flags, const std::string& suffix = ".c") {
    const std::string input = folder_ + "/in" + suffix;
    std::ofstream(input) << source;
    const std::string output = folder_ + "/out" + std::to_string(++count_);
    EXPECT_EQ(std::system(("gcc -w -O2 " + flags + " -o " + output + " " + input).c_str()), 0);
    return output;
  }

  std::string folder_;
  int count_ = 0;
};

constexpr const char* kProgram = R"(
  int puts(const char*); void* alloca(unsigned long);
  __attribute__((noinline)) int inner(int n, char* b) { __asm__ volatile("" :: "r"(b)); return n + puts("x"); }
  __attribute__((noinline)) int aligned(int n) {
    char room[64] __attribute__((aligned(64)));
    char* more = __builtin_alloca(n * 16);
    return inner(n, room) + inner(n + 1, more) + inner(n, room); }
  __attribute__((noinline)) int pushes(int a, int b, int c, int d, int e, int f, int g, int h) {
    return inner(a + g, 0) + inner(b + h, 0) + a + b + c + d + e + f; }
  int main(int n, char** v) { return aligned(n) + pushes(n, n + 1, 3, 4, 5, 6, 7, 8); })";

TEST_F(Compiled, RealignedFramesNeedADereference) {
  const auto compared = compare_file(compile(kProgram, "-fomit-frame-pointer"));
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->unsupported, 0u);
  const auto& rules = compared->table.rules;
  EXPECT_TRUE(std::any_of(rules.begin(), rules.end(), [](const usc_rule& rule) {
    return rule.cfa_kind == USC_CFA_DEREF && rule.cfa_reg == USC_REG_RBP && rule.save_kind[1] == USC_SAVE_DEREF;
  }));
  EXPECT_TRUE(std::any_of(rules.begin(), rules.end(),
                          [](const usc_rule& rule) { return rule.cfa_kind == USC_CFA_REG && rule.cfa_reg == 10; }));
}

TEST_F(Compiled, DebugFrameStandsInWhereThereIsNoEhFrame) {
  const std::string flags = "-g -fno-asynchronous-unwind-tables -fno-exceptions -nostartfiles -Wl,-emain ";
  for (const char* extra : {"", "-gz=zlib", "-gz=zlib-gnu", "-gdwarf-4"}) {
    const auto compared = compare_file(compile(kProgram, flags + extra));
    ASSERT_TRUE(compared) << extra;
    EXPECT_GE(compared->table.stats.fdes, 4u) << extra;
    EXPECT_EQ(compared->unsupported, 0u) << extra;
    EXPECT_EQ(compared->table.stats.entry_roots, 0u) << extra;
  }
}

TEST_F(Compiled, BothSectionsTogether) {
  // C's functions in .debug_frame, the start files' in .eh_frame: as in Go programs with C parts.
  const auto compared = compare_file(compile(kProgram, "-g -fno-asynchronous-unwind-tables -fno-exceptions"));
  ASSERT_TRUE(compared);
  EXPECT_GE(compared->table.stats.fdes, 5u);
}

TEST_F(Compiled, EntryWithoutAnFdeIsTheRoot) {
  const std::string path =
      compile(".globl _start\n_start: xor %ebp,%ebp\n mov $60,%eax\n syscall\n hlt\n", "-nostdlib -static", ".S");
  const UniqueFd fd = open_to_read(path);
  auto table = build_rows(fd.get(), path);
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->stats.entry_roots, 1u);
  EXPECT_TRUE(check_rows(*table));
  const auto facts = read_elf_facts(fd.get(), path);
  ASSERT_TRUE(facts);
  const auto entry = offset_of_address(facts->exec_segments, facts->entry);
  ASSERT_TRUE(entry);
  const usc_file_rows place = place_of(*table);
  EXPECT_EQ(usc_row_find(&*table, &place, *entry + 9, 1), USC_RULE_ROOT);
}

TEST_F(Compiled, SectionHeadersAreNotNeeded) {
  const std::string path = compile(kProgram, "-fomit-frame-pointer -s");
  const UniqueFd whole = open_to_read(path);
  auto expected = build_rows(whole.get(), path);
  ASSERT_TRUE(expected);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  Elf64_Ehdr header;
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = 0;
  file.seekp(0);
  file.write(reinterpret_cast<const char*>(&header), sizeof(header));
  file.close();
  const UniqueFd bare = open_to_read(path);
  auto table = build_rows(bare.get(), path);
  ASSERT_TRUE(table) << table.error().what;
  ASSERT_EQ(table->rows.size(), expected->rows.size());
  EXPECT_EQ(std::memcmp(table->rows.data(), expected->rows.data(), table->rows.size() * sizeof(usc_row)), 0);
}

// What rows cannot say must not become a wrong frame.
TEST_F(Compiled, UnsupportedRulesBreakTheWalk) {
  const std::string path = compile(R"(
    .globl f
    f: .cfi_startproc
    .cfi_escape 0x0f,8,0x77,8,0x79,0,0x38,0x1e,0x22,0x06  /* CFA = *(rsp + 8 + r9 * 8) */
    nop
    .cfi_endproc
    g: .cfi_startproc
    .cfi_register 7, 8            /* rsp in r8 */
    nop
    .cfi_endproc
    h: .cfi_startproc
    .cfi_def_cfa 17, 8            /* CFA by xmm0 */
    nop
    .cfi_endproc
    i: .cfi_startproc
    .cfi_escape 0x16,16,2,0x70,0  /* the return address is rax's value */
    nop
    .cfi_endproc
    j: .cfi_startproc
    .cfi_signal_frame
    nop
    .cfi_endproc
    k: .cfi_startproc
    .cfi_undefined rip
    nop
    .cfi_endproc
    l: .cfi_startproc
    .cfi_same_value rip
    nop
    .cfi_endproc
  )",
                                   "-shared -nostdlib", ".S");
  const UniqueFd fd = open_to_read(path);
  auto table = build_rows(fd.get(), path);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->stats.fdes, 7u);
  EXPECT_EQ(table->stats.bad_cfa_expression, 1u);
  EXPECT_EQ(table->stats.bad_stack_pointer, 1u);
  EXPECT_EQ(table->stats.bad_cfa, 1u);
  EXPECT_EQ(table->stats.bad_return_address, 2u);
  EXPECT_EQ(table->stats.bad_signal_frame, 1u);
  const usc_file_rows place = place_of(*table);
  TestMemory memory = [](std::uint64_t, std::uint64_t* word) { return *word = 1, true; };
  const std::uint64_t first = table->rows[0].rule == USC_RULE_NONE ? table->rows[1].offset : table->rows[0].offset;
  for (std::uint64_t i = 0; i < 7; i++) {
    usc_frame frame = made_up_frame(first + i);
    const int expected = i == 5 ? USC_STEP_ROOT : USC_STEP_BROKEN(USC_BROKEN_BAD_RULE);
    EXPECT_EQ(usc_step(&frame, usc_row_find(&*table, &place, first + i, 1), &memory, &*table), expected) << i;
  }
}

// ---- damaged input ----

TEST_F(Compiled, CorruptEhFrameNeverCrashesAndGivesSoundTables) {
  const std::vector<char> original = bytes_of(kLibc);
  const UniqueFd libc = open_to_read(kLibc);
  auto elf = open_elf(libc.get(), "libc");
  ASSERT_TRUE(elf);
  std::uint64_t at = 0;
  std::uint64_t size = 0;
  std::size_t names = 0;
  elf_getshdrstrndx(elf->get(), &names);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf->get(), section));) {
    const Elf64_Shdr* header = elf64_getshdr(section);
    if (std::string(elf_strptr(elf->get(), names, header->sh_name)) != ".eh_frame") continue;
    at = header->sh_offset;
    size = header->sh_size;
  }
  ASSERT_GT(size, 100'000u);
  std::mt19937_64 random(7);
  std::uint64_t refused = 0;
  std::uint64_t different = 0;
  auto expected =
      build_rows_from_memory({reinterpret_cast<const std::byte*>(original.data()), original.size()}, "libc");
  ASSERT_TRUE(expected);
  for (int round = 0; round < 200; round++) {
    std::vector<char> damaged = original;
    const int flips = 1 << (round % 8);
    for (int i = 0; i < flips; i++) damaged[at + random() % size] ^= static_cast<char>(1u << random() % 8);
    auto table =
        build_rows_from_memory({reinterpret_cast<const std::byte*>(damaged.data()), damaged.size()}, "damaged");
    ASSERT_TRUE(table) << table.error().what;
    const auto sound = check_rows(*table);
    ASSERT_TRUE(sound) << sound.error().what << " in round " << round;
    refused += table->stats.fdes_refused;
    different += table->rows.size() != expected->rows.size();
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(different, 50u);
}

TEST_F(Compiled, DamagedHeadersAreErrorsOrSoundTables) {
  const std::vector<char> original = bytes_of(compile(kProgram, "-g"));
  std::mt19937_64 random(11);
  const auto try_one = [](const std::vector<char>& bytes) {
    auto table = build_rows_from_memory({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, "damaged");
    if (!table) {
      EXPECT_NE(table.error().what, "");
      return;
    }
    const auto sound = check_rows(*table);
    EXPECT_TRUE(sound) << sound.error().what;
  };
  for (int round = 0; round < 2000; round++) {
    std::vector<char> damaged = original;
    // In the ELF header, the program headers, or the section headers at the end.
    const bool tail = round % 2 == 1;
    const std::size_t at = tail ? damaged.size() - 1 - random() % 2000 : random() % 900;
    damaged[at] = static_cast<char>(random());
    try_one(damaged);
  }
  for (std::size_t size = 0; size < original.size(); size += 97)
    try_one(std::vector<char>(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(size)));
}

}  // namespace
}  // namespace uscope::symbolizer

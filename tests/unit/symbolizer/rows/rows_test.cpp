// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows of files that are installed, and of the vdso.
#include <gtest/gtest.h>

#include "symbolizer/elf/vdso_image.h"
#include "symbolizer/rows/vdso.h"
#include "tests/unit/symbolizer/rows/rows_against_libdw.h"

namespace uscope::symbolizer {
namespace {

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
                                         "/usr/lib/x86_64-linux-gnu/libpcre2-8.so.0"));
#ifndef USCOPE_SANITIZED  // they take most of a minute there
INSTANTIATE_TEST_SUITE_P(LargeRows, InstalledFile,
                         testing::Values("/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
                                         "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"));
#endif

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
  EXPECT_EQ(vfork->cfa_reg, USC_REG_SP);
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
    const int first = usc_step(&one, usc_row_find(&*compact, &compact_place, offset), &memory, &*compact);
    const int second = usc_step(&other, usc_row_find(&*whole, &whole_place, offset), &memory, &*whole);
    ASSERT_EQ(first, second) << offset;
    ASSERT_EQ(one.pc, other.pc) << offset;
    ASSERT_EQ(one.regs[USC_REG_SP], other.regs[USC_REG_SP]) << offset;
    ASSERT_EQ(one.regs[USC_REG_FP], other.regs[USC_REG_FP]) << offset;
    ASSERT_EQ(one.known & ~other.known, 0u) << offset;
    steps++;
  }
  EXPECT_GT(steps, 100'000u);
}

// glibc's clone and clone3 end their FDEs before their system call instructions. These are taken in, and the byte
// behind them: the pc of whoever makes the call.
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
  EXPECT_EQ(usc_row_find(&*table, &place, behind), USC_RULE_COMPACT(USC_RULE_SP, 1, 0));
  EXPECT_EQ(usc_row_find(&*table, &place, behind + 1), USC_RULE_NONE);
}

// A hole begins where the function before it ends: only behind a system call is its first byte that function's.
TEST(Rows, AFunctionEndsWithItsFde) {
  const UniqueFd fd = open_to_read(kLibc);
  auto table = build_rows(fd.get(), "libc");
  ASSERT_TRUE(table);
  const usc_file_rows place = place_of(*table);
  const std::vector<char> text = bytes_of(kLibc);
  std::uint64_t holes = 0;
  std::uint64_t behind_calls = 0;
  for (std::size_t i = 1; i < table->rows.size(); i++) {
    const usc_row& row = table->rows[i];
    if (USC_RULE_KIND(row.rule) != USC_RULE_NONE) continue;
    holes++;
    ASSERT_EQ(usc_row_find(&*table, &place, row.offset), USC_RULE_NONE) << row.offset;
    ASSERT_EQ(usc_row_find(&*table, &place, row.offset - 1), table->rows[i - 1].rule) << row.offset;
    const auto ends_with_call = [&](std::size_t end) {
      return text.at(end - 2) == '\x0f' && text.at(end - 1) == '\x05';
    };
    ASSERT_FALSE(ends_with_call(row.offset)) << row.offset;
    if (ends_with_call(row.offset - 1)) behind_calls++;
  }
  EXPECT_GT(holes, 1000u);
  EXPECT_GE(behind_calls, 2u);
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

}  // namespace
}  // namespace uscope::symbolizer

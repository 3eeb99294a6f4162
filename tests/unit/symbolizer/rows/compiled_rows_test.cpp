// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows of small programs that are made on the spot, and of damaged files.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "tests/support/temporary_folder.h"
#include "tests/unit/symbolizer/rows/rows_against_libdw.h"

namespace uscope::symbolizer {
namespace {

class Compiled : public testing::Test {
 protected:
  std::string compile(const std::string& source, const std::string& flags, const std::string& suffix = ".c") {
    const std::string input = folder_.file("in" + suffix);
    std::ofstream(input) << source;
    const std::string output = folder_.file("out" + std::to_string(++count_));
    EXPECT_EQ(std::system(("gcc -w -O2 " + flags + " -o " + output + " " + input).c_str()), 0);
    return output;
  }

  test::TemporaryFolder folder_;
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
    return rule.cfa_kind == USC_CFA_DEREF && rule.cfa_reg == USC_REG_FP && rule.save_kind[1] == USC_SAVE_DEREF;
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
  EXPECT_EQ(usc_row_find(&*table, &place, *entry + 9), USC_RULE_ROOT);
}

// As musl's __restore_rt. Whoever is in rt_sigreturn is at the byte behind it.
TEST_F(Compiled, ASignalTrampolineWithoutAnFdeHoldsBehindItsCall) {
  const std::string path = compile(R"(
    f: .cfi_startproc
    ret
    .cfi_endproc
    .balign 16
    nop
    mov $15,%rax
    syscall
    .balign 16
  )",
                                   "-shared -nostdlib", ".S");
  const UniqueFd fd = open_to_read(path);
  auto table = build_rows(fd.get(), path);
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->stats.signal_trampolines, 1u);
  const std::vector<char> bytes = bytes_of(path);
  const char call[] = {'\x48', '\xc7', '\xc0', '\x0f', '\x00', '\x00', '\x00', '\x0f', '\x05'};
  const auto found = std::search(bytes.begin(), bytes.end(), std::begin(call), std::end(call));
  ASSERT_NE(found, bytes.end());
  const auto start = static_cast<std::uint64_t>(found - bytes.begin());
  const usc_file_rows place = place_of(*table);
  const std::uint32_t rule = usc_row_find(&*table, &place, start);
  EXPECT_EQ(USC_RULE_KIND(rule), std::uint32_t{USC_RULE_SHARED});
  EXPECT_EQ(usc_row_find(&*table, &place, start + sizeof(call)), rule);
  EXPECT_EQ(usc_row_find(&*table, &place, start + sizeof(call) + 1), USC_RULE_NONE);
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
    EXPECT_EQ(usc_step(&frame, usc_row_find(&*table, &place, first + i), &memory, &*table), expected) << i;
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

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is known of code that no unwind information describes, by its bytes.
#include "symbolizer/rows/known_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "symbolizer/code/crt_code.h"
#include "symbolizer/code/text_reader.h"
#include "symbolizer/reader/row_cache.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {
namespace {

// Debian 12's libjsoncpp, 0x11544.
constexpr std::array<unsigned char, 49> kDtorsAux = {
    0x80, 0x3d, 0x55, 0x75, 0x02, 0x00, 0x00, 0x75, 0x2b, 0x55, 0x48, 0x83, 0x3d, 0xca, 0x69, 0x02, 0x00,
    0x00, 0x48, 0x89, 0xe5, 0x74, 0x0c, 0x48, 0x8b, 0x3d, 0x26, 0x75, 0x02, 0x00, 0xe8, 0xa9, 0xdf, 0xff,
    0xff, 0xe8, 0x64, 0xff, 0xff, 0xff, 0xc6, 0x05, 0x2d, 0x75, 0x02, 0x00, 0x01, 0x5d, 0xc3};

std::vector<unsigned char> code_with(std::span<const unsigned char> function, std::size_t at, std::size_t bytes) {
  std::vector<unsigned char> code(bytes, 0xcc);
  std::copy(function.begin(), function.end(), code.begin() + static_cast<std::ptrdiff_t>(at));
  return code;
}

TEST(CrtFunctions, RulesOfEachInstruction) {
  const auto code = code_with(kDtorsAux, 100, 300);
  const auto found = find_crt_functions(std::as_bytes(std::span(code)));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].start, 100u);
  EXPECT_EQ(found[0].size, kDtorsAux.size());
  const std::array<std::pair<std::size_t, std::uint32_t>, 4> expected = {{
      {0, USC_RULE_COMPACT(USC_RULE_SP, 1, 0)},
      {10, USC_RULE_COMPACT(USC_RULE_SP, 2, 2)},  // behind push %rbp
      {21, USC_RULE_COMPACT(USC_RULE_FP, 2, 2)},  // behind mov %rsp,%rbp
      {48, USC_RULE_COMPACT(USC_RULE_SP, 1, 0)},  // behind pop %rbp
  }};
  for (std::size_t i = 0; i < expected.size(); i++) {
    EXPECT_EQ(found[0].rows[i].offset, expected[i].first) << i;
    EXPECT_EQ(found[0].rows[i].rule, expected[i].second) << i;
  }
}

TEST(CrtFunctions, CallThroughTheGot) {
  std::vector<unsigned char> code(kDtorsAux.begin(), kDtorsAux.end());
  code[30] = 0xff;
  code.insert(code.begin() + 31, 0x15);
  const auto found = find_crt_functions(std::as_bytes(std::span(code)));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].size, kDtorsAux.size() + 1);
}

TEST(CrtFunctions, NothingElseIsTaken) {
  for (std::size_t bytes = 0; bytes < kDtorsAux.size(); bytes++)
    EXPECT_TRUE(find_crt_functions(std::as_bytes(std::span(kDtorsAux).first(bytes))).empty()) << bytes;
  for (const std::size_t at : {0, 1, 7, 9, 12, 17, 18, 20, 21, 24, 30, 35, 41, 46, 47, 48}) {
    auto code = kDtorsAux;
    code[at] ^= 0x40;
    EXPECT_TRUE(find_crt_functions(std::as_bytes(std::span(code))).empty()) << at;
  }
}

// What start files put into .init and .fini: Debian's libraries and programs, static ones, Ubuntu's (endbr64), and
// those whose crtbegin.o registers constructors, from there.
constexpr std::array<unsigned char, 9> kFini = {0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3};
constexpr std::array<unsigned char, 23> kInit = {0x48, 0x83, 0xec, 8,    0x48, 0x8b, 0x05, 0xa5, 0xef, 0x0c, 0,   0x48,
                                                 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8,    0xc3};

std::vector<unsigned char> joined(std::span<const unsigned char> a, std::span<const unsigned char> b) {
  std::vector<unsigned char> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

void expect_start_file_function(const std::vector<unsigned char>& function) {
  const std::size_t align = function[0] == 0xf3 ? 8 : 4;
  const auto code = code_with(function, 50, 200);
  const auto found = find_crt_functions(std::as_bytes(std::span(code)));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].start, 50u);
  EXPECT_EQ(found[0].size, function.size());
  ASSERT_EQ(found[0].row_count, 3u);
  const std::array<std::pair<std::size_t, std::uint32_t>, 3> expected = {{
      {0, USC_RULE_COMPACT(USC_RULE_SP, 1, 0)},
      {align, USC_RULE_COMPACT(USC_RULE_SP, 2, 0)},                // behind sub $8,%rsp
      {function.size() - 1, USC_RULE_COMPACT(USC_RULE_SP, 1, 0)},  // behind add $8,%rsp
  }};
  for (std::size_t i = 0; i < expected.size(); i++) {
    EXPECT_EQ(found[0].rows[i].offset, expected[i].first) << i;
    EXPECT_EQ(found[0].rows[i].rule, expected[i].second) << i;
  }
}

TEST(CrtFunctions, InitAndFini) {
  const std::array<unsigned char, 4> endbr = {0xf3, 0x0f, 0x1e, 0xfa};
  const std::array<unsigned char, 5> call = {0xe8, 1, 2, 3, 4};
  std::vector<unsigned char> of_static(kInit.begin(), kInit.end());
  const std::array<unsigned char, 7> no_start = {0x48, 0xc7, 0xc0, 0, 0, 0, 0};  // mov $0,%rax
  std::copy(no_start.begin(), no_start.end(), of_static.begin() + 4);
  for (const std::span<const unsigned char> function :
       {std::span<const unsigned char>(kFini), std::span<const unsigned char>(kInit),
        std::span<const unsigned char>(of_static)}) {
    std::vector<unsigned char> calling(function.begin(), function.end());
    calling.insert(calling.end() - 5, call.begin(), call.end());
    calling.insert(calling.end() - 5, call.begin(), call.end());
    expect_start_file_function({function.begin(), function.end()});
    expect_start_file_function(joined(endbr, function));
    expect_start_file_function(calling);
    expect_start_file_function(joined(endbr, calling));
  }
}

TEST(CrtFunctions, NothingElseIsInitOrFini) {
  for (const std::span<const unsigned char> function :
       {std::span<const unsigned char>(kFini), std::span<const unsigned char>(kInit)}) {
    for (std::size_t bytes = 0; bytes < function.size(); bytes++)
      EXPECT_TRUE(find_crt_functions(std::as_bytes(function.first(bytes))).empty()) << bytes;
    for (std::size_t at = 0; at < function.size(); at++) {
      if (function.size() == kInit.size() && at >= 7 && at < 11) continue;  // where __gmon_start__ is
      std::vector<unsigned char> code(function.begin(), function.end());
      code[at] ^= 0x40;
      EXPECT_TRUE(find_crt_functions(std::as_bytes(std::span(code))).empty()) << at;
    }
  }
}

class Folder : public testing::Test {
 protected:
  std::string build(const std::string& source, const std::string& flags) {
    std::ofstream(path_ + "/in.c") << source;
    EXPECT_EQ(std::system(("gcc -w " + flags + " -o " + path_ + "/out " + path_ + "/in.c").c_str()), 0);
    return path_ + "/out";
  }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_.path();
};

// What gcc puts into libraries today, found where the symbol table says that it is.
TEST_F(Folder, LibrariesOfThisCompiler) {
  const std::string path = build("int f(int n) { return n + 1; }", "-shared -fPIC");
  ASSERT_EQ(std::system(("nm " + path + " | grep __do_global_dtors_aux$ | cut -d' ' -f1 > " + path_ + "/at").c_str()),
            0);
  std::string at;
  std::ifstream(path_ + "/at") >> at;
  const UniqueFd fd = open_to_read(path);
  auto table = build_rows(fd.get(), path);
  auto facts = read_elf_facts(fd.get(), path);
  ASSERT_TRUE(table && facts);
  EXPECT_TRUE(check_rows(*table));
  EXPECT_EQ(table->stats.crt_rows, 4u + 3u + 3u);  // __do_global_dtors_aux, _init, _fini
  const auto start = offset_of_address(facts->exec_segments, std::stoull(at, nullptr, 16));
  ASSERT_TRUE(start);
  const usc_file_rows place = place_of(*table);
  // Somewhere behind its start lies the part with a frame, and it is left again before 56 bytes are over.
  std::size_t framed = 0;
  for (std::uint64_t offset = *start; offset < *start + 56; offset++)
    if (usc_row_find(&*table, &place, offset) == USC_RULE_COMPACT(USC_RULE_FP, 2, 2)) framed++;
  EXPECT_EQ(framed, 27u);
}

std::vector<unsigned char> text_with_frames(std::size_t bytes, std::size_t each) {
  constexpr std::array<unsigned char, 4> kPrologue = {0x55, 0x48, 0x89, 0xe5};
  std::vector<unsigned char> code(bytes, 0x90);
  for (std::size_t at = 0; at + kPrologue.size() <= bytes; at += each)
    std::copy(kPrologue.begin(), kPrologue.end(), code.begin() + static_cast<std::ptrdiff_t>(at));
  return code;
}

TEST(V8Hole, TheLargeOneFullOfFrames) {
  const auto dense = text_with_frames(400 << 10, 1024);
  TextReader text{std::as_bytes(std::span(dense))};
  const std::array<OffsetRange, 3> holes = {{{16, 4096}, {8192, 300 << 10}, {310 << 10, 390 << 10}}};
  const OffsetRange found = find_v8_hole(holes, text);
  EXPECT_EQ(found.start, 8192u);
  EXPECT_EQ(found.end, 300u << 10);
  // The first one alone is too small to be believed.
  EXPECT_EQ(find_v8_hole(std::span(holes).first(1), text).end, 0u);
}

TEST(V8Hole, FewFramesAreNoFrames) {
  const auto sparse = text_with_frames(400 << 10, 8192);
  TextReader text{std::as_bytes(std::span(sparse))};
  const std::array<OffsetRange, 1> holes = {{{0, 400 << 10}}};
  EXPECT_EQ(find_v8_hole(holes, text).end, 0u);
  const std::vector<unsigned char> none(400 << 10, 0x55);
  TextReader other{std::as_bytes(std::span(none))};
  EXPECT_EQ(find_v8_hole(holes, other).end, 0u);
}

// Much text and no build-id: the rows are built each time, and right.
// Its text is not read for the key: the file's times stand for it.
TEST_F(Folder, MuchTextWithoutBuildIdIsCachedAsTheFileThatItIs) {
  const std::string source = R"(__asm__(".text\n.skip 35000000, 0x90\n"); int main(void) { return 0; })";
  const std::string path = build(source, "-Wl,--build-id=none");
  const UniqueFd fd = open_to_read(path);
  const auto built_and_read = [&] {
    RowCache cache(path_ + "/cache");
    const auto table = cache.get(fd.get(), path);
    EXPECT_TRUE(table && check_rows(**table) && (*table)->stats.fdes > 0);
    return std::pair(cache.stats().built, cache.stats().hits);
  };
  EXPECT_EQ(built_and_read(), std::pair(std::uint64_t{1}, std::uint64_t{0}));
  EXPECT_EQ(built_and_read(), std::pair(std::uint64_t{0}, std::uint64_t{1}));
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_EQ(built_and_read(), std::pair(std::uint64_t{1}, std::uint64_t{0}));
}

}  // namespace
}  // namespace uscope::symbolizer

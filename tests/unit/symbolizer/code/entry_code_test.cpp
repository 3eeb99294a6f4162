// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// _start of glibc's crt1.o, in the forms that its versions have, and in programs that the compiler here makes.
#include "symbolizer/code/entry_code.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes kBegin{0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e, 0x48, 0x89, 0xe2, 0x48, 0x83, 0xe4, 0xf0, 0x50, 0x54};
const Bytes kNothing{0x45, 0x31, 0xc0, 0x31, 0xc9};
const Bytes kLea{0x48, 0x8d, 0x3d, 0x75, 0xfe, 0xff, 0xff};  // 0x18b back
const Bytes kMov{0x48, 0xc7, 0xc7, 0xa0, 0x7c, 0x62, 0x00};
const Bytes kMovFromGot{0x48, 0x8b, 0x3d, 1, 2, 3, 4};
const Bytes kCall{0xff, 0x15, 1, 2, 3, 4, 0xf4};

std::optional<EntryCode> read_code(const std::vector<Bytes>& parts) {
  std::vector<std::byte> code;
  for (const Bytes& part : parts)
    for (const std::uint8_t byte : part) code.push_back(std::byte{byte});
  return read_entry_code(code, 0x4a4d0);
}

TEST(EntryCode, SaysWhereMainIs) {
  EXPECT_EQ(read_code({kBegin, kNothing, kLea, kCall})->main, 0x4a360U);
  EXPECT_EQ(read_code({{0xf3, 0x0f, 0x1e, 0xfa}, kBegin, kNothing, kLea, kCall})->main, 0x4a364U);
  EXPECT_EQ(read_code({kBegin, kNothing, kMov, {0x67, 0xe8, 1, 2, 3, 4}})->main, 0x627ca0U);
  const Bytes older{0x4c, 0x8d, 0x05, 1, 2, 3, 4, 0x48, 0x8d, 0x0d, 1, 2, 3, 4};
  EXPECT_EQ(read_code({kBegin, older, kMov, kCall})->main, 0x627ca0U);
  const Bytes fixed{0x49, 0xc7, 0xc0, 1, 2, 3, 4, 0x48, 0xc7, 0xc1, 1, 2, 3, 4};
  EXPECT_EQ(read_code({kBegin, fixed, kMov, kCall})->main, 0x627ca0U);
}

TEST(EntryCode, MainMayBeInALibrary) {
  const auto entry = read_code({kBegin, kNothing, kMovFromGot, kCall});
  ASSERT_TRUE(entry);
  EXPECT_FALSE(entry->main);
}

TEST(EntryCode, OtherCodeSaysNothing) {
  EXPECT_FALSE(read_code({}));
  EXPECT_FALSE(read_code({kNothing, kLea, kCall}));
  EXPECT_FALSE(read_code({kBegin, kNothing, kLea}));
  EXPECT_FALSE(read_code({kBegin, kNothing, kLea, {0xc3}}));
  EXPECT_FALSE(read_code({kBegin, kNothing, {0x48, 0x8d, 0x3d, 0x75}}));
  EXPECT_FALSE(read_code({kBegin, kLea, kCall}));
}

TEST(EntryCode, NamesMainAndStartOfAStrippedProgram) {
  const TemporaryFolder folder;
  const std::string source =
      folder.write("p.c", "#include <stdio.h>\nint main(int c, char** v) { return puts(v[c > 1]); }\n");
  for (const std::string options : {"-O2 -pie -fPIE", "-O2 -no-pie", "-O2 -static"}) {
    const std::string whole = folder.file("whole");
    output_of("cc " + options + " -o '" + whole + "' '" + source + "'");
    std::map<std::string, std::uint64_t> known;
    for (const std::string& line : lines_of("nm '" + whole + "'"))
      if (const std::size_t end = line.rfind(' '); line.starts_with('0')) known[line.substr(end + 1)] = hex(line);
    ASSERT_TRUE(known.contains("main") && known.contains("_start")) << options;
    output_of("strip -s -o '" + folder.file("bare") + "' '" + whole + "'");
    const auto symbols = open_module(folder.file("bare"));
    ASSERT_TRUE(symbols);
    EXPECT_EQ(function_at(*symbols, known["main"] + 5, false), "main+5") << options;
    EXPECT_EQ(function_at(*symbols, known["_start"] + 33, false), "_start+33") << options;
  }
}

}  // namespace
}  // namespace uscope::symbolizer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/jit/perf_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "uscope/record.h"

namespace uscope::tracer {
namespace {

std::string names(std::string_view map, std::set<std::uint64_t> wanted, bool from_start = true) {
  std::string text;
  std::map<std::uint64_t, std::string> found;
  for (const PerfMapEntry& entry : find_in_perf_map(map, from_start, wanted)) {
    EXPECT_TRUE(entry.address >= entry.start && entry.address - entry.start < entry.size);
    found[entry.address] = entry.name;
  }
  for (const auto& [address, name] : found) text += std::to_string(address) + "=" + name + ";";
  for (const std::uint64_t address : wanted) text += std::to_string(address) + "?;";
  return text;
}

TEST(PerfMap, NamesAddressesInsideAnEntryOnly) {
  const std::string map = "10 10 first\n30 8 LazyCompile:~read a.js:1:1\n";
  EXPECT_EQ(names(map, {0xf, 0x10, 0x1f, 0x20, 0x30, 0x37, 0x38}),
            "16=first;31=first;48=LazyCompile:~read a.js:1:1;55=LazyCompile:~read a.js:1:1;15?;32?;56?;");
}

TEST(PerfMap, TheLastEntryHoldsWhereSeveralCoverAnAddress) {
  EXPECT_EQ(names("10 10 old\n18 8 newer\n10 4 newest\n", {0x10, 0x15, 0x18}), "16=newest;21=old;24=newer;");
}

TEST(PerfMap, TakesOtherSpellings) {
  EXPECT_EQ(names("0x10 0X10 with prefix\r\n", {0x10}), "16=with prefix;");
  EXPECT_EQ(names("00000000000000AB 1 capitals\n", {0xab}), "171=capitals;");
}

TEST(PerfMap, PassesOverWhatIsNoEntry) {
  const std::string map =
      "\n \n10\n10 \n10 10\n10 10 \nxyz 10 name\n10 xyz name\n-10 10 name\n 10 10 name\n10 0 empty\n"
      "fffffffffffffff0 20 beyond the end\n11111111111111111 10 too many digits\n";
  EXPECT_EQ(names(map, {0x10, 0xfffffffffffffff8}), "16?;18446744073709551608?;");
}

TEST(PerfMap, PassesOverLinesThatAreNotWhole) {
  EXPECT_EQ(names("10 10 whole\n10 10 under w", {0x10}), "16=whole;");
  EXPECT_EQ(names("10 10 cut off before\n20 10 whole\n", {0x10, 0x20}, false), "32=whole;16?;");
  EXPECT_EQ(names("10 10 no newline", {0x10}), "16?;");
  EXPECT_EQ(names("", {0x10}), "16?;");
}

TEST(PerfMap, CutsLongNames) {
  std::set<std::uint64_t> wanted = {0x10};
  const auto found = find_in_perf_map("10 10 " + std::string(100'000, 'n') + "\n", true, wanted);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, std::string(USC_JIT_NAME_BYTES, 'n'));
}

// Millions of entries, each over all addresses: every address is found once, from the end.
TEST(PerfMap, OverlappingEntriesCostNoMoreThanTheirBytes) {
  std::string map;
  for (int i = 0; i < 1'000'000; i++) map += "0 ffffffffffff x\n";
  map += "0 ffffffffffff last\n";
  std::set<std::uint64_t> wanted;
  for (std::uint64_t address = 0; address < 50'000; address++) wanted.insert(address * 64);
  const auto found = find_in_perf_map(map, true, wanted);
  ASSERT_EQ(found.size(), 50'000u);
  for (const PerfMapEntry& entry : found) ASSERT_EQ(entry.name, "last");
}

TEST(PerfMap, AnyBytesAreRead) {
  std::mt19937 random(7);
  const std::string alphabet("0123456789abcdefx \n\n\r\0\xff", 23);
  for (int round = 0; round < 2000; round++) {
    std::string map(random() % 200, ' ');
    for (char& byte : map) byte = alphabet[random() % alphabet.size()];
    std::set<std::uint64_t> wanted;
    for (int i = 0; i < 8; i++) wanted.insert(random() % 4096);
    const std::size_t before = wanted.size();
    const auto found = find_in_perf_map(map, round % 2 == 0, wanted);
    EXPECT_EQ(found.size() + wanted.size(), before);
    for (const PerfMapEntry& entry : found) {
      EXPECT_FALSE(entry.name.empty());
      EXPECT_TRUE(entry.address >= entry.start && entry.address - entry.start < entry.size);
    }
  }
}

}  // namespace
}  // namespace uscope::tracer

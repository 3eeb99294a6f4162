// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/cxx_library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kLow = 0x401000;

// `movabs $VALUE,%REGISTER` at each of these places in 3 MiB of code.
std::optional<std::uint64_t> first_of(std::uint64_t value, std::initializer_list<std::size_t> places,
                                      unsigned char rex = 0x48, unsigned char opcode = 0xb8) {
  std::vector<std::byte> code(3 << 20, std::byte{0x90});
  for (const std::size_t at : places) {
    code[at] = std::byte{rex};
    code[at + 1] = std::byte{opcode};
    std::memcpy(&code[at + 2], &value, sizeof(value));
  }
  const auto read = [&](std::uint64_t address, std::size_t size) {
    const auto begin = code.begin() + static_cast<std::ptrdiff_t>(address - kLow);
    return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  return find_exception_class(read, kLow, kLow + code.size());
}

TEST(CxxLibrary, BeginsWhereTheClassOfExceptionsIsCompared) {
  constexpr std::uint64_t kGnu = 0x474e5543432b2b00;
  EXPECT_EQ(first_of(kGnu, {0x2000, 0x5000}), kLow + 0x2000);
  EXPECT_EQ(first_of(-kGnu, {0x100}, 0x48, 0xbe), kLow + 0x100);     // gcc adds it
  EXPECT_EQ(first_of(kGnu + 1, {0x100}, 0x49, 0xbc), kLow + 0x100);  // %r12; "GNUCC++\1"
  EXPECT_EQ(first_of(0x434c4e47432b2b00, {0}), kLow);                // LLVM's
  EXPECT_EQ(first_of(0x4d4f5a0052555354, {0x100}), std::nullopt);    // Rust's: "MOZ\0RUST"
  EXPECT_EQ(first_of(kGnu + 2, {0x100}), std::nullopt);
  EXPECT_EQ(first_of(kGnu, {0x100}, 0x48, 0xc7), std::nullopt);  // another instruction
  EXPECT_EQ(first_of(kGnu, {}), std::nullopt);
}

TEST(CxxLibrary, IsFoundAcrossTheBlocksThatAreRead) {
  constexpr std::uint64_t kGnu = 0x474e5543432b2b00;
  for (const std::size_t at : {std::size_t{(1 << 20) - 10}, std::size_t{(1 << 20) - 9}, std::size_t{(1 << 20) - 1},
                               std::size_t{(3 << 20) - 10}})
    EXPECT_EQ(first_of(kGnu, {at}), kLow + at) << at;
  // Code that ends early.
  const auto none = [](std::uint64_t, std::size_t) { return std::vector<std::byte>(4); };
  EXPECT_EQ(find_exception_class(none, kLow, kLow + 100), std::nullopt);
}

}  // namespace
}  // namespace uscope::symbolizer

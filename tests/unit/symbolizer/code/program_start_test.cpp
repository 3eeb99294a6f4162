// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/program_start.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace uscope::symbolizer {
namespace {

std::vector<std::byte> machine_code(std::initializer_list<int> bytes) {
  std::vector<std::byte> out;
  for (const int byte : bytes) out.push_back(static_cast<std::byte>(byte));
  return out;
}

// Code at 0x1000, as much as is asked for.
CodeAt at_0x1000(std::vector<std::byte> bytes) {
  return [bytes = std::move(bytes)](std::uint64_t address, std::size_t size) {
    const std::size_t at = address - 0x1000;
    if (address < 0x1000 || at >= bytes.size()) return std::vector<std::byte>();
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(std::min(size, bytes.size() - at)));
  };
}

TEST(ProgramStart, OfGlibcIsACallWithMain) {
  // mov $0x2000,%rdi; call 0x3000
  const auto start = find_program_start(at_0x1000(machine_code({0x31, 0xed, 0x48, 0xc7, 0xc7, 0x00, 0x20, 0x00, 0x00,
                                                                0x67, 0xe8, 0xf1, 0x1f, 0x00, 0x00})),
                                        0x1000);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->main, 0x2000U);
  EXPECT_EQ(start->start_main, 0x3000U);
}

TEST(ProgramStart, OfMuslIsBehindACall) {
  // call 0x1008; …; 0x1008: lea 0x2000(%rip),%rdi; jmp 0x3000
  const auto start =
      find_program_start(at_0x1000(machine_code({0xe8, 0x03, 0x00, 0x00, 0x00, 0x90, 0x90, 0x90, 0x48, 0x8d,
                                                 0x3d, 0xf1, 0x0f, 0x00, 0x00, 0xe9, 0xec, 0x1f, 0x00, 0x00})),
                         0x1000);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->main, 0x2000U);
  EXPECT_EQ(start->start_main, 0x3000U);
}

TEST(ProgramStart, IsNoneWithoutADirectCall) {
  EXPECT_FALSE(
      find_program_start(at_0x1000(machine_code({0x48, 0xc7, 0xc7, 0, 0x20, 0, 0, 0xff, 0x15, 0, 0, 0, 0})), 0x1000));
  EXPECT_FALSE(find_program_start(at_0x1000(machine_code({0xc3})), 0x1000));
  EXPECT_FALSE(find_program_start(at_0x1000({}), 0x1000));
  EXPECT_FALSE(find_program_start(at_0x1000(machine_code({0xe8, 0xfb, 0xff, 0xff, 0xff})), 0x1000));  // calls itself
}

TEST(LibcStart, IsTheLowestOfWhatTheFirstFunctionRefersTo) {
  // At 0x3000: call 0x2f00; mov $0x2e00,%rdi; call 0x1800, which is the program's; call 0x4000
  const auto bytes = machine_code({0xe8, 0xfb, 0xfe, 0xff, 0xff, 0x48, 0xc7, 0xc7, 0x00, 0x2e, 0x00,
                                   0x00, 0xe8, 0xef, 0xe7, 0xff, 0xff, 0xe8, 0xea, 0x0f, 0x00, 0x00});
  EXPECT_EQ(find_libc_start(bytes, {.main = 0x2000, .start_main = 0x3000}, 0x1000), 0x2e00U);
  EXPECT_EQ(find_libc_start({}, {.main = 0x2000, .start_main = 0x3000}, 0x1000), 0x3000U);
}

bool hands_over(std::initializer_list<int> bytes) {
  return hands_arguments_over(machine_code(bytes), 0x1000, [](std::uint64_t called) { return called == 0x2000; });
}

TEST(HandsArgumentsOver, AsTheyAre) {
  EXPECT_TRUE(hands_over({0x48, 0x83, 0xec, 0x08, 0xe8, 0xf7, 0x0f, 0x00, 0x00}));   // sub $8,%rsp; call 0x2000
  EXPECT_FALSE(hands_over({0x48, 0x83, 0xec, 0x08, 0xe8, 0xf7, 0x1f, 0x00, 0x00}));  // another function
  EXPECT_TRUE(hands_over({0xff, 0x15, 0, 0, 0, 0}));                                 // call *…(%rip)
  EXPECT_FALSE(hands_over({0xff, 0xd0}));                                            // call *%rax
}

TEST(HandsArgumentsOver, FromWhereTheyWereKept) {
  // mov %edi,%ebx; mov %rsi,%rbp; call 0x3000; mov %rbp,%rsi; mov %ebx,%edi; call 0x2000
  EXPECT_TRUE(hands_over(
      {0x89, 0xfb, 0x48, 0x89, 0xf5, 0xe8, 0xf6, 0x1f, 0, 0, 0x48, 0x89, 0xee, 0x89, 0xdf, 0xe8, 0xec, 0x0f, 0, 0}));
  // mov %edi,-4(%rbp); mov %rsi,-16(%rbp); xor %edi,%edi; mov -16(%rbp),%rsi; mov -4(%rbp),%edi; call 0x2000
  EXPECT_TRUE(hands_over({0x89, 0x7d, 0xfc, 0x48, 0x89, 0x75, 0xf0, 0x31, 0xff, 0x48, 0x8b,
                          0x75, 0xf0, 0x8b, 0x7d, 0xfc, 0xe8, 0xeb, 0x0f, 0,    0}));
}

TEST(HandsArgumentsOver, NotOthers) {
  EXPECT_FALSE(hands_over({0x31, 0xff, 0xe8, 0xf9, 0x0f, 0, 0}));              // xor %edi,%edi
  EXPECT_FALSE(hands_over({0x48, 0x8d, 0x75, 0xf0, 0xe8, 0xf7, 0x0f, 0, 0}));  // lea -16(%rbp),%rsi
  EXPECT_FALSE(hands_over({0xe8, 0xfb, 0x1f, 0, 0, 0xe8, 0xf6, 0x0f, 0, 0}));  // a call before it may change both
  EXPECT_FALSE(hands_over({}));
}

}  // namespace
}  // namespace uscope::symbolizer

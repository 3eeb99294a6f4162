// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/probe_place.h"

#include <gtest/gtest.h>

#include <vector>

namespace uscope::symbolizer {
namespace {

std::optional<std::size_t> place_in(const std::vector<unsigned>& bytes, Prologue prologue = Prologue::kC) {
  std::vector<std::byte> code;
  for (const unsigned byte : bytes) code.push_back(static_cast<std::byte>(byte));
  return probe_place(code, prologue);
}

TEST(ProbePlace, TheFirstInstructionIfTheKernelEmulatesIt) {
  EXPECT_EQ(place_in({0x55, 0x48, 0x89, 0xe5}), 0U);              // push %rbp
  EXPECT_EQ(place_in({0x41, 0x57, 0x41, 0x56}), 0U);              // push %r15
  EXPECT_EQ(place_in({0x50, 0xc3}), 0U);                          // push %rax
  EXPECT_EQ(place_in({0xe9, 1, 2, 3, 4}), 0U);                    // jmp
  EXPECT_EQ(place_in({0xe8, 1, 2, 3, 4, 0xc3}), 0U);              // call
  EXPECT_EQ(place_in({0x90, 0xc3}), 0U);                          // nop
  EXPECT_EQ(place_in({0xf3, 0x0f, 0x1e, 0xfa, 0xc3}), 0U);        // endbr64; ret: slow, but right
  EXPECT_EQ(place_in({0x48, 0x83, 0xec, 0x08, 0x53, 0xc3}), 0U);  // sub $8,%rsp; push %rbx
}

TEST(ProbePlace, ALaterPushBehindWhatChangesNoArgument) {
  EXPECT_EQ(place_in({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3}), 4U);               // endbr64; push %rbp
  EXPECT_EQ(place_in({0x31, 0xc0, 0x41, 0x54, 0xc3}), 2U);                     // xor %eax,%eax; push %r12
  EXPECT_EQ(place_in({0x4c, 0x8d, 0x54, 0x24, 0x08, 0x53, 0xc3}), 5U);         // lea 8(%rsp),%r10; push %rbx
  EXPECT_EQ(place_in({0x48, 0x8b, 0x05, 1, 2, 3, 4, 0x53, 0xc3}), 7U);         // mov x(%rip),%rax; push %rbx
  EXPECT_EQ(place_in({0x48, 0x85, 0xff, 0x53, 0xc3}), 3U);                     // test %rdi,%rdi; push %rbx
  EXPECT_EQ(place_in({0x83, 0x3d, 1, 2, 3, 4, 0x05, 0x53, 0xc3}), 7U);         // cmpl $5,x(%rip); push %rbx
  EXPECT_EQ(place_in({0xb8, 1, 0, 0, 0, 0x53, 0xc3}), 5U);                     // mov $1,%eax; push %rbx
  EXPECT_EQ(place_in({0x48, 0xb8, 1, 0, 0, 0, 0, 0, 0, 0, 0x53, 0xc3}), 10U);  // movabs $1,%rax; push %rbx
  EXPECT_EQ(place_in({0x48, 0x89, 0x7c, 0x24, 0xf8, 0x53, 0xc3}), 5U);         // mov %rdi,-8(%rsp); push %rbx
  EXPECT_EQ(place_in({0xc7, 0x05, 1, 2, 3, 4, 5, 6, 7, 8, 0x53, 0xc3}), 10U);  // movl $x,y(%rip); push %rbx
}

TEST(ProbePlace, NotBehindAChangedArgumentOrStackPointer) {
  EXPECT_EQ(place_in({0x31, 0xff, 0x53, 0xc3}), 0U);              // xor %edi,%edi
  EXPECT_EQ(place_in({0x48, 0x89, 0xc6, 0x53, 0xc3}), 0U);        // mov %rax,%rsi
  EXPECT_EQ(place_in({0x41, 0xb8, 1, 0, 0, 0, 0x53, 0xc3}), 0U);  // mov $1,%r8d
  EXPECT_EQ(place_in({0x48, 0x8d, 0x64, 0x24, 0xf8, 0x53}), 0U);  // lea -8(%rsp),%rsp
  EXPECT_EQ(place_in({0x83, 0xc7, 0x01, 0x53, 0xc3}), 0U);        // add $1,%edi
  EXPECT_EQ(place_in({0x0f, 0x05, 0x53, 0xc3}), 0U);              // syscall
}

// A loop may lead back to these.
TEST(ProbePlace, LaterOnlyAPushOfWhatCallsPreserve) {
  EXPECT_EQ(place_in({0x31, 0xc0, 0xe8, 1, 2, 3, 4, 0xc3}), 0U);  // xor %eax,%eax; call
  EXPECT_EQ(place_in({0x31, 0xc0, 0xeb, 0xfc}), 0U);              // xor %eax,%eax; jmp
  EXPECT_EQ(place_in({0x31, 0xc0, 0x50, 0xc3}), 0U);              // xor %eax,%eax; push %rax
}

TEST(ProbePlace, NeverALongNop) {
  EXPECT_EQ(place_in({0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3}), 5U);
  EXPECT_EQ(place_in({0x0f, 0x1f, 0x44, 0x00, 0x00, 0x48, 0x8d, 0x04, 0x37, 0xc3}), 5U);
  EXPECT_EQ(place_in({0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x0f, 0x1f, 0x00, 0x55}), 13U);
  EXPECT_EQ(place_in({0x66, 0x90, 0xc3}), 2U);
  EXPECT_EQ(place_in({0x0f, 0x1f, 0x44, 0x00, 0x00}), std::nullopt);
}

TEST(ProbePlace, BehindGosCheckOfTheStack) {
  EXPECT_EQ(place_in({0x49, 0x3b, 0x66, 0x10, 0x76, 0x20, 0x55, 0xc3}, Prologue::kGo), 6U);
  EXPECT_EQ(place_in({0x49, 0x3b, 0x66, 0x10, 0x0f, 0x86, 1, 2, 3, 4, 0x48, 0x83, 0xec, 0x18}, Prologue::kGo), 10U);
  EXPECT_EQ(place_in({0x4c, 0x8d, 0x64, 0x24, 0xd8, 0x4d, 0x3b, 0x66, 0x10, 0x76, 0x20, 0x55}, Prologue::kGo), 11U);
  EXPECT_EQ(place_in({0x4c, 0x8d, 0xa4, 0x24, 1, 2, 3, 4, 0x4d, 0x3b, 0x66, 0x10, 0x76, 0x20, 0x55}, Prologue::kGo),
            14U);
  EXPECT_EQ(place_in({0x64, 0x48, 0x8b, 0x0c, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x3b, 0x61, 0x10, 0x76, 0x20, 0x55},
                     Prologue::kGo),
            15U);
  EXPECT_EQ(place_in({0x48, 0x8d, 0x04, 0x37, 0xc3}, Prologue::kGo), 0U);
}

// Cut off after any byte.
TEST(ProbePlace, WhatIsCutOffIsNotReadBeyond) {
  const std::vector<unsigned> code = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8b, 0x84, 0x24, 1, 2, 3, 4,
                                      0xc7, 0x84, 0x24, 1,    2,    3,    4,    5,    6, 7, 8, 0x53};
  for (std::size_t size = 1; size < code.size(); size++)
    EXPECT_EQ(place_in({code.begin(), code.begin() + static_cast<std::ptrdiff_t>(size)}), 0U) << size;
  EXPECT_EQ(place_in(code), 23U);
  for (const Prologue prologue : {Prologue::kC, Prologue::kGo}) {
    EXPECT_EQ(place_in({}, prologue), 0U);
    EXPECT_EQ(place_in({0x4c, 0x8d, 0x64, 0x24}, prologue), 0U);
    EXPECT_EQ(place_in({0x49, 0x3b, 0x66, 0x10, 0x0f}, prologue), 0U);
  }
}

}  // namespace
}  // namespace uscope::symbolizer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/function_ends.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace uscope::symbolizer {
namespace {

using EndsCode = std::vector<unsigned>;
using TargetIs = JumpTarget::Is;

constexpr std::uint64_t kStart = 0x1000;

class FunctionEndsTest : public ::testing::Test {
 protected:
  Result<FunctionEnds> find(const EndsCode& main) {
    code_[kStart] = main;
    CodeSource source;
    source.read = [this](const CodeRange& range) {
      std::vector<std::byte> bytes;
      const auto at = code_.find(range.low);
      if (at == code_.end()) return bytes;
      for (const unsigned byte : at->second) bytes.push_back(static_cast<std::byte>(byte));
      return bytes;
    };
    source.target = [this](std::uint64_t address) {
      const auto at = targets_.find(address);
      return at == targets_.end() ? JumpTarget{} : at->second;
    };
    return find_function_ends({kStart, kStart + main.size()}, source);
  }

  // "return at +3, jump at +5", "jump at +5 if 4": or the reason.
  std::string ends(const EndsCode& main) {
    const auto found = find(main);
    if (!found) return found.error().what;
    std::string text;
    for (const std::uint64_t address : found->returns) text += " r" + std::to_string(address - kStart);
    for (const JumpOut& jump : found->jumps)
      text += " j" + std::to_string(jump.address - kStart) +
              (jump.condition == JumpOut::kAlways ? "" : "?" + std::to_string(jump.condition - 1));
    for (const IndirectJump& jump : found->indirect)
      text += (jump.stays ? " s" : " i") + std::to_string(jump.address - kStart);
    return text.empty() ? text : text.substr(1);
  }

  void part(std::uint64_t start, const EndsCode& code) {
    code_[start] = code;
    targets_[start] = {TargetIs::kPart, {start, start + code.size()}};
  }

  std::map<std::uint64_t, EndsCode> code_;
  std::map<std::uint64_t, JumpTarget> targets_;
};

// A constant that looks like a return is none.
TEST_F(FunctionEndsTest, EachReturnIsFoundAndNothingElse) {
  EXPECT_EQ(ends({0xc3}), "r0");
  EXPECT_EQ(ends({0xb8, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3}), "r5");
  EXPECT_EQ(ends({0x85, 0xff, 0x74, 0x01, 0xc3, 0xf3, 0xc3}), "r4 r5");  // rep ret
  EXPECT_EQ(ends({0x5b, 0xc2, 0x08, 0x00}), "r1");                       // ret $8
  EXPECT_EQ(ends({0xf2, 0xc3}), "r0");                                   // bnd ret
  // A call at the end that does not return; nops behind the last instruction.
  EXPECT_EQ(ends({0xc3, 0xe8, 1, 2, 3, 4}), "r0");
  EXPECT_EQ(ends({0xc3, 0x0f, 0x1f, 0x40, 0x00}), "r0");
  EXPECT_EQ(ends({0xc3, 0x0f, 0x0b}), "r0");
}

TEST_F(FunctionEndsTest, JumpsToOtherFunctionsAreEnds) {
  targets_[kStart + 0x105] = {TargetIs::kFunction, {}};
  EXPECT_EQ(ends({0xe9, 0x00, 0x01, 0x00, 0x00}), "j0");
  EXPECT_EQ(ends({0x0f, 0x84, 0xff, 0x00, 0x00, 0x00, 0xc3}), "r6 j0?4");  // je
  targets_[kStart + 0x12] = {TargetIs::kFunction, {}};
  EXPECT_EQ(ends({0x75, 0x10, 0xc3}), "r2 j0?5");  // jne
  EXPECT_EQ(ends({0xeb, 0x10}), "j0");
  EXPECT_EQ(ends({0xf2, 0xeb, 0x0f}), "j0");  // bnd
}

TEST_F(FunctionEndsTest, IndirectJumpsMayBeEndsUnlessATableIsUsed) {
  EXPECT_EQ(ends({0xff, 0x25, 1, 2, 3, 4}), "i0");                       // jmp *x(%rip)
  EXPECT_EQ(ends({0xff, 0x60, 0x10}), "i0");                             // jmp *0x10(%rax)
  EXPECT_EQ(ends({0x48, 0x8b, 0x07, 0xff, 0xe0}), "i3");                 // mov (%rdi),%rax; jmp *%rax
  EXPECT_EQ(ends({0xff, 0x24, 0xc5, 0, 0, 0, 0, 0xc3}), "r7 s0");        // jmp *x(,%rax,8)
  EXPECT_EQ(ends({0x3e, 0xff, 0xe0, 0xc3}), "r3 s0");                    // notrack jmp *%rax
  EXPECT_EQ(ends({0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0,  // movslq (%rdx,%rdi,4),%rax; add %rdx,%rax
                  0xc3}),                                                // jmp *%rax; ret
            "r9 s7");
  EXPECT_EQ(ends({0x48, 0x8b, 0x04, 0xfa, 0xff, 0xe0, 0xc3}), "r6 s4");  // mov (%rdx,%rdi,8),%rax; jmp *%rax
  // What was added before has been replaced.
  EXPECT_EQ(ends({0x48, 0x01, 0xd0, 0x48, 0x89, 0xf8, 0xff, 0xe0, 0xc3}), "r8 i6");
}

// jmp *0x10(%rax,%r9,4); jmp *8(%rip); jmp *%r11
TEST_F(FunctionEndsTest, AnIndirectJumpSaysWhereItsTargetIsFound) {
  const auto found = find({0x42, 0xff, 0x64, 0x88, 0x10, 0xff, 0x25, 8, 0, 0, 0, 0x41, 0xff, 0xe3});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->indirect.size(), 3U);
  const auto text_of = [](const IndirectJump& jump) {
    return std::to_string(jump.length) + (jump.to.in_memory ? " memory " : " register ") +
           std::to_string(jump.to.base) + " " + std::to_string(jump.to.index) + " " + std::to_string(jump.to.scale) +
           " " + std::to_string(jump.to.offset);
  };
  EXPECT_EQ(text_of(found->indirect[0]), "5 memory 0 9 4 16");
  EXPECT_EQ(text_of(found->indirect[1]), "6 memory 16 255 1 8");
  EXPECT_EQ(text_of(found->indirect[2]), "3 register 11 255 1 0");
  ASSERT_EQ(found->ranges.size(), 1U);
  EXPECT_EQ(found->ranges[0].high, kStart + 14);
}

TEST_F(FunctionEndsTest, PartsThatLieElsewhereBelongToIt) {
  part(0x2000, {0x31, 0xc0, 0xc3});
  EXPECT_EQ(ends({0x0f, 0x84, 0xfa, 0x0f, 0x00, 0x00, 0xc3}), "r6 r4098");
  // One that jumps back, and one that jumps back to where no instruction begins.
  part(0x2000, {0x74, 0x02, 0xc3, 0x90, 0xe9, 0xf7, 0xef, 0xff, 0xff});
  EXPECT_EQ(ends({0xe9, 0xfb, 0x0f, 0x00, 0x00, 0xc3}), "r5 r4098");
  part(0x2000, {0x74, 0x02, 0xc3, 0x90, 0xe9, 0xf8, 0xef, 0xff, 0xff});
  EXPECT_EQ(ends({0xe9, 0xfb, 0x0f, 0x00, 0x00, 0xc3}),
            "it jumps into the middle of an instruction, so its code cannot be decoded for certain");
}

// je 1f; lock; 1: cmpxchg %edx,(%rdi); ret
TEST_F(FunctionEndsTest, AJumpOverALockPrefixIsNone) {
  EXPECT_EQ(ends({0x74, 0x01, 0xf0, 0x0f, 0xb1, 0x17, 0xc3}), "r6");
}

TEST_F(FunctionEndsTest, WhatDoesNotFitTogetherIsRefused) {
  const std::string middle = "it jumps into the middle of an instruction, so its code cannot be decoded for certain";
  EXPECT_EQ(ends({0xeb, 0x01, 0xb8, 0, 0, 0, 0, 0xc3}), middle);
  EXPECT_EQ(ends({0xe8, 0x01, 0, 0, 0, 0xb8, 0, 0, 0, 0, 0xc3}), middle);
  EXPECT_EQ(ends({0x06, 0xc3}), "its code has bytes that are no instruction");
  EXPECT_EQ(ends({0xc3, 0xb8, 1}), "its code has bytes that are no instruction");
  EXPECT_EQ(ends({0xc3, 0x90, 0x31, 0xc0}), "its code runs on into that of another function");
  EXPECT_EQ(ends({0xeb, 0x40}), "it jumps to code that belongs to no function that is known");
  targets_[kStart + 0x42] = {TargetIs::kMiddle, {}};
  EXPECT_EQ(ends({0xeb, 0x40}), "it jumps into the middle of another function");
  EXPECT_EQ(ends({0xeb, 0xfe}), "");                                                    // an endless loop
  EXPECT_EQ(ends({0xcb}), "it returns by an instruction that cannot be probed");        // lret
  EXPECT_EQ(ends({0x48, 0xcf}), "it returns by an instruction that cannot be probed");  // iretq
  EXPECT_EQ(ends({0x66, 0xc3}), "it returns by an instruction that cannot be probed");
  targets_[kStart + 0x43] = {TargetIs::kFunction, {}};
  EXPECT_EQ(ends({0x2e, 0x75, 0x40, 0xc3}), "it ends with a jump that cannot be probed");
  targets_[kStart + 0x42] = {TargetIs::kFunction, {}};
  EXPECT_EQ(ends({0xe3, 0x40, 0xc3}), "it ends with a jump that cannot be probed");  // jrcxz
  EXPECT_EQ(ends({}), "it has no code");
}

}  // namespace
}  // namespace uscope::symbolizer

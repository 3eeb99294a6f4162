// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/function_ends.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
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
    source.word = [this](std::uint64_t address, std::uint8_t bytes) -> std::optional<std::uint64_t> {
      const auto at = words_.find(address);
      if (at == words_.end()) return std::nullopt;
      return bytes == 4 ? at->second & 0xffffffffU : at->second;
    };
    source.returns = [this](std::uint64_t address) { return !never_return_.contains(address); };
    source.landing_pads = [this](const CodeRange&) { return pads_; };
    source.is_at_fixed_address = fixed_;
    return find_function_ends({kStart, kStart + main.size()}, source);
  }

  // "return at +3, jump at +5", "jump at +5 if 4": or the reason.
  std::string ends(const EndsCode& main) {
    const auto found = find(main);
    if (!found) return found.error().what;
    std::string text;
    for (const std::uint64_t address : found->returns) text += " r" + std::to_string(address - kStart);
    for (const JumpOut& jump : found->jumps)
      text += (jump.again ? " a" : " j") + std::to_string(jump.address - kStart) +
              (jump.condition == JumpOut::kAlways ? "" : "?" + std::to_string(jump.condition - 1));
    for (const IndirectJump& jump : found->indirect)
      text += (jump.stays        ? " s"
               : jump.may_return ? " ri"
                                 : " i") +
              std::to_string(jump.address + jump.prefixes - kStart) +
              (jump.condition == JumpOut::kAlways ? "" : "?" + std::to_string(jump.condition - 1));
    if (!found->doubt.empty()) text += " but " + found->doubt;
    return text.empty() ? text : text.substr(1);
  }

  void part(std::uint64_t start, const EndsCode& code) {
    code_[start] = code;
    targets_[start] = {TargetIs::kPart, {start, start + code.size()}};
  }

  // A table at kTable, of 4-byte distances from it or of addresses.
  void table(const std::vector<std::uint64_t>& places, bool relative) {
    for (std::size_t i = 0; i < places.size(); i++)
      words_[kTable + i * (relative ? 4 : 8)] = relative ? kStart + places[i] - kTable : kStart + places[i];
  }

  static constexpr std::uint64_t kTable = 0x3000;
  std::map<std::uint64_t, EndsCode> code_;
  std::map<std::uint64_t, JumpTarget> targets_;
  std::map<std::uint64_t, std::uint64_t> words_;
  std::set<std::uint64_t> never_return_;
  std::vector<std::uint64_t> pads_;
  bool fixed_ = false;
};

constexpr const char* kUnreached = "but no path through its code reaches all of its bytes: some may be data";
constexpr const char* kOpen = "but it has a jump whose targets cannot be told, and bytes that no path reaches";
constexpr const char* kData = "but its code refers to bytes of its own as data";

// A constant that looks like a return is none.
TEST_F(FunctionEndsTest, EachReturnIsFoundAndNothingElse) {
  EXPECT_EQ(ends({0xc3}), "r0");
  EXPECT_EQ(ends({0xb8, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3}), "r5");
  EXPECT_EQ(ends({0x85, 0xff, 0x74, 0x01, 0xc3, 0xf3, 0xc3}), "r4 r5");  // rep ret
  EXPECT_EQ(ends({0x5b, 0xc2, 0x08, 0x00}), "r1");                       // ret $8
  EXPECT_EQ(ends({0xf2, 0xc3}), "r0");                                   // bnd ret
  EXPECT_EQ(ends({0xf3, 0x0f, 0x1e, 0xfa, 0xc3}), "r4");                 // endbr64; ret
  // A call at the end that does not return; nops and traps behind the last instruction.
  EXPECT_EQ(ends({0x74, 0x01, 0xc3, 0xe8, 1, 2, 3, 4}), "r2");
  EXPECT_EQ(ends({0x74, 0x01, 0xc3, 0xe8, 1, 2, 3, 4, 0x66, 0x90}), "r2");
  EXPECT_EQ(ends({0xc3, 0x0f, 0x1f, 0x40, 0x00}), "r0");
  EXPECT_EQ(ends({0xc3, 0xcc, 0xcc}), "r0");
}

// pop %rcx; jmp *%rcx is a return. The jump may be reached from elsewhere, too.
TEST_F(FunctionEndsTest, AReturnAddressMayBePopped) {
  EXPECT_EQ(ends({0x59, 0xff, 0xe1}), "ri0 i1");
  EXPECT_EQ(ends({0x59, 0x90, 0xff, 0xe1}), "ri0 i2");        // with a nop between
  EXPECT_EQ(ends({0x41, 0x5b, 0x41, 0xff, 0xe3}), "ri0 i2");  // r11
  EXPECT_EQ(ends({0x59, 0xff, 0xe2}), "i1");                  // another register
  EXPECT_EQ(ends({0x59, 0x5a, 0xff, 0xe1}), "i2");            // another pop between
  EXPECT_EQ(ends({0x59, 0xff, 0x21}), "i1");                  // to where it points
  EXPECT_EQ(ends({0x74, 0x01, 0x59, 0xff, 0xe1}), "ri2 i3");  // a way past the pop
}

// What no path reaches may be data, whatever its bytes look like.
TEST_F(FunctionEndsTest, WhatIsNotReachedIsNoPlace) {
  // jmp 2f; 1: nop; nop; ret; nop; 2: ret
  EXPECT_EQ(ends({0xeb, 0x04, 0x90, 0x90, 0xc3, 0x90, 0xc3}), std::string("r6 ") + kUnreached);
  // mov 1f(%rip),%rax; jmp 2f; 1: eight bytes; 2: ret
  EXPECT_EQ(ends({0x48, 0x8b, 0x05, 2, 0, 0, 0, 0xeb, 8, 0x90, 0x90, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3}),
            std::string("r17 ") + kData);
  // lea 1f(%rip),%rax; ret; 1: nop, ret …: the address alone is enough.
  EXPECT_EQ(ends({0x48, 0x8d, 0x05, 1, 0, 0, 0, 0xc3, 0xc3, 0xc3}), std::string("r7 ") + kData);
  // Its own address may be known to a function, but not be read from: lea self(%rip),%rax; ret, and mov 2(%rax),%eax.
  EXPECT_EQ(ends({0x48, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff, 0xc3}), "r7");
  EXPECT_EQ(ends({0x48, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff, 0x8b, 0x40, 0x02, 0xc3}), std::string("r10 ") + kData);
  // mov $kStart+6,%eax; ret; nop: an address only in programs that are loaded where the file says.
  const EndsCode constant = {0xb8, 0x06, 0x10, 0, 0, 0xc3, 0x90};
  EXPECT_EQ(ends(constant), "r5");
  fixed_ = true;
  EXPECT_EQ(ends(constant), std::string("r5 ") + kData);
}

// call f; ret-like bytes: code, unless f never returns. Then they are nothing, and get no probe.
TEST_F(FunctionEndsTest, NothingIsReachedBehindACallThatNeverReturns) {
  EXPECT_EQ(ends({0x74, 0x06, 0xe8, 0xf9, 0x00, 0x00, 0x00, 0xc3, 0xc3}), "r7 r8");
  never_return_.insert(kStart + 0x100);
  EXPECT_EQ(ends({0x74, 0x06, 0xe8, 0xf9, 0x00, 0x00, 0x00, 0xc3, 0xc3}), "r8");
  // So is what stands behind a trap: je 1f; ud2; ret; 1: ret
  EXPECT_EQ(ends({0x74, 0x03, 0x0f, 0x0b, 0xc3, 0xc3}), "r5");
}

TEST_F(FunctionEndsTest, LandingPadsAreReached) {
  const EndsCode code = {0xc3, 0x31, 0xc0, 0xc3};
  EXPECT_EQ(ends(code), std::string("r0 ") + kUnreached);
  pads_ = {kStart + 1, 0x9999};
  EXPECT_EQ(ends(code), "r0 r3");
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

TEST_F(FunctionEndsTest, IndirectJumpsWithoutATableMayLeadAnywhere) {
  EXPECT_EQ(ends({0xff, 0x25, 1, 2, 3, 4}), "i0");        // jmp *x(%rip)
  EXPECT_EQ(ends({0xff, 0x60, 0x10}), "i0");              // jmp *0x10(%rax)
  EXPECT_EQ(ends({0x48, 0x8b, 0x07, 0xff, 0xe0}), "i3");  // mov (%rdi),%rax; jmp *%rax
  EXPECT_EQ(ends({0x48, 0x8b, 0x04, 0xfa, 0xff, 0xe0, 0xc3}), std::string("i4 ") + kOpen);
  EXPECT_EQ(ends({0x3e, 0xff, 0xe0}), "i1");                                             // notrack jmp *%rax
  EXPECT_EQ(ends({0x67, 0xff, 0x20}), "it has an indirect jump that cannot be probed");  // jmp *(%eax)
  EXPECT_EQ(ends({0x64, 0xff, 0x20}), "it jumps to an address in memory of its thread alone");
}

// A loop to the entry makes no new call.
TEST_F(FunctionEndsTest, JumpsToTheEntryAreKnown) {
  EXPECT_EQ(ends({0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}), "r5 a3?5");  // dec %rdi; jne
  EXPECT_EQ(ends({0x90, 0xff, 0xcf, 0x75, 0xfc, 0xc3}), "r5");       // to the second instruction
  EXPECT_EQ(ends({0xe2, 0xfe, 0xc3}), "it goes back to its beginning by a jump that cannot be probed");
}

// The code of GCC's and Clang's thunks, in a function of its own and in the function itself.
TEST_F(FunctionEndsTest, JumpsToThunksAreIndirectJumps) {
  constexpr std::uint64_t kThunk = kStart + 0x105;
  targets_[kThunk] = {TargetIs::kFunction, {}};
  const EndsCode jump{0xe9, 0x00, 0x01, 0x00, 0x00};
  // call 1f; 0: pause; lfence; jmp 0b; 1: mov %r11,(%rsp); ret
  code_[kThunk] = {0xe8, 7, 0, 0, 0, 0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9, 0x4c, 0x89, 0x1c, 0x24, 0xc3};
  EXPECT_EQ(ends(jump), "i0");
  EXPECT_EQ(find(jump)->indirect.at(0).to.base, 11);
  EXPECT_FALSE(find(jump)->indirect.at(0).pops);
  EXPECT_EQ(ends({0x0f, 0x84, 0xff, 0x00, 0x00, 0x00, 0xc3}), "r6 i0?4");
  // … 1: lea 8(%rsp),%rsp; ret
  code_[kThunk] = {0xe8, 7, 0, 0, 0, 0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9, 0x48, 0x8d, 0x64, 0x24, 0x08, 0xc3};
  EXPECT_TRUE(find(jump)->indirect.at(0).pops);
  code_[kThunk] = {0x0f, 0xae, 0xe8, 0xff, 0xe1};  // lfence; jmp *%rcx
  EXPECT_EQ(find(jump)->indirect.at(0).to.base, 2);
  // What only begins so is none.
  code_[kThunk] = {0xe8, 7, 0, 0, 0, 0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9, 0x4c, 0x89, 0x1c, 0x24, 0x90, 0xc3};
  EXPECT_EQ(ends(jump), "j0");
  code_[kThunk] = {0xe8, 0, 1, 0, 0, 0xc3};
  EXPECT_EQ(ends(jump), "j0");
  EXPECT_EQ(ends({0xe8, 7, 0, 0, 0, 0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9, 0x48, 0x89, 0x04, 0x24, 0xc3}), "ri16");
  EXPECT_EQ(ends({0x50, 0xc3}), "ri1");
}

// lea table(%rip),%rax; mov %rax,(%rdx); jmp *(%rdi), and two labels: inc %rax; jmp *(%rdi), and ret
TEST_F(FunctionEndsTest, LabelsOfAnInterpreterAreFoundByTheirTable) {
  const EndsCode code = {0x48, 0x8d, 0x05, 0xf9, 0x1f, 0,    0,    0x48, 0x89,
                         0x02, 0xff, 0x27, 0x48, 0xff, 0xc0, 0xff, 0x27, 0xc3};
  EXPECT_EQ(ends(code), std::string("i10 ") + kOpen);
  table({12, 17, 0x4000}, false);
  EXPECT_EQ(ends(code), "r17 i10 i15");
  table({12, 0x4000}, false);  // one word is no table
  EXPECT_EQ(ends(code), std::string("i10 ") + kOpen);
}

// cmp $1,%edi; ja 1f; mov %edi,%edi; lea table(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; two
// cases; 1: ret
TEST_F(FunctionEndsTest, TablesOfDistancesAreFollowed) {
  const EndsCode code = {0x83, 0xff, 0x01, 0x77, 0x17, 0x89, 0xff, 0x48, 0x8d, 0x15, 0xf2, 0x1f, 0,    0,   0x48,
                         0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0x90, 0xc3, 0x90, 0xc3, 0x90, 0xc3};
  table({23, 25, 99}, true);  // the third is none of it
  EXPECT_EQ(ends(code), "r24 r26 r28 s21");
  table({23, 23}, true);
  EXPECT_EQ(ends(code), std::string("r24 r28 s21 ") + kUnreached);
  // Not all of its entries lead into the function.
  table({23, 0x800}, true);
  EXPECT_EQ(ends(code), std::string("r24 r28 i21 ") + kOpen);
  // One leads into the middle of an instruction.
  table({23, 1}, true);
  EXPECT_EQ(ends(code), "it jumps into the middle of an instruction, so its code cannot be decoded for certain");
  words_.clear();
  EXPECT_EQ(ends(code), std::string("r28 i21 ") + kOpen);
}

// jmp *table(,%rdi,8): no comparison says how long it is.
TEST_F(FunctionEndsTest, TablesOfAddressesAreFollowedAsFarAsTheyLeadIntoTheFunction) {
  const EndsCode code = {0xff, 0x24, 0xfd, 0x00, 0x30, 0, 0, 0x90, 0xc3, 0x90, 0xc3};
  table({7, 9, 0x4000}, false);
  EXPECT_EQ(ends(code), "r8 r10 i0");
  table({7, 0x4000, 9}, false);
  EXPECT_EQ(ends(code), std::string("r8 i0 ") + kOpen);
  // Functions, among them this one: a tail call.
  table({0, 7, 9}, false);
  EXPECT_EQ(ends(code), std::string("i0 ") + kOpen);
}

// and $3,%edi; jmp *table(,%rdi,8), and the table's address kept on the stack: lea table(%rip),%rax; push %rax; call;
// pop %rdx; movslq (%rdx,%rbx,4),%rax; add %rdx,%rax; jmp *%rax
TEST_F(FunctionEndsTest, MasksAndStackSlotsAreFollowed) {
  table({10, 10, 12, 12, 0x5000}, false);
  EXPECT_EQ(ends({0x83, 0xe7, 0x03, 0xff, 0x24, 0xfd, 0x00, 0x30, 0, 0, 0x90, 0xc3, 0x90, 0xc3}), "r11 r13 s3");
  words_.clear();
  table({26, 26, 0x5000}, true);
  EXPECT_EQ(ends({0x48, 0x8d, 0x05, 0xf9, 0x1f, 0,    0,    0x50, 0xe8, 0,    0,    0,    0,   0x83,
                  0xe3, 0x01, 0x5a, 0x48, 0x63, 0x04, 0x9a, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xc3}),
            "r26 s24");
}

// jmp *0x10(%rax,%r9,4); jmp *8(%rip); jmp *%r11, and jumps to the latter two
TEST_F(FunctionEndsTest, AnIndirectJumpSaysWhereItsTargetIsFound) {
  const auto found =
      find({0x74, 0x07, 0x74, 0x0b, 0x42, 0xff, 0x64, 0x88, 0x10, 0xff, 0x25, 8, 0, 0, 0, 0x41, 0xff, 0xe3});
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
  EXPECT_EQ(found->ranges[0].high, kStart + 18);
}

TEST_F(FunctionEndsTest, PartsThatLieElsewhereBelongToIt) {
  part(0x2000, {0x31, 0xc0, 0xc3});
  EXPECT_EQ(ends({0x0f, 0x84, 0xfa, 0x0f, 0x00, 0x00, 0xc3}), "r6 r4098");
  // One that jumps back, and one that jumps back to where no instruction begins.
  part(0x2000, {0x74, 0x02, 0xc3, 0x90, 0xe9, 0xfc, 0xef, 0xff, 0xff});
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
  EXPECT_EQ(ends({0x74, 0x01, 0xb8, 0, 0, 0, 0, 0xc3}), middle);
  EXPECT_EQ(ends({0xe8, 0x01, 0, 0, 0, 0xb8, 0, 0, 0, 0, 0xc3}),
            "r10 but it calls code of its own, which may take the bytes behind the call for data");
  EXPECT_EQ(ends({0x06, 0xc3}), "its code has bytes that are not an instruction");
  EXPECT_EQ(ends({0x74, 0x01, 0xc3, 0xb8, 1}), "its code has bytes that are not an instruction");
  EXPECT_EQ(ends({0x90, 0x31, 0xc0}), "its code runs on into that of another function");
  EXPECT_EQ(ends({0xeb, 0x40}), "it jumps to code that belongs to no function that is known");
  targets_[kStart + 0x42] = {TargetIs::kMiddle, {}};
  EXPECT_EQ(ends({0xeb, 0x40}), "it jumps into the middle of another function");
  EXPECT_EQ(ends({0xeb, 0xfe}), "a0");                                                  // an endless loop
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

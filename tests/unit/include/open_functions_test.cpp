// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Entries and returns are paired right whatever a program does: a model of its stacks tells what has really returned.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "open_functions_model.h"

namespace uscope::include {
namespace {

std::vector<usc_hit> told_hits;

constexpr __u64 kStack = 0x7ffd00000000;
constexpr __u64 kAlternate = 0x7fff00000000;  // above the other one, as a thread's may be
constexpr __u64 kAlternateBytes = 0x10000;

// With whole hits, and as a question has it that wants no more than times and results.
class OpenFunctions : public ::testing::TestWithParam<bool> {
 protected:
  OpenFunctions() { begin(); }

  static void begin() {
    told_hits.clear();
    model_reset();
    model.is_brief = GetParam() ? 1 : 0;
    model.alternate_stack = kAlternate;
    model.alternate_bytes = kAlternateBytes;
  }

  static void enter(__u32 number, __u64 sp, __u32 id) { model_enter(USC_SOURCE_UFUNCTION, number, sp, id); }
  static void leave(__u32 number, __u64 sp, __u64 result, __u8 is = 8) {
    model_return(USC_SOURCE_UFUNCTION, is, number, sp, result);
  }
  static void enter_kernel(__u32 number, __u32 id) { model_enter(USC_SOURCE_KFUNCTION, number, 0, id); }
  static void leave_kernel(__u32 number, __u64 result) { model_return(USC_SOURCE_KFUNCTION, 8, number, 0, result); }

  // "id:how", in the order in which they were told.
  static std::string told() {
    std::string text;
    for (const usc_hit& hit : told_hits) {
      const char* how = hit.how == USC_HOW_RETURNED ? "returned" : hit.how == USC_HOW_LEFT ? "left" : "open";
      text += (text.empty() ? "" : " ") + std::to_string(hit.image) + ":" + how;
    }
    return text;
  }
};

TEST_P(OpenFunctions, RecursionReturnsFromTheInside) {
  enter(1, kStack - 8, 1);
  enter(1, kStack - 64, 2);
  enter(2, kStack - 128, 3);
  leave(2, kStack - 128, 30);
  leave(1, kStack - 64, 20);
  leave(1, kStack - 8, 10);
  EXPECT_EQ(told(), "3:returned 2:returned 1:returned");
  EXPECT_EQ(told_hits[0].result, 30);
  EXPECT_EQ(told_hits[2].result, 10);
  EXPECT_EQ(told_hits[2].flags & USC_EVENT_NO_RESULT, 0);
  EXPECT_GT(told_hits[2].head.time, told_hits[2].entry_ns);
  EXPECT_EQ(model_open(), 0);
}

TEST_P(OpenFunctions, AResultHasItsTypesSizeAndSign) {
  enter(1, kStack, 1);
  leave(1, kStack, 0xffffffff, 4 | USC_RESULT_SIGNED);
  EXPECT_EQ(told_hits[0].result, -1);
  enter(1, kStack, 2);
  leave(1, kStack, 0x1ff, 1);
  EXPECT_EQ(told_hits[1].result, 255);
  enter(1, kStack, 3);
  leave(1, kStack, 5, 0);
  EXPECT_EQ(told_hits[2].result, 0);
  EXPECT_NE(told_hits[2].flags & USC_EVENT_NO_RESULT, 0);
}

TEST_P(OpenFunctions, AReturnWithoutAnEntryIsNotTold) {
  leave(1, kStack, 1);
  enter(1, kStack, 1);
  leave(1, kStack + 64, 1);  // of a frame that was entered before tracing: the other one is below, and over
  leave(2, kStack, 1);
  EXPECT_EQ(told(), "1:left");
}

// Each has a probe at the return that they share.
TEST_P(OpenFunctions, FunctionsThatShareTheCodeOfTheirReturn) {
  enter(1, kStack, 1);
  leave(2, kStack, 5);
  leave(1, kStack, 5);
  enter(2, kStack, 2);
  leave(2, kStack, 6);
  leave(1, kStack, 6);
  EXPECT_EQ(told(), "1:returned 2:returned");
}

TEST_P(OpenFunctions, ATailCallEndsAtItsJump) {
  enter(1, kStack, 1);
  model_jump(1, kStack - 16, USC_JUMP_OUT);  // with a frame on the stack
  model_jump(1, kStack, USC_JUMP_INSIDE);
  model_jump(1, kStack, USC_JUMP_OUT);
  enter(2, kStack, 2);
  leave(2, kStack, 9);
  EXPECT_EQ(told(), "1:returned 2:returned");
  EXPECT_NE(told_hits[0].flags & USC_EVENT_NO_RESULT, 0);
  EXPECT_EQ(told_hits[1].result, 9);
}

TEST_P(OpenFunctions, ATailCallThatWasNotSeenHasNoResult) {
  enter(1, kStack, 1);
  enter(2, kStack, 2);
  leave(2, kStack, 9);
  EXPECT_EQ(told(), "1:left 2:returned");
}

TEST_P(OpenFunctions, LongjmpIsFoundOutByWhatStandsThereNext) {
  enter(1, kStack, 1);
  enter(2, kStack - 64, 2);
  enter(3, kStack - 128, 3);
  enter(3, kStack - 192, 4);
  enter(4, kStack - 160, 5);  // longjmp to below 3
  EXPECT_EQ(told(), "4:left");
  leave(4, kStack - 160, 0);
  leave(1, kStack, 0);  // longjmp to 1
  EXPECT_EQ(told(), "4:left 5:returned 3:left 2:left 1:returned");
}

TEST_P(OpenFunctions, AHandlerOnAnotherStackLeavesTheOthersAsTheyAre) {
  for (const __u64 alternate : {kAlternate, kStack - 0x100000}) {
    told_hits.clear();
    model.alternate_stack = alternate;
    const __u64 top = alternate + kAlternateBytes - 8;
    enter(1, kStack, 1);
    enter(2, top, 2);
    enter(3, top - 64, 3);
    leave(3, top - 64, 0);
    leave(2, top, 0);
    leave(1, kStack, 0);
    EXPECT_EQ(told(), "3:returned 2:returned 1:returned");
    told_hits.clear();
    enter(1, kStack, 1);
    enter(2, top, 2);
    enter(3, kStack - 64, 3);  // the handler has jumped out
    leave(3, kStack - 64, 0);
    leave(1, kStack, 0);
    EXPECT_EQ(told(), "2:left 3:returned 1:returned");
  }
}

TEST_P(OpenFunctions, WhatFindsNoRoomIsCountedAndPairsNothingElse) {
  for (__u32 i = 0; i < MODEL_USER_FUNCTIONS + 10; i++) enter(1, kStack - i * 16ULL, i);
  EXPECT_EQ(model_missed(), 10U);
  for (__u32 i = MODEL_USER_FUNCTIONS + 10; i-- > 0;) leave(1, kStack - i * 16ULL, i);
  EXPECT_EQ(told_hits.size(), std::size_t{MODEL_USER_FUNCTIONS});
  for (const usc_hit& hit : told_hits) {
    EXPECT_EQ(hit.how, USC_HOW_RETURNED);
    EXPECT_EQ(hit.result, static_cast<__s64>(hit.image));
  }
}

TEST_P(OpenFunctions, AnExecEndsThoseOfTheProgramAlone) {
  enter(1, kStack, 1);
  enter_kernel(5, 2);
  model_exec();
  EXPECT_EQ(told(), "1:left");
  model.serial = 8;
  leave_kernel(5, 0);
  EXPECT_EQ(told(), "1:left 2:returned");
  EXPECT_EQ(told_hits[1].head.task, 7U);  // as it was when it began
}

TEST_P(OpenFunctions, AThreadsEndTellsWhatIsOpen) {
  enter(1, kStack, 1);
  enter(2, kStack - 8, 2);
  enter_kernel(5, 3);
  model_exit();
  EXPECT_EQ(told(), "2:open 1:open 3:open");
  EXPECT_EQ(model.forgotten, 1);
  model_exit();
  EXPECT_EQ(told_hits.size(), 3U);
}

TEST_P(OpenFunctions, OneThatHasLeftTheTraceIsForgotten) {
  enter(1, kStack, 1);
  model.is_traced = 0;
  model_exit();
  EXPECT_EQ(told(), "");
  EXPECT_EQ(model.forgotten, 1);
}

TEST_P(OpenFunctions, FunctionsOfTheKernelNest) {
  enter_kernel(1, 1);
  enter_kernel(2, 2);
  enter_kernel(1, 3);
  leave_kernel(9, 0);  // its entry was not seen
  leave_kernel(1, 30);
  leave_kernel(2, 20);
  leave_kernel(1, 10);
  EXPECT_EQ(told(), "3:returned 2:returned 1:returned");
  told_hits.clear();
  enter_kernel(1, 4);
  enter_kernel(2, 5);  // its return is not seen
  leave_kernel(1, 0);
  EXPECT_EQ(told(), "5:left 4:returned");
}

TEST_P(OpenFunctions, AFunctionOfTheKernelWithoutRoomTakesNoOthersReturn) {
  model.is_brief = 0;
  enter_kernel(1, 1);
  model.has_memory = 0;
  enter_kernel(1, 2);
  leave_kernel(1, 20);
  EXPECT_EQ(told(), "");
  leave_kernel(1, 10);
  EXPECT_EQ(told(), "1:returned");
  EXPECT_EQ(told_hits[0].result, 10);
}

TEST_P(OpenFunctions, AFunctionOfTheKernelInThatAProbeOfTheProgramIsHit) {
  enter(1, kStack, 1);
  enter_kernel(5, 2);  // serves the breakpoint of the next one
  enter(2, kStack - 64, 3);
  leave_kernel(5, 0);
  leave(2, kStack - 64, 0);
  leave(1, kStack, 0);
  EXPECT_EQ(told(), "2:returned 3:returned 1:returned");
}

// A program that calls, returns, jumps to other functions and out of many at random, with handlers on both stacks.
TEST_P(OpenFunctions, RandomProgramsHaveNoReturnThatIsNotTheirs) {
  struct Frame {
    __u64 sp;
    __u32 number;
    __u32 id;
    bool on_alternate;
  };
  for (unsigned seed = 0; seed < 40; seed++) {
    begin();
    std::mt19937 random(seed);
    std::vector<Frame> frames;
    std::map<__u32, __u8> truth;  // how each one ended
    __u32 next_id = 1;
    const auto pick = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
    const auto call = [&](bool to_alternate) {
      const bool on_alternate = to_alternate || (!frames.empty() && frames.back().on_alternate);
      const bool is_first = frames.empty() || frames.back().on_alternate != on_alternate;
      const __u64 top = on_alternate ? kAlternate + kAlternateBytes - 8 : kStack;
      const __u64 sp = (is_first ? top : frames.back().sp) - 16 * (1 + pick(4));
      frames.push_back({sp, pick(3), next_id++, on_alternate});
      enter(frames.back().number, sp, frames.back().id);
    };
    for (int step = 0; step < 3000; step++) {
      const unsigned what = pick(100);
      const bool on_alternate = !frames.empty() && frames.back().on_alternate;
      if (frames.empty() || (what < 45 && frames.size() < 200)) {
        call(!on_alternate && pick(20) == 0);
      } else if (what < 85) {
        const Frame frame = frames.back();
        frames.pop_back();
        truth[frame.id] = USC_HOW_RETURNED;
        leave(frame.number, frame.sp, frame.id);
      } else if (what < 93) {
        Frame& frame = frames.back();
        truth[frame.id] = USC_HOW_RETURNED;
        model_jump(frame.number, frame.sp, USC_JUMP_OUT);
        frame.number = pick(3);
        frame.id = next_id++;
        enter(frame.number, frame.sp, frame.id);
      } else {
        for (unsigned left = 1 + pick(5); left != 0 && !frames.empty(); left--) {
          truth[frames.back().id] = USC_HOW_LEFT;
          frames.pop_back();
        }
      }
    }
    for (const Frame& frame : frames) truth[frame.id] = USC_HOW_OPEN;
    model_exit();
    ASSERT_EQ(told_hits.size(), truth.size()) << seed;
    for (const usc_hit& hit : told_hits) {
      const __u8 how = truth.at(hit.image);
      // What was left last may not be found out any more.
      if (how == USC_HOW_LEFT)
        EXPECT_NE(hit.how, USC_HOW_RETURNED) << seed;
      else
        EXPECT_EQ(hit.how, how) << seed;
      if (hit.how == USC_HOW_RETURNED && (hit.flags & USC_EVENT_NO_RESULT) == 0) {
        EXPECT_EQ(hit.result, static_cast<__s64>(hit.image)) << seed;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WholeAndBrief, OpenFunctions, ::testing::Bool(),
                         [](const auto& which) { return std::string(which.param ? "Brief" : "Whole"); });

// A function of 64 bytes whose probes stand at its entry and 16 bytes behind that, at `jmp *8(%rax,%rcx,8)`.
class IndirectJumps : public OpenFunctions {
 protected:
  static constexpr __u64 kEntry = 0x400000;
  static constexpr __u64 kPlace = kEntry + 16;
  static constexpr __u64 kTable = 0x500000;

  IndirectJumps() {
    model.jump.in_memory = 1;
    model.jump.base = 0;   // rax
    model.jump.index = 2;  // rcx
    model.jump.shift = 3;
    model.jump.displacement = 8;
    model.jump.entry_low = model.jump.entry_high = -16;
    model.jump.parts = 2;
    model.jump.part[0] = {-16, 48};
    model.jump.part[1] = {0x1000, 0x1010};
    registers_[0] = kTable;
    registers_[2] = 3;
    registers_[USC_JUMP_PLACE] = kPlace;
    model.word_at = kTable + 8 + 24;
    model.word_can_be_read = 1;
  }

  void jump_to(__u64 target, __u64 sp = kStack) {
    model.word = target;
    model_jump_indirectly(1, sp, registers_.data());
  }

  std::array<__u64, USC_JUMP_REGISTERS> registers_{};
};

TEST_P(IndirectJumps, AreEndsIfTheyLeadOut) {
  enter(1, kStack, 1);
  for (const __u64 inside : {kEntry + 1, kPlace, kEntry + 63, kPlace + 0x1000, kPlace + 0x100f}) jump_to(inside);
  EXPECT_EQ(told(), "");
  for (const __u64 outside : {kEntry - 1, kEntry + 64, kPlace + 0xfff, kPlace + 0x1010, ~__u64{0}}) {
    told_hits.clear();
    jump_to(outside);
    EXPECT_EQ(told(), "1:returned") << outside;
    EXPECT_NE(told_hits[0].flags & USC_EVENT_NO_RESULT, 0);
    enter(1, kStack, 1);
  }
}

TEST_P(IndirectJumps, WithAFrameOnTheStackAreNoEndsAndNothingIsRead) {
  enter(1, kStack, 1);
  jump_to(0x600000, kStack - 16);
  EXPECT_EQ(told(), "");
  EXPECT_EQ(model.reads, 0);
  leave(1, kStack, 5);
  EXPECT_EQ(told(), "1:returned");
  jump_to(0x600000);  // it is not open
  EXPECT_EQ(model.reads, 0);
}

// What it called was left by longjmp, and has not been found out.
TEST_P(IndirectJumps, FindOutWhatWasLeftBelow) {
  enter(1, kStack, 1);
  enter(2, kStack - 64, 2);
  jump_to(0x600000);
  EXPECT_EQ(told(), "2:left 1:returned");
}

TEST_P(IndirectJumps, ToTheEntryGoOn) {
  enter(1, kStack, 1);
  jump_to(kEntry);
  enter(1, kStack, 2);  // the probe there
  jump_to(kEntry);
  enter(1, kStack, 3);
  leave(1, kStack, 7);
  EXPECT_EQ(told(), "1:returned");
  EXPECT_EQ(told_hits[0].result, 7);
  enter(1, kStack, 4);  // a call of its own
  enter(1, kStack, 5);
  leave(1, kStack, 8);
  EXPECT_EQ(told(), "1:returned 4:left 5:returned");
}

TEST_P(IndirectJumps, WhoseTargetIsNotInMemoryAreDecidedAtTheNextHit) {
  enter(1, kStack, 1);
  model.word_can_be_read = 0;
  jump_to(0x600000);
  const __u64 then = model_now();
  EXPECT_EQ(told(), "");
  model.word_can_be_read = 1;
  model_next_hit();
  enter(2, kStack, 2);
  ASSERT_EQ(told(), "1:returned");
  EXPECT_EQ(told_hits[0].head.time, then);
  leave(2, kStack, 0);
  enter(1, kStack, 3);
  model.word_can_be_read = 0;
  jump_to(kPlace);
  model.word_can_be_read = 1;
  model_next_hit();
  leave(1, kStack, 4);
  EXPECT_EQ(told(), "1:returned 2:returned 3:returned");
  EXPECT_EQ(told_hits[2].result, 4);
  EXPECT_EQ(model_unread(), 0);
}

TEST_P(IndirectJumps, WhoseTargetStaysUnknownAreCounted) {
  enter(1, kStack, 1);
  model.word_can_be_read = 0;
  jump_to(0x600000);
  model_next_hit();
  EXPECT_EQ(model_unread(), 1);
  enter(2, kStack, 2);
  jump_to(0x600000);
  model_exit();
  EXPECT_EQ(model_unread(), 2);
  EXPECT_EQ(told(), "1:left 2:open");
}

INSTANTIATE_TEST_SUITE_P(WholeAndBrief, IndirectJumps, ::testing::Bool(),
                         [](const auto& which) { return std::string(which.param ? "Brief" : "Whole"); });

TEST(Jumps, AreSoundWithWhatTheKernelSideCanFollow) {
  usc_jump jump{};
  jump.base = USC_JUMP_PLACE;
  jump.index = USC_JUMP_NOTHING;
  jump.parts = 1;
  jump.part[0] = {0, 1};
  EXPECT_TRUE(usc_jump_is_sound(&jump));
  const auto expect_refused = [&](const auto& change) {
    usc_jump changed = jump;
    change(changed);
    EXPECT_FALSE(usc_jump_is_sound(&changed));
  };
  expect_refused([](usc_jump& it) { it.base = 17; });
  expect_refused([](usc_jump& it) { it.index = USC_JUMP_PLACE; });
  expect_refused([](usc_jump& it) { it.shift = 4; });
  expect_refused([](usc_jump& it) { it.in_memory = 2; });
  expect_refused([](usc_jump& it) { it.pops = 2; });
  expect_refused([](usc_jump& it) { it.parts = 0; });
  expect_refused([](usc_jump& it) { it.parts = 17; });
  expect_refused([](usc_jump& it) { it.part[0].high = 0; });
  expect_refused([](usc_jump& it) { it.part[1].high = 1; });
  expect_refused([](usc_jump& it) { it.entry_low = 1; });
  expect_refused([](usc_jump& it) { it.pad[1] = 1; });
}

TEST(Conditions, AreThoseOfTheFlags) {
  constexpr __u64 kCarry = 1, kZero = 1 << 6, kSign = 1 << 7, kOverflow = 1 << 11, kParity = 1 << 2;
  constexpr std::array<__u64, 16> kHold = {
      kOverflow, 0, kCarry, 0, kZero, 0, kCarry, 0, kSign, 0, kParity, 0, kSign, kSign | kOverflow, kZero, 0};
  for (__u32 condition = 0; condition < 16; condition++) {
    EXPECT_TRUE(usc_condition_holds(condition, kHold.at(condition))) << condition;
    EXPECT_FALSE(usc_condition_holds(condition ^ 1U, kHold.at(condition))) << condition;
  }
  constexpr __u64 kIndirect = USC_PLACE_OF_JUMP | 7ULL << USC_PLACE_INDIRECT_SHIFT;
  EXPECT_EQ(usc_place_indirect(kIndirect), 7U);
  EXPECT_EQ(usc_place_indirect(kIndirect | USC_PLACE_POPS), 7U);
  EXPECT_EQ(usc_place_sp(kIndirect, 64), 64U);
  EXPECT_EQ(usc_place_sp(kIndirect | USC_PLACE_POPS, 64), 72U);
  EXPECT_TRUE(usc_place_jumps(USC_PLACE_OF_JUMP, 0));
  EXPECT_FALSE(usc_place_jumps(USC_PLACE_OF_JUMP | 5U << USC_PLACE_CONDITION_SHIFT, 0));
  EXPECT_TRUE(usc_place_jumps(USC_PLACE_OF_JUMP | 5U << USC_PLACE_CONDITION_SHIFT, kZero));
}

}  // namespace
}  // namespace uscope::include

void model_told(const usc_hit* hit) {
  uscope::include::told_hits.push_back(*hit);
}

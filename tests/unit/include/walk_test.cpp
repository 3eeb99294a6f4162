// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stacks that core takes, whatever it remembers of earlier walks, are those of a walk by the contract's headers alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "fake_user.h"
#include "tests/support/frame_word.h"
#include "uscope/scope.h"
#include "walk_model.h"

namespace uscope::include {
namespace {

struct Stack {
  std::vector<__u64> frames;
  int ended = 0;
  bool operator==(const Stack&) const = default;
};

std::map<__u32, Stack> told_stacks;
std::vector<__u32> copied_stacks;  // their ids
std::vector<__u32> taken_inside;   // while a copy was made

constexpr __u64 kStackBase = 0x7ff000000000;
constexpr __u32 kStackWords = 2560;
constexpr __u64 kPage = 4096;
constexpr int kMostSteps = 4096;

int broken(int error) {
  return static_cast<int>(USC_ENDED_BROKEN) + error;
}

class WalkModel : public ::testing::Test {
 protected:
  explicit WalkModel(unsigned seed = 1) { reset(seed); }

  void reset(unsigned seed) {
    random_.seed(seed);
    tame_ = seed % 2 == 0;
    told_stacks.clear();
    walk_model_reset();
    walk_model.stack_base = kStackBase;
    walk_model.stack = stack_.data();
    walk_model.stack_words = kStackWords;
    walk_model.mode = 1 + any(4);
    walk_model.budget = any(2) ? 1024 : 1 + any(20);
    walk_model.exe_file = WALK_FILE_SERIAL(0);
    for (int i = 0; i < WALK_FILES; i++) make_file(i);
    for (__u32 i = 0; i < kStackWords; i++) put(i, any_word());
    walk_model.pc = any_code();
    walk_model.rsp = any_rsp();
    walk_model.rbp = walk_model.rsp + any(32) * 8;
  }

  __u32 any(__u32 below) { return std::uniform_int_distribution<__u32>(0, below - 1)(random_); }
  __u64 any_code() { return WALK_TEXT + any(WALK_FILES * WALK_FILE_BYTES + (any(8) ? 0 : WALK_FILE_BYTES)); }

  __u64 any_rsp() { return kStackBase + (1024 + any(512)) * 8; }

  __u64 any_word() {
    switch (tame_ ? (any(20) ? 4 : 1) : any(10)) {
      case 0:
        return any(3);
      case 1:
      case 2:
      case 3:
        return kStackBase + any(kStackWords) * 8;
      default:
        return any_code();
    }
  }

  __u32 any_rule() {
    const __u32 words = 1 + any(5);

    switch (tame_ ? (any(40) ? 11 : 2 + any(8)) : any(40)) {
      case 0:
        return USC_RULE_ROOT;
      case 1:
        return USC_RULE_NONE;
      case 2:
        return USC_RULE_FRAME_POINTER;
      case 3:
        return any(4) ? USC_RULE_ROOT : USC_RULE_COMPACT(USC_RULE_SP, 0, 0);
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
        return USC_RULE_COMPACT(USC_RULE_FP, 2 + any(2), any(3) ? 2 : 0);
      case 10:
        return any(4) ? USC_RULE_COMPACT(USC_RULE_SP, 300, 0) : USC_RULE_SHARED_NUMBER(0);
      default:
        return USC_RULE_COMPACT(USC_RULE_SP, words, words > 1 && any(3) == 0 ? 2 : 0);
    }
  }

  // All of a file is text: rows at any places, and the index to them.
  void make_file(int number) {
    FakeTables& tables = tables_[number];
    std::vector<__u32> offsets(300);

    for (__u32& offset : offsets) offset = any(WALK_FILE_BYTES);
    offsets[0] = 0;
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    tables = {};
    for (const __u32 offset : offsets) tables.rows.push_back({offset, any_rule()});
    tables.rows.push_back({WALK_FILE_BYTES, USC_RULE_NONE});
    const __u32 last = tables.rows.size() - 1;
    for (__u32 at = 0; at <= WALK_FILE_BYTES + USC_INDEX_BYTES; at += USC_INDEX_BYTES) {
      const auto behind = std::upper_bound(tables.rows.begin(), tables.rows.end(), at,
                                           [](__u32 offset, const usc_row& row) { return offset < row.offset; });
      tables.index.push_back(std::min<__u32>(behind - tables.rows.begin() - 1, last));
    }
    walk_file& file = walk_model.files[number];
    file.rows = tables.rows.data();
    file.index = tables.index.data();
    file.numbers = {};
    file.numbers.row_count = last + 1;
    file.numbers.text_end = WALK_FILE_BYTES;
    file.classes = number == 2 ? USC_CLASS_EXCLUDED : number == 1 && any(2) ? USC_CLASS_APP : 0;
  }

  // By unwind.h, row_search.h and scope.h, with nothing remembered.
  Stack walk() {
    const usc_scope scope = {walk_model.mode, walk_model.budget};
    usc_scope_state state = USC_SCOPE_START;
    usc_frame frame = {};
    Stack stack;

    frame.pc = walk_model.pc;
    frame.regs[USC_REG_SP] = walk_model.rsp;
    frame.regs[USC_REG_FP] = walk_model.rbp;
    frame.known = USC_KNOWN_ALL;
    frame.exact = walk_model.behind == 0 ? 1 : 0;
    for (int i = 0; i < kMostSteps; i++) {
      const __u64 address = frame.pc - (frame.exact ? 0 : 1);
      const __u64 number = (address - WALK_TEXT) / WALK_FILE_BYTES;
      if (address < WALK_TEXT || number > WALK_FILES) {
        // Taken to be a bad call, of which no code can be read here that would show it.
        if (!frame.exact) return end(stack, broken(USC_BROKEN_NO_MAPPING));
        const int answer = usc_scope_admit(&scope, &state, USC_FILE_NONE, walk_model.exe_file, 0);
        if (answer & USC_SCOPE_KEEP) stack.frames.push_back(usc_frame_in_memory(frame.pc, 1));
        if (answer & USC_SCOPE_STOP) return end(stack, usc_scope_ended(answer));
        __u64 caller = 0;
        if (usc_read_u64(&memory_, frame.regs[USC_REG_SP], &caller)) return end(stack, broken(USC_BROKEN_NOFAULT));
        return end(stack, broken(USC_BROKEN_NO_MAPPING));
      }
      const bool has_file = number < WALK_FILES;
      const __u64 of_file = (number + walk_model.first_file) % WALK_FILES;
      const __u32 file = has_file ? WALK_FILE_SERIAL(of_file) : USC_FILE_NONE;
      const __u64 offset = (address - WALK_TEXT) % WALK_FILE_BYTES;
      const __u64 place = has_file ? offset + (frame.exact ? 0 : 1) : frame.pc;
      const __u32 classes = has_file ? walk_model.files[of_file].classes : 0;
      const int answer = usc_scope_admit(&scope, &state, file, walk_model.exe_file, classes);
      if (answer & USC_SCOPE_KEEP) stack.frames.push_back(test::frame_word(file, place, frame.exact));
      if (answer & USC_SCOPE_STOP) return end(stack, usc_scope_ended(answer));
      const __u32 rule = has_file ? usc_row_find(&tables_[of_file], &walk_model.files[of_file].numbers, offset)
                                  : USC_RULE_FRAME_POINTER;
      const int result = usc_step(&frame, rule, &memory_, &tables_[0]);
      if (result == USC_STEP_ROOT) return end(stack, USC_ENDED_ROOT);
      if (result < 0) return end(stack, broken(-1 - result));
    }
    return end(stack, broken(USC_BROKEN_TOO_DEEP));
  }

  static Stack end(Stack& stack, int ended) {
    stack.ended = ended;
    return stack;
  }

  // Something of the thread changes, or nothing.
  void change() {
    const __u64 at = (walk_model.rsp - kStackBase) / 8;

    switch (any(10)) {
      case 0:
      case 1:
        put(at + any(40), any_word());
        break;
      case 2:
        walk_model.pc = any_code();
        break;
      case 3:
        walk_model.rsp = any_rsp() + (any(50) ? 0 : 4);
        break;
      case 4:
        walk_model.rbp = walk_model.rsp + any(32) * 8;
        break;
      case 5:
        if (any(10) != 0) break;
        walk_model.first_file = any(WALK_FILES);
        walk_model_remap();
        break;
      case 6:
        move(any(2) ? kPage : -kPage);
        break;
      case 7:
        walk_model.exe_file = WALK_FILE_SERIAL(any(2));
        break;
      case 8:
        walk_model.behind ^= 1;
        break;
      default:
        break;
    }
  }

  // The same stack, as another thread has it: all that points into it points elsewhere.
  void move(__u64 bytes) {
    if (walk_model.rsp + bytes - kStackBase > kStackWords * 6) return;
    std::vector<__u64> moved = stack_;
    for (__u64& word : moved)
      if (word - kStackBase < kStackWords * 8) word += bytes;
    const long words = static_cast<__s64>(bytes) / 8;
    for (long i = 0; i < kStackWords; i++)
      if (i + words >= 0 && i + words < kStackWords) put(i + words, moved[i]);
    walk_model.rsp += bytes;
    walk_model.rbp += bytes;
  }

  // All code has rules of this making.
  template <typename Make>
  void one_rule(Make make) {
    for (FakeTables& tables : tables_)
      for (usc_row& row : tables.rows)
        if (row.offset < WALK_FILE_BYTES) row.rule = make();
  }

  void put(__u32 number, __u64 word) {
    stack_[number] = word;
    memory_.words[kStackBase + number * 8] = word;
  }

  std::mt19937 random_;
  bool tame_ = false;  // a program whose stacks are deep
  std::vector<__u64> stack_ = std::vector<__u64>(kStackWords);
  FakeMemory memory_;
  std::array<FakeTables, WALK_FILES> tables_;
};

TEST_F(WalkModel, EveryStackIsThatOfTheContractsWalk) {
  std::map<int, int> ends;
  __u64 hits = 0;
  std::size_t deepest = 0;

  for (unsigned seed = 1; seed <= 60; seed++) {
    reset(seed);
    for (int call = 0; call < 400; call++) {
      change();
      const Stack expected = walk();
      // Twice and once more: walked, walked and remembered, recalled.
      for (int again = 0; again < 3; again++) {
        const auto found = told_stacks.find(walk_model_take());
        ASSERT_NE(found, told_stacks.end());
        ASSERT_EQ(found->second.frames, expected.frames) << "seed " << seed << ", call " << call << ", " << again;
        ASSERT_EQ(found->second.ended, expected.ended) << "seed " << seed << ", call " << call << ", " << again;
      }
      ends[expected.ended]++;
      deepest = std::max(deepest, expected.frames.size());
    }
    hits += walk_model_memo_hits();
  }
  // The model comes to all that it is meant to come to.
  EXPECT_GT(hits, 4000);
  EXPECT_GT(ends[USC_ENDED_ROOT], 100);
  EXPECT_GT(ends[USC_ENDED_SCOPE], 100);
  EXPECT_GT(ends[USC_ENDED_BUDGET], 100);
  EXPECT_GT(ends[broken(USC_BROKEN_LOOP)], 10);
  EXPECT_GT(ends[broken(USC_BROKEN_NO_ROWS)], 10);
  EXPECT_GT(ends[broken(USC_BROKEN_ZERO_RA)], 10);
  EXPECT_GT(ends[broken(USC_BROKEN_NO_MAPPING)], 10);
  EXPECT_GT(deepest, 20);
}

TEST_F(WalkModel, ARememberedStackHoldsForAnotherThreadsStackAndNotForOtherWords) {
  int recalled = 0;

  for (unsigned seed = 1; seed <= 40; seed++) {
    reset(seed);
    walk_model.mode = USC_MODE_ALL_ALL;
    walk_model.budget = 64;
    for (int again = 0; again < 3; again++) walk_model_take();
    const __u64 hits = walk_model_memo_hits();
    move(kPage);
    const __u32 id = walk_model_take();
    EXPECT_EQ(told_stacks[id].frames, walk().frames) << "seed " << seed;
    recalled += walk_model_memo_hits() > hits;
    // Each word, one at a time.
    const __u64 at = (walk_model.rsp - kStackBase) / 8;
    for (__u64 i = at; i < at + 64; i++) {
      const __u64 before = stack_[i];
      put(i, before + 0x100);
      EXPECT_EQ(told_stacks[walk_model_take()], walk()) << "seed " << seed << ", word " << i - at;
      put(i, before);
    }
  }
  EXPECT_GT(recalled, 5);
}

TEST_F(WalkModel, AWalkThatWouldInterruptAnotherOneIsLeftToTheCollector) {
  walk_model_take();
  const std::size_t told = told_stacks.size();
  EXPECT_NE(walk_model_take_inside(), 0);
  EXPECT_EQ(told_stacks.size(), told);
  EXPECT_EQ(walk_model_deferred(USC_DEFER_INTERRUPTED), 1);
}

constexpr __u64 kWalkPc = WALK_TEXT + 0x101;  // behind the first byte of a function
constexpr __u64 kNoCall = ~0ull;
constexpr int kUnreadable = -1;
constexpr int kNop = 0x90;

__u32 is_behind(const walk_task& task) {
  const walk_place place = walk_model_place(&task);
  EXPECT_EQ(place.pc, task.pc);
  return place.behind;
}

// `first`, `second`: the bytes before pc.
__u32 is_behind(__u64 orig_ax, __u64 pc, int first, int second) {
  walk_task task{};
  task.orig_ax = orig_ax;
  task.pc = pc;
  task.code[3] = first;
  task.code[4] = second;
  return is_behind(task);
}

// What stands before the pc of a task that is in no call is not that of a call, whatever it is.
TEST_F(WalkModel, ATaskInACallIsAtTheInstructionBeforeItsPc) {
  constexpr __u64 kVsyscall = 0xffffffffff600000;
  EXPECT_EQ(is_behind(230, kWalkPc, 0x0f, 0x05), 1);
  EXPECT_EQ(is_behind(0, kWalkPc, 0x0f, 0x05), 1);
  EXPECT_EQ(is_behind(162, kWalkPc, 0xcd, 0x80), 1);
  EXPECT_EQ(is_behind(59, kWalkPc, kUnreadable, kUnreadable), 0) << "an exec whose program has not been read in";
  EXPECT_EQ(is_behind(kNoCall, kWalkPc, 0x0f, 0x05), 0) << "interrupted, or behind rt_sigreturn";
  EXPECT_EQ(is_behind(0xffffffff, kWalkPc, 0x0f, 0x05), 0);
  EXPECT_EQ(is_behind(230, kWalkPc, kNop, kNop), 0) << "the call is made anew, or was an exec";
  EXPECT_EQ(is_behind(96, kVsyscall, kUnreadable, kUnreadable), 0);
}

constexpr int kInt3 = 0xcc;  // a breakpoint, or padding
constexpr int kPushRbx = 0x53;
constexpr int kPopRbx = 0x5b;
constexpr int kLeave = 0xc9;
constexpr int kRet = 0xc3;
constexpr __u64 kSp = kStackBase + 0x1000;  // at a function's entry
constexpr __u64 kReturn = 0x555500001234;
constexpr __u64 kWalkRbx = 0xb;
constexpr __u64 kWalkRbp = kSp + 0x80;

// In no call, in the kernel, of a process with probes, and at a function's entry.
walk_task interrupted(std::array<int, 4> code) {
  walk_task task{};
  task.orig_ax = kNoCall;
  task.pc = kWalkPc;
  std::copy(code.begin(), code.end(), task.code + 3);
  task.sp = kSp;
  std::copy_n(std::array<__u64, 4>{7, kReturn, 1, 2}.begin(), 4, task.stack);
  std::copy_n(std::array<__u64, 8>{0xa, 0xc, 0xd, kWalkRbx, 0, kWalkRbp, 0x51, 0xd1}.begin(), 8, task.registers);
  for (int number = 8; number < 16; number++) task.registers[number] = 0x100 + number;
  task.return_address = kReturn;
  task.meets_probes = 1;
  return task;
}

// The stack pointer is elsewhere, with these words below it, at it, and above.
walk_task with_stack(walk_task task, __u64 sp, std::array<__u64, 4> words) {
  task.sp = sp;
  std::copy(words.begin(), words.end(), task.stack);
  return task;
}

walk_task noted(walk_task task, __u64 pc, __u64 sp, int code) {
  task.met = {pc, sp, static_cast<__u8>(code)};
  return task;
}

// Where the place is, counted from the first byte behind the breakpoint, which is before pc: -1 means at the
// breakpoint.
int from_pc(const walk_task& task) {
  const walk_place place = walk_model_place(&task);
  return static_cast<int>(place.pc - task.pc) - static_cast<int>(place.behind);
}

TEST_F(WalkModel, ATaskThatHasMetAProbeIsAtTheBreakpoint) {
  walk_task task = interrupted({kNop, kInt3, kNop, kNop});
  EXPECT_EQ(from_pc(task), -1);
  task.is_in_program = 1;
  EXPECT_EQ(from_pc(task), 0) << "the program's own code was interrupted behind padding";
  task.is_in_program = 0;
  task.meets_probes = 0;
  EXPECT_EQ(from_pc(task), 0);
  EXPECT_EQ(from_pc(interrupted({kNop, kNop, kNop, kNop})), 0);
  EXPECT_EQ(from_pc(interrupted({kNop, kUnreadable, kInt3, kNop})), 0);
  EXPECT_EQ(from_pc(interrupted({kUnreadable, kInt3, kUnreadable, kUnreadable})), -1) << "the last byte of a mapping";
}

// Which of two bytes that look so is the breakpoint, and which is padding: before an entry, or behind a function's
// `ret`.
TEST_F(WalkModel, PaddingThatLooksLikeABreakpointIsNone) {
  const walk_task entry = interrupted({kInt3, kInt3, kInt3, kNop});
  EXPECT_EQ(from_pc(entry), 0);
  const walk_task ret = interrupted({kPopRbx, kInt3, kInt3, kInt3});
  EXPECT_EQ(from_pc(ret), -1);
  EXPECT_EQ(from_pc(interrupted({kInt3, kInt3, kInt3, kInt3})), -1) << "a function that is one `ret`";
  const walk_task either = interrupted({kNop, kInt3, kInt3, kNop});
  EXPECT_EQ(from_pc(noted(either, kWalkPc, kSp, kPushRbx)), 0);
  EXPECT_EQ(from_pc(noted(either, kWalkPc - 1, kSp, kRet)), -1);
  EXPECT_EQ(from_pc(noted(entry, kWalkPc - 1, kSp, kPushRbx)), -1) << "two probes, one behind the other";
  walk_task probed = interrupted({kInt3, kInt3, kNop, kNop});
  EXPECT_EQ(from_pc(probed), -1) << "behind the first byte of a function";
  probed.pc = kWalkPc - 1;
  EXPECT_EQ(from_pc(probed), 0) << "at the first byte of a function without a probe";
  EXPECT_EQ(from_pc(noted(probed, kWalkPc - 2, kSp, kPushRbx)), -1);
  probed.code[3] = kRet;
  EXPECT_EQ(from_pc(probed), -1);
  probed.return_address = kWalkPc + 0x40;
  probed.stack[1] = probed.return_address;
  probed.called = probed.pc;
  EXPECT_EQ(from_pc(probed), 0) << "one byte of padding before a function that was just called";
}

// Of our probes.
TEST_F(WalkModel, AnInstructionThatHasMovedTheStackIsDone) {
  const walk_task task = interrupted({kNop, kInt3, kNop, kNop});
  const walk_task pushed = with_stack(task, kSp - 8, {7, kWalkRbx, kReturn, 1});
  EXPECT_EQ(from_pc(noted(pushed, kWalkPc - 1, kSp, kPushRbx)), 0);
  EXPECT_EQ(from_pc(noted(task, kWalkPc - 1, kSp, kPushRbx)), -1) << "the next call, from the same place";
  EXPECT_EQ(from_pc(noted(task, kWalkPc - 1, kSp + 0x40, kPushRbx)), -1) << "a recursion";
  EXPECT_EQ(from_pc(noted(task, kWalkPc - 1, kSp - 0x40, kPushRbx)), -1) << "after longjmp";
  EXPECT_EQ(from_pc(noted(task, kWalkPc - 1, kSp + 8, kPushRbx)), -1) << "the next call, from 8 bytes below";
  const walk_task popped = with_stack(task, kSp, {kWalkRbx, kReturn, 1, 2});
  EXPECT_EQ(from_pc(noted(popped, kWalkPc - 1, kSp - 8, kPopRbx)), 0);
  EXPECT_EQ(from_pc(noted(task, kWalkPc - 1, kSp - 8, kPopRbx)), -1);
  EXPECT_EQ(from_pc(noted(popped, kWalkPc - 1, kSp - 8, kRet)), -1) << "at the `ret` behind a pop";
  const walk_task left = with_stack(task, kSp, {kWalkRbp, kReturn, 1, 2});
  EXPECT_EQ(from_pc(noted(left, kWalkPc - 1, kSp - 0x30, kLeave)), 0);
  EXPECT_EQ(from_pc(noted(task, kWalkPc - 1, kSp - 0x30, kLeave)), -1);
  EXPECT_EQ(from_pc(noted(pushed, kWalkPc - 1, kSp, kNop)), -1) << "where it does not matter";
}

TEST_F(WalkModel, EachRegisterCanBePushed) {
  const walk_task task = interrupted({kNop, kInt3, kNop, kNop});
  for (int number = 0; number < 8; number++) {
    const bool is_sp = number == 4;
    const __u64 value = is_sp ? kSp : task.registers[number];
    const walk_task pushed = with_stack(task, kSp - 8, {7, value, kReturn, 1});
    EXPECT_EQ(from_pc(noted(pushed, kWalkPc - 1, kSp, 0x50 + number)), 0) << number;
    EXPECT_EQ(from_pc(noted(pushed, kWalkPc - 1, kSp, 0x50 + (number + 1) % 8)), -1)
        << number << ", of another register";
    EXPECT_EQ(from_pc(pushed), 0) << number << ", at a probe of others";
  }
}

TEST_F(WalkModel, AtAProbeOfOthersTheFirstPushOfAFunctionIsKnown) {
  const walk_task task = interrupted({kNop, kInt3, kNop, kNop});
  EXPECT_EQ(from_pc(task), -1) << "the return address is no register's value";
  EXPECT_EQ(from_pc(with_stack(task, kSp - 8, {7, kWalkRbx, kReturn, 1})), 0);
  EXPECT_EQ(from_pc(with_stack(task, kSp - 8, {7, kWalkRbx, 1, kReturn})), -1) << "in the middle of a function";
  const walk_task second = interrupted({0x55, kInt3, kNop, kNop});
  EXPECT_EQ(from_pc(with_stack(second, kSp - 8, {7, kWalkRbp, kReturn, 1})), -1) << "at the second push of a function";
  const walk_task ours = noted(task, kWalkPc + 0x100, kSp, kPushRbx);
  EXPECT_EQ(from_pc(with_stack(ours, kSp - 8, {7, kWalkRbx, kReturn, 1})), 0) << "and one of ours was met before";
}

// The kernel has written the stack pointer, and is about to write the pc.
TEST_F(WalkModel, AnInstructionWhosePcIsNotWrittenYetIsDone) {
  const walk_task task = interrupted({kNop, kNop, kInt3, kNop});
  const walk_task pushed = with_stack(task, kSp - 8, {7, kWalkRbx, kReturn, 1});
  EXPECT_EQ(from_pc(task), 0);
  EXPECT_EQ(from_pc(pushed), 1);
  EXPECT_EQ(from_pc(noted(task, kWalkPc, kSp, kPushRbx)), 0);
  EXPECT_EQ(from_pc(noted(pushed, kWalkPc, kSp, kPushRbx)), 1);
  EXPECT_EQ(from_pc(noted(task, kWalkPc, kSp + 8, kPushRbx)), 0) << "the next call, from 8 bytes below";
}

TEST_F(WalkModel, SoIsAPushOfTwoBytes) {
  for (int number = 8; number < 16; number++) {
    const walk_task task = interrupted({kNop, kNop, kInt3, 0x48 + number});
    const walk_task pushed = with_stack(task, kSp - 8, {7, task.registers[number], kReturn, 1});
    EXPECT_EQ(from_pc(noted(task, kWalkPc, kSp, 0x41)), 0);
    EXPECT_EQ(from_pc(noted(pushed, kWalkPc, kSp, 0x41)), 2) << number;
    EXPECT_EQ(from_pc(pushed), 2) << number << ", at a probe of others";
    const walk_task other = with_stack(task, kSp - 8, {7, kWalkRbx, kReturn, 1});
    EXPECT_EQ(from_pc(noted(other, kWalkPc, kSp, kPushRbx)), 1) << "one of a byte, before another one";
  }
}

// Of a call, the pc behind it is written first.
TEST_F(WalkModel, ACallThatHasPushedItsReturnAddressIsInTheFunction) {
  walk_task task = interrupted({0xff, 0xff, kNop, kNop});
  std::copy_n(std::array{kInt3, 0xf0, 0xff}.begin(), 3, task.code);
  const walk_task called = with_stack(task, kSp - 8, {7, kWalkPc, kReturn, 1});
  EXPECT_EQ(from_pc(task), 0);
  EXPECT_EQ(from_pc(called), -16);
  EXPECT_EQ(from_pc(noted(called, kWalkPc - 5, kSp, 0xe8)), -16);
}

TEST_F(WalkModel, ATaskThatExecutesTheCopyOfAnInstructionIsWhereThatIs) {
  constexpr __u64 kCopy = 0x7fffffffe080;
  constexpr __u64 kSlot = 128;
  for (const __u32 is_in_program : {0, 1}) {
    walk_task task = interrupted({kNop, kNop, kNop, kNop});
    task.is_in_program = is_in_program;
    task.copy = kCopy;
    task.probed = kWalkPc;
    for (const __u64 done : {0, 4, 15}) {
      task.pc = kCopy + done;
      const walk_place place = walk_model_place(&task);
      EXPECT_EQ(place.pc, kWalkPc + done);
      EXPECT_EQ(place.behind, 0);
    }
    for (const __u64 elsewhere : {kCopy - 1, kCopy + kSlot, kWalkPc + 7}) {
      task.pc = elsewhere;
      EXPECT_EQ(walk_model_place(&task).pc, elsewhere) << "a jump";
    }
    task.pc = 5;
    task.copy = 0;
    EXPECT_EQ(walk_model_place(&task).pc, 5) << "none is executed";
  }
}

// A clock ticks in the middle of a copy: the same thread's stack, which need not be copied twice.
TEST_F(WalkModel, AWalkThatInterruptsACopyHasItsStack) {
  copied_stacks.clear();
  taken_inside.clear();
  walk_model_take_inside();
  ASSERT_EQ(copied_stacks.size(), 1);
  walk_model.copy_is_interrupted = [] { taken_inside.push_back(walk_model_interrupt(1)); };
  const __u32 id = walk_model_take_inside();
  EXPECT_EQ(copied_stacks, (std::vector<__u32>{copied_stacks.front(), id}));
  ASSERT_FALSE(taken_inside.empty());
  EXPECT_EQ(taken_inside, std::vector<__u32>(taken_inside.size(), id));
  EXPECT_EQ(walk_model_lost(USC_LOSS_SCRATCH_BUSY), 0);
  EXPECT_EQ(walk_model_deferred(USC_DEFER_INTERRUPTED), 2);
  walk_model.copy_is_interrupted = nullptr;
  EXPECT_NE(walk_model_take_inside(), id);
}

TEST_F(WalkModel, AnotherTasksWalkInsideACopyIsCountedAsLost) {
  taken_inside.clear();
  walk_model.copy_is_interrupted = [] { taken_inside.push_back(walk_model_interrupt(2)); };
  walk_model_take_inside();
  ASSERT_FALSE(taken_inside.empty());
  EXPECT_EQ(taken_inside, std::vector<__u32>(taken_inside.size(), 0));
  EXPECT_EQ(walk_model_lost(USC_LOSS_SCRATCH_BUSY), taken_inside.size());
}

// Saved frame pointers are found by frame pointers: each of them decides the stack, and moves with it.
TEST_F(WalkModel, AChangedFramePointerOnTheStackChangesWhatIsRemembered) {
  __u64 hits = 0;

  for (unsigned seed = 1; seed <= 40; seed++) {
    reset(seed);
    walk_model.mode = USC_MODE_ALL_ALL;
    walk_model.budget = 64;
    one_rule([this] { return any(4) ? USC_RULE_COMPACT(USC_RULE_FP, 2, 2) : USC_RULE_COMPACT(USC_RULE_SP, 3, 2); });
    for (__u32 i = 0; i + 8 < kStackWords; i++) put(i, i % 2 ? any_code() : kStackBase + (i + 2 + any(3) * 2) * 8);
    walk_model.rsp = any_rsp() & ~15ull;
    walk_model.rbp = walk_model.rsp + 32;
    for (int call = 0; call < 100; call++) {
      for (int again = 0; again < 3; again++) ASSERT_EQ(told_stacks[walk_model_take()], walk()) << seed << ", " << call;
      const __u64 at = (walk_model.rsp - kStackBase) / 8 + any(40) * 2;
      if (any(4) == 0)
        move(any(2) ? kPage : -kPage);
      else
        put(at, kStackBase + (at + 2 + any(3) * 2) * 8);
    }
    hits += walk_model_memo_hits();
  }
  EXPECT_GT(hits, 1000);
}

// What breaks by where the stack ends says nothing of the same words elsewhere.
TEST_F(WalkModel, AWalkThatBreaksAtAnAddressIsNotRemembered) {
  walk_model.mode = USC_MODE_ALL_ALL;
  walk_model.budget = 64;
  one_rule([] { return USC_RULE_COMPACT(USC_RULE_SP, 300, 0); });
  for (__u32 i = 0; i < kStackWords; i++) put(i, WALK_TEXT + 32);
  walk_model.pc = WALK_TEXT + 16;
  walk_model.rsp = kStackBase + kStackWords * 8 - kPage;
  for (int again = 0; again < 3; again++) EXPECT_EQ(told_stacks[walk_model_take()], walk());
  EXPECT_EQ(walk().ended, broken(USC_BROKEN_NOFAULT));
  for (walk_model.rsp -= kPage; walk_model.rsp > kStackBase; walk_model.rsp -= kPage)
    EXPECT_EQ(told_stacks[walk_model_take()], walk());
}

// As deep as a walk goes, by frames of one word each: those behind the first 16 come by another loop.
TEST_F(WalkModel, AWalkEndsAfterAsManyFramesAsTheContractAllows) {
  std::vector<__u64> deep(5000);

  walk_model.mode = USC_MODE_APP_ALL;  // of which none is kept, so that no budget ends it
  walk_model.exe_file = 0;
  for (auto& file : walk_model.files) file.classes = 0;
  one_rule([] { return USC_RULE_COMPACT(USC_RULE_SP, 1, 0); });
  walk_model.pc = WALK_TEXT + 16;
  walk_model.rsp = kStackBase;
  walk_model.stack = deep.data();
  walk_model.stack_words = deep.size();
  for (const int frames : {16, 17, 18, 33, 34, 2000, 4080, 4081, 4095, 4096, 4097, 4100, 4112, 4900}) {
    for (__u32 i = 0; i < deep.size(); i++) {
      deep[i] = i + 1 < static_cast<__u32>(frames) ? WALK_TEXT + 32 : 0;
      memory_.words[kStackBase + i * 8] = deep[i];
    }
    for (int again = 0; again < 3; again++) EXPECT_EQ(told_stacks[walk_model_take()], walk()) << frames;
  }
}

}  // namespace
}  // namespace uscope::include

void walk_model_told(const usc_stack* stack) {
  uscope::include::Stack told;
  for (int i = 0; i < stack->depth; i++) told.frames.push_back(stack->frames[i]);
  told.ended = stack->ended;
  uscope::include::told_stacks[stack->stack] = told;
}

void walk_model_copied(const usc_sample* sample) {
  uscope::include::copied_stacks.push_back(sample->stack);
}

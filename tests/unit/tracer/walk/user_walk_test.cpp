// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The walk in user space on this process's own stacks, against glibc's backtrace().
#include "tracer/walk/user_walk.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "tests/support/frame_word.h"
#include "tests/unit/tracer/own_process.h"
#include "tracer/model/task_table.h"
#include "tracer/walk/deferred_walks.h"
#include "tracer/walk/jit_code.h"

namespace uscope::tracer {
namespace {

constexpr std::uint8_t broken(usc_unwind_error error) {
  return static_cast<std::uint8_t>(USC_ENDED_BROKEN + int{error});
}

class UserWalk : public testing::Test {
 protected:
  void SetUp() override {
    for (const usc_map& map : process_.maps()) mappings_.add(map);
    for (const auto& [serial, mapping] : process_.files())
      ASSERT_TRUE(announce(files_, serial, mapping)) << mapping.path;
  }

  UserStack walk(OwnSample& sample, const usc_scope& scope = {USC_MODE_ALL_ALL, 256}) {
    return walk_sample(sample.record(), mappings_, files_, rows_, scope);
  }

  // Behind the frame that was sampled, whose address is not backtrace()'s.
  static std::vector<std::uint64_t> callers(const UserStack& stack) {
    return stack.frames.empty() ? std::vector<std::uint64_t>{}
                                : std::vector<std::uint64_t>(stack.frames.begin() + 1, stack.frames.end());
  }

  // Executable memory without a file.
  static constexpr std::uint64_t kCode = 0x7e0000000000;
  void map_code() {
    usc_map jit{};
    jit.mm = kOwnMm;
    jit.start = kCode;
    jit.end = kCode + 4096;
    mappings_.add(jit);
  }

  FakeBackend backend_;
  symbolizer::RowCache cache_{""};
  RowBuildQueue maker_{cache_, 0};
  FileTable files_{backend_, maker_, {}};
  WalkTables rows_{files_, maker_};
  OwnProcess process_;
  MappingTimeline mappings_;
};

TEST_F(UserWalk, TheMainThreadsStackIsBacktraces) {
  OwnSample sample = take_sample();
  const UserStack stack = walk(sample);
  EXPECT_EQ(stack.ended, USC_ENDED_ROOT);
  EXPECT_EQ(callers(stack), process_.frames_of(sample.addresses));
  EXPECT_GT(stack.frames.size(), 8U);
  EXPECT_TRUE(stack.frames.front() & USC_FRAME_EXACT);
  EXPECT_FALSE(stack.has_jit);
}

TEST_F(UserWalk, SoIsAnotherThreadsAlsoWithRowsOfAllRegisters) {
  OwnSample sample;
  std::thread([&sample] { sample = take_sample(); }).join();
  const UserStack stack = walk(sample);
  EXPECT_EQ(stack.ended, USC_ENDED_ROOT);
  EXPECT_EQ(callers(stack), process_.frames_of(sample.addresses));
  sample.record().reason = USC_DEFER_REGISTER;
  EXPECT_EQ(walk(sample).frames, stack.frames);
  EXPECT_GT(rows_.bytes(), 0U);  // of all registers
}

// Its pc may be the byte behind all code.
TEST_F(UserWalk, OfATaskInACallTheInstructionBeforeThePcIsLookedUp) {
  OwnSample sample = take_sample();
  const UserStack whole = walk(sample);
  sample.record().flags = USC_SAMPLE_BEHIND;
  const UserStack called = walk(sample);
  EXPECT_EQ(callers(called), callers(whole));
  EXPECT_EQ(called.frames.front(), whole.frames.front() & ~USC_FRAME_EXACT);
  map_code();
  sample.record().pc = kCode + 4096;
  EXPECT_EQ(walk(sample).frames.front(), test::frame_word(USC_FILE_NONE, kCode + 4096, 0));
  sample.record().flags = 0;
  EXPECT_EQ(walk(sample).ended, broken(USC_BROKEN_NO_MAPPING));
}

TEST_F(UserWalk, StopsAtTheBudget) {
  OwnSample sample = take_sample();
  const UserStack whole = walk(sample);
  const UserStack stack = walk(sample, {USC_MODE_ALL_ALL, 3});
  EXPECT_EQ(stack.ended, USC_ENDED_BUDGET);
  EXPECT_EQ(stack.frames, std::vector<std::uint64_t>(whole.frames.begin(), whole.frames.begin() + 3));
}

TEST_F(UserWalk, ACopyThatIsTooShortSaysSo) {
  OwnSample sample = take_sample();
  const UserStack whole = walk(sample);
  sample.record().bytes = 256;
  const UserStack stack = walk(sample);
  EXPECT_EQ(stack.ended, broken(USC_BROKEN_COPY_LIMIT));
  ASSERT_LT(stack.frames.size(), whole.frames.size());
  EXPECT_TRUE(std::equal(stack.frames.begin(), stack.frames.end(), whole.frames.begin()));
}

TEST_F(UserWalk, WithoutAMappingOrAFileAStackEndsWithTheReason) {
  OwnSample sample = take_sample();
  const UserStack stack = walk_sample(sample.record(), {}, files_, rows_, {USC_MODE_ALL_ALL, 256});
  EXPECT_EQ(stack.ended, broken(USC_BROKEN_NO_MAPPING));
  EXPECT_TRUE(stack.frames.empty());
  FileTable nothing(backend_, maker_, {});
  WalkTables no_rows(nothing, maker_);
  EXPECT_EQ(walk_sample(sample.record(), mappings_, nothing, no_rows, {USC_MODE_ALL_ALL, 256}).ended,
            broken(USC_BROKEN_FILE_GONE));
}

TEST_F(UserWalk, RowsThatFoundNoRoomInTheKernelAreMadeHere) {
  backend_.has_room = false;
  FileTable files(backend_, maker_, {});
  for (const auto& [serial, mapping] : process_.files()) ASSERT_TRUE(announce(files, serial, mapping));
  WalkTables rows(files, maker_);
  OwnSample sample = take_sample();
  const UserStack stack = walk_sample(sample.record(), mappings_, files, rows, {USC_MODE_ALL_ALL, 256});
  EXPECT_EQ(stack.ended, USC_ENDED_ROOT);
  EXPECT_EQ(callers(stack), process_.frames_of(sample.addresses));
}

// A frame whose code is memory without a file goes by its frame pointer.
TEST_F(UserWalk, MemoryWithoutAFileIsWalkedByFramePointers) {
  OwnSample sample = take_sample();
  const UserStack whole = walk(sample);
  map_code();
  // As if code at kCode + 8 had been interrupted, its frame set up at the sampled function's own stack pointer.
  std::array<std::uint64_t, 2> frame = {sample.record().regs[USC_REG_FP], sample.record().pc + 1};
  std::memcpy(sample.bytes.data() + sizeof(usc_sample), frame.data(), sizeof(frame));
  sample.record().regs[USC_REG_FP] = sample.record().base;
  sample.record().pc = kCode + 8;
  const UserStack stack = walk(sample);
  EXPECT_TRUE(stack.has_jit);
  ASSERT_GE(stack.frames.size(), 2U);
  EXPECT_EQ(stack.frames[0], test::frame_word(USC_FILE_NONE, kCode + 8, 1));
  EXPECT_EQ(usc_frame_place(stack.frames[1]), usc_frame_place(whole.frames[0]) + 1);
}

// Unless the code says that it returns by `add $8,%rsp; ret`, whatever rbp holds.
TEST_F(UserWalk, CodeThatSaysHowItReturnsIsWalkedByThat) {
  OwnSample sample = take_sample();
  const UserStack whole = walk(sample);
  map_code();
  const std::array<std::uint64_t, 2> frame = {77, sample.record().pc + 1};  // pushed by nobody; the return address
  std::memcpy(sample.bytes.data() + sizeof(usc_sample), frame.data(), sizeof(frame));
  sample.record().regs[USC_REG_SP] = sample.record().base;
  sample.record().regs[USC_REG_FP] = 1;
  sample.record().pc = kCode + 8;
  const auto walk_with = [&](const CodeReader& code) {
    return walk_sample(sample.record(), mappings_, files_, rows_, {USC_MODE_ALL_ALL, 256}, {.memory = code});
  };
  const UserStack stack = walk_with([&](std::uint64_t pc) {
    EXPECT_EQ(pc, kCode + 8);
    return 0x909090c308c48348ULL;
  });
  EXPECT_TRUE(stack.has_jit);
  ASSERT_GE(stack.frames.size(), 2U);
  EXPECT_EQ(usc_frame_place(stack.frames[1]), usc_frame_place(whole.frames[0]) + 1);
  // Other code, and code that cannot be read: by rbp, which is none.
  for (const auto code : {std::optional<std::uint64_t>(0x9090909090909090), std::optional<std::uint64_t>()})
    EXPECT_EQ(walk_with([&](std::uint64_t) { return code; }).ended, broken(USC_BROKEN_FRAME_POINTER));
}

// As if the sampled function had called address 0 from where take_sample() was called: its return address is at rsp.
TEST_F(UserWalk, ACallOfNothingGoesOnAtItsReturnAddress) {
  OwnSample sample = take_sample();
  const UserStack whole = walk(sample);
  const std::uint64_t caller = sample.addresses.front();
  std::uint64_t at = sample.record().regs[USC_REG_SP];
  const auto word = [&](std::uint64_t address) {
    std::uint64_t value = 0;
    std::memcpy(&value, sample.bytes.data() + sizeof(usc_sample) + (address - sample.record().base), sizeof(value));
    return value;
  };
  while (word(at) != caller) at += 8;
  sample.record().regs[USC_REG_SP] = at;
  sample.record().regs[USC_REG_FP] = word(at - 8);  // the caller's, which take_sample() keeps there
  sample.record().pc = 0;
  const UserStack stack = walk(sample);
  EXPECT_TRUE(stack.has_jit);
  ASSERT_FALSE(stack.frames.empty());
  EXPECT_EQ(stack.frames.front(), test::frame_word(USC_FILE_NONE, 0, 1));
  EXPECT_EQ(callers(stack), callers(whole));
  // A word that is no return address.
  sample.record().regs[USC_REG_SP] = at + 8;
  std::memset(sample.bytes.data() + sizeof(usc_sample) + (at + 8 - sample.record().base), 0, 8);
  EXPECT_EQ(walk(sample).ended, broken(USC_BROKEN_NO_MAPPING));
  EXPECT_EQ(walk(sample).frames.size(), 1U);
}

TEST_F(UserWalk, TheCodeIsReadFromTheSamplesProcess) {
  OwnSample sample = take_sample();
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const std::uint64_t code = 0xc308c48348;
  std::memcpy(page, &code, sizeof(code));
  usc_map jit{};
  jit.mm = kOwnMm;
  jit.start = reinterpret_cast<std::uint64_t>(page);
  jit.end = jit.start + 4096;
  mappings_.add(jit);
  const std::array<std::uint64_t, 2> frame = {77, sample.record().pc + 1};
  std::memcpy(sample.bytes.data() + sizeof(usc_sample), frame.data(), sizeof(frame));
  sample.record().regs[USC_REG_SP] = sample.record().base;
  sample.record().regs[USC_REG_FP] = 1;
  sample.record().pc = jit.start;
  sample.record().head.task = 3;
  TaskTable tasks;
  usc_task task{};
  task.head.task = 3;
  task.pid = static_cast<std::uint32_t>(getpid());
  tasks.start(task);
  JitCode reader;
  WalkInputs inputs{mappings_, files_, rows_, tasks, {USC_MODE_ALL_ALL, 256}};
  EXPECT_EQ(walk_sample(sample.record(), inputs).ended, broken(USC_BROKEN_FRAME_POINTER));
  inputs.code = &reader;
  EXPECT_GE(walk_sample(sample.record(), inputs).frames.size(), 2U);
  munmap(page, 4096);
}

TEST(JitCode, IsReadFromTheProcessOnce) {
  static volatile std::uint64_t code = 0x1122334455667788;
  const auto at = reinterpret_cast<std::uint64_t>(&code);
  const auto own = static_cast<std::uint32_t>(getpid());
  JitCode reader;
  EXPECT_EQ(reader.at(trace::MmId(1), own, at), 0x1122334455667788U);
  code = 7;
  EXPECT_EQ(reader.at(trace::MmId(1), own, at), 0x1122334455667788U);
  EXPECT_EQ(reader.at(trace::MmId(2), own, at), 7U);
  EXPECT_EQ(reader.at(trace::MmId(1), own, 16), std::nullopt);
  EXPECT_EQ(reader.at(trace::MmId(1), 0, 24), std::nullopt);
}

TEST(WalkTables, DropsWhatWasUsedLongestAgo) {
  FakeBackend backend;
  backend.has_room = false;
  symbolizer::RowCache cache("");
  RowBuildQueue maker(cache, 0);
  FileTable files(backend, maker, {});
  const OwnProcess process;
  ASSERT_GE(process.files().size(), 2U);
  for (const auto& [serial, mapping] : process.files()) ASSERT_TRUE(announce(files, serial, mapping));
  WalkTables rows(files, maker, 1);  // the bound holds nothing but what is asked for
  const trace::FileId first(process.files()[0].first);
  const trace::FileId second(process.files()[1].first);
  const auto table = rows.get(first, symbolizer::RowDetail::kStack);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(rows.get(first, symbolizer::RowDetail::kStack), table);
  const auto other = rows.get(second, symbolizer::RowDetail::kStack);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(rows.bytes(), other->bytes());
  EXPECT_NE(rows.get(first, symbolizer::RowDetail::kAllRegisters)->bytes(), table->bytes());
  EXPECT_EQ(rows.get(trace::FileId(77), symbolizer::RowDetail::kStack), nullptr);
}

}  // namespace
}  // namespace uscope::tracer

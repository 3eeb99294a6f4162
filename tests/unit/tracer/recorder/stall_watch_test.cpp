// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// When checks are begun, against a clock that the test moves. The wait that they are about is this thread's, which
// waits for nothing.
#include "tracer/recorder/stall_watch.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "tests/unit/trace/memory_sink.h"
#include "tests/unit/trace/new_raw_file.h"
#include "trace/raw_writer.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStart = 1'000'000 * kMs;
constexpr std::uint64_t kThreads = 4;

class CountedCheck final : public StallCheck {
 public:
  void begin() override {
    begun++;
    answer.reset();
  }
  std::optional<bool> poll() override { return answer; }
  int begun = 0;
  std::optional<bool> answer;
};

class StallWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "uscope-stall-" + std::to_string(getpid());
    auto writer = trace::RawWriter::create(new_raw_file(path_), path_, {});
    ASSERT_TRUE(writer);
    writer_.emplace(std::move(*writer));
    futexes_.emplace(tasks_, *writer_);
  }
  void TearDown() override { unlink(path_.c_str()); }

  void wait_begins(std::uint32_t task, std::uint64_t at_ns) {
    usc_task record{};
    record.head.task = task;
    record.process = 1;
    record.pid = record.tid = static_cast<__u32>(getpid());
    tasks_.start(record);
    usc_event event{};
    event.head.task = task;
    event.entry_ns = at_ns;
    event.kind = SYS_futex;
    event.how = USC_HOW_OPEN;
    event.args[0] = reinterpret_cast<std::uint64_t>(&word_);
    event.args[1] = 128;  // FUTEX_WAIT_PRIVATE
    futexes_->observe(event);
    watch_.calls().observe(event);
  }
  // As the recorder does: often, and every second.
  bool pass(std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t check_ns) {
    for (std::uint64_t now = from_ns; now < to_ns; now += 10 * kMs) {
      if (begun_ns_ != 0 && now - begun_ns_ >= check_ns) check_.answer = false;
      const int before = check_.begun;
      const auto stalled = watch_.work(*futexes_, waits_, *writer_, now);
      EXPECT_TRUE(stalled);
      if (*stalled) return true;
      if (now % (1000 * kMs) == 0) {
        EXPECT_TRUE(watch_.check(*futexes_, waits_, now, kThreads));
      }
      if (check_.begun != before) begun_ns_ = now;
    }
    return false;
  }

  std::string path_;
  std::uint32_t word_ = 0;
  TaskTable tasks_;
  std::optional<trace::RawWriter> writer_;
  std::optional<FutexWatch> futexes_;
  trace::StringFilter strings_;
  MemorySink looks_;
  WaitWatch waits_{tasks_, looks_, strings_};
  CountedCheck check_;
  StallWatch watch_{&check_, 1000 * kMs};
  std::uint64_t begun_ns_ = 0;
};

TEST_F(StallWatchTest, AShortCheckIsFollowedByAShortRest) {
  wait_begins(7, kStart);
  EXPECT_FALSE(pass(kStart + 2000 * kMs, kStart + 2100 * kMs, 40 * kMs));
  EXPECT_EQ(check_.begun, 1);
  // Complete just after that check.
  wait_begins(8, kStart + 1050 * kMs);
  EXPECT_FALSE(pass(kStart + 2100 * kMs, kStart + 4100 * kMs, 40 * kMs));
  EXPECT_EQ(check_.begun, 2);
}

TEST_F(StallWatchTest, ALongCheckIsFollowedByTenTimesAsLongARest) {
  wait_begins(7, kStart);
  EXPECT_FALSE(pass(kStart + 2000 * kMs, kStart + 3500 * kMs, 1000 * kMs));
  EXPECT_EQ(check_.begun, 1);
  wait_begins(8, kStart + 1050 * kMs);
  EXPECT_FALSE(pass(kStart + 3500 * kMs, kStart + 12900 * kMs, 1000 * kMs));
  EXPECT_EQ(check_.begun, 1);
  EXPECT_FALSE(pass(kStart + 12900 * kMs, kStart + 14100 * kMs, 1000 * kMs));
  EXPECT_EQ(check_.begun, 2);
}

// A call that ends by its own time limit is none that hangs; one without is, whatever it is.
TEST_F(StallWatchTest, CallsThatCount) {
  usc_event event{};
  event.head.task = 7;
  event.entry_ns = kStart;
  event.how = USC_HOW_OPEN;
  event.kind = SYS_poll;
  event.args[2] = 5000;
  watch_.calls().observe(event);
  EXPECT_EQ(watch_.calls().begun_before(kStart + 1).count, 0U);
  event.args[2] = 0xffffffff;
  watch_.calls().observe(event);
  EXPECT_EQ(watch_.calls().begun_before(kStart).count, 0U);
  EXPECT_EQ(watch_.calls().begun_before(kStart + 1).count, 1U);
  event.how = USC_HOW_RETURNED;
  watch_.calls().observe(event);
  EXPECT_EQ(watch_.calls().begun_before(kStart + 1).count, 0U);
}

TEST_F(StallWatchTest, AnAnswerIsTakenWhenItComes) {
  wait_begins(7, kStart);
  EXPECT_FALSE(pass(kStart + 2000 * kMs, kStart + 2050 * kMs, 1000 * kMs));
  check_.answer = true;
  const auto stalled = watch_.work(*futexes_, waits_, *writer_, kStart + 2060 * kMs);
  ASSERT_TRUE(stalled);
  EXPECT_TRUE(*stalled);
}

}  // namespace
}  // namespace uscope::tracer

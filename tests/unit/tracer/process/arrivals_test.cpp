// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/arrivals.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "tests/unit/trace/memory_sink.h"

namespace uscope::tracer {
namespace {

// /proc as a test says that it is; a pid that is not there does not answer.
class FakeProc final : public PortraitSource {
 public:
  std::optional<ProcessPortrait> portrait_of(std::uint32_t pid, bool with_descriptors) override {
    const auto found = processes.find(pid);
    if (found == processes.end()) return std::nullopt;
    ProcessPortrait portrait = found->second;
    if (!with_descriptors) portrait.descriptors.clear();
    return portrait;
  }
  std::vector<OpenDescriptor> descriptors_of(std::uint32_t pid) override { return processes[pid].descriptors; }

  std::map<std::uint32_t, ProcessPortrait> processes;
};

class ArrivalsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kPid = 4711;
  static constexpr std::uint32_t kProcess = 6;

  void SetUp() override {
    ProcessPortrait& process = proc_.processes[kPid];
    process.name = "server";
    process.path = "/opt/bin/server";
    process.arguments = std::string("server\0-v\0", 10);
    process.descriptors_ns = 77;
    process.descriptors = {{3, USC_FD_CLOEXEC, "/etc/secret/key"}, {USC_FD_CWD, 0, "/"}};
  }

  static usc_task task(std::uint32_t flags) {
    usc_task record{};
    record.head.time = 50;
    record.process = kProcess;
    record.flags = flags;
    return record;
  }
  // Of a process that ran before, unless old_tid is given.
  static usc_exec image(const char* name = "server", std::uint32_t old_tid = 0) {
    usc_exec record{};
    record.head.size = sizeof(record);
    record.head.type = USC_RECORD_EXEC;
    record.head.cpu = 2;
    record.head.seq = 9;
    record.head.task = 8;
    record.process = kProcess;
    record.old_tid = old_tid;
    std::strncpy(record.name, name, sizeof(record.name) - 1);
    return record;
  }
  // Path and arguments of the only image that was written.
  std::pair<std::string, std::string> written_image() {
    std::vector<std::string> tails;
    const auto images = sink_.all<usc_exec>(&tails);
    EXPECT_EQ(images.size(), 1U);
    if (images.empty()) return {};
    return {tails[0].substr(0, images[0].path_bytes), tails[0].substr(images[0].path_bytes, images[0].argv_bytes)};
  }

  FakeProc proc_;
  trace::StringFilter strings_;
  MemorySink sink_;
  Arrivals arrivals_{proc_, strings_, sink_};
};

TEST_F(ArrivalsTest, AProcessThatRanBeforeGetsItsPathArgumentsAndDescriptors) {
  ASSERT_TRUE(arrivals_.start(task(USC_TASK_PROCESS)));
  EXPECT_TRUE(sink_.types().empty());
  ASSERT_TRUE(arrivals_.write_image(image(), kPid));
  EXPECT_EQ(sink_.types(), (std::vector<std::uint16_t>{USC_RECORD_FD, USC_RECORD_FD, USC_RECORD_FD, USC_RECORD_EXEC}));
  EXPECT_EQ(written_image(), std::pair(std::string("/opt/bin/server"), std::string("server\0-v\0", 10)));
  const usc_exec exec = sink_.all<usc_exec>()[0];
  EXPECT_EQ(exec.head.cpu, 2);  // the place of the record that it completes
  EXPECT_EQ(exec.head.seq, 9U);
  EXPECT_EQ(exec.argv_total, 10U);
  std::vector<std::string> targets;
  const auto descriptors = sink_.all<usc_fd>(&targets);
  EXPECT_EQ(descriptors[0].fd, 3);
  EXPECT_EQ(descriptors[0].flags, static_cast<__u32>(USC_FD_CLOEXEC));
  EXPECT_EQ(descriptors[0].head.time, 77U);
  EXPECT_EQ(targets[0].substr(0, descriptors[0].target_bytes), "/etc/secret/key");
  EXPECT_EQ(descriptors[1].fd, USC_FD_CWD);
  EXPECT_EQ(descriptors[2].fd, USC_FD_END);
  EXPECT_GE(descriptors[2].head.time, descriptors[0].head.time);
  EXPECT_EQ(arrivals_.take_adopted(), std::vector<std::uint32_t>{kPid});
  EXPECT_TRUE(arrivals_.take_adopted().empty());
}

TEST_F(ArrivalsTest, DescriptorsAreReadOnceForAProcess) {
  ASSERT_TRUE(arrivals_.start(task(USC_TASK_PROCESS)));
  ASSERT_TRUE(arrivals_.write_image(image(), kPid));
  ASSERT_TRUE(arrivals_.write_image(image(), kPid));
  EXPECT_EQ(sink_.all<usc_fd>().size(), 3U);
  EXPECT_EQ(sink_.all<usc_exec>().size(), 2U);
}

TEST_F(ArrivalsTest, AForkedProcessHasWhatItsParentHas) {
  ASSERT_TRUE(arrivals_.start(task(USC_TASK_PROCESS | USC_TASK_FORKED)));
  ASSERT_TRUE(arrivals_.write_image(image("server", 4711), kPid));
  EXPECT_EQ(sink_.types(), std::vector<std::uint16_t>{USC_RECORD_EXEC});
  EXPECT_TRUE(arrivals_.take_adopted().empty());  // an exec: the kernel side announces its mappings
}

TEST_F(ArrivalsTest, AnExecOfAProcessThatWasNotForkedComesAfterWhatItHasOpen) {
  ASSERT_TRUE(arrivals_.start(task(USC_TASK_PROCESS)));
  ASSERT_TRUE(arrivals_.write_image(image("server", 4711), kPid));
  EXPECT_EQ(sink_.types(), (std::vector<std::uint16_t>{USC_RECORD_FD, USC_RECORD_FD, USC_RECORD_FD, USC_RECORD_EXEC}));
  EXPECT_EQ(written_image().first, "");  // the kernel side's own record, as it was
}

TEST_F(ArrivalsTest, TheCommandHasWhatWasOpenBeforeItStarted) {
  arrivals_.set_command(kPid);
  proc_.processes[kPid].descriptors.clear();
  ASSERT_TRUE(arrivals_.start(task(USC_TASK_PROCESS | USC_TASK_LAUNCHED)));
  const auto descriptors = sink_.all<usc_fd>();
  ASSERT_EQ(descriptors.size(), 3U);
  EXPECT_EQ(descriptors[0].fd, 3);
  EXPECT_EQ(descriptors[0].process, kProcess);
  EXPECT_EQ(descriptors[0].head.time, 50U);
  EXPECT_EQ(descriptors[2].head.time, 50U);
}

// The pid may be another process's by now: then /proc says nothing of the one that was traced.
TEST_F(ArrivalsTest, APortraitOfAnotherNameIsNotBelieved) {
  ASSERT_TRUE(arrivals_.write_image(image("worker"), kPid));
  EXPECT_EQ(written_image(), std::pair(std::string("worker"), std::string()));
}

TEST_F(ArrivalsTest, AProcessThatDoesNotAnswerMayUseIoUring) {
  ASSERT_TRUE(arrivals_.write_image(image(), 12));
  const auto users = sink_.all<usc_io_uring>();
  ASSERT_EQ(users.size(), 1U);
  EXPECT_EQ(users[0].process, kProcess);
  EXPECT_EQ(users[0].not_known, 1U);
  EXPECT_EQ(written_image().first, "server");
}

TEST_F(ArrivalsTest, AProcessThatUsesIoUringIsNoted) {
  proc_.processes[kPid].has_io_uring = true;
  ASSERT_TRUE(arrivals_.write_image(image(), kPid));
  const auto users = sink_.all<usc_io_uring>();
  ASSERT_EQ(users.size(), 1U);
  EXPECT_EQ(users[0].not_known, 0U);
}

TEST_F(ArrivalsTest, LongPathsAndArgumentsAreCutAsTheKernelSideCutsThem) {
  proc_.processes[kPid].path = "/" + std::string(5000, 'p');
  proc_.processes[kPid].arguments = std::string(3000, 'a');
  ASSERT_TRUE(arrivals_.write_image(image(), kPid));
  EXPECT_EQ(written_image().first.size(), static_cast<std::size_t>(USC_PATH_BYTES));
  // Of the end, only whole arguments are kept.
  EXPECT_EQ(written_image().second.size(), static_cast<std::size_t>(USC_ARGV_DEFAULT - USC_ARGV_END_BYTES));
  EXPECT_EQ(sink_.all<usc_exec>()[0].argv_total, 3000U);
}

TEST_F(ArrivalsTest, AsMuchOfArgumentsIsKeptAsIsAskedFor) {
  proc_.processes[kPid].arguments = std::string(30000, 'a');
  arrivals_.set_argument_bytes(USC_ARGV_MOST);
  ASSERT_TRUE(arrivals_.write_image(image(), kPid));
  EXPECT_EQ(written_image().second.size(), 30000U);
}

TEST_F(ArrivalsTest, WhatTheUserHidesIsNotWritten) {
  strings_ = trace::StringFilter(Redactor({"/etc/secret/*", "-v"}));
  ASSERT_TRUE(arrivals_.start(task(USC_TASK_PROCESS)));
  ASSERT_TRUE(arrivals_.write_image(image(), kPid));
  std::vector<std::string> targets;
  const auto descriptors = sink_.all<usc_fd>(&targets);
  EXPECT_EQ(targets[0].substr(0, descriptors[0].target_bytes), "[redacted]");
  EXPECT_EQ(written_image().second, std::string("server\0[redacted]\0", 18));
}

TEST_F(ArrivalsTest, WithoutStringsNoDescriptorIsRead) {
  strings_ = trace::StringFilter(Redactor(), false);
  arrivals_.set_command(kPid);
  ASSERT_TRUE(arrivals_.start(task(USC_TASK_PROCESS | USC_TASK_LAUNCHED)));
  ASSERT_TRUE(arrivals_.start(task(USC_TASK_PROCESS)));
  ASSERT_TRUE(arrivals_.write_image(image(), kPid));
  EXPECT_EQ(sink_.types(), std::vector<std::uint16_t>{USC_RECORD_EXEC});
  EXPECT_EQ(written_image().second, "");
}

TEST_F(ArrivalsTest, AFailureToWriteComesBack) {
  sink_.fails = true;
  EXPECT_FALSE(arrivals_.write_image(image(), kPid));
}

}  // namespace
}  // namespace uscope::tracer

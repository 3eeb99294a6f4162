#include "tracer/task_table.h"

#include <gtest/gtest.h>

#include <cstring>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

usc_task start_of(std::uint32_t task, std::uint32_t process, std::uint32_t mm, std::uint32_t flags,
                  std::uint64_t time = 0) {
  usc_task record{};
  record.head.task = task;
  record.head.time = time;
  record.process = process;
  record.pid = process + 100;
  record.tid = task + 100;
  record.mm = mm;
  record.flags = flags;
  std::memcpy(record.name, "worker", 7);
  return record;
}

usc_task_exit exit_of(std::uint32_t task, std::uint32_t flags, std::uint64_t time) {
  usc_task_exit record{};
  record.head.task = task;
  record.head.time = time;
  record.flags = flags;
  return record;
}

TEST(TaskTable, KnowsTasksAndCountsProcesses) {
  TaskTable tasks;
  tasks.start(start_of(1, 1, 1, USC_TASK_PROCESS));
  tasks.start(start_of(2, 1, 1, 0));
  tasks.start(start_of(3, 2, 2, USC_TASK_PROCESS));
  EXPECT_EQ(tasks.processes(), 2u);
  EXPECT_EQ(tasks.find(2).pid, 101u);
  EXPECT_EQ(tasks.find(2).tid, 102u);
  EXPECT_EQ(tasks.find(2).name, "worker");
  EXPECT_EQ(tasks.find(77).pid, 0u);
  tasks.exit(exit_of(3, USC_EXIT_GROUP_DEAD, 5));
  EXPECT_EQ(tasks.processes(), 1u);
}

TEST(TaskTable, AnAddressSpaceIsUnusedWhenItsLastTaskHasEndedAndTheGraceTimeIsOver) {
  TaskTable tasks;
  tasks.start(start_of(1, 1, 9, USC_TASK_PROCESS));
  tasks.start(start_of(2, 1, 9, 0));
  tasks.exit(exit_of(1, 0, kSecond));
  EXPECT_TRUE(tasks.bury(20 * kSecond).empty());
  EXPECT_EQ(tasks.find(1).pid, 0u);  // buried
  tasks.exit(exit_of(2, USC_EXIT_GROUP_DEAD, 20 * kSecond));
  EXPECT_TRUE(tasks.bury(21 * kSecond).empty());
  EXPECT_EQ(tasks.bury(30 * kSecond), std::vector<std::uint32_t>{9});
}

TEST(TaskTable, AnExecLeavesTheOldAddressSpace) {
  TaskTable tasks;
  tasks.start(start_of(1, 1, 4, USC_TASK_PROCESS));
  usc_exec exec{};
  exec.head.task = 1;
  exec.head.time = kSecond;
  exec.mm = 5;
  std::memcpy(exec.name, "ls", 3);
  tasks.exec(exec);
  EXPECT_EQ(tasks.find(1).mm, 5u);
  EXPECT_EQ(tasks.find(1).name, "ls");
  EXPECT_EQ(tasks.bury(10 * kSecond), std::vector<std::uint32_t>{4});
}

TEST(TaskTable, RecordsOfOtherProcessorsMayComeFirst) {
  TaskTable tasks;
  usc_exec exec{};
  exec.head.task = 1;
  exec.mm = 5;
  tasks.exec(exec);
  tasks.exit(exit_of(1, USC_EXIT_GROUP_DEAD, kSecond));
  tasks.start(start_of(1, 1, 4, USC_TASK_PROCESS));  // its start, last of all
  EXPECT_EQ(tasks.processes(), 0u);
  EXPECT_EQ(tasks.find(1).mm, 5u);
  EXPECT_EQ(tasks.bury(10 * kSecond), std::vector<std::uint32_t>{5});
}

}  // namespace
}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/model/task_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "support/clock.h"

namespace uscope::tracer {
namespace {

using trace::MmId;
using trace::TaskId;

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
  EXPECT_EQ(tasks.find(TaskId(2)).pid, 101u);
  EXPECT_EQ(tasks.find(TaskId(2)).tid, 102u);
  EXPECT_EQ(tasks.find(TaskId(2)).name, "worker");
  EXPECT_EQ(tasks.find(TaskId(77)).pid, 0u);
  tasks.exit(exit_of(3, USC_EXIT_GROUP_DEAD, 5));
  EXPECT_EQ(tasks.processes(), 1u);
}

TEST(TaskTable, AnAddressSpaceIsUnusedWhenItsLastTaskHasEndedAndTheGraceTimeIsOver) {
  TaskTable tasks;
  tasks.start(start_of(1, 1, 9, USC_TASK_PROCESS));
  tasks.start(start_of(2, 1, 9, 0));
  tasks.exit(exit_of(1, 0, kSecondNs));
  EXPECT_TRUE(tasks.reap(20 * kSecondNs).empty());
  EXPECT_EQ(tasks.find(TaskId(1)).pid, 0u);  // buried
  tasks.exit(exit_of(2, USC_EXIT_GROUP_DEAD, 20 * kSecondNs));
  EXPECT_TRUE(tasks.reap(21 * kSecondNs).empty());
  EXPECT_EQ(tasks.reap(30 * kSecondNs), std::vector{MmId(9)});
}

// Attached to: the eldest process's perf map tells first, whichever is met first.
TEST(TaskTable, AnAddressSpaceIsInUseUntilItsLastTaskEnds) {
  TaskTable tasks;
  tasks.start(start_of(1, 1, 9, USC_TASK_PROCESS));
  tasks.start(start_of(2, 1, 9, 0));
  tasks.start(start_of(3, 2, 8, USC_TASK_PROCESS));
  tasks.exit(exit_of(1, 0, kSecondNs));
  EXPECT_EQ(tasks.spaces_in_use(), (std::unordered_set{MmId(8), MmId(9)}));
  tasks.exit(exit_of(2, USC_EXIT_GROUP_DEAD, kSecondNs));
  EXPECT_EQ(tasks.spaces_in_use(), std::unordered_set{MmId(8)});
}

TEST(TaskTable, ProcessesThatRanBeforeMayShareAnAddressSpace) {
  TaskTable tasks;
  usc_task child = start_of(2, 2, 9, USC_TASK_PROCESS | USC_TASK_ATTACHED);
  child.start_ns = 20;
  usc_task parent = start_of(1, 1, 9, USC_TASK_PROCESS | USC_TASK_ATTACHED);
  parent.start_ns = 10;
  tasks.start(child);
  EXPECT_TRUE(tasks.was_adopted(MmId(9)));
  EXPECT_FALSE(tasks.was_adopted(MmId(8)));
  tasks.start(parent);
  for (const std::uint32_t task : {1U, 2U}) {
    ASSERT_EQ(tasks.find(TaskId(task)).maps().size(), 2U);
    EXPECT_EQ(tasks.find(TaskId(task)).maps()[0].pid, 101U);
    EXPECT_EQ(tasks.find(TaskId(task)).maps()[1].pid, 102U);
  }
}

// Whoever makes thousands of such processes makes them cheaply: no more of each than of one.
TEST(TaskTable, OfManyProcessesWithOneAddressSpaceTheEldestTell) {
  constexpr std::uint32_t kMany = 20'000;
  TaskTable tasks;
  for (std::uint32_t i = kMany; i > 0; i--) {
    usc_task record = start_of(i, i, 9, USC_TASK_PROCESS | USC_TASK_ATTACHED);
    record.start_ns = i;
    tasks.start(record);
  }
  usc_task thread = start_of(kMany + 1, kMany / 2, 9, USC_TASK_ATTACHED);
  thread.start_ns = 1;
  tasks.start(thread);
  for (const std::uint32_t task : {1U, kMany / 2, kMany, kMany + 1}) {
    ASSERT_EQ(tasks.find(TaskId(task)).maps().size(), 5U);
    for (std::uint32_t i = 0; i < 5; i++) EXPECT_EQ(tasks.find(TaskId(task)).maps()[i].pid, i + 101);
    EXPECT_EQ(&tasks.find(TaskId(task)).maps(), &tasks.find(TaskId(1)).maps());  // one list for all
  }
}

// What one of them executes is its own.
TEST(TaskTable, AnExecDoesNotChangeTheOwnersOfWhatItLeaves) {
  TaskTable tasks;
  for (const std::uint32_t process : {1U, 2U}) {
    usc_task record = start_of(process, process, 9, USC_TASK_PROCESS | USC_TASK_ATTACHED);
    record.start_ns = process;
    tasks.start(record);
  }
  usc_exec exec{};
  exec.head.task = 1;
  exec.head.time = kSecondNs;
  exec.mm = 10;
  tasks.exec(exec);
  ASSERT_EQ(tasks.find(TaskId(1)).maps().size(), 1U);
  EXPECT_EQ(tasks.find(TaskId(1)).maps()[0].from_ns, kSecondNs);
  EXPECT_EQ(tasks.find(TaskId(2)).maps().size(), 2U);
}

TEST(TaskTable, AnExecLeavesTheOldAddressSpace) {
  TaskTable tasks;
  tasks.start(start_of(1, 1, 4, USC_TASK_PROCESS));
  usc_exec exec{};
  exec.head.task = 1;
  exec.head.time = kSecondNs;
  exec.mm = 5;
  std::memcpy(exec.name, "ls", 3);
  tasks.exec(exec);
  EXPECT_EQ(tasks.find(TaskId(1)).mm, MmId(5));
  EXPECT_EQ(tasks.find(TaskId(1)).name, "ls");
  EXPECT_EQ(tasks.reap(10 * kSecondNs), std::vector{MmId(4)});
}

TEST(TaskTable, RecordsOfOtherProcessorsMayComeFirst) {
  TaskTable tasks;
  usc_exec exec{};
  exec.head.task = 1;
  exec.mm = 5;
  tasks.exec(exec);
  tasks.exit(exit_of(1, USC_EXIT_GROUP_DEAD, kSecondNs));
  tasks.start(start_of(1, 1, 4, USC_TASK_PROCESS));  // its start, last of all
  EXPECT_EQ(tasks.processes(), 0u);
  EXPECT_EQ(tasks.find(TaskId(1)).mm, MmId(5));
  EXPECT_EQ(tasks.reap(10 * kSecondNs), std::vector{MmId(5)});
}

// A process, what it forked, and what that forked; the middle one has executed a program, and made a thread.
TEST(TaskTable, AForkedProcessHasItsAncestorsMapsInWhateverOrderTheRecordsArrive) {
  usc_task eldest = start_of(1, 1, 4, USC_TASK_PROCESS);
  usc_exec exec{};
  exec.head.task = 1;
  exec.head.time = kSecondNs;
  exec.mm = 5;
  usc_task child = start_of(2, 2, 6, USC_TASK_PROCESS);
  child.parent_task = 1;
  child.parent_mm = 5;
  usc_task thread = start_of(4, 2, 6, 0);
  thread.parent_task = 2;
  thread.parent_mm = 6;
  usc_task grandchild = start_of(3, 3, 7, USC_TASK_PROCESS);
  grandchild.parent_task = 2;
  grandchild.parent_mm = 6;
  std::array<std::size_t, 5> order{0, 1, 2, 3, 4};
  do {
    TaskTable tasks;
    for (const std::size_t next : order) {
      if (next == 0) tasks.start(eldest);
      if (next == 1) tasks.exec(exec);
      if (next == 2) tasks.start(child);
      if (next == 3) tasks.start(grandchild);
      if (next == 4) tasks.start(thread);
    }
    const std::vector<MapOwner>& owners = tasks.find(TaskId(3)).maps();
    ASSERT_EQ(owners.size(), 3U);
    for (std::uint32_t i = 0; i < 3; i++) EXPECT_EQ(owners[i].pid, 103U - i);
    EXPECT_EQ(owners[2].from_ns, kSecondNs);
    EXPECT_EQ(tasks.find(TaskId(2)).maps().size(), 2U);
    EXPECT_EQ(&tasks.find(TaskId(2)).maps(), &tasks.find(TaskId(4)).maps());
    EXPECT_EQ(tasks.find(TaskId(1)).maps().size(), 1U);
  } while (std::next_permutation(order.begin(), order.end()));
}

// Both are owners of what they share, its founder first.
TEST(TaskTable, AVforksChildMayArriveBeforeItsParent) {
  TaskTable tasks;
  usc_task child = start_of(2, 2, 6, USC_TASK_PROCESS);
  child.parent_task = 1;
  child.parent_mm = 6;
  tasks.start(child);
  tasks.start(start_of(1, 1, 6, USC_TASK_PROCESS));
  const std::vector<MapOwner>& owners = tasks.find(TaskId(1)).maps();
  ASSERT_EQ(owners.size(), 2U);
  EXPECT_EQ(owners[0].pid, 101U);
  EXPECT_EQ(owners[1].pid, 102U);
}

// Of more ancestors than are looked at, the nearest tell.
TEST(TaskTable, TheNearestAncestorsTell) {
  for (const bool eldest_first : {true, false}) {
    TaskTable tasks;
    for (std::uint32_t i = 0; i < 9; i++) {
      const std::uint32_t number = eldest_first ? i + 1 : 9 - i;
      usc_task record = start_of(number, number, number, USC_TASK_PROCESS);
      record.parent_task = number - 1;
      record.parent_mm = number - 1;
      tasks.start(record);
    }
    const std::vector<MapOwner>& owners = tasks.find(TaskId(9)).maps();
    ASSERT_EQ(owners.size(), 5U);
    for (std::uint32_t i = 0; i < 5; i++) EXPECT_EQ(owners[i].pid, 109U - i);
  }
}

}  // namespace
}  // namespace uscope::tracer

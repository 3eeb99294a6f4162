// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/run_time_locks.h"

#include <gtest/gtest.h>

#include "tests/unit/tracer/java/fake_java_vm.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kLock = 0x7f0000002000;
constexpr std::uint64_t kGil = 0x7f0000003000;
constexpr std::uint64_t kThread = 0x7f0000010000;
constexpr std::uint64_t kState = 0x7f0000020000;
constexpr std::uint32_t kTid = 4711;

class RunTimeLocksTest : public testing::Test {
 protected:
  void put_thread(std::uint64_t at = kThread, std::uint32_t tid = kTid) {
    memory_.put(at, at);
    memory_.put(at + 0x10, at);
    memory_.put(at + 0x2d0, tid);
  }
  void put_stream() {
    put_thread();
    memory_.put(kLock, std::uint32_t{2});
    memory_.put(kLock + 8, kThread);
  }
  void put_gil() {
    put_thread();
    memory_.put(kGil, std::uint64_t{5000});
    memory_.put(kGil + 8, kState);
    memory_.put(kGil + 16, std::uint32_t{1});
    memory_.put(kState + 152, kThread);
    memory_.put(kState + 8192, std::uint64_t{0});
  }
  std::optional<RunTimeLock> gil(std::uint64_t futex = kGil + 32 + 44) {
    MemoryReader reader(memory_);
    return interpreter_lock_at(reader, futex);
  }
  std::optional<RunTimeLock> stream() {
    MemoryReader reader(memory_);
    return stream_lock_at(reader, kLock, 0);
  }

  FakeMemory memory_;
};

TEST_F(RunTimeLocksTest, AStreamsOwnerIsAThreadsControlBlock) {
  put_stream();
  const auto lock = stream();
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->owner_tid, kTid);
  EXPECT_EQ(lock->object, kLock);
  EXPECT_EQ(lock->name, "the lock of a stream");  // libc is not there
}

TEST_F(RunTimeLocksTest, WhatDoesNotPointToItselfIsNone) {
  put_stream();
  memory_.put(kThread + 0x10, kThread + 8);
  EXPECT_FALSE(stream());
  memory_.put(kLock + 8, std::uint64_t{0});
  EXPECT_FALSE(stream());
}

TEST_F(RunTimeLocksTest, TheGilIsHeldByItsLastHolder) {
  put_gil();
  const auto lock = gil();
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->owner_tid, kTid);
  EXPECT_EQ(lock->object, kGil);
  EXPECT_EQ(lock->name, "Python's GIL");
  EXPECT_TRUE(gil(kGil + 32 + 40));  // the other group of its waiters
}

TEST_F(RunTimeLocksTest, AGilThatNobodyHasIsNone) {
  put_gil();
  memory_.put(kGil + 16, std::uint32_t{0});
  EXPECT_FALSE(gil());
  put_gil();
  memory_.put(kGil, std::uint64_t{0});  // no interval
  EXPECT_FALSE(gil());
  put_gil();
  memory_.put(kState + 152, std::uint64_t{0});
  EXPECT_FALSE(gil());
  put_gil();
  put_thread(kThread + 4096, kTid + 1);
  memory_.put(kState + 160, kThread + 4096);  // two threads: it is no PyThreadState
  EXPECT_FALSE(gil());
}

}  // namespace
}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/java/java_monitors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fake_java_vm.h"

namespace uscope::tracer {
namespace {

using What = MonitorWait::What;
using Owner = MonitorWait::Owner;

std::string line_of(const MonitorWait& wait) {
  constexpr const char* kWhats[] = {"enters", "waits in", "parks at"};
  const std::string owner = wait.owner == Owner::kThread ? std::to_string(wait.owner_tid)
                            : wait.owner == Owner::kNone ? "nobody"
                                                         : "not known";
  return std::to_string(wait.tid) + " " + kWhats[static_cast<int>(wait.what)] + " " +
         std::to_string((wait.object - FakeVm::object(0)) / 0x1000) + " of " + owner;
}

std::vector<std::string> lines_of(const JavaMonitors& found) {
  std::vector<std::string> lines;
  for (const MonitorWait& wait : found.waits) lines.push_back(line_of(wait));
  return lines;
}

FakeVm three_threads() {
  FakeVm vm;
  vm.add_thread(1, 101);
  vm.add_thread(2, 102);
  vm.add_thread(3, 103);
  return vm;
}

using Lines = std::vector<std::string>;

TEST(JavaMonitors, OwnersByTheirAddress) {
  FakeVm vm = three_threads();
  vm.add_monitor(1, FakeVm::thread(1));
  vm.add_monitor(2, FakeVm::thread(2));
  vm.enters(1, 2);
  vm.enters(2, 1);
  const JavaMonitors found = vm.read();
  EXPECT_EQ(lines_of(found), (Lines{"101 enters 2 of 102", "102 enters 1 of 101"}));
  EXPECT_EQ(found.troubles, Lines{});
}

TEST(JavaMonitors, OwnerByAnAddressInItsStack) {
  FakeVm vm = three_threads();
  vm.add_monitor(1, FakeVm::stack_end(3) - 8);
  vm.add_monitor(2, FakeVm::stack_end(3) - FakeVm::kStackBytes);
  vm.enters(1, 1);
  vm.enters(2, 2);
  EXPECT_EQ(lines_of(vm.read()), (Lines{"101 enters 1 of 103", "102 enters 2 of 103"}));
}

TEST(JavaMonitors, MonitorsOfNobody) {
  FakeVm vm = three_threads();
  vm.add_monitor(1, 0);
  vm.add_monitor(2, ~std::uint64_t{0});  // it is being deflated
  vm.waits_in(1, 1);
  vm.enters(2, 2);
  const JavaMonitors found = vm.read();
  EXPECT_EQ(lines_of(found), (Lines{"101 waits in 1 of nobody", "102 enters 2 of nobody"}));
  EXPECT_EQ(found.troubles, Lines{});
}

TEST(JavaMonitors, WhoEntersAfterItsWaitEnters) {
  FakeVm vm = three_threads();
  vm.add_monitor(1, FakeVm::thread(2));
  vm.waits_in(1, 1);
  vm.enters(1, 1);
  EXPECT_EQ(lines_of(vm.read()), Lines{"101 enters 1 of 102"});
}

TEST(JavaMonitors, OwnerByItsNumber) {
  FakeVm vm = three_threads();
  vm.vm.add_field("JavaThread::_monitor_owner_id", {"int64_t", false, 0x100});
  vm.memory.put(FakeVm::thread(2) + 0x100, std::uint64_t{33});
  vm.add_monitor(1, 33);
  vm.add_monitor(2, 34);
  vm.enters(1, 1);
  vm.enters(3, 2);
  const JavaMonitors found = vm.read();
  EXPECT_EQ(lines_of(found), (Lines{"101 enters 1 of 102", "103 enters 2 of not known"}));
  EXPECT_EQ(found.troubles,
            Lines{"a Java monitor's owner is none of the threads (perhaps a virtual thread that waits elsewhere)"});
}

TEST(JavaMonitors, AnonymousOwnerByItsLockStack) {
  FakeVm vm = three_threads();
  vm.vm.add_field("JavaThread::_lock_stack", {"LockStack", false, 0x200});
  vm.vm.add_field("LockStack::_top", {"uint32_t", false, 0});
  vm.vm.add_field("LockStack::_base[0]", {"oop", false, 0x10});
  vm.memory.put(FakeVm::thread(3) + 0x200, std::uint32_t{0x220});  // two entries
  vm.memory.put(FakeVm::thread(3) + 0x210, FakeVm::object(7));
  vm.memory.put(FakeVm::thread(3) + 0x218, FakeVm::object(1));
  vm.memory.put(FakeVm::thread(2) + 0x200, std::uint32_t{0x210});  // none: what follows has been popped
  vm.memory.put(FakeVm::thread(2) + 0x210, FakeVm::object(1));
  vm.add_monitor(1, 1);
  vm.add_monitor(2, 1);
  vm.enters(1, 1);
  vm.enters(2, 2);
  EXPECT_EQ(lines_of(vm.read()), (Lines{"101 enters 1 of 103", "102 enters 2 of not known"}));
}

TEST(JavaMonitors, AnonymousOwnerByItsStack) {
  FakeVm vm = three_threads();
  vm.vm.add_field("ObjectMonitor::_stack_locker", {"BasicLock*", false, 0x80});
  vm.add_monitor(1, 1);
  vm.memory.put(FakeVm::monitor(1) + 0x80, FakeVm::stack_end(2) - 0x40);
  vm.enters(1, 1);
  EXPECT_EQ(lines_of(vm.read()), Lines{"101 enters 1 of 102"});
}

TEST(JavaMonitors, ThreadsInAChainThatReturnsToItself) {
  FakeVm vm = three_threads();
  VmStructs without_list;
  for (const char* const name :
       {"JavaThread::_osthread", "OSThread::_thread_id", "JavaThread::_current_pending_monitor",
        "JavaThread::_current_waiting_monitor", "JavaThread::_stack_base", "JavaThread::_stack_size",
        "ObjectMonitor::_object", "ObjectMonitor::_owner"})
    without_list.add_field(name, *vm.vm.field(name));
  without_list.add_field("JavaThread::_threadObj", {"oop", false, 0x30});  // objects without handles
  without_list.add_field("Threads::_thread_list", {"JavaThread*", true, FakeVm::kStatics + 8});
  without_list.add_field("JavaThread::_next", {"JavaThread*", false, 0x300});
  vm.memory.put(FakeVm::kStatics + 8, FakeVm::thread(1));
  vm.memory.put(FakeVm::thread(1) + 0x300, FakeVm::thread(2));
  vm.memory.put(FakeVm::thread(2) + 0x300, FakeVm::thread(1));
  vm.add_monitor(1, FakeVm::thread(2));
  vm.memory.put(FakeVm::monitor(1) + 0x8, FakeVm::object(4));
  vm.enters(1, 1);
  MemoryReader reader(vm.memory);
  EXPECT_EQ(lines_of(read_monitors(reader, without_list)), Lines{"101 enters 4 of 102"});
}

TEST(JavaMonitors, WildPointers) {
  FakeVm vm = three_threads();
  vm.memory.put(FakeVm::thread(1) + 0x10, ~std::uint64_t{0} - 3);         // its monitor
  vm.memory.put(FakeVm::thread(2) + 0x8, std::uint64_t{0xdead0000});      // its system thread
  vm.memory.put(FakeVm::thread(3) + 0x28, ~std::uint64_t{0});             // the size of its stack
  vm.memory.put(FakeVm::kThreadArray + 24, std::uint64_t{0x4141414141});  // a thread
  vm.memory.put(FakeVm::kList + 4, std::uint32_t{4});
  const JavaMonitors found = vm.read();
  ASSERT_EQ(found.waits.size(), 1U);
  EXPECT_EQ(found.waits[0].tid, 101U);
  EXPECT_EQ(found.waits[0].object, 0U);
  EXPECT_EQ(found.waits[0].owner, Owner::kUnknown);
  EXPECT_EQ(found.troubles.size(), 1U);
}

TEST(JavaMonitors, MoreThreadsThanAVmCanHave) {
  FakeVm vm = three_threads();
  vm.memory.put(FakeVm::kList + 4, ~std::uint32_t{0});
  vm.add_monitor(1, FakeVm::thread(2));
  vm.enters(1, 1);
  const JavaMonitors found = vm.read();
  EXPECT_EQ(lines_of(found), Lines{"101 enters 1 of 102"});
  EXPECT_EQ(found.troubles, Lines{"the Java VM claims to have 4294967295 threads"});
}

TEST(JavaMonitors, AVmThatDoesNotSayWhereItsOwnersAre) {
  FakeVm vm = three_threads();
  VmStructs poor;
  poor.add_field("JavaThread::_osthread", *vm.vm.field("JavaThread::_osthread"));
  MemoryReader reader(vm.memory);
  const JavaMonitors found = read_monitors(reader, poor);
  EXPECT_EQ(found.waits.size(), 0U);
  ASSERT_EQ(found.troubles.size(), 8U);
  EXPECT_EQ(found.troubles[1], "the Java VM does not say where a monitor's owner lies (ObjectMonitor::_owner)");
}

// Every address can be read, and says that another structure is where it points to.
class EndlessMemory final : public TargetMemory {
 public:
  bool read(std::uint64_t address, std::span<std::byte> to) override {
    for (std::size_t i = 0; i + 8 <= to.size(); i += 8) {
      const std::uint64_t value = (address + i) * 0x9e3779b97f4a7c15 | 0x101010101010101;
      std::memcpy(static_cast<void*>(&to[i]), &value, sizeof(value));
    }
    return true;
  }
};

TEST(JavaMonitors, MemoryWithoutEnd) {
  EndlessMemory endless;
  MemoryReader reader(endless);
  const JavaMonitors found = read_monitors(reader, FakeVm().vm);
  EXPECT_LE(found.waits.size(), 65536U);
  EXPECT_FALSE(found.troubles.empty());
}

TEST(JavaMonitors, WhatChangedBetweenTwoReadings) {
  MonitorWait stays;
  stays.tid = 1;
  stays.monitor = 10;
  stays.owner = Owner::kThread;
  stays.owner_tid = 2;
  MonitorWait moved = stays;
  moved.object = 99;  // a collector moved it: still the same monitor
  MonitorWait other_owner = stays;
  other_owner.tid = 3;
  MonitorWait later = other_owner;
  later.owner_tid = 1;
  const auto kept = unchanged_waits({stays, other_owner}, {moved, later});
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].tid, 1U);
  EXPECT_EQ(kept[0].object, 99U);
}

TEST(JavaMonitors, AProcessWithoutJava) {
  EXPECT_FALSE(java_monitors_of(static_cast<std::uint32_t>(getpid())).has_value());
}

}  // namespace
}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory of a Java VM that does not exist: values at addresses, and the description of structures that fits them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "tracer/java/java_monitors.h"
#include "tracer/java/target_memory.h"
#include "tracer/java/vm_structs.h"

namespace uscope::tracer {

class FakeMemory final : public TargetMemory {
 public:
  bool read(std::uint64_t address, std::span<std::byte> to) override {
    for (std::size_t i = 0; i < to.size(); i += 8, address += 8) {
      const auto page = pages_.find(address / kPage);
      if (page == pages_.end()) return false;
      std::memcpy(static_cast<void*>(&to[i]), &page->second[address % kPage], 8);
    }
    return true;
  }
  void put_bytes(std::uint64_t address, std::string_view bytes) {
    for (const char byte : bytes) {
      pages_.try_emplace(address / kPage, kPage, '\0').first->second[address % kPage] = byte;
      address++;
    }
  }
  template <typename T>
  void put(std::uint64_t address, T value) {
    put_bytes(address, std::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
  }

 private:
  static constexpr std::uint64_t kPage = 4096;
  std::map<std::uint64_t, std::string> pages_;
};

// Structures as JDK 17 lays them, roughly; each thread and monitor has a page of its own.
struct FakeVm {
  static constexpr std::uint64_t kList = 0x10000;
  static constexpr std::uint64_t kThreadArray = 0x11000;
  static constexpr std::uint64_t kStatics = 0x12000;
  static constexpr std::uint64_t kStackBytes = 0x10000;

  FakeVm();
  static std::uint64_t thread(std::uint32_t number) { return 0x100000 + std::uint64_t{number} * 0x1000; }
  static std::uint64_t stack_end(std::uint32_t number) { return 0x70000000 + std::uint64_t{number} * kStackBytes; }
  static std::uint64_t monitor(std::uint32_t number) { return 0x500000 + std::uint64_t{number} * 0x1000; }
  static std::uint64_t object(std::uint32_t number) { return 0x900000 + std::uint64_t{number} * 0x1000; }

  void add_thread(std::uint32_t number, std::uint32_t tid);
  void add_monitor(std::uint32_t number, std::uint64_t owner);
  void enters(std::uint32_t thread_number, std::uint32_t monitor_number) {
    memory.put(thread(thread_number) + 0x10, monitor(monitor_number));
  }
  void waits_in(std::uint32_t thread_number, std::uint32_t monitor_number) {
    memory.put(thread(thread_number) + 0x18, monitor(monitor_number));
  }
  JavaMonitors read() {
    MemoryReader reader(memory);
    return read_monitors(reader, vm);
  }

  FakeMemory memory;
  VmStructs vm;
  std::uint32_t threads = 0;
};

inline FakeVm::FakeVm() {
  vm.add_field("ThreadsSMRSupport::_java_thread_list", {"ThreadsList*", true, kStatics});
  vm.add_field("ThreadsList::_length", {"uint", false, 4});
  vm.add_field("ThreadsList::_threads", {"JavaThread**", false, 16});
  vm.add_field("JavaThread::_osthread", {"OSThread*", false, 0x8});
  vm.add_field("OSThread::_thread_id", {"int", false, 0x10});
  vm.add_field("JavaThread::_current_pending_monitor", {"ObjectMonitor*", false, 0x10});
  vm.add_field("JavaThread::_current_waiting_monitor", {"ObjectMonitor*", false, 0x18});
  vm.add_field("JavaThread::_stack_base", {"address", false, 0x20});
  vm.add_field("JavaThread::_stack_size", {"size_t", false, 0x28});
  vm.add_field("JavaThread::_threadObj", {"OopHandle", false, 0x30});
  vm.add_field("ObjectMonitor::_object", {"", false, 0x8});
  vm.add_field("ObjectMonitor::_owner", {"", false, 0x40});
  memory.put(kStatics, kList);
  memory.put(kList, std::uint32_t{0});
  memory.put(kList + 16, kThreadArray);
}

inline void FakeVm::add_thread(std::uint32_t number, std::uint32_t tid) {
  const std::uint64_t at = thread(number);
  memory.put(at + 0x8, at + 0x800);
  memory.put(at + 0x810, tid);
  memory.put(at + 0x20, stack_end(number));
  memory.put(at + 0x28, kStackBytes);
  memory.put(kThreadArray + threads * sizeof(at), at);
  memory.put(kList + 4, ++threads);
}

inline void FakeVm::add_monitor(std::uint32_t number, std::uint64_t owner) {
  const std::uint64_t at = monitor(number);
  memory.put(at + 0x8, at + 0x800);
  memory.put(at + 0x800, object(number));
  memory.put(at + 0x40, owner);
}

}  // namespace uscope::tracer

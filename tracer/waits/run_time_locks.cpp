// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Structures: glibc 2.17 to 2.41 (_IO_FILE, _IO_lock_t, struct pthread), CPython 3.2 to 3.13 (_gil_runtime_state). What
// lies elsewhere is not believed: an owner counts if it is a thread's control block, which points to itself twice and
// has the number of a thread of the process.
#include "tracer/waits/run_time_locks.h"

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <utility>

#include "tracer/java/image_symbols.h"
#include "tracer/process/process_list.h"
#include "tracer/process/thread_ids.h"

namespace uscope::tracer {
namespace {

// The number of the thread whose control block lies at `at`.
std::optional<std::uint32_t> thread_at(MemoryReader& memory, std::uint64_t at) {
  constexpr std::uint64_t kSelf = 0x10;
  constexpr std::uint64_t kTid = 0x2d0;
  if (at == 0 || at % 8 != 0 || memory.pointer(at) != at || memory.pointer(at + kSelf) != at) return std::nullopt;
  return memory.get<std::uint32_t>(at + kTid);
}

// The stream's name by its lock, found in libc's list of all streams.
std::string stream_name(MemoryReader& memory, std::uint64_t lock, std::uint64_t libc) {
  constexpr std::uint64_t kChain = 0x68;
  constexpr std::uint64_t kFileno = 0x70;
  constexpr std::uint64_t kLock = 0x88;
  constexpr int kMost = 65'536;
  const auto symbols = ImageSymbols::at(memory, libc);
  const auto list = symbols ? symbols->find("_IO_list_all") : std::nullopt;
  if (!list) return "the lock of a stream";
  std::uint64_t stream = memory.pointer(*list);
  for (int i = 0; i < kMost && stream != 0; i++, stream = memory.pointer(stream + kChain)) {
    if (memory.pointer(stream + kLock) != lock) continue;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNamed{
        {{"_IO_2_1_stdin_", "stdin"}, {"_IO_2_1_stdout_", "stdout"}, {"_IO_2_1_stderr_", "stderr"}}};
    for (const auto& [symbol, name] : kNamed)
      if (symbols->find(symbol) == stream) return fmt::format("the lock of {}", name);
    const auto fd = memory.get<std::int32_t>(stream + kFileno);
    return fd && *fd >= 0 ? fmt::format("the lock of a stream (descriptor {})", *fd) : "the lock of a stream";
  }
  return "the lock of libc's list of streams";
}

}  // namespace

std::optional<RunTimeLock> stream_lock_at(MemoryReader& memory, std::uint64_t address, std::uint64_t libc) {
  constexpr std::uint64_t kOwner = 8;
  const auto owner = thread_at(memory, memory.pointer(address + kOwner));
  if (!owner) return std::nullopt;
  return RunTimeLock{address, *owner, stream_name(memory, address, libc)};
}

std::optional<RunTimeLock> interpreter_lock_at(MemoryReader& memory, std::uint64_t address) {
  constexpr std::uint64_t kSignals = 40;  // in pthread_cond_t: one of two words
  constexpr std::uint64_t kCondition = 32;
  constexpr std::uint64_t kLastHolder = 8;
  constexpr std::uint64_t kLocked = 16;
  constexpr std::uint64_t kLongestInterval = 1'000'000'000;  // microseconds
  constexpr std::uint64_t kThreadState = 640;                // bytes of PyThreadState in which its thread stands
  const std::uint64_t gil = (address & ~std::uint64_t{7}) - kSignals - kCondition;
  const std::uint64_t interval = memory.pointer(gil);
  if (interval == 0 || interval > kLongestInterval || memory.get<std::uint32_t>(gil + kLocked) != 1U)
    return std::nullopt;
  const std::uint64_t holder = memory.pointer(gil + kLastHolder);
  if (holder == 0 || holder % 8 != 0) return std::nullopt;
  std::optional<std::uint32_t> owner;
  for (std::uint64_t offset = 0; offset < kThreadState; offset += sizeof(std::uint64_t)) {
    const auto tid = thread_at(memory, memory.pointer(holder + offset));
    if (tid && owner && *owner != *tid) return std::nullopt;
    if (tid) owner = tid;
  }
  if (!owner) return std::nullopt;
  return RunTimeLock{gil, *owner, "Python's GIL"};
}

RunTimeLocks::RunTimeLocks(std::uint32_t pid)
    : pid_(pid), tid_(living_thread_of(pid)), process_(tid_), memory_(process_) {}

std::optional<RunTimeLock> RunTimeLocks::at(std::uint64_t address) {
  constexpr std::uint32_t kContended = 2;
  auto found = interpreter_lock_at(memory_, address);
  if (!found && memory_.get<std::uint32_t>(address) == kContended) {
    if (!libc_) libc_ = image_base_of(tid_, "/libc.so.6");
    found = stream_lock_at(memory_, address, *libc_);
  }
  if (!found) return std::nullopt;
  if (!ids_) ids_ = thread_ids_of(pid_);
  const auto owner = ids_->find(found->owner_tid);
  if (owner == ids_->end()) return std::nullopt;
  found->owner_tid = owner->second;
  return found;
}

}  // namespace uscope::tracer

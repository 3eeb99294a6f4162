// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locks of run-time systems whose owner lies beside the word at which threads wait, as a pointer that only the
// process's memory explains: the locks of libc's streams, and Python's GIL. On x86-64 with glibc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tracer/java/target_memory.h"

namespace uscope::tracer {

struct RunTimeLock {
  std::uint64_t object = 0;
  std::uint32_t owner_tid = 0;
  std::string name;  // "the lock of stdin", "Python's GIL"
};

// The lock that a thread waits for at `address`, if it is one of these; its owner as the process numbers it. `libc`:
// where that library's ELF header lies; 0: not known.
std::optional<RunTimeLock> stream_lock_at(MemoryReader& memory, std::uint64_t address, std::uint64_t libc);
// `address`: the futex of a condition variable.
std::optional<RunTimeLock> interpreter_lock_at(MemoryReader& memory, std::uint64_t address);

// Those of one process, with owners numbered as in the initial namespace. Memory and /proc may never answer: this is
// work for a scout.
class RunTimeLocks {
 public:
  explicit RunTimeLocks(std::uint32_t pid);
  std::optional<RunTimeLock> at(std::uint64_t address);

 private:
  std::uint32_t pid_;
  std::uint32_t tid_;
  ProcessMemory process_;
  MemoryReader memory_;
  std::optional<std::uint64_t> libc_;
  std::optional<std::map<std::uint32_t, std::uint32_t>> ids_;
};

}  // namespace uscope::tracer

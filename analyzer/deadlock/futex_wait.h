// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A thread's futex wait as the trace records it, and the stack under which the thread waits: the input of the deadlock
// rules. Nothing here reads a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace uscope::analyzer {

// Operations of futex(2), without flags.
enum FutexOp : std::uint32_t {
  kFutexWait = 0,
  kFutexWake = 1,
  kFutexLockPi = 6,
  kFutexWaitBitset = 9,
  kFutexWakeBitset = 10,
  kFutexLockPi2 = 13,
};
constexpr std::uint32_t kFutexCommand = 127;     // the bits of an operation that are not flags
constexpr std::uint32_t kFutexPrivate = 128;     // flag: only threads of this address space use the futex
constexpr std::uint32_t kFutexTid = 0x3fffffff;  // the bits of a robust or PI lock word that hold the owner's tid
constexpr std::uint32_t kFutexWaiters = 0x80000000;

struct FutexWait {
  std::uint64_t address = 0;
  std::uint32_t op = 0;  // with its flags
  std::uint32_t expected = 0;
  bool timed = false;            // the wait has a timeout
  bool woken_later = false;      // of a trace as it stood before its end: it ended behind that moment (as_of.h)
  std::string key;               // empty: unknown
  bool fresh = false;            // the words were read when the wait was last examined, not only at its entry
  std::string words;             // memory around the address; empty: not read
  std::uint64_t words_from = 0;  // address of the first byte
  std::optional<std::int64_t> untraced_sharers;  // number of untraced processes that map this memory
  bool open_to_others = true;                    // shared: another process may open its file, or that is unknown
  std::int64_t futexes = 1;
  bool handlers = true;  // the process handles signals from outside, or that is unknown

  [[nodiscard]] std::uint32_t command() const { return op & kFutexCommand; }

  // Whether it is known that no thread outside of the address space can wake this wait.
  [[nodiscard]] bool of_one_space() const { return (op & kFutexPrivate) != 0 || key.starts_with("mm:"); }

  // The 32 bits at address + offset, or nullopt if they were not read.
  [[nodiscard]] std::optional<std::uint32_t> word(std::int64_t offset) const {
    const std::uint64_t at = address + static_cast<std::uint64_t>(offset) - words_from;
    std::uint32_t value = 0;
    if (words.size() < sizeof(value) || at > words.size() - sizeof(value)) return std::nullopt;
    std::memcpy(&value, words.data() + at, sizeof(value));
    return value;
  }
};

struct StackLine {
  std::string function;
  std::string module;  // base name
  bool app = false;    // of the application (generated_code.h)
  std::string file;    // empty: unknown
  std::int64_t line = 0;
  std::vector<std::uint64_t> locks = {};  // ELF addresses of the words that the function locks, if it is libc's
};

using StackLines = std::vector<StackLine>;  // innermost first

}  // namespace uscope::analyzer

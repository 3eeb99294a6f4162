// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locks that libc has of its own, and who holds such a lock. Its word names no owner; but libc lets go of it before its
// function returns, so the holder's stack has a function that takes it. A word at a fixed place is known by its
// address: the code of each function of libc's tells which of these it locks (frame_lock), also where libc has no
// names. Other words (arenas of malloc, streams) are known by the names of the functions that wait for them, and of
// their part.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "analyzer/deadlock/futex_wait.h"
#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/primitive.h"

namespace uscope::analyzer {

// "malloc" for "__libc_malloc", "streams" for "_IO_flush_all", "time zone" for "__tz_convert": which of libc's own
// locks a function takes. Empty: not known. `bare`: without leading underscores.
[[nodiscard]] std::string_view libc_part(std::string_view bare);
constexpr std::string_view kStreams = "streams";

// The ELF address of the futex's word, if it is one that this function of libc's locks: libc is mapped by pages, so the
// last twelve bits of both are the same. 0: it is none, or more than one may be meant.
[[nodiscard]] std::uint64_t fixed_word(const FutexWait& wait, const StackLine& line);
// Whether the function locks the word that `what` is.
[[nodiscard]] bool takes_word(const StackLine& line, const Classified& what);
// Whether the words are those of a lock that a thread may take again, as streams have: lock, count, and a pointer to
// the control block of the thread that has it (glibc's _IO_lock_t).
[[nodiscard]] bool is_owned_by_pointer(const FutexWait& wait);
// Whether the words are those of such a lock that a thread has just taken, or lets go of: it has no owner yet.
[[nodiscard]] bool is_taken_by_nobody(const FutexWait& wait);

// The index of the first frame that a signal handler interrupted; the number of frames if there is no handler. `after`:
// from which frame on handlers count.
[[nodiscard]] std::size_t interrupted_from(const StackLines& stack, std::size_t after = 0);

struct StackHolder {
  // kItself: a signal handler waits for what the code that it interrupted has.
  enum class State { kUnknown, kItself, kOther };
  State state = State::kUnknown;
  std::size_t thread = 0;  // kOther: index in LastCalls::threads
  bool sure = true;        // no thread that runs could hold it instead
  std::vector<std::size_t>
      candidates;  // kUnknown: one of these threads has it, `waiter` among them if it may be itself
};
[[nodiscard]] StackHolder holder_by_stack(const LastCalls& calls, std::size_t waiter, const Classified& what);

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locks that libc has of its own, known by the functions that wait for them, and who holds such a lock. Its word names
// no owner; but libc lets go of it before its function returns, so the holder's stack has a function of the same part.
#pragma once

#include <cstddef>
#include <string_view>

#include "analyzer/deadlock/futex_wait.h"
#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/primitive.h"

namespace uscope::analyzer {

// "malloc" for "__libc_malloc", "streams" for "_IO_flush_all", "time zone" for "__tz_convert": which of libc's own
// locks a function takes. Empty: not known. `bare`: without leading underscores.
[[nodiscard]] std::string_view libc_part(std::string_view bare);
constexpr std::string_view kStreams = "streams";

// The index of the first frame that a signal handler interrupted; the number of frames if there is no handler.
[[nodiscard]] std::size_t interrupted_from(const StackLines& stack);

struct StackHolder {
  // kItself: a signal handler waits for what the code that it interrupted has.
  enum class State { kUnknown, kItself, kOther };
  State state = State::kUnknown;
  std::size_t thread = 0;  // kOther: index in LastCalls::threads
  bool sure = true;        // no thread that runs could hold it instead
};
[[nodiscard]] StackHolder holder_by_stack(const LastCalls& calls, std::size_t waiter, const Classified& what);

}  // namespace uscope::analyzer

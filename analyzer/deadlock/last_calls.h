// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The last state of each thread of a trace: the processes and threads that still exist, the call that each thread has
// not returned from and, for threads that wait for a futex, everything that the trace knows of the wait.
//
// A process that was killed (a hung command and Ctrl-C) is shown as it was at that moment.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/deadlock/futex_wait.h"
#include "analyzer/read/catalog.h"
#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

enum class Standing {
  kHeld,       // waits for a futex without a timeout; it was asleep when all waits were examined
  kUncertain,  // waits for a futex, but may have been woken since
  kTimed,      // waits for a futex with a timeout
  kElsewhere,  // in another call
  kRuns,       // in no call that the trace has
};

// What a call is about: a file, pipe or socket, or a process that is waited for.
struct CallObject {
  std::string name;           // empty: unknown
  bool doubtful = false;      // the name is of a descriptor that another thread could have replaced
  std::optional<int> number;  // of the descriptor, if the call is about one
  auto operator<=>(const CallObject&) const = default;  // NOLINT(modernize-use-nullptr): false of clang-tidy 14
};

struct LastCall {
  ThreadRowId thread_id;
  std::size_t process = 0;  // index in LastCalls::processes
  std::int64_t tid = 0;
  std::int64_t ns_tid = 0;
  std::string name;
  Standing standing = Standing::kRuns;
  std::string call;      // empty if the thread runs
  std::uint64_t a0 = 0;  // its first argument
  CallObject object;     // of a call other than a futex wait
  EventRowId event_id;
  std::int64_t since_ns = 0;   // CLOCK_MONOTONIC
  std::int64_t waited_ns = 0;  // until the end of the trace or of the process
  std::int64_t last_ns = 0;    // when its last call began or returned; 0: it has made none
  bool attached = false;       // the wait began before tracing did, so it is longer than waited_ns
  bool killed = false;         // the thread was killed inside the call, with its process
  bool hung = false;           // the futex call went on until what ended the command that hung
  bool known_layout = true;    // x86-64: the known layouts of locks apply
  std::int64_t idle_ns = 0;    // if it runs: how long it has made no call; 0: not known
  bool tries = false;         // all that it did was to wait here with a limit, again and again: `wait` is the last time
  std::int64_t tried_ns = 0;  // at least for how long
  bool refused = false;       // the kernel refused a PI lock with EDEADLK; glibc then waits for ever
  std::optional<FutexWait> wait;
  StackLines stack;
};

struct LastProcess {
  ProcessRowId id;
  std::int64_t pid = 0;
  std::int64_t ns_pid = 0;
  ProcessRowId parent_id;
  std::int64_t start_ns = 0;
  std::string program;        // name of its image
  std::int64_t until_ns = 0;  // end of the process, or of the trace
  bool ended = false;
  Origin origin = Origin::kUnknown;  // how it got its memory
  bool attached = false;             // it was there before the trace, or that is unknown
  bool io_uring = false;
  bool handlers = false;                      // the process handles signals from outside, or that is unknown for one of
                                              // its waits
  std::size_t space = 0;                      // index in LastCalls::processes of the first process with the same
                                              // address space
  std::map<std::int64_t, std::int64_t> gone;  // inner tid → tid of the threads that have ended
};

struct LastCalls {
  std::vector<LastProcess> processes;
  std::map<std::size_t, std::vector<std::size_t>> spaces;  // LastProcess::space → all processes with that space
  std::vector<LastCall> threads;
  bool tasks_missing = false;   // there may be threads that the trace does not know
  bool events_missing = false;  // calls may be missing, including wakes
  bool calls_left_out = false;  // only some kinds of calls were recorded
  std::vector<std::string> warnings;
};

// Whether both processes existed at the end of the trace, or were killed at the same time. The numbers are times when
// processes were last seen.
[[nodiscard]] bool ended_together(std::int64_t a_ns, std::int64_t b_ns);
[[nodiscard]] bool ended_together(const LastProcess& a, const LastProcess& b);

// Returns an error if the trace has no futex calls (record -e). `under_way`: as for diagnose().
[[nodiscard]] Result<LastCalls> read_last_calls(const store::Database& database, bool under_way);

}  // namespace uscope::analyzer

// Where each thread of a trace stands at the end: the processes and threads that still are there, the call that each
// one has not returned from, and, of those that wait for a futex, all that the trace knows of the wait.
//
// A process that was killed (a hung command and Ctrl-C) is looked at as it was then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/deadlock/futex_wait.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

enum class Standing {
  kHeld,       // waits for a futex, without end; it was asleep when all waits were looked at
  kUncertain,  // waits for a futex, but may have been woken since
  kTimed,      // waits for a futex, and goes on by itself
  kElsewhere,  // in another call
  kRuns,       // in no call that is in the trace
};

struct LastCall {
  std::int64_t thread_id = 0;
  std::size_t process = 0;  // in LastCalls::processes
  std::int64_t tid = 0;
  std::int64_t ns_tid = 0;
  std::string name;
  Standing standing = Standing::kRuns;
  std::string call;      // empty where it runs
  std::uint64_t a0 = 0;  // its first argument
  std::int64_t event_id = 0;
  std::int64_t since_ns = 0;   // CLOCK_MONOTONIC
  std::int64_t waited_ns = 0;  // until the end of the trace or of the process
  bool attached = false;       // it waited before tracing began, so longer than waited_ns
  bool killed = false;         // with its process, inside the call
  bool known_layout = true;    // x86-64: what is said of words holds
  bool refused = false;        // a PI lock that the kernel refused with EDEADLK; glibc then waits for ever
  std::optional<FutexWait> wait;
  StackLines stack;
};

struct LastProcess {
  std::int64_t id = 0;
  std::int64_t pid = 0;
  std::int64_t ns_pid = 0;
  std::int64_t parent_id = 0;
  std::int64_t start_ns = 0;
  std::string program;        // base name of its image
  std::int64_t until_ns = 0;  // when it ended, or the trace
  bool ended = false;
  bool io_uring = false;
  bool handlers = false;                      // it handles signals from outside, or that is not known of a wait of it
  std::size_t space = 0;                      // the first process with its address space, in LastCalls::processes
  std::map<std::int64_t, std::int64_t> gone;  // inner tid → tid of its threads that have ended
};

struct LastCalls {
  std::vector<LastProcess> processes;
  std::map<std::size_t, std::vector<std::size_t>> spaces;  // LastProcess::space → all that have it
  std::vector<LastCall> threads;
  bool tasks_missing = false;   // there may be threads that the trace does not know
  bool events_missing = false;  // calls may be missing, wakes too
  std::vector<std::string> warnings;
};

// Whether both were there at the end of the trace, or were killed at once.
[[nodiscard]] bool ended_together(const LastProcess& a, const LastProcess& b);

// Errors: a trace without futex calls (record -e). `under_way`: as diagnose() has it.
[[nodiscard]] Result<LastCalls> read_last_calls(const store::Database& database, bool under_way);

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the time goes: how the wall-clock time of threads, calls and functions divides into running (by samples), and
// off the CPU (from switch to switch), and in which calls that was. Plain data; times are nanoseconds.
//
// Times off the CPU and in calls are measured; running is counted by samples. So the two together give the time that a
// thread lived but for the error of the samples, and a report says how well they do. Where only some were recorded, the
// rest is what remains: without samples, a thread ran when it was not off the CPU; without times off the CPU, it was
// off when it did not run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "analyzer/read/top_list.h"
#include "analyzer/time/time_stacks.h"
#include "analyzer/time/time_sweep.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

struct TimeRecorded {
  bool samples = false;
  bool off_cpu = false;
  bool calls = false;
  bool all_calls = false;

  [[nodiscard]] bool any() const { return samples || off_cpu; }
};

struct TimeShare : TimeParts {
  // What is divided: of a thread, how long it lived within the trace; of a call, how long threads were inside; of a
  // function or stack, the sum of what follows.
  std::uint64_t total_ns = 0;
  std::uint64_t running_ns = 0;  // of calls measured, if times off the CPU were recorded; else by samples, or the rest
  std::uint64_t not_running_ns = 0;  // off the CPU; or the rest
  // Of running_ns, where it is by samples: 95 of 100 such numbers of samples are that close to the truth. 0: measured.
  std::uint64_t error_ns = 0;

  // How much running and not running differ from the whole.
  [[nodiscard]] std::int64_t difference_ns() const {
    return static_cast<std::int64_t>(running_ns + not_running_ns - total_ns);
  }
};

struct CallTime : TimeShare {
  std::string call;
  std::string abi;
};

struct ThreadTime : TimeShare {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string process;
  std::string thread;              // its last name
  std::vector<std::string> names;  // all that it had in that program (Thread::names_since())
  std::vector<CallTime> inside;    // its calls, by time
};

// By trigger.
struct FunctionTime : TimeShare {
  TimeFunction at;
};

// Where a CPU ran: of samples alone.
struct RunningTime : TimeShare {
  TimeFunction at;  // the innermost function of user space
  TimeFunction trigger;
  std::size_t triggers = 0;
};

struct Waker {
  enum class Who { kThread, kInterrupt, kNobody, kSomebody };  // kNobody: the wait has not ended; kSomebody: not told
  Who who = Who::kThread;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string thread;  // empty: it is not traced
  std::uint64_t times = 0;
  std::uint64_t waited_ns = 0;
};

struct StackTime : TimeShare {
  StackRowId stack;    // none: no stack
  std::string folded;  // functions of user space, root first
  TimeFunction trigger;
  std::string call;           // of its calls that with most time; empty: none
  std::vector<Waker> wakers;  // who ended its waits, by time
};

struct WaitingTime {
  TimeUse state = TimeUse::kSleeping;
  std::string call;  // empty: in none that was recorded
  TimeFunction trigger;
  std::uint64_t times = 0;
  std::uint64_t waited_ns = 0;
  std::uint64_t longest_ns = 0;
  std::uint64_t for_cpu_ns = 0;  // for which threads then waited for a CPU
  std::vector<Waker> wakers;     // by time
};

struct TimeShares {
  TimeRecorded recorded;
  TimeShare all;  // of all threads
  // For how long processes ran, at least, by the kernel's account (meta `ran_ns`). Nothing: it is not known, or only
  // some threads or a span of time are asked for.
  std::optional<std::uint64_t> kernel_ran_ns{};
  std::uint64_t unsampled_ns = 0;   // what samples do not show of it, if that is more than chance makes of it; else 0
  TopList<ThreadTime> threads;      // by time
  TopList<CallTime> calls;          // by time
  TopList<FunctionTime> functions;  // by time; without those that took less than samples see
  TopList<RunningTime> running;     // by time
  TopList<StackTime> stacks;        // likewise
  TopList<WaitingTime> waiting;     // by time
};

struct TimeQuery {
  // Of its members only those that choose tasks and a span of time: part.h.
  EventFilter scope{};
  std::size_t lines = 0;  // of each list; 0 = all
};

// What an event of this kind says of a thread's time.
[[nodiscard]] TimeUse use_of(const Kind& kind);

// Reads each event once, unless neither samples nor times off the CPU were recorded: then nothing but `recorded` is
// told.
[[nodiscard]] Result<TimeShares> read_time(const store::Database& database, const Catalog& catalog,
                                           const TimeQuery& query);

}  // namespace uscope::analyzer

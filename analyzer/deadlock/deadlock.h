// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deadlock diagnosis: which threads of a trace will never go on, and why. It is built from the calls in which
// threads wait (last_calls), the primitive behind each futex (primitive), its owner (lock_owner), the threads that used
// to wake it (wake_history), who can end a wait in another call, such as a read from a pipe (wait_follower), and the
// rules of wait_graph. docs/deadlock.md explains the rules and their limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/openings.h"
#include "analyzer/deadlock/primitive.h"
#include "analyzer/deadlock/wait_graph.h"
#include "analyzer/read/event_filter.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// kUndecided: what threads wait in cannot be followed, and nothing else is known that could wake them.
enum class Verdict { kNone, kUndecided, kStall, kDeadlock };

// A thread that waits for a futex, or that a finding names.
struct BlockedThread {
  std::int64_t pid = 0;  // pid and tid of the initial namespace
  std::int64_t tid = 0;
  std::string name;
  std::string process;  // its name; empty: unknown
  std::string call;
  std::string wait;    // of another call than futex, with its arguments: "read(3<pipe:[4711]>)"; empty: not looked at
  std::string halted;  // "stopped by SIGTTOU"; empty: it is not
  Primitive primitive = Primitive::kFutex;
  std::string lock;           // "a mutex", "a lock inside libc (malloc)": what it waits for, with its name
  std::string api;            // the library's function; empty: unknown
  std::uint64_t address = 0;  // of the lock if its layout is known, else of the futex
  std::int64_t waited_ns = 0;
  bool at_least = false;  // the thread was waiting before tracing began
  Standing standing = Standing::kHeld;
  std::vector<std::int64_t> held_by;  // tids: the owner, the joined thread, or in a deadlock the threads that used to
                                      // wake this one
  StackLines stack;
};

// A thread that is in no call, and has made none for at least a second.
struct ComputingThread {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string name;
  std::string process;                  // base name of the program; empty: unknown
  std::int64_t idle_ns = 0;             // since its last call, or since it is traced
  std::vector<std::int64_t> waited_by;  // tids of threads that wait for it: for a lock that it holds, or for its end
};

// Threads that are inside the same call, other than a futex wait, about the same object, called from the same place.
struct OtherWait {
  std::string call;
  CallObject object;
  std::string function;  // of the application; empty: no stack
  std::string wait;      // the call with its arguments; empty: not looked at
  std::string halted;    // "stopped by SIGTTOU"; empty: they are not
  std::string ended_by;  // who could end it, as who_may_end() has it
  bool accused = false;  // a finding names the threads
  bool behind = false;   // no finding names them, but they wait for good, too
  struct Waiting {
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    std::string name;
    std::string process;  // its name; empty: unknown
    std::int64_t waited_ns = 0;
    bool at_least = false;  // the thread was waiting before tracing began
  };
  std::vector<Waiting> threads;  // longest wait first
  StackLines stack;              // of the first of them
};

struct Finding {
  FindingType type = FindingType::kStall;
  Verdict verdict = Verdict::kStall;
  std::string explanation;  // sentences; names in them may hold any byte
  std::vector<BlockedThread> threads;
  std::size_t circle = 0;      // the first `circle` threads each wait for the next one, the last for the first
  std::int64_t waited_ns = 0;  // the shortest of their waits
  static constexpr std::size_t kMostOpenings = 8;
  std::vector<Opening> openings;  // of descriptors that hold the threads up, where the trace has all calls
};

// Who waits for whom: every thread that waits, and what else could still wake it.
struct WaitEdge {
  std::int64_t from = 0;  // tid
  std::int64_t to = 0;    // tid, or pid if `process`
  bool process = false;
  std::string label;  // "the write end of pipe:[4711]"; names in it may hold any byte
};

struct Diagnosis {
  Verdict verdict = Verdict::kNone;
  std::vector<Finding> findings;           // deadlocks first
  std::vector<BlockedThread> blocked;      // every thread that waits for a futex, including those of findings
  std::vector<ComputingThread> computing;  // those that others wait for first; none if calls may be missing
  std::vector<OtherWait> other_waits;      // longest wait first
  std::vector<WaitEdge> edges;             // by `from`
  std::string reason;                      // why nothing was found; empty if something was
  bool awake_at_monitor = false;           // at a Java monitor, a thread was met awake, or at the beginning of a call
  std::vector<std::string> warnings;
  std::optional<EventFilter> part{};  // what it is limited to; nullopt: the whole recording, at its end
  std::int64_t trace_ns = 0;          // the length of the recording
  std::uint64_t shown = 0;            // threads that are chosen, waiting or not
};

[[nodiscard]] std::string_view verdict_name(Verdict verdict);
[[nodiscard]] std::string_view finding_name(FindingType type);

struct DiagnosisQuery {
  // The recording still runs and the database holds it up to a snapshot of all open waits, so a missing end is no sign
  // of loss.
  bool under_way = false;
  // Of its members those that choose tasks and a span of time (part.h). `until_ns`: what threads were in at that moment
  // is judged, see stand_at(). Of the threads that are chosen, waits are shown and accused that began in the span, and
  // findings that one of them is part of; whoever holds them up is looked for among all threads.
  EventFilter part{};
};

// Returns an error if the database cannot be read, or if it has no futex calls because -e left them out.
[[nodiscard]] Result<Diagnosis> diagnose(const store::Database& database, const DiagnosisQuery& query = {});

}  // namespace uscope::analyzer

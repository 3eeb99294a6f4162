// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The sentences of a diagnosis.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/deadlock/call_wait.h"
#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/primitive.h"
#include "analyzer/deadlock/wait_graph.h"

namespace uscope::analyzer {

// A thread and what is known of its wait; one for each element of LastCalls::threads.
struct WaitedObject {
  Classified what;
  std::uint64_t address = 0;
  std::optional<std::int64_t> gone_owner;  // tid of an owner that has ended, if known
  std::optional<std::int64_t> stranger;    // the process, which is not traced, that has a thread of this number
  std::optional<bool> stranger_is_parent;
  std::string monitor_class;            // of a Java monitor's object
  std::string lock_name;                // of a lock whose name the look knows: "the lock of stdin"; empty: unknown
  CallWait call_wait;                   // of another call than futex
  std::vector<std::size_t> candidates;  // threads of which one has it, by their stacks; empty: not known, or one has it
};

// Whether the thread is known to have made no call for a second: it computes, waits for a processor, or is stopped.
[[nodiscard]] bool computes(const LastCalls& calls, const LastCall& thread);

// The threads that were inside a call other than a futex wait when the trace ended, or when they were killed with the
// last processes.
[[nodiscard]] std::vector<std::size_t> waiting_elsewhere(const LastCalls& calls);

// "a mutex", "a lock inside libc (malloc)", "the lock of stdin": what a thread waits for.
[[nodiscard]] std::string object_phrase(const WaitedObject& object);

struct Situation {
  const LastCalls& calls;
  const std::vector<WaitedObject>& objects;
  const std::vector<Waiter>& waiters;
  const std::vector<bool>& stuck;  // stuck_threads() of `waiters`
};

[[nodiscard]] std::string explain(const Situation& situation, const GraphFinding& finding);

// The sentence that explains why there is no finding: who can still end which wait, and where those stand.
[[nodiscard]] std::string why_none(const Situation& situation);

// For each thread that waits in another call than futex who could end that, as far as known: "process 12 `sleep`, which
// has the write end of pipe:[7] open (descriptor 1) and waits in clock_nanosleep()". Empty: nobody is known.
[[nodiscard]] std::vector<std::string> who_may_end(const Situation& situation);

}  // namespace uscope::analyzer

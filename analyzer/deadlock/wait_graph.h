// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which thread waits for which, and which threads will never go on: pure functions on numbers, without stores or names.
//
// A waiter is stuck if every thread that could release it is stuck too. The possible releasers are one known thread
// (the owner of a lock, a joined thread), all threads that reach the futex or, in other calls than futex, the threads
// of some processes (those that hold a pipe's other end, the children that are waited for, the holders of a file lock).
// The stuck threads are the largest set of held threads that contains all possible releasers of each member (greatest
// fixed point). So a thread that runs, or waits for what is outside or not known, clears every waiter that it could
// release, and these clear others in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace uscope::analyzer {

// Some waits with an owner can also be ended by other threads, against custom: glibc lets any thread unlock a normal
// mutex, and programs that use one as a semaphore do so; a thread that joins another or waits on a condition variable
// can be cancelled. If some thread is free to do so, the owners are no proof:
//   - a single thread that waits for a mutex which it took last itself gives no finding, since a semaphore's waiter
//     looks the same;
//   - a missing owner, and a cycle through a thread's end or a condition variable, are weak: a stall at most;
//   - two or more threads that each hold what the next one waits for, all of them locks, remain a deadlock.
enum class Releaser {
  kNobody,     // the owner has ended
  kOwner,      // `owner`
  kProcesses,  // any thread of `holders`
  kSpace,      // any other thread of the same address space
  kAnyone,     // any other thread of the trace
  kUnknown,    // threads outside of the trace too, or unknown
};

// The event that releases a waiter whose releaser is not one thread.
enum class ReleaseEvent {
  kLock,    // some thread releases a lock
  kPost,    // a wake by the thread responsible for it (a semaphore, a futex of unknown use)
  kSignal,  // as kPost, for a condition variable or the like: the threads that did it before will do it again
};

// A thread that exists at the end.
struct Waiter {
  bool held = false;  // waits for a futex or in a call that is followed, and was asleep then
  std::size_t process = 0;
  std::size_t space = 0;  // equal for processes that share an address space
  Releaser releaser = Releaser::kUnknown;
  std::size_t owner = 0;
  std::vector<std::size_t> holders;  // kProcesses: numbers of processes
  bool may_open = false;             // kProcesses: another process could also get hold of the object, by its name
  bool stopped = false;              // by a signal; anybody may continue it
  bool joins = false;                // the waiter waits for the owner thread to end
  bool unsure = false;               // the owner is known by its stack only, and a thread that runs may be it instead
  bool idle = false;                 // of a pool, and waits for work: it is not what hangs
  bool lenient = false;              // the lock has or had an owner, but other threads can release it as well
  // kNobody: a thread that can release a lenient lock by custom, since it goes on as the owner in a child of fork().
  std::optional<std::size_t> heir;
  bool shared = false;     // other threads: of all processes, not only those of its address space
  bool outsiders = false;  // other threads: also ones outside of the trace, or that is unknown
  ReleaseEvent release_event = ReleaseEvent::kLock;
  std::uint64_t thing = 0;          // equal if two threads wait for the same object
  std::vector<std::size_t> wakers;  // other threads that woke it before and still exist
  bool wakers_gone = false;         // some threads that woke it before have ended
  std::int64_t waited_ns = 0;
  std::int64_t until_ns = 0;  // when the thread was last seen: the end of the trace, or of its process
};

// kStopped: waiters for a process that a signal has stopped, followed by its stopped threads.
enum class FindingType { kCycle, kSelfDeadlock, kOwnerGone, kLostWakeup, kStall, kStopped };

struct GraphFinding {
  FindingType type = FindingType::kStall;
  std::vector<std::size_t> threads;  // a cycle is in order: each thread waits for the next one
  bool signal = false;        // a cycle through a condition variable: its waiter first, followed by the thread that
                              // should wake it
  bool by_history = false;    // the claim that no other thread will wake it rests on former wakers alone
  bool weak = false;          // some free thread could end it against custom, or it rests on waits without known owner
  bool by_processes = false;  // it rests on holders: the first `circle` threads each wait for the next one's process,
                              // and what else could end their waits follows
  std::size_t circle = 0;
};

// All findings, deadlocks first; no thread is in two findings. `wakes_known`: no wake is missing from the trace.
[[nodiscard]] std::vector<GraphFinding> find_stuck(const std::vector<Waiter>& threads, bool wakes_known);

// Marks the stuck threads, as defined above; for find_stuck() and for the code that explains its results.
[[nodiscard]] std::vector<bool> stuck_threads(const std::vector<Waiter>& threads);

// Whether `other` can reach the futex that `waiter` waits for: it shares the memory (or may share it, if the futex is
// shared) and existed together with the waiter to the end.
[[nodiscard]] bool can_reach(const Waiter& other, const Waiter& waiter);

}  // namespace uscope::analyzer

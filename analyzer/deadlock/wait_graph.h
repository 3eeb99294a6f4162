// Who waits for whom, and who will never go on: pure functions on numbers. Nothing here knows of stores or names.
//
// A waiter that nobody can release any more is stuck. Who can release it is known (the owner of a lock, a thread that
// is joined), or it is everybody who reaches the futex. Stuck are the members of the largest set of held threads in
// which each one's possible releasers are all in the set themselves: so one thread that runs, or waits for anything but
// a futex, clears all that it could release, and what those could, and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace uscope::analyzer {

//
// Some waits that have an owner can be ended by others against custom: glibc lets any thread unlock a normal mutex, as
// programs do that use it as a semaphore; and who joins a thread, or waits on a condition variable, can be cancelled.
// Where somebody is free to do so, what the owners say is no proof any more:
//   - of one thread that waits for a mutex which it took last itself nothing is left, since a semaphore's waiter looks
//     just so;
//   - an owner that is gone, a cycle through the end of a thread or a condition variable, are weak: a stall at most;
//   - two threads or more that each hold what the next one asks for, all of them locks, stay a deadlock.
enum class Releaser {
  kNobody,   // its owner is gone
  kOwner,    // `owner`
  kSpace,    // any other thread that has its memory
  kAnyone,   // any other thread of the trace
  kUnknown,  // somebody outside of the trace too, or it cannot be told
};

// What it takes to release a waiter whose releaser is not one thread.
enum class Wish {
  kLock,    // that somebody lets go of something
  kPost,    // a wake by whoever has to (a semaphore, a futex of which nothing is known)
  kSignal,  // the same, of a condition variable or the like: who did it before will do it again
};

// A thread that is there at the end.
struct Waiter {
  bool held = false;  // waits for a futex, and was asleep there
  std::size_t process = 0;
  std::size_t space = 0;  // equal for processes that have one address space
  Releaser releaser = Releaser::kUnknown;
  std::size_t owner = 0;
  bool joins = false;      // the owner is a thread whose end it waits for
  bool lenient = false;    // it has an owner, or had one, and others can release it, too
  bool shared = false;     // others: of all processes, not only those with its memory
  bool outsiders = false;  // others: somebody outside of the trace, too, or it cannot be told
  Wish wish = Wish::kLock;
  std::uint64_t thing = 0;          // equal where two wait for the same thing
  std::vector<std::size_t> wakers;  // others that woke it before, and are there
  bool wakers_gone = false;         // some that did are not there any more
  std::int64_t waited_ns = 0;
  std::int64_t until_ns = 0;  // when it was last seen: the end of the trace, or of its process
};

enum class FindingType { kCycle, kSelfDeadlock, kOwnerGone, kLostWakeup, kStall };

struct GraphFinding {
  FindingType type = FindingType::kStall;
  std::vector<std::size_t> threads;  // a cycle in its order: each waits for the next one
  bool signal = false;      // a cycle through a condition variable: its waiter stands first, who should wake it behind
  bool by_history = false;  // that nobody else will wake it is known only from who did
  bool weak = false;        // somebody is free who could end it against custom
};

// All findings, deadlocks first; no thread is in two of them. `wakes_known`: no wake is missing from the trace.
[[nodiscard]] std::vector<GraphFinding> find_stuck(const std::vector<Waiter>& threads, bool wakes_known);

// The stuck ones, as above; for find_stuck and its reader's explanations.
[[nodiscard]] std::vector<bool> stuck_threads(const std::vector<Waiter>& threads);

// Whether a thread can reach what another one waits for: it has its memory or, where that is shared, may have it, and
// was there to the end with it.
[[nodiscard]] bool can_reach(const Waiter& other, const Waiter& waiter);

}  // namespace uscope::analyzer

#include "analyzer/deadlock.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/deadlock_story.h"
#include "analyzer/lock_owner.h"
#include "analyzer/wait_owners.h"
#include "analyzer/wake_history.h"

namespace uscope::analyzer {
namespace {

Wish wish_of(const Classified& what) {
  if (what.is_lock) return Wish::kLock;
  switch (what.primitive) {
    case Primitive::kConditionVariable:
    case Primitive::kRustCondvar:
    case Primitive::kPark:
      return Wish::kSignal;
    case Primitive::kSemaphore:
    case Primitive::kFutex:
      return Wish::kPost;
    default:
      return Wish::kLock;
  }
}

// Puts a trace's waits into the terms of the graph, and what it finds back into those of the trace.
class Diagnostician {
 public:
  Diagnostician(LastCalls calls, WakeHistory history)
      : calls_(std::move(calls)), history_(std::move(history)), owners_(calls_) {}

  Result<Diagnosis> run();

 private:
  Result<void> settle_killed();
  Result<void> place(std::size_t index);
  void find_releaser(const LastCall& thread, Place& place, Waiter& waiter);
  [[nodiscard]] bool accept_owner(const LastCall& thread, const Place& place, Waiter& waiter, std::uint32_t tid);
  Result<void> find_wakers(const LastCall& thread, const Place& place, Waiter& waiter);
  std::uint64_t thing_of(const LastCall& thread, const Place& place);
  [[nodiscard]] BlockedThread blocked(std::size_t index) const;
  [[nodiscard]] Finding finding(const GraphFinding& found) const;

  LastCalls calls_;
  WakeHistory history_;
  WaitOwners owners_;
  std::vector<Place> places_;
  std::vector<Waiter> waiters_;
  std::map<std::string, std::uint64_t> things_;
  std::unordered_map<std::int64_t, std::size_t> by_row_;  // thread row id → index
};

// A wait in which a thread was killed lasted to its end only if nobody woke it; the killing itself wakes.
Result<void> Diagnostician::settle_killed() {
  for (LastCall& thread : calls_.threads) {
    if (!thread.killed || thread.standing != Standing::kHeld) continue;
    auto woken = history_.woken_since(thread, calls_.processes[thread.process]);
    if (!woken) return woken.error();
    if (*woken || calls_.events_missing) thread.standing = Standing::kUncertain;
  }
  return {};
}

std::uint64_t Diagnostician::thing_of(const LastCall& thread, const Place& place) {
  constexpr std::uint64_t kPair = 4;
  const bool signal = wish_of(place.what) == Wish::kSignal;
  const std::uint64_t address = signal ? place.address & ~kPair : place.address;
  const std::string name = thread.wait->of_one_space() || thread.wait->key.empty()
                               ? std::to_string(thread.process) + " " + std::to_string(address)
                               : thread.wait->key;
  return things_.emplace(name, things_.size() + 1).first->second;
}

// False: the tid that stands there says nothing that can be relied on.
bool Diagnostician::accept_owner(const LastCall& thread, const Place& place, Waiter& waiter, std::uint32_t tid) {
  const bool joins = place.what.primitive == Primitive::kJoin;
  const FoundOwner owner = owners_.find(thread, tid, joins);
  if (owner.state == FoundOwner::State::kUnclear) return false;
  if (owner.state == FoundOwner::State::kGone) {
    // The kernel wakes those who join a thread, or wait for a PI or robust mutex of one, when it ends.
    const bool kernel_wakes = joins || (thread.wait->expected & kFutexWaiters) != 0 ||
                              thread.wait->command() == kFutexLockPi || thread.wait->command() == kFutexLockPi2;
    if (kernel_wakes || !place.what.by_name) return false;
    waiter.releaser = Releaser::kNobody;
    return true;
  }
  const LastCall& holder = calls_.threads[owner.thread];
  const bool itself = &holder == &thread;
  // What a lock said before its owner's wait began may be over.
  if (thread.refused && !itself && (holder.standing != Standing::kHeld || holder.since_ns > thread.since_ns))
    return false;
  if (joins && itself) return false;
  waiter.releaser = Releaser::kOwner;
  waiter.owner = owner.thread;
  waiter.joins = joins;
  return true;
}

void Diagnostician::find_releaser(const LastCall& thread, Place& place, Waiter& waiter) {
  const FutexWait& wait = *thread.wait;
  const bool joins = place.what.primitive == Primitive::kJoin;
  const bool words_hold = wait.fresh || thread.killed || thread.refused || joins;
  const auto tid = thread.known_layout && words_hold ? owner_of(wait, place.what) : std::nullopt;
  if (tid) {
    if (!accept_owner(thread, place, waiter, *tid)) waiter.releaser = Releaser::kUnknown;
    if (waiter.releaser == Releaser::kNobody) place.gone_owner = owners_.find(thread, *tid, joins).old_tid;
    return;
  }
  const bool outside = calls_.tasks_missing || calls_.processes[thread.process].io_uring;
  if (place.what.primitive == Primitive::kGo || outside) return;
  // sem_post and a futex wake are what a signal handler may do, and services sleep so until they are to end.
  if (waiter.wish == Wish::kPost && wait.handlers) return;
  if (wait.of_one_space()) {
    waiter.releaser = Releaser::kSpace;
  } else if (!wait.key.empty() && wait.strangers == 0) {
    waiter.releaser = Releaser::kAnyone;
  }
}

Result<void> Diagnostician::find_wakers(const LastCall& thread, const Place& place, Waiter& waiter) {
  auto rows = history_.wakers(thread, calls_.processes[thread.process], place.what);
  if (!rows) return rows.error();
  for (const std::int64_t row : *rows) {
    if (const auto found = by_row_.find(row); found != by_row_.end()) {
      waiter.wakers.push_back(found->second);
    } else {
      waiter.wakers_gone = true;
    }
  }
  return {};
}

Result<void> Diagnostician::place(std::size_t index) {
  const LastCall& thread = calls_.threads[index];
  Place place;
  Waiter waiter;
  waiter.process = thread.process;
  waiter.waited_ns = thread.waited_ns;
  waiter.until_ns = std::max<std::int64_t>(0, calls_.processes[thread.process].until_ns);
  if (thread.wait) {
    place.what = classify(*thread.wait, thread.stack);
    place.address = lock_address(*thread.wait, place.what);
    waiter.held = thread.standing == Standing::kHeld;
    waiter.wish = wish_of(place.what);
    waiter.thing = thing_of(thread, place);
    if (waiter.held) find_releaser(thread, place, waiter);
    const bool asks = waiter.held && (waiter.releaser == Releaser::kSpace || waiter.releaser == Releaser::kAnyone);
    if (asks && waiter.wish != Wish::kLock)
      if (auto done = find_wakers(thread, place, waiter); !done) return done;
  }
  places_.push_back(std::move(place));
  waiters_.push_back(std::move(waiter));
  return {};
}

BlockedThread Diagnostician::blocked(std::size_t index) const {
  const LastCall& thread = calls_.threads[index];
  BlockedThread out;
  out.pid = calls_.processes[thread.process].pid;
  out.tid = thread.tid;
  out.name = thread.name;
  out.process = calls_.processes[thread.process].program;
  out.call = thread.call;
  out.primitive = places_[index].what.primitive;
  out.api = places_[index].what.api;
  out.address = places_[index].address;
  out.waited_ns = thread.waited_ns;
  out.at_least = thread.attached;
  out.standing = thread.standing;
  if (waiters_[index].held && waiters_[index].releaser == Releaser::kOwner)
    out.held_by.push_back(calls_.threads[waiters_[index].owner].tid);
  if (places_[index].gone_owner) out.held_by.push_back(*places_[index].gone_owner);
  out.stack = thread.stack;
  return out;
}

Finding Diagnostician::finding(const GraphFinding& found) const {
  Finding out;
  out.type = found.type;
  const bool stall = found.type == FindingType::kStall || found.type == FindingType::kLostWakeup;
  out.verdict = stall ? Verdict::kStall : Verdict::kDeadlock;
  out.explanation = explain({calls_, places_, waiters_}, found);
  out.waited_ns = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t i : found.threads) {
    out.threads.push_back(blocked(i));
    out.waited_ns = std::min(out.waited_ns, out.threads.back().waited_ns);
  }
  if (found.signal) {
    const auto& wakers = waiters_[found.threads[0]].wakers;
    const bool known = !wakers.empty();
    std::vector<std::size_t> awaited = known ? wakers : found.threads;
    if (!known) awaited.erase(awaited.begin());
    for (const std::size_t waker : awaited) out.threads[0].held_by.push_back(calls_.threads[waker].tid);
  }
  return out;
}

Result<Diagnosis> Diagnostician::run() {
  for (std::size_t i = 0; i < calls_.threads.size(); i++) by_row_[calls_.threads[i].thread_id] = i;
  if (auto done = settle_killed(); !done) return done.error();
  for (std::size_t i = 0; i < calls_.threads.size(); i++)
    if (auto done = place(i); !done) return done.error();
  Diagnosis out;
  for (const GraphFinding& found : find_stuck(waiters_, !calls_.events_missing && !calls_.tasks_missing)) {
    out.findings.push_back(finding(found));
    out.verdict = std::max(out.verdict, out.findings.back().verdict);
  }
  for (std::size_t i = 0; i < calls_.threads.size(); i++)
    if (calls_.threads[i].wait) out.blocked.push_back(blocked(i));
  if (out.findings.empty()) out.reason = why_none({calls_, places_, waiters_});
  out.warnings = std::move(calls_.warnings);
  return out;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  constexpr std::array<std::string_view, 3> kNames{"none", "stall", "deadlock"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string_view finding_name(FindingType type) {
  constexpr std::array<std::string_view, 5> kNames{"cycle", "self_deadlock", "owner_gone", "lost_wakeup", "stall"};
  return kNames.at(static_cast<std::size_t>(type));
}

Result<Diagnosis> diagnose(const store::Database& database, bool under_way) {
  auto calls = read_last_calls(database, under_way);
  if (!calls) return calls.error();
  auto history = WakeHistory::open(database);
  if (!history) return history.error();
  return Diagnostician(std::move(*calls), std::move(*history)).run();
}

}  // namespace uscope::analyzer

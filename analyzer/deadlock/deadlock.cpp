// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/deadlock.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/deadlock/as_of.h"
#include "analyzer/deadlock/call_wait.h"
#include "analyzer/deadlock/changed_numbers.h"
#include "analyzer/deadlock/deadlock_story.h"
#include "analyzer/deadlock/library_locks.h"
#include "analyzer/deadlock/lock_owner.h"
#include "analyzer/deadlock/look.h"
#include "analyzer/deadlock/nearly_stuck.h"
#include "analyzer/deadlock/signal_bits.h"
#include "analyzer/deadlock/undecided.h"
#include "analyzer/deadlock/wait_owners.h"
#include "analyzer/deadlock/wake_history.h"
#include "analyzer/read/part.h"
#include "support/clock.h"
#include "support/text.h"
#include "trace/runtime_modules.h"

namespace uscope::analyzer {
namespace {

constexpr std::string_view kGil = "Python's GIL";  // as the look names it

ReleaseEvent release_event_of(const Classified& what) {
  if (what.is_lock || what.leaves) return ReleaseEvent::kLock;
  switch (what.primitive) {
    case Primitive::kConditionVariable:
    case Primitive::kRustCondvar:
    case Primitive::kPark:
      return ReleaseEvent::kSignal;
    case Primitive::kSemaphore:
    case Primitive::kFutex:
    case Primitive::kAtomic:
      return ReleaseEvent::kPost;
    default:
      return ReleaseEvent::kLock;
  }
}

// Translates a trace's waits into the graph's terms, and the graph's findings back into those of the trace.
class Diagnostician {
 public:
  Diagnostician(LastCalls calls, WakeHistory history, Look look, std::vector<bool> chosen)
      : calls_(std::move(calls)),
        history_(std::move(history)),
        look_(std::move(look)),
        owners_(calls_),
        chosen_(std::move(chosen)) {}

  Result<Diagnosis> run();

 private:
  Result<void> settle_killed();
  Result<void> examine(std::size_t index);
  void find_releaser(std::size_t index, WaitedObject& object, Waiter& waiter);
  [[nodiscard]] bool find_holder_by_stack(std::size_t index, WaitedObject& object, Waiter& waiter) const;
  void enter_looked_calls();
  void find_holders(std::size_t index, WaitedObject& object, Waiter& waiter) const;
  void find_monitor(const LastCall& thread, WaitedObject& object, Waiter& waiter) const;
  [[nodiscard]] const LookedMonitor* named_lock(const LastCall& thread, const Classified& what) const;
  void find_named_owner(const LastCall& thread, const LookedMonitor& lock, Waiter& waiter) const;
  void find_spin(const LastCall& thread, WaitedObject& object, Waiter& waiter) const;
  [[nodiscard]] const LookedThread* looked(const LastCall& thread) const;
  [[nodiscard]] std::set<std::size_t> chosen_and_holders() const;
  [[nodiscard]] std::vector<WaitEdge> edges() const;
  void find_vfork_child(std::size_t index, WaitedObject& object, Waiter& waiter) const;
  [[nodiscard]] bool is_vfork(const LastCall& thread) const;
  [[nodiscard]] bool has_outsiders(const LastCall& thread) const;
  [[nodiscard]] bool may_be_woken_by_handler(const LastCall& thread, const WaitedObject& object,
                                             const Waiter& waiter) const;
  [[nodiscard]] bool has_python_handler(const LastCall& thread) const;
  [[nodiscard]] WakeHistory::Processes memory_of(const LastCall& thread) const;
  // Whether `rule` holds for any process that can reach the futex of `thread`.
  template <typename Rule>
  [[nodiscard]] bool any_that_reaches(const LastCall& thread, Rule rule) const;
  [[nodiscard]] bool accept_owner(const LastCall& thread, WaitedObject& object, Waiter& waiter, std::uint32_t tid);
  Result<void> find_wakers(const LastCall& thread, const WaitedObject& object, Waiter& waiter);
  std::uint64_t thing_of(const LastCall& thread, const WaitedObject& object);
  [[nodiscard]] BlockedThread blocked(std::size_t index) const;
  [[nodiscard]] Finding finding(const GraphFinding& found) const;
  void add_openings(const CallWait& wait, std::vector<Opening>& out) const;
  [[nodiscard]] std::vector<ComputingThread> computing() const;
  [[nodiscard]] std::vector<OtherWait> other_waits(const std::vector<std::string>& enders,
                                                   const std::vector<Finding>& findings) const;
  [[nodiscard]] bool is_behind(std::size_t index) const;
  [[nodiscard]] bool is_awake_at_monitor() const;
  [[nodiscard]] bool went_on(std::size_t thread) const;

  LastCalls calls_;
  WakeHistory history_;
  Look look_;
  WaitOwners owners_;
  std::vector<CallWait> waits_;
  std::vector<WaitedObject> objects_;
  std::vector<Waiter> waiters_;
  std::vector<bool> chosen_;  // like calls_.threads: what it waits in is shown
  std::vector<bool> stuck_;
  std::map<std::string, std::uint64_t> things_;
  std::unordered_map<ThreadRowId, std::size_t> by_row_;               // index
  std::unordered_map<std::size_t, std::size_t> vforks_;               // by process: its vfork calls in progress
  std::unordered_multimap<ProcessRowId, std::size_t> first_threads_;  // by the parent process: index
};

template <typename Rule>
bool Diagnostician::any_that_reaches(const LastCall& thread, Rule rule) const {
  if (!thread.wait->of_one_space()) return std::any_of(calls_.processes.begin(), calls_.processes.end(), rule);
  const auto& processes = calls_.spaces.at(calls_.processes[thread.process].space);
  return std::any_of(processes.begin(), processes.end(), [&](std::size_t i) { return rule(calls_.processes[i]); });
}

WakeHistory::Processes Diagnostician::memory_of(const LastCall& thread) const {
  WakeHistory::Processes rows;
  for (const std::size_t i : calls_.spaces.at(calls_.processes[thread.process].space))
    rows.push_back(calls_.processes[i].id);
  return rows;
}

// Whether something outside of the trace, or unknown to it, may change the word that the thread waits for: an untraced
// process, one that opens the file later, or the kernel on behalf of io_uring.
bool Diagnostician::has_outsiders(const LastCall& thread) const {
  const FutexWait& wait = *thread.wait;
  if (calls_.tasks_missing) return true;
  if (any_that_reaches(thread, [](const LastProcess& process) { return process.io_uring; })) return true;
  if (wait.of_one_space()) return wait.untraced_sharers.value_or(0) != 0;
  return wait.key.empty() || wait.untraced_sharers != 0 || wait.open_to_others;
}

// A signal handler may post a semaphore, wake a futex or signal a condition variable, and services sleep this way until
// a signal ends them. Threads that have signalled a condition variable before are better evidence of who does it.
bool Diagnostician::may_be_woken_by_handler(const LastCall& thread, const WaitedObject& object,
                                            const Waiter& waiter) const {
  if (object.what.is_lock) return has_python_handler(thread);
  if (waiter.release_event == ReleaseEvent::kLock) return false;
  if (waiter.release_event == ReleaseEvent::kSignal && (!waiter.wakers.empty() || waiter.wakers_gone)) return false;
  return thread.wait->handlers || any_that_reaches(thread, [](const LastProcess& process) { return process.handlers; });
}

// Python calls a program's handlers in the first thread, between two tries to take a lock, and they may release any.
// The handler of SIGINT that it has by itself ends the program, as a signal without a handler does.
bool Diagnostician::has_python_handler(const LastCall& thread) const {
  constexpr std::uint64_t kNoProgram = kInnerSignals | bits_of({SIGINT});
  return std::any_of(calls_.threads.begin(), calls_.threads.end(), [&](const LastCall& other) {
    const LookedThread* seen = other.process == thread.process ? looked(other) : nullptr;
    return seen && (seen->caught.value_or(0) & ~kNoProgram) != 0;
  });
}

// If a thread was killed in a wait, no thread had woken it before; but being killed wakes a thread too.
Result<void> Diagnostician::settle_killed() {
  for (LastCall& thread : calls_.threads) {
    if (!thread.killed || thread.standing != Standing::kHeld) continue;
    auto woken = history_.woken_since(thread, memory_of(thread));
    if (!woken) return woken.error();
    if (*woken || calls_.events_missing) thread.standing = Standing::kUncertain;
  }
  return {};
}

std::uint64_t Diagnostician::thing_of(const LastCall& thread, const WaitedObject& object) {
  constexpr std::uint64_t kPair = 4;
  const bool signal = release_event_of(object.what) == ReleaseEvent::kSignal;
  const std::uint64_t address = signal ? object.address & ~kPair : object.address;
  const std::string name = thread.wait->of_one_space() || thread.wait->key.empty()
                               ? fmt::format("{} {}", calls_.processes[thread.process].space, address)
                               : thread.wait->key;
  return things_.emplace(name, things_.size() + 1).first->second;
}

// Returns false if the tid in the lock is not reliable evidence.
bool Diagnostician::accept_owner(const LastCall& thread, WaitedObject& object, Waiter& waiter, std::uint32_t tid) {
  const bool joins = object.what.primitive == Primitive::kJoin;
  const FoundOwner owner = owners_.find(thread, tid, joins);
  if (owner.state == FoundOwner::State::kUnclear) return false;
  waiter.lenient = others_may_unlock(*thread.wait, object.what);
  if (owner.state == FoundOwner::State::kGone) {
    // When a thread ends, the kernel wakes the threads that join it or wait for its PI or robust mutex.
    const bool kernel_wakes = joins || (thread.wait->expected & kFutexWaiters) != 0 ||
                              thread.wait->command() == kFutexLockPi || thread.wait->command() == kFutexLockPi2;
    if (kernel_wakes || !object.what.by_name) return false;
    waiter.releaser = Releaser::kNobody;
    if (owner.heir && &calls_.threads[*owner.heir] != &thread) waiter.heir = owner.heir;
    object.gone_owner = owner.old_tid;
    if (const LookedThread* seen = looked(thread)) {
      const auto stranger = seen->strangers.find(tid);
      if (stranger != seen->strangers.end()) object.stranger = stranger->second;
      object.stranger_is_parent = object.stranger && object.stranger == seen->parent_pid;
    }
    return true;
  }
  const LastCall& holder = calls_.threads[owner.thread];
  const bool itself = &holder == &thread;
  // The content of a lock from before its owner's wait began may be outdated.
  if (thread.refused && !itself && (holder.standing != Standing::kHeld || holder.since_ns > thread.since_ns))
    return false;
  if (joins && itself) return false;
  waiter.releaser = Releaser::kOwner;
  waiter.owner = owner.thread;
  waiter.joins = joins;
  // No gate that another thread opens: a handler waits for what the code has that it interrupted.
  if (itself && interrupted_from(thread.stack) != thread.stack.size()) waiter.lenient = false;
  return true;
}

// A lock of libc's own, whose word names nobody.
bool Diagnostician::find_holder_by_stack(std::size_t index, WaitedObject& object, Waiter& waiter) const {
  if (!calls_.threads[index].wait->of_one_space() || calls_.tasks_missing) return false;
  StackHolder holder = holder_by_stack(calls_, index, object.what);
  if (holder.state == StackHolder::State::kUnknown) {
    object.candidates = std::move(holder.candidates);
    return false;
  }
  waiter.releaser = Releaser::kOwner;
  waiter.owner = holder.state == StackHolder::State::kItself ? index : holder.thread;
  waiter.unsure = !holder.sure;
  return true;
}

void Diagnostician::find_releaser(std::size_t index, WaitedObject& object, Waiter& waiter) {
  const LastCall& thread = calls_.threads[index];
  const FutexWait& wait = *thread.wait;
  const bool joins = object.what.primitive == Primitive::kJoin;
  const bool words_hold = wait.fresh || thread.killed || thread.refused || joins;
  // If processes share memory, the tids in locks are ambiguous.
  const bool sure = joins || !wait.of_one_space() || !owners_.shares_space(thread);
  const auto tid = thread.known_layout && words_hold && sure ? owner_of(wait, object.what) : std::nullopt;
  waiter.shared = !wait.of_one_space();
  waiter.outsiders = has_outsiders(thread);
  if (tid) {
    if (!accept_owner(thread, object, waiter, *tid)) waiter.releaser = Releaser::kUnknown;
    return;
  }
  if (find_holder_by_stack(index, object, waiter)) return;
  if (object.what.primitive == Primitive::kGo || waiter.outsiders) return;
  waiter.releaser = wait.of_one_space() ? Releaser::kSpace : Releaser::kAnyone;
}

bool Diagnostician::is_vfork(const LastCall& thread) const {
  constexpr std::uint64_t kVfork = 0x4000;  // CLONE_VFORK
  if (thread.standing != Standing::kElsewhere || !thread.known_layout) return false;
  // The flags of clone3 lie in memory; if the call has not returned and there is a child, it waits for that child.
  return thread.call == "vfork" || (thread.call == "clone" && (thread.a0 & kVfork) != 0) || thread.call == "clone3";
}

// A thread that called vfork continues when the child executes a program or ends. The trace identifies the child if the
// process has one such call in progress and one child that shares its memory.
void Diagnostician::find_vfork_child(std::size_t index, WaitedObject& object, Waiter& waiter) const {
  const LastCall& thread = calls_.threads[index];
  const LastProcess& process = calls_.processes[thread.process];
  if (!is_vfork(thread) || (!thread.attached && thread.waited_ns < kSecondNs)) return;
  if (vforks_.at(thread.process) > 1) return;
  std::optional<std::size_t> child;
  const auto [first, last] = first_threads_.equal_range(process.id);
  for (auto at = first; at != last; ++at) {
    const LastCall& other = calls_.threads[at->second];
    const LastProcess& its = calls_.processes[other.process];
    const bool is_child = its.space == process.space && other.process != thread.process && ended_together(process, its);
    if (!is_child || (!thread.attached && its.start_ns < thread.since_ns)) continue;
    if (child) return;
    child = at->second;
  }
  if (!child) return;
  object.what.primitive = Primitive::kVfork;
  waiter.held = true;
  waiter.releaser = Releaser::kOwner;
  waiter.owner = *child;
  waiter.joins = true;
}

const LookedThread* Diagnostician::looked(const LastCall& thread) const {
  const auto found = look_.threads.find(thread.thread_id);
  return found == look_.threads.end() ? nullptr : &found->second;
}

// What was seen of a thread before it entered or left a call is past. A thread that has been in a call since before the
// trace may have no event.
void Diagnostician::enter_looked_calls() {
  for (LastCall& thread : calls_.threads) {
    const LookedThread* seen = looked(thread);
    if (seen && seen->ts_ns < thread.last_ns) {
      look_.past.insert(look_.threads.extract(thread.thread_id));
      continue;
    }
    // It sleeps in something else than the call that it has made (a seccomp filter's supervisor, a page that is held
    // back): not in the futex.
    if (seen && seen->asleep && seen->call.empty() && thread.standing == Standing::kHeld)
      thread.standing = Standing::kUncertain;
    if (!seen || !seen->asleep || seen->call.empty()) continue;
    // A command that ends by itself when it is interrupted leaves its waits before anybody can look at them again.
    if (thread.hung && thread.standing == Standing::kUncertain && seen->call == "futex" &&
        seen->args[0] == thread.wait->address && seen->ts_ns >= thread.since_ns)
      thread.standing = Standing::kHeld;
    if (seen->call == "futex") continue;
    if (thread.standing != Standing::kRuns || !thread.call.empty()) continue;
    thread.standing = Standing::kElsewhere;
    thread.call = seen->call;
    thread.a0 = seen->args[0];
    thread.attached = true;
  }
}

void Diagnostician::find_holders(std::size_t index, WaitedObject& object, Waiter& waiter) const {
  const CallWait& wait = waits_[index];
  if (const LookedThread* seen = looked(calls_.threads[index])) waiter.stopped = seen->state == "stopped";
  object.call_wait = wait;
  if (wait.state != CallWait::State::kFollowed) return;
  waiter.held = true;
  waiter.releaser = wait.anyone ? Releaser::kAnyone : Releaser::kProcesses;
  waiter.shared = true;
  waiter.release_event = ReleaseEvent::kPost;
  waiter.holders = wait.holders;
  waiter.may_open = wait.weak;
}

// "a java.util.concurrent.locks.ReentrantLock$NonfairSync at 0x69ec19a10".
std::string java_object(const LookedMonitor& monitor) {
  const std::string name = monitor.class_name.empty() ? "an object" : "a " + monitor.class_name;
  return monitor.object == 0 ? name : name + " at " + hex_number(monitor.object);
}

// A thread that waits for a Java object, whose virtual machine lets it sleep at a futex: to enter its monitor, for a
// lock of java.util.concurrent, in Object.wait().
void Diagnostician::find_monitor(const LastCall& thread, WaitedObject& object, Waiter& waiter) const {
  const LookedThread* seen = looked(thread);
  if (!seen || calls_.tasks_missing) return;
  for (const LookedMonitor& monitor : seen->monitors) {
    if (monitor.what == "park") object.lock_name = "being unparked, for " + java_object(monitor);
    if (monitor.what == "wait") object.lock_name = "Object.wait() of " + java_object(monitor);
    if ((monitor.what != "enter" && monitor.what != "park") || !monitor.owner_tid) continue;
    for (std::size_t i = 0; i < calls_.threads.size(); i++) {
      const LastCall& other = calls_.threads[i];
      if (other.tid != *monitor.owner_tid || other.process != thread.process || &other == &thread) continue;
      // A thread that parks with a limit, or was seen awake, goes on by itself.
      if (monitor.what == "park" && !waiter.held) continue;
      waiter.held = true;
      waiter.releaser = Releaser::kOwner;
      waiter.owner = i;
      waiter.lenient = false;
      waiter.joins = false;
      object.address = monitor.object;
      if (monitor.what == "park") continue;
      object.what.primitive = Primitive::kMonitor;
      object.monitor_class = monitor.class_name;
      object.lock_name = "the monitor of " + java_object(monitor);
    }
  }
}

bool is_of_python(const StackLine& line) {
  constexpr std::array<std::string_view, 5> kStarts{"Py", "_Py", "take_gil", "python", "libpython"};
  return std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view start) {
    return line.function.starts_with(start) || line.module.starts_with(start);
  });
}

// What the look knows of a run-time system's lock, if it is still what the thread waits for: a thread that has only
// tried again since waits for the same. The GIL is a condition variable that Python's code waits at.
const LookedMonitor* Diagnostician::named_lock(const LastCall& thread, const Classified& what) const {
  const LookedThread* seen = looked(thread);
  if (const auto past = look_.past.find(thread.thread_id); !seen && thread.tries && past != look_.past.end())
    seen = &past->second;
  if (!seen) return nullptr;
  const bool is_stream = what.primitive == Primitive::kStream;
  constexpr std::size_t kNear = 6;
  const auto near = thread.stack.begin() + static_cast<std::ptrdiff_t>(std::min(kNear, thread.stack.size()));
  const bool is_interpreter =
      what.primitive == Primitive::kInterpreter ||
      (what.primitive == Primitive::kConditionVariable && std::any_of(thread.stack.begin(), near, is_of_python));
  for (const LookedMonitor& monitor : seen->monitors)
    if (monitor.what == "lock" && monitor.owner_tid && (monitor.class_name == kGil ? is_interpreter : is_stream))
      return &monitor;
  return nullptr;
}

void Diagnostician::find_named_owner(const LastCall& thread, const LookedMonitor& lock, Waiter& waiter) const {
  for (std::size_t i = 0; i < calls_.threads.size(); i++) {
    const LastCall& other = calls_.threads[i];
    if (other.tid != *lock.owner_tid || other.process != thread.process || &other == &thread) continue;
    waiter.releaser = Releaser::kOwner;
    waiter.owner = i;
    waiter.lenient = false;
    waiter.unsure = false;
  }
}

std::set<std::size_t> Diagnostician::chosen_and_holders() const {
  std::set<std::size_t> shown;
  std::vector<std::size_t> todo;
  for (std::size_t i = 0; i < chosen_.size(); i++)
    if (chosen_[i]) todo.push_back(i);
  while (!todo.empty()) {
    const std::size_t i = todo.back();
    todo.pop_back();
    if (!shown.insert(i).second || !waiters_[i].held) continue;
    if (waiters_[i].releaser == Releaser::kOwner) todo.push_back(waiters_[i].owner);
    const std::set<std::size_t> processes(waiters_[i].holders.begin(), waiters_[i].holders.end());
    for (std::size_t other = 0; !processes.empty() && other < calls_.threads.size(); other++)
      if (processes.contains(calls_.threads[other].process)) todo.push_back(other);
  }
  return shown;
}

// A thread that only sleeps, in a function that does so between its tries to take a lock.
void Diagnostician::find_spin(const LastCall& thread, WaitedObject& object, Waiter& waiter) const {
  if (!thread.tries || thread.wait || calls_.tasks_missing) return;
  const auto caller = std::find_if(thread.stack.begin(), thread.stack.end(),
                                   [](const StackLine& line) { return !trace::is_runtime(line.module); });
  const Classified what = classify(FutexWait{}, StackLines(caller, thread.stack.end()));
  if (what.primitive != Primitive::kSpinLock) return;
  object.what = what;
  waiter.held = true;
  waiter.releaser = Releaser::kSpace;
  waiter.release_event = ReleaseEvent::kLock;
}

// Of the threads that are chosen, and of those that hold them up.
std::vector<WaitEdge> Diagnostician::edges() const {
  const std::set<std::size_t> shown = chosen_and_holders();
  std::vector<WaitEdge> out;
  for (std::size_t i = 0; i < waiters_.size(); i++) {
    if (!shown.contains(i)) continue;
    const Waiter& waiter = waiters_[i];
    const std::int64_t from = calls_.threads[i].tid;
    if (waiter.held && waiter.releaser == Releaser::kOwner)
      out.push_back({from, calls_.threads[waiter.owner].tid, false, object_phrase(objects_[i])});
    for (const WaitEnd& end : waits_[i].ends) {
      const std::int64_t pid = calls_.processes[end.process].pid;
      const std::string label = end.object.empty() ? "its end" : end.part + " " + end.object;
      out.push_back({from, pid, true, label});
    }
  }
  return out;
}

Result<void> Diagnostician::find_wakers(const LastCall& thread, const WaitedObject& object, Waiter& waiter) {
  auto rows = history_.wakers(thread, memory_of(thread), object.what);
  if (!rows) return rows.error();
  for (const ThreadRowId row : *rows) {
    if (const auto found = by_row_.find(row); found != by_row_.end()) {
      waiter.wakers.push_back(found->second);
    } else {
      waiter.wakers_gone = true;
    }
  }
  return {};
}

Result<void> Diagnostician::examine(std::size_t index) {
  LastCall& thread = calls_.threads[index];
  WaitedObject object;
  Waiter waiter;
  waiter.process = thread.process;
  waiter.space = calls_.processes[thread.process].space;
  waiter.waited_ns = thread.waited_ns;
  waiter.until_ns = std::max<std::int64_t>(0, calls_.processes[thread.process].until_ns);
  if (thread.wait) {
    object.what = classify(*thread.wait, thread.stack);
    const LookedMonitor* const named = named_lock(thread, object.what);
    if (named && named->class_name == kGil) object.what.primitive = Primitive::kInterpreter;
    object.address = named ? named->object : lock_address(*thread.wait, object.what);
    if (named) object.lock_name = named->class_name;
    waiter.held = thread.standing == Standing::kHeld;
    if (!waiter.held && thread.tries && tries_again(object.what)) {
      waiter.held = true;
      waiter.waited_ns = thread.waited_ns = thread.tried_ns;
      thread.attached = true;
    }
    waiter.release_event = release_event_of(object.what);
    waiter.idle = object.what.idle;
    waiter.thing = thing_of(thread, object);
    if (waiter.held) find_releaser(index, object, waiter);
    if (waiter.held && named) find_named_owner(thread, *named, waiter);
    const bool asks = waiter.held && (waiter.releaser == Releaser::kSpace || waiter.releaser == Releaser::kAnyone);
    if (asks && waiter.release_event != ReleaseEvent::kLock)
      if (auto done = find_wakers(thread, object, waiter); !done) return done;
    if (asks && may_be_woken_by_handler(thread, object, waiter)) waiter.releaser = Releaser::kUnknown;
    find_monitor(thread, object, waiter);
    // A stopped thread may stay in its wait.
    if (const LookedThread* seen = looked(thread)) waiter.stopped = seen->state == "stopped";
    object.call_wait.why = waits_[index].why;
  } else {
    find_vfork_child(index, object, waiter);
    if (!waiter.held) find_spin(thread, object, waiter);
    if (!waiter.held) find_holders(index, object, waiter);
  }
  objects_.push_back(std::move(object));
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
  out.wait = waits_[index].text;
  if (const LookedThread* seen = looked(thread)) out.halted = halted_text(*seen);
  out.primitive = objects_[index].what.primitive;
  if (out.wait.empty() || thread.wait) out.lock = object_phrase(objects_[index]);
  out.api = objects_[index].what.api;
  out.address = objects_[index].address;
  out.waited_ns = thread.waited_ns;
  out.at_least = thread.attached;
  out.standing = thread.standing;
  if (waiters_[index].held && waiters_[index].releaser == Releaser::kOwner)
    out.held_by.push_back(calls_.threads[waiters_[index].owner].tid);
  for (const WaitEnd& end : waits_[index].ends) {
    const std::int64_t pid = calls_.processes[end.process].pid;
    if (std::find(out.held_by.begin(), out.held_by.end(), pid) == out.held_by.end()) out.held_by.push_back(pid);
  }
  if (objects_[index].gone_owner) out.held_by.push_back(*objects_[index].gone_owner);
  out.stack = thread.stack;
  return out;
}

// Which descriptors these are; how the processes came to them is found later.
void Diagnostician::add_openings(const CallWait& wait, std::vector<Opening>& out) const {
  if (calls_.events_missing || calls_.calls_left_out || wait.state != CallWait::State::kFollowed) return;
  for (const WaitEnd& end : wait.ends) {
    const LastProcess& process = calls_.processes[end.process];
    const auto known = std::any_of(out.begin(), out.end(), [&](const Opening& other) {
      return other.process_id == process.id && other.fd == end.fd;
    });
    if (end.fd < 0 || known || out.size() == Finding::kMostOpenings) continue;
    Opening& opening = out.emplace_back();
    opening.process_id = process.id;
    opening.pid = process.pid;
    opening.process = process.program;
    opening.fd = end.fd;
    opening.object = end.object;
  }
}

Finding Diagnostician::finding(const GraphFinding& found) const {
  Finding out;
  out.type = found.type;
  const bool stall = found.weak || found.type == FindingType::kStall || found.type == FindingType::kLostWakeup ||
                     found.type == FindingType::kStopped;
  out.verdict = stall ? Verdict::kStall : Verdict::kDeadlock;
  out.explanation = explain({calls_, objects_, waiters_, stuck_}, found);
  out.waited_ns = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t i : found.threads) {
    out.threads.push_back(blocked(i));
    out.waited_ns = std::min(out.waited_ns, out.threads.back().waited_ns);
  }
  if (found.type == FindingType::kCycle) out.circle = found.by_processes ? found.circle : found.threads.size();
  if (found.type == FindingType::kSelfDeadlock) out.circle = 1;
  for (const std::size_t i : found.threads) add_openings(waits_[i], out.openings);
  if (found.signal) {
    const auto& wakers = waiters_[found.threads[0]].wakers;
    const bool known = !wakers.empty();
    std::vector<std::size_t> awaited = known ? wakers : found.threads;
    if (!known) awaited.erase(awaited.begin());
    for (const std::size_t waker : awaited) out.threads[0].held_by.push_back(calls_.threads[waker].tid);
  }
  return out;
}

std::vector<ComputingThread> Diagnostician::computing() const {
  const std::set<std::size_t> shown = chosen_and_holders();
  std::vector<ComputingThread> out;
  std::unordered_map<std::size_t, std::size_t> places;  // in `out`, by index
  for (std::size_t i = 0; i < calls_.threads.size(); i++) {
    const LastCall& thread = calls_.threads[i];
    if (!computes(calls_, thread) || !shown.contains(i)) continue;
    const LastProcess& process = calls_.processes[thread.process];
    places.emplace(i, out.size());
    out.push_back({process.pid, thread.tid, thread.name, process.program, thread.idle_ns, {}});
  }
  for (std::size_t i = 0; i < waiters_.size(); i++) {
    if (!waiters_[i].held || waiters_[i].releaser != Releaser::kOwner) continue;
    const auto place = places.find(waiters_[i].owner);
    if (place != places.end()) out[place->second].waited_by.push_back(calls_.threads[i].tid);
  }
  std::stable_sort(out.begin(), out.end(), [](const ComputingThread& a, const ComputingThread& b) {
    return a.waited_by.empty() < b.waited_by.empty();
  });
  return out;
}

// Whether nobody but stuck threads could end its wait, or else a handler of a signal, which a shell always has.
bool Diagnostician::is_behind(std::size_t index) const {
  const CallWait& wait = waits_[index];
  if (stuck_[index] || !wait.by_handler || wait.has_unknown || wait.holders.empty()) return stuck_[index];
  const std::set<std::size_t> holders(wait.holders.begin(), wait.holders.end());
  for (std::size_t i = 0; i < calls_.threads.size(); i++)
    if (!stuck_[i] && holders.contains(calls_.threads[i].process)) return false;
  return true;
}

// Of equally long waits, to the second, the one whose thread came first into the trace: usually a first thread.
std::vector<OtherWait> Diagnostician::other_waits(const std::vector<std::string>& enders,
                                                  const std::vector<Finding>& findings) const {
  std::set<std::int64_t> named;
  for (const Finding& finding : findings)
    for (const BlockedThread& thread : finding.threads) named.insert(thread.tid);
  std::vector<std::size_t> threads = waiting_elsewhere(calls_);
  std::stable_sort(threads.begin(), threads.end(), [this](std::size_t a, std::size_t b) {
    return calls_.threads[a].waited_ns / kSecondNs > calls_.threads[b].waited_ns / kSecondNs;
  });
  std::vector<OtherWait> out;
  using Place =
      std::tuple<std::string, CallObject, std::vector<std::string>, std::string, std::string, std::string, bool>;
  std::map<Place, std::size_t> places;
  for (const std::size_t i : threads) {
    if (!chosen_[i]) continue;
    const LastCall& thread = calls_.threads[i];
    const LastProcess& process = calls_.processes[thread.process];
    const StackLine* frame = application_frame(thread.stack);
    const std::string function = frame && frame->app ? frame->function : "";
    const LookedThread* seen = looked(thread);
    const std::string halted = seen ? halted_text(*seen) : "";
    const bool accused = named.contains(thread.tid);
    const auto [place, is_new] = places.try_emplace(
        {thread.call, thread.object, application_chain(thread.stack), waits_[i].text, halted, enders[i], accused},
        out.size());
    const bool behind = !findings.empty() && !accused && is_behind(i);
    if (is_new)
      out.push_back(
          {thread.call, thread.object, function, waits_[i].text, halted, enders[i], accused, behind, {}, thread.stack});
    out[place->second].threads.push_back(
        {process.pid, thread.tid, thread.name, process.program, thread.waited_ns, thread.attached});
  }
  return out;
}

// Whether a thread that enters a monitor, or owns one that another enters, was met awake, or at the beginning of a
// call: what it waits for is then not known. HotSpot lets threads that wait to enter a monitor wake once a second.
bool Diagnostician::is_awake_at_monitor() const {
  for (std::size_t i = 0; i < waiters_.size(); i++) {
    const Waiter& waiter = waiters_[i];
    if (!waiter.held) {
      const auto past = look_.past.find(calls_.threads[i].thread_id);
      const LookedThread* seen = past == look_.past.end() ? looked(calls_.threads[i]) : &past->second;
      if (seen != nullptr && seen->enters_monitor()) return true;
    } else if (objects_[i].what.primitive == Primitive::kMonitor && !waiters_[waiter.owner].held) {
      const LookedThread* seen = looked(calls_.threads[waiter.owner]);
      if (seen == nullptr || !seen->asleep) return true;
    }
  }
  return false;
}

// Later than the moment as of which the trace is judged.
bool Diagnostician::went_on(std::size_t thread) const {
  const std::optional<FutexWait>& wait = calls_.threads[thread].wait;
  return wait && wait->woken_later;
}

Result<Diagnosis> Diagnostician::run() {
  enter_looked_calls();
  waits_ = follow_calls(calls_, look_);
  for (std::size_t i = 0; i < calls_.threads.size(); i++) {
    const LastCall& thread = calls_.threads[i];
    const LastProcess& process = calls_.processes[thread.process];
    by_row_[thread.thread_id] = i;
    if (is_vfork(thread)) vforks_[thread.process]++;
    if (thread.tid == process.pid) first_threads_.emplace(process.parent_id, i);
  }
  if (auto done = settle_killed(); !done) return done.error();
  for (std::size_t i = 0; i < calls_.threads.size(); i++)
    if (auto done = examine(i); !done) return done.error();
  stuck_ = stuck_threads(waiters_);
  Diagnosis out;
  out.shown = static_cast<std::uint64_t>(std::count(chosen_.begin(), chosen_.end(), true));
  bool others_found = false;
  bool some_went_on = false;
  for (const GraphFinding& found : find_stuck(waiters_, !calls_.events_missing && !calls_.tasks_missing)) {
    if (std::none_of(found.threads.begin(), found.threads.end(), [this](std::size_t i) { return chosen_[i]; })) {
      others_found = true;
      continue;
    }
    if (std::any_of(found.threads.begin(), found.threads.end(), [this](std::size_t i) { return went_on(i); })) {
      some_went_on = true;
      continue;
    }
    out.findings.push_back(finding(found));
    out.verdict = std::max(out.verdict, out.findings.back().verdict);
  }
  std::stable_sort(out.findings.begin(), out.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.verdict > b.verdict; });
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < calls_.threads.size(); i++)
    if (calls_.threads[i].wait && chosen_[i]) waiting.push_back(i);
  // Of a Java virtual machine the program's threads before its own.
  std::stable_sort(waiting.begin(), waiting.end(), [&](std::size_t a, std::size_t b) {
    return is_of_vm(calls_.threads[a]) < is_of_vm(calls_.threads[b]);
  });
  for (const std::size_t i : waiting) out.blocked.push_back(blocked(i));
  out.computing = computing();
  out.edges = edges();
  out.awake_at_monitor = is_awake_at_monitor();
  const Situation situation{calls_, objects_, waiters_, stuck_};
  out.other_waits = other_waits(who_may_end(situation), out.findings);
  if (out.shown == 0 && !chosen_.empty()) {
    out.reason = "no thread that was asked for was there, or none of their waits had begun by then";
  } else if (out.findings.empty() && others_found) {
    out.reason =
        "none of the waits that were asked for is part of one; others of the recording are: without --tid, --thread "
        "and --since they are shown";
  } else if (out.findings.empty() && some_went_on) {
    out.reason = "the threads that were blocked then went on later in the recording";
  } else if (out.findings.empty()) {
    out.reason = why_none(situation);
    if (auto why = why_undecided(situation, look_, waits_); !why.empty()) {
      out.verdict = Verdict::kUndecided;
      out.reason = std::move(why);
    }
  }
  out.warnings = std::move(calls_.warnings);
  return out;
}

// What a thread waits in began in the part, or it runs there.
bool is_chosen(const Part& part, const Catalog& catalog, const LastCall& thread) {
  if (part.is_all()) return true;
  const Thread* known = catalog.threads.find(thread.thread_id);
  if (known == nullptr) return false;
  const std::int64_t now = std::min(part.until_ns(), catalog.end_ns);
  return part.chooses(*known, now) && (thread.standing == Standing::kRuns || thread.since_ns >= part.since_ns());
}

Result<void> find_openings(const store::Database& database, std::vector<Finding>& findings) {
  const auto has_some = [](const Finding& finding) { return !finding.openings.empty(); };
  if (std::none_of(findings.begin(), findings.end(), has_some)) return {};
  auto search = OpeningSearch::open(database);
  if (!search) return search.error();
  for (Finding& finding : findings) {
    for (Opening& opening : finding.openings) {
      auto steps = search->steps_of(opening.process_id, opening.fd);
      if (!steps) return steps.error();
      opening.steps = std::move(*steps);
    }
    std::erase_if(finding.openings, [](const Opening& opening) { return opening.steps.empty(); });
  }
  return {};
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kNames{"none", "undecided", "stall", "deadlock"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string_view finding_name(FindingType type) {
  constexpr std::array<std::string_view, 6> kNames{"cycle",       "self_deadlock", "owner_gone",
                                                   "lost_wakeup", "stall",         "stopped"};
  return kNames.at(static_cast<std::size_t>(type));
}

Result<Diagnosis> diagnose(const store::Database& database, const DiagnosisQuery& query) {
  auto catalog = read_catalog(database);
  if (!catalog) return catalog.error();
  const Part part(*catalog, query.part);
  if (part.until_ns() < catalog->end_ns)
    if (auto done = stand_at(database, *catalog, part.until_ns()); !done) return done.error();
  auto calls = read_last_calls(database, query.under_way);
  if (!calls) return calls.error();
  std::vector<bool> chosen;
  for (const LastCall& thread : calls->threads) chosen.push_back(is_chosen(part, *catalog, thread));
  auto history = WakeHistory::open(database);
  if (!history) return history.error();
  auto look = read_look(database);
  if (!look) return look.error();
  if (auto done = find_changed_numbers(database, *calls, *look); !done) return done.error();
  auto diagnosis = Diagnostician(std::move(*calls), std::move(*history), std::move(*look), std::move(chosen)).run();
  if (!diagnosis) return diagnosis;
  if (!part.is_all()) diagnosis->part = query.part;
  diagnosis->trace_ns = difference(catalog->end_ns, catalog->start_ns);
  if (part.until_ns() < catalog->end_ns)
    diagnosis->warnings.emplace_back(
        "descriptors, file locks, children and monitors are looked at once, when tracing ends: at an earlier moment "
        "only "
        "waits for locks and other futexes are judged");
  if (auto done = find_openings(database, diagnosis->findings); !done) return done.error();
  return diagnosis;
}

}  // namespace uscope::analyzer

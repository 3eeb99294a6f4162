// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A thread's JavaThread points to the ObjectMonitor that it wants to enter, or waits in. An ObjectMonitor's owner is
// written in one of four ways, by version and mode of the VM: the address of the owner's JavaThread; an address in the
// owner's stack, where it had locked the object before there was a monitor; the owner's number (JDK 24 and later); or
// "anonymous" if the owner had locked the object without a monitor (LM_LIGHTWEIGHT, JDK 21 and later): then the object
// is on the lock stack of the owner.
#include "tracer/java/java_monitors.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tracer/java/java_objects.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMostThreads = 65536;
constexpr std::uint64_t kMostLocks = 64;  // on a lock stack; HotSpot has 8
constexpr std::uint64_t kMostStack = std::uint64_t{1} << 40U;

struct JavaThread {
  std::uint64_t at = 0;
  std::uint32_t tid = 0;
};

struct Stack {
  std::uint64_t start = 0;
  std::uint32_t tid = 0;
};

class Reading {
 public:
  Reading(MemoryReader& memory, const VmStructs& vm) : memory_(memory), vm_(vm), objects_(memory, vm) {}
  JavaMonitors take();

 private:
  // Where a field lies in an object; the first type that has it counts. 0 and a trouble where none does.
  std::uint64_t needed(const char* what, std::initializer_list<const char*> names);
  bool take_offsets();
  bool take_threads();
  bool take_listed(std::uint64_t list);
  void take_chained(std::uint64_t first, std::uint64_t next_at);
  void take_thread(std::uint64_t at);
  void take_locks(const JavaThread& thread);
  void take_waits(const JavaThread& thread);
  void add(const JavaThread& thread, MonitorWait wait);
  void add_monitor(const JavaThread& thread, MonitorWait::What what, std::uint64_t monitor);
  void add_park(const JavaThread& thread);
  void find_owner(MonitorWait& wait);
  [[nodiscard]] std::uint32_t owner_of(std::uint64_t owner) const;
  [[nodiscard]] std::uint32_t thread_of_stack(std::uint64_t address) const;
  std::uint64_t java_object(std::uint64_t thread);
  void trouble(const std::string& what) { troubles_.insert(what); }

  MemoryReader& memory_;
  const VmStructs& vm_;
  JavaObjects objects_;
  std::uint64_t osthread_ = 0, thread_id_ = 0, pending_ = 0, waiting_ = 0, stack_base_ = 0, stack_size_ = 0;
  std::uint64_t object_ = 0, owner_ = 0, thread_object_ = 0;
  bool has_handles_ = false;  // JDK 16 and later: references outside the heap are handles
  std::vector<JavaThread> threads_;
  std::unordered_map<std::uint64_t, std::uint32_t> tid_of_address_;
  std::unordered_map<std::uint64_t, std::uint32_t> tid_of_number_;
  std::unordered_map<std::uint64_t, std::uint32_t> holder_of_;  // by object: on whose lock stack it is
  std::map<std::uint64_t, Stack> stacks_;                       // by their ends
  std::vector<MonitorWait> waits_;
  std::set<std::string> troubles_;
};

std::uint64_t Reading::needed(const char* what, std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (const auto at = vm_.offset(name)) return *at;
  trouble(fmt::format("the Java VM does not say where {} lies ({})", what, *names.begin()));
  return 0;
}

bool Reading::take_offsets() {
  osthread_ = needed("a thread's system thread", {"JavaThread::_osthread", "Thread::_osthread"});
  thread_id_ = needed("a thread's id", {"OSThread::_thread_id"});
  pending_ = needed("the monitor that a thread enters",
                    {"JavaThread::_current_pending_monitor", "Thread::_current_pending_monitor"});
  waiting_ = needed("the monitor that a thread waits in",
                    {"JavaThread::_current_waiting_monitor", "Thread::_current_waiting_monitor"});
  stack_base_ = needed("a thread's stack", {"JavaThread::_stack_base", "Thread::_stack_base"});
  stack_size_ = needed("the size of a thread's stack", {"JavaThread::_stack_size", "Thread::_stack_size"});
  object_ = needed("a monitor's object", {"ObjectMonitor::_object"});
  owner_ = needed("a monitor's owner", {"ObjectMonitor::_owner"});
  thread_object_ = needed("a thread's object", {"JavaThread::_threadObj"});
  const VmStructs::Field* const object = vm_.field("JavaThread::_threadObj");
  has_handles_ = object != nullptr && object->type == "OopHandle";
  return troubles_.empty();
}

void Reading::take_locks(const JavaThread& thread) {
  const auto stack = vm_.offset("JavaThread::_lock_stack");
  const auto top_at = vm_.offset("LockStack::_top");
  const auto base_at = vm_.offset("LockStack::_base[0]");
  if (!stack || !top_at || !base_at) return;
  // The top is an offset in the JavaThread.
  const std::uint64_t top = memory_.get<std::uint32_t>(thread.at + *stack + *top_at).value_or(0);
  const std::uint64_t base = *stack + *base_at;
  for (std::uint64_t i = 0; i < kMostLocks && base + i * sizeof(std::uint64_t) < top; i++)
    if (const std::uint64_t object = memory_.pointer(thread.at + base + i * sizeof(std::uint64_t)); object != 0)
      holder_of_[object] = thread.tid;
}

void Reading::take_thread(std::uint64_t at) {
  JavaThread thread;
  thread.at = at;
  const std::uint64_t osthread = memory_.pointer(at + osthread_);
  thread.tid = osthread == 0 ? 0 : memory_.get<std::uint32_t>(osthread + thread_id_).value_or(0);
  if (thread.tid == 0) return;  // it begins or ends
  const std::uint64_t end = memory_.pointer(at + stack_base_);
  const std::uint64_t size = memory_.pointer(at + stack_size_);
  if (size <= kMostStack && size <= end) stacks_[end] = {end - size, thread.tid};
  take_locks(thread);
  tid_of_address_[at] = thread.tid;
  if (const auto number_at = vm_.offset("JavaThread::_monitor_owner_id"))
    if (const std::uint64_t number = memory_.pointer(at + *number_at); number != 0) tid_of_number_[number] = thread.tid;
  threads_.push_back(thread);
}

bool Reading::take_listed(std::uint64_t list) {
  const auto length_at = vm_.offset("ThreadsList::_length");
  const auto array_at = vm_.offset("ThreadsList::_threads");
  if (list == 0 || !length_at || !array_at) return false;
  const std::uint64_t length = memory_.get<std::uint32_t>(list + *length_at).value_or(0);
  const std::uint64_t array = memory_.pointer(list + *array_at);
  if (length > kMostThreads) trouble(fmt::format("the Java VM claims to have {} threads", length));
  for (std::uint64_t i = 0; i < std::min(length, kMostThreads) && !memory_.is_exhausted(); i++)
    if (const std::uint64_t at = memory_.pointer(array + i * sizeof(std::uint64_t)); at != 0) take_thread(at);
  return true;
}

void Reading::take_chained(std::uint64_t first, std::uint64_t next_at) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t at = first; at != 0 && seen.size() < kMostThreads && seen.insert(at).second;
       at = memory_.pointer(at + next_at))
    take_thread(at);
}

bool Reading::take_threads() {
  if (const auto list = vm_.address("ThreadsSMRSupport::_java_thread_list")) {
    if (!take_listed(memory_.pointer(*list))) trouble("the Java VM's list of threads cannot be read");
  } else if (const auto first = vm_.address("Threads::_thread_list"), next = vm_.offset("JavaThread::_next");
             first && next) {
    take_chained(memory_.pointer(*first), *next);
  } else {
    trouble("the Java VM does not say where its threads are (ThreadsSMRSupport::_java_thread_list)");
  }
  return !threads_.empty();
}

std::uint64_t Reading::java_object(std::uint64_t thread) {
  const std::uint64_t object = memory_.pointer(thread + thread_object_);
  return has_handles_ && object != 0 ? memory_.pointer(object) : object;
}

std::uint32_t Reading::thread_of_stack(std::uint64_t address) const {
  const auto behind = stacks_.upper_bound(address);
  return behind != stacks_.end() && address >= behind->second.start ? behind->second.tid : 0;
}

std::uint32_t Reading::owner_of(std::uint64_t owner) const {
  const auto number = tid_of_number_.find(owner);
  if (number != tid_of_number_.end()) return number->second;
  const auto thread = tid_of_address_.find(owner);
  return thread != tid_of_address_.end() ? thread->second : thread_of_stack(owner);
}

void Reading::find_owner(MonitorWait& wait) {
  constexpr std::uint64_t kAnonymous = 1;  // ObjectMonitor::ANONYMOUS_OWNER
  const auto read = memory_.get<std::uint64_t>(wait.monitor + owner_);
  const std::uint64_t owner = read.value_or(0);
  const auto deflater = static_cast<std::uint64_t>(vm_.constant("ObjectMonitor::DEFLATER_MARKER").value_or(-1));
  if (read && (owner == 0 || owner == deflater)) {
    wait.owner = MonitorWait::Owner::kNone;
    return;
  }
  if (read && owner == kAnonymous) {
    const auto holder = holder_of_.find(wait.object);
    if (holder != holder_of_.end() && objects_.are_readable()) wait.owner_tid = holder->second;
    const auto locker = vm_.offset("ObjectMonitor::_stack_locker");
    if (wait.owner_tid == 0 && locker) wait.owner_tid = thread_of_stack(memory_.pointer(wait.monitor + *locker));
  } else {
    wait.owner_tid = owner_of(owner);
  }
  wait.owner = wait.owner_tid != 0 ? MonitorWait::Owner::kThread : MonitorWait::Owner::kUnknown;
  if (wait.owner_tid != 0) return;
  trouble(owner == kAnonymous && !objects_.are_readable()
              ? "owners of objects that were locked without a monitor are not known with ZGC"
              : "a Java monitor's owner is none of the threads (perhaps a virtual thread that waits elsewhere)");
}

void Reading::add(const JavaThread& thread, MonitorWait wait) {
  wait.tid = thread.tid;
  wait.class_name = objects_.class_name(objects_.class_of(wait.object));
  wait.java_thread = objects_.text(objects_.reference(java_object(thread.at), "name"));
  if (!objects_.are_readable()) {
    wait.object = 0;
    trouble("classes of objects and names of Java threads are not known with ZGC");
  }
  waits_.push_back(std::move(wait));
}

void Reading::add_monitor(const JavaThread& thread, MonitorWait::What what, std::uint64_t monitor) {
  MonitorWait wait;
  wait.what = what;
  wait.monitor = monitor;
  wait.object = memory_.pointer(monitor + object_);
  if (has_handles_ && wait.object != 0) wait.object = memory_.pointer(wait.object);
  find_owner(wait);
  add(thread, std::move(wait));
}

void Reading::add_park(const JavaThread& thread) {
  if (!objects_.are_readable()) return;
  const std::uint64_t blocker = objects_.reference(java_object(thread.at), "parkBlocker");
  if (blocker == 0) return;
  MonitorWait wait;
  wait.what = MonitorWait::What::kPark;
  wait.monitor = wait.object = blocker;
  const std::uint64_t owner = objects_.reference(blocker, "exclusiveOwnerThread");
  const auto address = owner == 0 ? std::nullopt : objects_.number(owner, "eetop");
  const auto known = tid_of_address_.find(static_cast<std::uint64_t>(address.value_or(0)));
  if (known != tid_of_address_.end()) {
    wait.owner = MonitorWait::Owner::kThread;
    wait.owner_tid = known->second;
  }
  add(thread, std::move(wait));
}

// Of a thread that was in Object.wait() and enters again, the monitor that it enters counts.
void Reading::take_waits(const JavaThread& thread) {
  if (const std::uint64_t monitor = memory_.pointer(thread.at + pending_); monitor != 0)
    add_monitor(thread, MonitorWait::What::kEnter, monitor);
  else if (const std::uint64_t wait = memory_.pointer(thread.at + waiting_); wait != 0)
    add_monitor(thread, MonitorWait::What::kWait, wait);
  else
    add_park(thread);
}

JavaMonitors Reading::take() {
  if (take_offsets() && take_threads())
    for (const JavaThread& thread : threads_)
      if (!memory_.is_exhausted()) take_waits(thread);
  if (memory_.is_exhausted()) trouble("the Java VM's structures do not end");
  return {std::move(waits_), {troubles_.begin(), troubles_.end()}};
}

}  // namespace

JavaMonitors read_monitors(MemoryReader& memory, const VmStructs& vm) {
  return Reading(memory, vm).take();
}

std::vector<MonitorWait> unchanged_waits(const std::vector<MonitorWait>& first, std::vector<MonitorWait> second) {
  const auto key = [](const MonitorWait& wait) {
    return std::tuple(wait.tid, wait.what, wait.monitor, wait.owner, wait.owner_tid);
  };
  std::set<decltype(key(first.front()))> known;
  for (const MonitorWait& wait : first) known.insert(key(wait));
  std::erase_if(second, [&](const MonitorWait& wait) { return known.count(key(wait)) == 0; });
  return second;
}

}  // namespace uscope::tracer

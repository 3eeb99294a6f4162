// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/wait_look.h"

#include <asm/unistd.h>
#include <fmt/core.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "tracer/java/java_look.h"
#include "tracer/java/java_monitors.h"
#include "tracer/process/process_list.h"
#include "tracer/waits/held_locks.h"
#include "tracer/waits/look_taker.h"
#include "tracer/waits/run_time_locks.h"
#include "uscope/futex.h"

namespace uscope::tracer {

void WaitLook::trouble(std::uint32_t pid, const std::string& text) {
  usc_look_trouble record{};
  const auto known = processes_.find(pid);
  record.process = known == processes_.end() ? 0 : known->second;
  record.text_bytes = static_cast<__u32>(text.size());
  answer(record, text);
}

void WaitLook::take() {
  std::vector<Found> all(threads_.size());
  for (std::size_t i = 0; i < all.size(); i++) {
    all[i].asked = threads_[i];
    desk_.goes_to(threads_[i].pid);
    all[i].before = status_of(threads_[i].pid, threads_[i].tid);
    if (!all[i].before) continue;
    ns_pids_[threads_[i].pid] = all[i].before->ns_pids;
    open_signals_[threads_[i].pid] |= ~all[i].before->blocked;
  }
  for (Found& found : all) look_at(found);
  look_again(all);
  look_at_monitors();
  look_at_run_time_locks(all);
  look_at_locks(all);
  read_descriptors();
  mark_queues(all);
  mark_terminals(all);
  mark_sets(all);
  for (auto& [pid, descriptors] : descriptors_) write_resources(pid, processes_[pid], descriptors);
  for (auto& [pid, descriptors] : other_descriptors_) write_resources(pid, processes_[pid], descriptors);
  if (waits_for_descriptors_) {
    find_shared_tables();
    find_holders();
    find_mappings(all);
  }
  // A thread counts as asleep if it has slept until nothing more is asked: whoever woke it may be gone.
  for (Found& found : all) write_thread(found);
  write_locks();
  send();
}

namespace {

// What may be a thread's number in a lock, in the words around a futex's: glibc and musl have it no further away.
std::set<std::uint32_t> numbers_beside(std::uint64_t address, const ReadMemory& read) {
  constexpr std::uint64_t kBefore = 8;
  constexpr std::uint32_t kFlags = 0xc0000000;  // FUTEX_WAITERS, FUTEX_OWNER_DIED
  std::array<std::uint32_t, 9> words{};
  std::set<std::uint32_t> numbers;
  if (!read(address - kBefore, static_cast<void*>(words.data()), sizeof(words))) return numbers;
  for (const std::uint32_t word : words)
    if ((word & ~kFlags) != 0) numbers.insert(word & ~kFlags);
  return numbers;
}

}  // namespace

void WaitLook::look_at(Found& found) {
  if (!found.before || silent_.count(found.asked.pid) != 0) return;
  desk_.goes_to(found.asked.pid);
  const std::string path = fmt::format("/proc/{}/task/{}/", found.asked.pid, found.asked.tid);
  usc_thread_look& record = found.record;
  const std::string wchan = first_line(path + "wchan");
  record.state = state_of(*found.before, wchan);
  record.timed = USC_TIMED_UNKNOWN;
  if (found.before->parent)
    record.parent = *found.before->parent != 0 ? *found.before->parent : std::uint32_t{USC_PARENT_OUTSIDE};
  record.has_caught = found.before->caught ? 1 : 0;
  record.caught = callable(found);
  record.by_timer = awaits_timer(found.asked.pid, record.caught) ? 1 : 0;
  record.tracer_pid = found.before->tracer;
  if (record.tracer_pid != 0) name_of(record.tracer_pid).copy(record.tracer, sizeof(record.tracer) - 1);
  if (record.state == USC_THREAD_STOPPED) record.stop_signal = stop_signal_of(found.asked.pid);
  const auto read = [tid = found.asked.tid](std::uint64_t from, void* to, std::size_t bytes) {
    const iovec local = {to, bytes};
    const iovec remote = {reinterpret_cast<void*>(from), bytes};  // NOLINT(performance-no-int-to-ptr)
    return process_vm_readv(static_cast<pid_t>(tid), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
  };
  const auto call = parse_call(first_line(path + "syscall"), wchan, read);
  if (!call) return;
  const bool is_asleep = record.state == USC_THREAD_ASLEEP || record.state == USC_THREAD_UNINTERRUPTIBLE;
  if (is_asleep && may_wait_for_server(wchan)) found.file = served_file(found.asked.pid, *call, read);
  if (!found.file && sleeps_elsewhere(wchan)) return;
  record.in_call = 1;
  record.nr = call->nr;
  record.abi = call->abi;
  std::memcpy(static_cast<void*>(record.args), static_cast<const void*>(call->args), sizeof(call->args));
  if (found.file) {
    record.timed = USC_TIMED_NEVER;
    return;
  }
  found.waits = waits_of(*call, read);
  if (call->abi == USC_ABI_NATIVE && call->nr == USC_FUTEX_NATIVE) found.numbers = numbers_beside(call->args[0], read);
  record.timed = found.waits.timed;
  if (found.waits.unreadable)
    trouble(found.asked.pid, fmt::format("the memory that says what thread {} waits for", found.asked.tid));
  if (found.waits.epoll_fd >= 0 || !found.waits.things.empty()) waits_for_descriptors_ = true;
  for (const WaitedThing& thing : found.waits.things)
    if (thing.what == USC_WAITED_DESCRIPTOR) waited_.emplace(found.asked.pid, thing.fd);
}

// A thread that waits by short limits, for Python's GIL or in a spin lock, runs for a moment between two of them.
// Whoever ran when it was looked at is looked at again, a few times: one that computes runs on.
void WaitLook::look_again(std::vector<Found>& all) {
  constexpr int kTimes = 3;
  constexpr auto kPause = std::chrono::milliseconds(1);
  constexpr std::size_t kMost = 256;  // threads
  // Its state may be older than its call.
  const auto runs = [](const Found& found) {
    return found.before && found.record.in_call == 0 && !found.file && found.record.state != USC_THREAD_STOPPED;
  };
  for (int times = 0; times < kTimes; times++) {
    const auto running = std::count_if(all.begin(), all.end(), runs);
    if (running == 0 || static_cast<std::size_t>(running) > kMost) return;
    std::this_thread::sleep_for(kPause);
    for (Found& found : all) {
      if (!runs(found)) continue;
      desk_.goes_to(found.asked.pid);
      if (auto now = status_of(found.asked.pid, found.asked.tid)) found.before = std::move(now);
      look_at(found);
    }
  }
}

// The signals of which a handler may run.
std::uint64_t WaitLook::callable(const Found& found) {
  const std::uint64_t caught = found.before->caught.value_or(0);
  return caught & ~found.before->ignored & open_signals_[found.asked.pid];
}

// Whether a timer of setitimer(2) may send one of `caught`. When one of timer_create(2) sends what is not known.
bool WaitLook::awaits_timer(std::uint32_t pid, std::uint64_t caught) {
  const auto [known, is_new] = timer_signals_.emplace(pid, 0);
  if (is_new) {
    std::ifstream timers(folder_of(pid) + "/timers");
    if (timers && has_signal_timer(timers))
      trouble(pid, fmt::format("when the timers of process {} send their signals", pid));
    if ((caught & signals_of_timers(RealTimers::kUnknown, false)) == 0) return false;
    if (!real_timers_) real_timers_ = real_timers();
    const auto threads =
        std::count_if(threads_.begin(), threads_.end(), [pid](const AskedThread& it) { return it.pid == pid; });
    known->second = signals_of_timers(*real_timers_, threads == 1);
  }
  return (caught & known->second) != 0;
}

void WaitLook::look_at_monitors() {
  std::map<std::uint32_t, std::uint32_t> tasks;  // by tid
  for (const AskedThread& thread : threads_) tasks.emplace(thread.tid, thread.task);
  for (const auto& [pid, process] : processes_) {
    if (silent_.count(pid) != 0) continue;
    desk_.goes_to(pid);
    const auto monitors = java_monitors_of(pid);
    if (!monitors) continue;
    for (const MonitorWait& wait : monitors->waits) {
      const auto task = tasks.find(wait.tid);
      if (task == tasks.end()) continue;
      MonitorRecord record = record_of(wait);
      answer(record.fixed, record.text, task->second);
    }
    for (const std::string& text : monitors->troubles) trouble(pid, text);
  }
}

void WaitLook::look_at_run_time_locks(const std::vector<Found>& all) {
  std::map<std::uint32_t, std::vector<const Found*>> waiters;  // by process
  for (const Found& found : all)
    if (found.record.in_call != 0 && found.record.abi == USC_ABI_NATIVE && found.record.nr == USC_FUTEX_NATIVE)
      waiters[found.asked.pid].push_back(&found);
  for (const auto& [pid, threads] : waiters) {
    if (silent_.count(pid) != 0) continue;
    desk_.goes_to(pid);
    RunTimeLocks locks(pid);
    for (const Found* found : threads) {
      const auto lock = locks.at(found->record.args[0]);
      if (!lock) continue;
      usc_monitor record{};
      record.what = USC_MONITOR_LOCK;
      record.object = lock->object;
      record.owner_tid = lock->owner_tid;
      record.class_bytes = static_cast<__u16>(lock->name.size());
      answer(record, lock->name, found->asked.task);
    }
  }
}

void WaitLook::look_at_locks(const std::vector<Found>& all) {
  if (silent_.count(kWholeMachine) != 0) {
    const auto is_lock = [](const WaitedThing& thing) { return thing.wants == USC_WANTS_LOCK; };
    for (const Found& found : all)
      if (std::any_of(found.waits.things.begin(), found.waits.things.end(), is_lock))
        trouble(found.asked.pid, "the kernel's list of locks of files");
    return;
  }
  desk_.goes_to(kWholeMachine);
  locks_ = read_locks();
  for (const usc_held_lock& lock : locks_) locked_.emplace(lock.dev, lock.ino);
}

// The pid in uscope's namespace of what process `of` numbers so.
std::optional<std::uint32_t> WaitLook::outer_pid(std::uint32_t of, std::uint32_t number) {
  const std::vector<std::uint32_t>& own = ns_pids_[of];
  if (own.size() <= 1) return number;
  std::optional<std::uint32_t> outer;
  for (const auto& [pid, numbers] : ns_pids_) {
    if (numbers.size() < own.size() || numbers[own.size() - 1] != number) continue;
    if (outer) return std::nullopt;
    outer = pid;
  }
  return outer;
}

void WaitLook::write_thing(const Found& found, const WaitedThing& thing, const Descriptors* own) {
  usc_waited record{};
  record.via_fd = USC_WAITED_NO_FD;
  record.fd = thing.fd;
  record.what = static_cast<__u8>(thing.what);
  record.wants = static_cast<__u8>(thing.wants);
  const std::uint32_t pid = found.asked.pid;
  if (thing.what == USC_WAITED_CHILD) {
    for (const auto& [number, to] : {std::pair(thing.pid, &record.pid), std::pair(thing.pgid, &record.pgid)}) {
      if (number == 0) continue;
      const auto outer = outer_pid(pid, number);
      if (!outer) return trouble(pid, fmt::format("which process is {} in the pid namespace of {}", number, pid));
      *to = *outer;
    }
    if (found.waits.own_group) record.pgid = found.before->group;
  } else if (thing.what == USC_WAITED_VFORK) {
    // The youngest child stands last.
    std::istringstream children(first_line(fmt::format("/proc/{}/task/{}/children", pid, found.asked.tid)));
    for (std::uint32_t child = 0; children >> child;) record.pid = child;
    if (record.pid == 0) return trouble(pid, fmt::format("the child that {} waits for after vfork", pid));
  } else if (thing.what == USC_WAITED_PIDFD) {
    const auto at = own == nullptr ? Descriptors::const_iterator() : own->find(thing.fd);
    if (own == nullptr || at == own->end()) return trouble(pid, fmt::format("the pidfd {} of {}", thing.fd, pid));
    record.pid = static_cast<__u32>(at->second.peer);
  }
  if (thing.what == USC_WAITED_DESCRIPTOR) {
    record.pid = static_cast<__u32>(found.waits.bytes.value_or(0));
    record.pgid = found.waits.parts;
  }
  answer(record, {}, found.asked.task);
  if (thing.what != USC_WAITED_CHILD || record.pid != 0) return;
  // Whoever is let into its pid namespace (setns) may leave it an orphan.
  if (record.pgid == 0 && !found.before->ns_pids.empty() && found.before->ns_pids.back() == 1)
    trouble(pid, fmt::format("who else may become a child of process {}, the first of its pid namespace", pid));
  write_other_children(found, record);
  write_tracees(found, record);
}

// All threads of the machine that are traced, by processes that uscope traces, and that are not of such processes.
void WaitLook::find_tracees() {
  tracees_.emplace();
  std::set<std::uint32_t> waiters;
  for (const AskedThread& thread : threads_) waiters.insert(thread.tid);
  for (const std::uint32_t pid : running_processes()) {
    if (processes_.count(pid) != 0 || silent_.count(pid) != 0 || is_own_process(pid)) continue;
    desk_.goes_to(pid);
    for (const std::uint32_t tid : threads_of(pid))
      if (const std::uint32_t tracer = tracer_of(pid, tid); waiters.count(tracer) != 0) tracees_->emplace(tracer, pid);
  }
}

// Who waits for any child waits for those that a thread of its process traces, too: whatever these do ends the wait.
void WaitLook::write_tracees(const Found& found, const usc_waited& any) {
  if (!tracees_) find_tracees();
  for (const AskedThread& thread : threads_) {
    if (thread.pid != found.asked.pid) continue;
    const auto [first, last] = tracees_->equal_range(thread.tid);
    for (auto tracee = first; tracee != last; ++tracee) {
      usc_waited record = any;
      record.pid = tracee->second;
      record.pgid = 0;
      answer(record, {}, found.asked.task);
    }
  }
}

// A wait for any child can be ended by children that are not traced, too: each of them has a record.
void WaitLook::write_other_children(const Found& found, const usc_waited& any) {
  for (const AskedThread& thread : threads_) {
    if (thread.pid != found.asked.pid) continue;
    std::istringstream children(first_line(fmt::format("/proc/{}/task/{}/children", thread.pid, thread.tid)));
    for (std::uint32_t child = 0; children >> child;) {
      if (processes_.count(child) != 0) continue;
      const auto status = any.pgid == 0 ? std::nullopt : status_of(child, child);
      if (any.pgid != 0 && (!status || status->group != any.pgid)) continue;
      usc_waited record = any;
      record.pid = child;
      record.pgid = 0;
      answer(record, {}, found.asked.task);
    }
  }
}

void WaitLook::write_thread(Found& found) {
  const AskedThread& asked = found.asked;
  desk_.goes_to(asked.pid);
  usc_thread_look& record = found.record;
  if (!found.before) record.state = USC_THREAD_ENDED;
  const auto after = found.before ? status_of(asked.pid, asked.tid) : std::nullopt;
  const bool is_at_rest = found.before && (found.before->state == 'S' || found.before->state == 'T' ||
                                           found.before->state == 't' || found.before->state == 'D');
  record.asleep = is_at_rest && after && *after == *found.before ? 1 : 0;
  if (silent_.count(asked.pid) != 0) trouble(asked.pid, fmt::format("process {} did not answer", asked.pid));
  const auto own = descriptors_.find(asked.pid);
  const Descriptors* const table = own == descriptors_.end() ? nullptr : &own->second;
  if (!found.file) record.timed = limit_of(found, table);
  answer(record, {}, asked.task);
  for (const WaitedThing& thing : found.waits.things) write_thing(found, thing, table);
  if (found.waits.semaphores >= 0 || found.waits.messages >= 0) write_system_v(found);
  if (found.waits.path) write_opening(found);
  if (found.file) write_served(found);
  if (!found.numbers.empty()) write_owners(found);
  if (found.waits.epoll_fd >= 0) write_set(found, table);
}

// Whether the call ends by itself: it has a limit, or its socket or terminal has one, which poll and select do not
// heed.
std::uint8_t WaitLook::limit_of(const Found& found, const Descriptors* own) {
  const std::uint32_t nr = found.record.nr;
  const bool is_set = nr == __NR_poll || nr == __NR_ppoll || nr == __NR_select || nr == __NR_pselect6;
  if (found.record.timed != USC_TIMED_NEVER || is_set || own == nullptr) return found.record.timed;
  std::uint8_t timed = USC_TIMED_NEVER;
  for (const WaitedThing& thing : found.waits.things) {
    const bool by_number = thing.what == USC_WAITED_DESCRIPTOR && thing.wants != USC_WANTS_LOCK;
    const auto at = by_number ? own->find(thing.fd) : own->end();
    if (at == own->end()) continue;
    if (thing.wants == USC_WANTS_READ && limited_.count({found.asked.pid, thing.fd}) != 0) return USC_TIMED_YES;
    if (at->second.type != USC_RESOURCE_UNIX && at->second.type != USC_RESOURCE_INET) continue;
    const auto limits = socket_limits(found.asked.pid, thing.fd);
    const bool writes = thing.wants == USC_WANTS_WRITE || thing.wants == USC_WANTS_CONNECT;
    if (limits && (writes ? limits->writes : limits->reads)) return USC_TIMED_YES;
    if (!limits) timed = USC_TIMED_UNKNOWN;
  }
  return timed;
}

void WaitLook::write_set(const Found& found, const Descriptors* own) {
  const auto epoll = own == nullptr ? Descriptors::const_iterator() : own->find(found.waits.epoll_fd);
  if (own == nullptr || epoll == own->end())
    return trouble(found.asked.pid, fmt::format("the set of epoll descriptor {}", found.waits.epoll_fd));
  const std::vector<Descriptor::InSet>& set = epoll->second.set;
  for (std::size_t i = 0; i < set.size(); i++) {
    constexpr unsigned kIn = 0x1 | 0x2 | 0x40 | 0x80 | 0x2000;
    constexpr unsigned kOut = 0x4 | 0x100 | 0x200;
    const bool is_it = is_what_number_says(found.asked.pid, epoll->second, i, *own).value_or(false);
    usc_waited waited{};
    waited.fd = is_it ? set[i].fd : USC_WAITED_NO_FD;
    waited.via_fd = found.waits.epoll_fd;
    waited.wants = static_cast<__u8>(wants_of((set[i].events & kIn) != 0, (set[i].events & kOut) != 0));
    answer(waited, {}, found.asked.task);
  }
}

void look_at_waits(ScoutDesk& desk) {
  WaitLook(desk).take();
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each call has a list of things that end it (the descriptors of a poll's set, the children of a wait4), and any one of
// them is enough. So one thing that is unknown, or outside, decides; only if all are known, their holders count.
#include "analyzer/deadlock/wait_follower.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "analyzer/deadlock/call_text.h"
#include "analyzer/deadlock/ways_out.h"

namespace uscope::analyzer {
namespace {

constexpr std::int64_t kInFlight = -1;  // Resource::fd of what lies in a socket's queue

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

WaitFollower::WaitFollower(const LastCalls& calls, const Look& look) : calls_(calls), look_(look) {
  for (std::size_t i = 0; i < calls.processes.size(); i++) {
    places_.emplace(calls.processes[i].id, i);
    pids_.insert(calls.processes[i].pid);
  }
  std::int64_t looked_ns = std::numeric_limits<std::int64_t>::max();
  for (const auto& [id, thread] : look.threads) looked_ns = std::min(looked_ns, thread.ts_ns);
  for (const LastCall& thread : calls.threads) {
    const LastProcess& process = calls.processes[thread.process];
    if (process.ended && process.until_ns < looked_ns) continue;
    alive_.insert(thread.process);
    const auto seen = look.threads.find(thread.thread_id);
    // Of one that waits for a time again and again, what it was found in then tells as much.
    const auto past = look.past.find(thread.thread_id);
    const bool rested = past != look.past.end() && past->second.timed.value_or(false);
    threads_[thread.process].push_back(seen != look.threads.end() ? &seen->second : rested ? &past->second : nullptr);
    if (seen == look.threads.end() || !seen->second.caught) continue;
    caught_[thread.process] = *seen->second.caught;
    if (seen->second.by_timer) timed_.insert(thread.process);
  }
  for (const std::size_t i : alive_) by_pid_[calls.processes[i].pid] = i;
  find_children();
  find_tracees();
  for (const Resource& held : look.resources) {
    if (held.is_mapping()) {
      mappings_[{held.dev, held.ino}].push_back(&held);
      continue;
    }
    if (held.is_server()) {
      servers_[held.dev].push_back(&held);
      continue;
    }
    if (held.is_mount()) {
      mounts_.emplace(std::pair(held.process_id, held.fd), &held);
      continue;
    }
    if (held.process_id) by_fd_.emplace(std::pair(held.process_id, held.fd), &held);
    if (held.fd < kInFlight) continue;  // not open yet
    if (held.fd == kInFlight && held.type == "other") flight_ = &held;
    if (held.is_terminal() && held.peer) terminals_[*held.peer].push_back(&held);
    if (held.ino != 0) by_object_[{held.type, held.dev, held.ino}].push_back(&held);
    if (held.ino != 0 && held.is_socket()) sockets_[held.ino].push_back(&held);
  }
  if (terminals_.empty()) return;
  for (const LastCall& thread : calls.threads) {
    const auto seen = look.threads.find(thread.thread_id);
    if (seen == look.threads.end()) continue;
    const ProcessRowId process = calls.processes[thread.process].id;
    for (const LookedDescriptor& waited : seen->second.descriptors) {
      const auto held = by_fd_.find({process, waited.fd});
      if (held != by_fd_.end() && held->second->type == "tty" && held->second->peer)
        at_terminals_.emplace(*held->second->peer, process);
    }
  }
}

// The kernel tells whose child each process is now: an orphan is the child of whoever has adopted it, the first process
// of its pid namespace or a subreaper, and of nobody else. What older looks do not tell the trace says: whose child it
// was at first.
void WaitFollower::find_children() {
  for (const std::size_t i : alive_) {
    std::optional<std::int64_t> parent_pid;
    for (const LookedThread* thread : threads_[i])
      if (thread != nullptr && thread->parent_pid) parent_pid = thread->parent_pid;
    if (parent_pid) {
      const auto parent = by_pid_.find(*parent_pid);
      if (parent != by_pid_.end()) children_[parent->second].push_back(i);
      continue;
    }
    const auto parent = places_.find(calls_.processes[i].parent_id);
    if (parent == places_.end()) continue;
    children_[parent->second].push_back(i);
    if (alive_.count(parent->second) == 0) orphans_.push_back(i);
  }
}

// Of the threads that are traced with ptrace, by whom. The kernel tells the tracer's thread.
void WaitFollower::find_tracees() {
  std::map<std::int64_t, std::size_t> processes;  // by tid
  for (const LastCall& thread : calls_.threads) processes.emplace(thread.tid, thread.process);
  for (const LastCall& thread : calls_.threads) {
    const auto seen = look_.threads.find(thread.thread_id);
    if (seen == look_.threads.end() || seen->second.tracer_pid.value_or(0) == 0) continue;
    const auto tracer = processes.find(*seen->second.tracer_pid);
    if (tracer != processes.end() && alive_.count(thread.process) != 0) tracees_.emplace(tracer->second, &thread);
  }
}

// Whether only its threads could.
bool WaitFollower::can_act(std::size_t process) {
  const bool is_alive = alive_.count(process) != 0;
  const bool has_ring = is_alive && calls_.processes[process].io_uring;
  if (!is_alive) unknown("a process that has ended");
  if (has_ring) outside(fmt::format("io_uring of process {}", calls_.processes[process].pid));
  return is_alive && !has_ring;
}

void WaitFollower::hold(std::size_t process, WaitEnd end) {
  if (!can_act(process)) return;
  end.process = process;
  out_.holders.push_back(process);
  if (out_.ends.size() < CallWait::kMostEnds) out_.ends.push_back(std::move(end));
}

void WaitFollower::hold(const Resource& held, const std::string& part) {
  if (held.fd < 0 && !held.is_mapping())
    return outside(fmt::format("whoever receives {} from a socket's queue", held.name));
  const auto place = places_.find(held.process_id);
  if (!held.process_id || place == places_.end()) {
    const char* const until = held.process == "uscope" ? " until it ends" : "";  // its own output
    return outside(fmt::format("process {}{}, which is not traced and has {} {} open{}", held.pid,
                               held.process.empty() ? "" : " `" + held.process + "`", part, held.object_name(), until));
  }
  hold(place->second, {0, held.fd, held.object_name(), part});
}

void WaitFollower::hold_process(std::int64_t pid) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return outside(fmt::format("the end of process {}, which is not traced", pid));
  hold(found->second, {});
}

// Who waits for an end that nobody is seen to have would not wait, so somebody unseen has it.
void WaitFollower::ends(const Resource& own, const Holders& others, const char* part) {
  if (others.empty() && flight_) return;  // it may be there: flights() says so
  if (others.empty()) return outside(fmt::format("somebody unseen who has {} {} open", part, own.name));
  const ProcessRowId self = calls_.processes[thread_->process].id;
  const auto is_own = [&](const Resource* other) { return other->process_id == self; };
  const bool only_own = std::all_of(others.begin(), others.end(), is_own);
  const bool handles =
      std::any_of(others.begin(), others.end(), is_own) && !is_job_server(own) && may_handle_signals(thread_->process);
  for (const Resource* other : others) {
    // The handler of a signal writes to such a descriptor, so that the thread wakes up.
    const bool of_handler = is_own(other) && handles && (other->nonblocking || asks_many(looked_->call) || only_own);
    if (of_handler) handler(fmt::format("a signal handler that uses descriptor {}", other->fd));
    out_.by_own_end = out_.by_own_end || of_handler;
    out_.by_self_pipe = out_.by_self_pipe || (of_handler && (other->nonblocking || only_own));
    hold(*other, part);
  }
}

void WaitFollower::any_child() {
  const auto its = children_.find(thread_->process);
  if (its == children_.end()) return unknown("the end of a child that is not known");
  for (const std::size_t child : its->second) hold(child, {});
  for (const std::size_t orphan : orphans_)
    if (orphan != thread_->process) hold(orphan, {});
}

void WaitFollower::process(const LookedProcess& waited) {
  // Beside any child: one that the trace does not know, or whom the process traces.
  if (waited.pid && looked_->processes.size() > 1 && by_pid_.count(*waited.pid) == 0)
    return outside(fmt::format("process {}, which is not traced by uscope: its child, or traced by it", *waited.pid));
  if (waited.pid && *waited.pid > 0) return hold_process(*waited.pid);
  any_child();
}

CallWait WaitFollower::follow(const LastCall& thread) {
  out_ = CallWait();
  reader_stopped_ = false;
  const auto found = look_.threads.find(thread.thread_id);
  if (found == look_.threads.end()) return out_;
  thread_ = &thread;
  looked_ = &found->second;
  out_.state = State::kGoesOn;
  out_.why = halted_text(*looked_);
  if (thread.wait) return out_;
  if (!looked_->call.empty()) out_.text = call_text(thread, *looked_, [this](std::int64_t fd) { return own(fd); });
  const bool sleeps = looked_->asleep && (looked_->state == "asleep" || looked_->state == "uninterruptible");
  if (!sleeps || looked_->call.empty() || looked_->timed.value_or(false)) return out_;
  if (is_one_of(looked_->call, {"nanosleep", "clock_nanosleep"})) return out_;
  out_.state = State::kFollowed;
  for (const LookedDescriptor& waited : looked_->descriptors) descriptor(waited);
  for (const LookedProcess& waited : looked_->processes) process(waited);
  if (const char* const lock_class = system_v_class(looked_->call)) system_v(lock_class);
  if (is_one_of(looked_->call, {"pause", "rt_sigsuspend", "rt_sigtimedwait"})) outside("a signal");
  const bool nothing =
      looked_->descriptors.empty() && looked_->processes.empty() && !out_.anyone && !system_v_class(looked_->call);
  if (nothing && asks_many(looked_->call) && !looked_->call.starts_with("epoll")) outside("a signal");
  if (nothing) unknown(fmt::format("something that is not known: uscope does not follow {}", looked_->call));
  // Neither a handler nor a time limit ends such a call: the kernel waits for the server's answer all the same.
  if (out_.at_mount) return out_;
#define USC_ASK(way) way();
  USC_WAYS_OUT(USC_ASK)
#undef USC_ASK
  const auto writes = [](const LookedDescriptor& waited) { return waited.wants == "write"; };
  out_.writes =
      !asks_many(looked_->call) && std::any_of(looked_->descriptors.begin(), looked_->descriptors.end(), writes);
  std::sort(out_.holders.begin(), out_.holders.end());
  out_.holders.erase(std::unique(out_.holders.begin(), out_.holders.end()), out_.holders.end());
  return out_;
}

}  // namespace uscope::analyzer

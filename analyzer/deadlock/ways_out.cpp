// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The ways of ways_out.h, but for those of signals (follow_signals.cpp).
#include "analyzer/deadlock/ways_out.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>

#include "analyzer/deadlock/call_text.h"
#include "analyzer/deadlock/wait_follower.h"

namespace uscope::analyzer {

// Of a socket, shutdown() by any of its descriptors ends a wait; a full pipe can be enlarged by each of its descriptors
// (F_SETPIPE_SZ), and whoever has an epoll set may add to it. Other threads of the process have all these, too.
void WaitFollower::sharers() {
  bool is_own_to_end = looked_->call.starts_with("epoll");
  if (const Resource* set = is_own_to_end ? own(static_cast<std::int32_t>(looked_->args[0])) : nullptr)
    hold_sharers(*set, "the epoll set");
  for (const LookedDescriptor& waited : looked_->descriptors) {
    const Resource* held = waited.is_opening() || waited.is_stale() ? nullptr : own(waited.fd);
    const bool writes = waited.wants == "write" || waited.wants == "read or write";
    if (!held || !(held->is_socket() || (writes && (held->type == "pipe" || held->type == "fifo")))) continue;
    hold_sharers(*held, "the same end of");
    is_own_to_end = is_own_to_end || threads_[thread_->process].size() > 1;
  }
  if (is_own_to_end && has_no_other_hope()) out_.holders.push_back(thread_->process);
}

// They are not told as those who should end it. For who is stopped and should read a pipe, nobody enlarges it.
void WaitFollower::hold_sharers(const Resource& own, const char* part) {
  const bool is_pipe = own.type == "pipe" || own.type == "fifo";
  if (is_pipe && reader_stopped_) return;
  for (const Resource* other : of_object(own)) {
    if (is_pipe && !other->writes()) continue;
    const auto place = places_.find(other->process_id);
    if (other->fd < 0 || !other->process_id || place == places_.end())
      hold(*other, part);
    else if (place->second != thread_->process && can_act(place->second))
      out_.holders.push_back(place->second);
  }
}

void WaitFollower::gaps() {
  if (calls_.tasks_missing) unknown("threads that the trace does not know");
  // The look tells which call goes on after SIGSTOP and SIGCONT.
  const bool goes_on = thread_->call == "restart_syscall" && looked_->call == "poll";
  if (!thread_->call.empty() && thread_->call != looked_->call && !goes_on) unknown("what it does now");
}

// The look asks each socket. A limit that was taken away since the wait began holds for that wait.
void WaitFollower::limits() {
  const Resource* waited = nullptr;
  for (const LookedDescriptor& descriptor : looked_->descriptors) {
    const Resource* held = own(descriptor.fd);
    if (held && held->is_socket()) waited = held;
  }
  if (waited && !asks_many(looked_->call) && look_.limits_changed_ns > thread_->since_ns)
    return outside("the time, since a limit of a socket was changed while it waits");
  if (looked_->timed) return;
  if (!waited) return outside("the time, if the call has a limit");
  unknown(fmt::format("a time limit of {} (SO_RCVTIMEO, SO_SNDTIMEO), if it has one: the kernel did not say",
                      waited->name));
}

// The end of a child interrupts the call, and a handler of SIGCHLD may do anything.
void WaitFollower::children() {
  const auto caught = caught_.find(thread_->process);
  const bool handles = caught == caught_.end() || (caught->second >> (SIGCHLD - 1) & 1U) != 0;
  if (looked_->descriptors.empty() && !handles) return;
  const auto its = children_.find(thread_->process);
  if (has_no_other_hope() && its != children_.end())
    out_.holders.insert(out_.holders.end(), its->second.begin(), its->second.end());
}

// Any call, signal or stop of a tracee may end the wait of who traces it.
void WaitFollower::tracees() {
  for (const LookedProcess& waited : looked_->processes) {
    if (waited.what != "child") continue;
    const auto [first, last] = tracees_.equal_range(thread_->process);
    for (auto it = first; it != last; ++it) {
      const LastCall& tracee = *it->second;
      const std::int64_t pid = calls_.processes[tracee.process].pid;
      if (waited.pid.value_or(pid) != pid) continue;
      hold(tracee.process, {});
      doubt(fmt::format("a signal to process {} (which it traces)", pid));
    }
  }
}

// Which object a number stood for when the wait began is certain if the trace has seen all that could change it, or if
// nothing else than the waiting thread could. The kernel's list of locks tells of itself which file a wait is about.
void WaitFollower::numbers() {
  const bool is_lock = std::any_of(looked_->descriptors.begin(), looked_->descriptors.end(),
                                   [](const LookedDescriptor& waited) { return waited.wants == "lock"; });
  if (is_lock || looked_->descriptors.empty()) return;
  const LastProcess& process = calls_.processes[thread_->process];
  const bool has_others = threads_[thread_->process].size() > 1;
  const bool is_seen = !thread_->attached && !thread_->call.empty() && !calls_.events_missing &&
                       !calls_.calls_left_out && !process.io_uring;
  for (const LookedDescriptor& waited : looked_->descriptors) {
    const std::int64_t fd = waited.via_fd.value_or(waited.fd);
    if (waited.is_opening()) continue;
    if (look_.renumbered.count({thread_->thread_id, fd}) != 0)
      return unknown(fmt::format("descriptor {} as it was when the wait began: it has been closed since", fd));
    if (!is_seen && has_others)
      return doubt(fmt::format(
          "whatever descriptor {} was when the wait began (another thread may have put something else there since)",
          fd));
  }
}

// What could not be looked at may be what ends the wait.
void WaitFollower::troubles() {
  for (const Look::Trouble& trouble : look_.troubles) {
    const auto place = places_.find(trouble.process_id);
    if (!trouble.process_id || place == places_.end()) {
      outside("what could not be looked at (" + trouble.what + ")");
    } else if (place->second == thread_->process ||
               std::find(out_.holders.begin(), out_.holders.end(), place->second) != out_.holders.end()) {
      unknown("what could not be looked at (" + trouble.what + ")");
    }
  }
}

// What lies in a socket's queue may be an end of what the call waits for, and the kernel does not say what it is. It
// may have been sent by whoever once had that end, and be received by whoever has the socket.
void WaitFollower::flights() {
  if (!flight_ || looked_->descriptors.empty()) return;
  unknown(fmt::format(
      "descriptors that are in flight to {} of process {}{}: one of them may be an end of what it waits for",
      flight_->name, flight_->pid, flight_->process.empty() ? "" : " `" + flight_->process + "`"));
}

}  // namespace uscope::analyzer

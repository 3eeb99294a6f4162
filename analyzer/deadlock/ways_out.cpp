// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The ways of ways_out.h, but for those of signals (follow_signals.cpp).
#include "analyzer/deadlock/ways_out.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>

#include "analyzer/deadlock/call_text.h"
#include "analyzer/deadlock/wait_follower.h"

namespace uscope::analyzer {

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
    if (held && (held->type == "unix" || held->type == "inet")) waited = held;
  }
  if (waited && !asks_many(looked_->call) && look_.limits_changed_ns > thread_->since_ns)
    return outside("the time, since a limit of a socket was changed while it waits");
  if (looked_->timed) return;
  if (!waited) return outside("the time, if the call has a limit");
  unknown(fmt::format("whether {} has a time limit (SO_RCVTIMEO, SO_SNDTIMEO), which the kernel did not tell",
                      waited->name));
}

// The end of a child interrupts the call, and a handler of SIGCHLD may do anything.
void WaitFollower::children() {
  const auto caught = caught_.find(thread_->process);
  const bool handles = caught == caught_.end() || (caught->second >> (SIGCHLD - 1) & 1U) != 0;
  if (looked_->descriptors.empty() && !handles) return;
  const auto its = children_.find(calls_.processes[thread_->process].id);
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

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/core.h>

#include <algorithm>
#include <csignal>

#include "analyzer/deadlock/signal_bits.h"
#include "analyzer/deadlock/wait_follower.h"
#include "syscalls/errno_names.h"

namespace uscope::analyzer {
namespace {

// With handlers of these GNU make ends itself and its jobs (commands.c, fatal_error_signal), or only says more
// (SIGUSR1).
constexpr std::uint64_t kMakeSignals = bits_of({SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ, SIGUSR1, SIGCHLD});

}  // namespace

// Whether a handler of a signal from outside may run: the look has seen one, or, where it could not, the trace has not
// seen all that the process has asked for, or has seen that it asked for one.
bool WaitFollower::may_handle_signals(std::size_t process) const {
  if (const auto caught = caught_.find(process); caught != caught_.end()) return (caught->second & ~kInnerSignals) != 0;
  for (const LastCall& thread : calls_.threads)
    if (thread.process == process && thread.wait && !thread.wait->handlers) return false;
  const bool all_known = !calls_.events_missing && !calls_.calls_left_out;
  for (std::size_t depth = 0; depth <= calls_.processes.size(); depth++) {
    const LastProcess& it = calls_.processes[process];
    if (!all_known || it.attached || look_.ask_for_handlers.count(it.id) != 0) return true;
    if (it.origin == Origin::kExec) return false;
    const auto parent = places_.find(it.parent_id);
    if (parent == places_.end()) return true;
    process = parent->second;
  }
  return true;
}

// "SIGTERM or SIGHUP": handlers of these may be called from outside, `without` some. SIGCHLD comes with the end of
// children, which children() asks. Empty: there are none.
std::string WaitFollower::handled_signals(std::size_t process, std::uint64_t without) const {
  constexpr std::size_t kNamed = 4;
  const auto caught = caught_.find(process);
  if (caught == caught_.end()) return without == 0 && may_handle_signals(process) ? "a signal" : "";
  const std::uint64_t outside = caught->second & ~kInnerSignals & ~bits_of({SIGCHLD}) & ~without;
  std::string text;
  std::size_t told = 0;
  for (int signal = 1; signal <= 64; signal++) {
    if ((outside >> (signal - 1) & 1U) == 0 || ++told > kNamed) continue;
    text += (text.empty() ? "" : ", ") + syscalls::signal_name(signal);
  }
  return told > kNamed ? text + fmt::format(" or {} others", told - kNamed) : text;
}

// GNU make's handlers, and those of jobs that wait for one of its tokens, only end the process; so does the handler of
// SIGINT that a shell has by itself, which runs a rule. A thread in vfork gets
// no signal before its child has executed a program, but other threads do. Where whoever knows a name could end the
// wait, that says more.
void WaitFollower::handlers() {
  if (!out_.by_name.empty()) return;
  const LastProcess& process = calls_.processes[thread_->process];
  const auto at_server = [&](const LookedDescriptor& waited) {
    const Resource* held = own(waited.fd);
    return held != nullptr && is_job_server(*held);
  };
  const bool gets_token =
      !looked_->descriptors.empty() && std::all_of(looked_->descriptors.begin(), looked_->descriptors.end(), at_server);
  const bool in_vfork = std::any_of(looked_->processes.begin(), looked_->processes.end(),
                                    [](const LookedProcess& waited) { return waited.what == "vfork"; });
  const bool for_child = std::any_of(looked_->processes.begin(), looked_->processes.end(),
                                     [](const LookedProcess& waited) { return waited.what == "child"; });
  if (gets_token || (in_vfork && threads_[thread_->process].size() == 1)) return;
  const auto parent = places_.find(process.parent_id);
  const bool runs_rule = parent != places_.end() && is_make(calls_.processes[parent->second]);
  const std::string signals = handled_signals(thread_->process, is_make(process) && for_child ? kMakeSignals : 0);
  if (!signals.empty() && !(runs_rule && signals == "SIGINT"))
    handler(fmt::format("a handler of {} in process {}{}", signals, process.pid,
                        process.program.empty() ? "" : " `" + process.program + "`"));
}

void WaitFollower::timers() {
  const std::string why = "the signal of a timer";
  const ProcessRowId self = calls_.processes[thread_->process].id;
  const auto caught = caught_.find(thread_->process);
  if (look_.ask_for_timers.count(self) != 0) return outside(why);
  // Many programs have handlers only to clean up when somebody ends them.
  if (!calls_.events_missing && !calls_.calls_left_out && !calls_.processes[thread_->process].attached) return;
  // Which handlers there are now the look tells better than the calls do.
  if (caught == caught_.end() && look_.ask_for_alarms.count(self) != 0) return outside(why);
  out_.by_timer = timed_.count(thread_->process) != 0;
  if (out_.by_timer) handler(why);
}

// Whether the trace has seen whatever its processes have asked of the kernel.
bool WaitFollower::has_all_calls() const {
  return !calls_.events_missing && !calls_.calls_left_out && std::none_of(alive_.begin(), alive_.end(), [&](auto i) {
    return calls_.processes[i].attached || calls_.processes[i].io_uring;
  });
}

}  // namespace uscope::analyzer

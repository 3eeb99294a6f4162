// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/call_wait.h"

#include <fmt/core.h>

#include "analyzer/deadlock/wait_follower.h"
#include "syscalls/errno_names.h"

namespace uscope::analyzer {

std::string halted_text(const LookedThread& thread) {
  if (thread.state == "stopped")
    return thread.stop_signal ? "stopped by " + syscalls::signal_name(static_cast<int>(*thread.stop_signal))
                              : std::string("stopped by a signal");
  if (thread.state == "traced")
    return thread.tracer_pid ? fmt::format("traced by {} (pid {})", thread.tracer.empty() ? "a process" : thread.tracer,
                                           *thread.tracer_pid)
                             : std::string("traced by another process");
  return thread.state == "frozen" ? "frozen" : "";
}

std::vector<CallWait> follow_calls(const LastCalls& calls, const Look& look) {
  WaitFollower follower(calls, look);
  std::vector<CallWait> out;
  out.reserve(calls.threads.size());
  for (const LastCall& thread : calls.threads) out.push_back(follower.follow(thread));
  return out;
}

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How sentences name a thread and a process. Names in them may hold any byte.
#pragma once

#include <fmt/core.h>

#include <string>

#include "analyzer/deadlock/last_calls.h"

namespace uscope::analyzer {

// "thread 12 `worker`".
inline std::string thread_text(const LastCall& thread) {
  return thread.name.empty() ? fmt::format("thread {}", thread.tid)
                             : fmt::format("thread {} `{}`", thread.tid, thread.name);
}

// "process 12 `server`".
inline std::string process_text(const LastProcess& process) {
  return process.program.empty() ? fmt::format("process {}", process.pid)
                                 : fmt::format("process {} `{}`", process.pid, process.program);
}

}  // namespace uscope::analyzer

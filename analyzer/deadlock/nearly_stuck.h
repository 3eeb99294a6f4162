// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Processes that would be stuck, but for something of which nothing can be proven: what the threads of a Java virtual
// machine do next, and what handlers of signals do. Nobody is accused of it; but a process that cannot write, since
// nobody reads, does not rest.
#pragma once

#include <string>
#include <vector>

#include "analyzer/deadlock/call_wait.h"
#include "analyzer/deadlock/deadlock_story.h"
#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/look.h"

namespace uscope::analyzer {

// Whether the thread runs code of a Java virtual machine.
[[nodiscard]] bool is_of_java(const LastCall& thread);
// Whether it is one of the virtual machine's own (a compiler, a collector, its clock), which does nothing for others.
[[nodiscard]] bool is_of_vm(const LastCall& thread);

// The sentence that tells of such a process, and which tool tells more; empty if there is none.
[[nodiscard]] std::string why_nearly_stuck(const Situation& situation, const Look& look,
                                           const std::vector<CallWait>& waits);

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where neither a deadlock is found nor anybody known who could wake the threads: the waits that cannot be followed.
#pragma once

#include <string>
#include <vector>

#include "analyzer/deadlock/call_wait.h"
#include "analyzer/deadlock/deadlock_story.h"
#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/look.h"

namespace uscope::analyzer {

// The sentence that tells which waits of a process cannot be followed, and which tool can follow them. Empty if a
// thread of the process goes on, or something outside of it is known to be able to wake it, or there was no look.
[[nodiscard]] std::string why_undecided(const Situation& situation, const Look& look,
                                        const std::vector<CallWait>& waits);

}  // namespace uscope::analyzer

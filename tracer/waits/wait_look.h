// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One look (include/uscope/records/wait.h) on the side of the scout that takes it. Nothing is done to the processes:
// /proc is read, their memory is read, and the kernel is asked for its list of sockets.
#pragma once

#include <cstdint>

#include "tracer/scouts/scout_work.h"

namespace uscope::tracer {

// A traced thread, as the look is asked about it.
struct AskedThread {
  std::uint32_t task = 0;
  std::uint32_t process = 0;
  std::uint32_t tid = 0;
  std::uint32_t pid = 0;
};

// Stands among pids for what the kernel tells of the whole machine: its list of locks of files.
constexpr std::uint32_t kWholeMachine = ~0U;

// The request: the number of the look, AskedThreads, pids that are not asked. The answers: whole records, one behind
// the other. Goes to pids, and to kWholeMachine.
void look_at_waits(ScoutDesk& desk);

}  // namespace uscope::tracer

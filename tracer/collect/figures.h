// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#pragma once

#include <cstdint>

namespace uscope::tracer {

// What is known of the running trace, for status lines and summaries.
struct TraceFigures {
  std::uint64_t events = 0;
  std::uint64_t program_starts = 0;  // successful execve calls, whichever calls are recorded
  std::uint64_t lost = 0;            // events that are missing, by any cause
  std::uint64_t processes = 0;       // alive
  std::uint64_t stopped = 0;         // of these, stopped by a signal; see Collector::stopped()
  std::uint64_t deferred = 0;        // walks finished in user space
  std::uint64_t verified = 0;
  std::uint64_t differing = 0;
  std::uint64_t raw_bytes = 0;
};

}  // namespace uscope::tracer

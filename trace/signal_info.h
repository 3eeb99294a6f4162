// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a usc_signal says: as an event, and what its siginfo holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "uscope/record.h"

namespace uscope::trace {

// The fields of siginfo_t that a signal of this number and code has.
struct SignalInfo {
  std::optional<std::int64_t>
      pid;  // of who sent it; of SIGCHLD the child's. As the receiver's pid namespace numbers it
  std::optional<std::int64_t> uid;
  std::optional<std::int64_t> status;   // of SIGCHLD
  std::optional<std::int64_t> value;    // as sigqueue(3) and timers give it
  std::optional<std::int64_t> address;  // of a fault; of SIGSYS, of the call
  std::optional<std::int64_t> band;     // of SIGIO
  std::optional<std::int64_t> fd;
  std::optional<std::int64_t> timer;
  std::optional<std::int64_t> overrun;
  std::optional<std::int64_t> syscall;  // of SIGSYS, of x86-64 calls
};

[[nodiscard]] SignalInfo signal_info(const usc_signal& signal);

// The event that a signal is: source, kind, how, time and stack.
[[nodiscard]] usc_event event_of_signal(const usc_signal& signal);

// "queued", "ignored", … (signal_result.def); empty for a number that is no usc_signal_result.
[[nodiscard]] std::string_view signal_result_name(std::uint32_t result);

}  // namespace uscope::trace

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Lets a process that writes an output remove the incomplete file before a signal ends it.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/end_signals.h"

namespace uscope::cli {

// While an object exists, the signals that end a recording, unless they are ignored, are only recorded. One object at a
// time.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  // The signal that arrived, also after the object's end; 0: none.
  [[nodiscard]] static int signal();
  // From now on, signals that these processes send count as none: they are for a process group. Pids in order.
  static void ignore_senders(std::vector<std::uint32_t> pids);

 private:
  std::array<struct sigaction, kEndSignals.size()> before_{};
  std::optional<SignalsLetThrough> let_through_;
};

}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Lets a process that writes an output remove the incomplete file before a signal ends it.
#pragma once

#include <array>
#include <csignal>

namespace uscope::cli {

// While an object exists, SIGINT, SIGTERM and SIGHUP, unless they are ignored, are only recorded. One object at a time.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  // The signal that arrived, also after the object's end; 0: none.
  [[nodiscard]] static int signal();

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace uscope::cli

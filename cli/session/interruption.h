// What writes an output and is ended by a signal takes its half file back first.
#pragma once

#include <array>
#include <csignal>

namespace uscope::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP, unless they are ignored, are only noted. One at a time.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  // The signal that came, also after the object's end; 0: none did.
  [[nodiscard]] static int signal();

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace uscope::cli

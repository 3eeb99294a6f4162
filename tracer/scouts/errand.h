// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One request to a scout, from the tracer's side.
#pragma once

#include <cstdint>

#include "tracer/scouts/patience.h"
#include "tracer/scouts/scout_keeper.h"
#include "tracer/scouts/scout_work.h"

namespace uscope::tracer {

class Scouts;

// A request in progress. If it is not done, destroying this object gives it up.
class Errand {
 public:
  enum class Came { kAnswer, kNothing, kDone, kLost };

  Errand(Errand&&) = default;
  Errand& operator=(Errand&&) = delete;
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;
  ~Errand();

  // Returns the next answer, if it has arrived.
  Came next(ScoutMessage& answer);
  // Waits until something arrives, or this time is over: then it returns false.
  bool wait(int milliseconds) const;
  // Whether the scout, or the process that it is about, runs or waits for a CPU: then only load on the CPUs delays it.
  [[nodiscard]] Activity activity() const;
  [[nodiscard]] bool is_running() const;
  // Whether nothing has arrived for longer than the request can take; kLost counts as that, too. Ask again and again:
  // of the time between two calls, little counts (see Patience).
  [[nodiscard]] bool hangs();
  // The last number passed to goes_to().
  [[nodiscard]] std::uint32_t at() const { return at_; }
  [[nodiscard]] std::uint64_t began_ns() const { return began_ns_; }
  // Says which process it is about now: the one that may hold it up, to whose user the scout is charged, should it be
  // given up. 0: none.
  void blame(std::uint32_t pid) { blamed_ = pid; }

 private:
  friend class Scouts;
  Errand(Scouts& scouts, Scout scout, int patience_ms);

  Scouts* scouts_;
  Scout scout_;
  ScoutMessage partial_;
  std::uint32_t at_ = 0;
  std::uint32_t blamed_ = 0;
  std::uint64_t began_ns_;
  Patience patience_;
  bool done_ = false;
  bool last_ = false;
};

}  // namespace uscope::tracer

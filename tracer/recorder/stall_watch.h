// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decides when to check whether threads wait for each other: once calls that have no time limit have lasted long
// enough, and again only after a change. A check looks at what all threads wait in, and loads the whole trace, in
// another process.
#pragma once

#include <cstdint>
#include <optional>

#include "support/result.h"
#include "trace/sink.h"
#include "tracer/collect/open_calls.h"
#include "tracer/futex/futex_watch.h"
#include "tracer/waits/wait_watch.h"

namespace uscope::tracer {

// Determines from the raw trace in its present state whether threads wait for each other. A check may take long;
// tracing continues meanwhile.
class StallCheck {
 public:
  virtual ~StallCheck() = default;
  virtual void begin() = 0;                // never called before the last check has ended
  virtual std::optional<bool> poll() = 0;  // nullopt: there is no check, or it is still running
};

class StallWatch {
 public:
  // `check`: null if stalls are not watched. Calls count if they are at least `stall_ns` old.
  StallWatch(StallCheck* check, std::uint64_t stall_ns) : check_(check), stall_ns_(stall_ns) {}

  // Call it after each round of the collector. Returns true if threads wait for each other.
  Result<bool> work(const FutexWatch& futexes, const WaitWatch& waits, trace::RecordSink& sink, std::uint64_t now_ns);
  // Call it about every second, with the number of traced threads: begins a check when it is time.
  Result<void> check(FutexWatch& futexes, WaitWatch& waits, std::uint64_t now_ns, std::uint64_t threads);
  // To be told of every event.
  [[nodiscard]] OpenCalls& calls() { return calls_; }

 private:
  static constexpr std::uint64_t kRest = 10;  // rest between checks, as a multiple of the last check's duration

  // After a look, what the threads did before it may still lie in the rings.
  static constexpr int kRoundsToSettle = 3;

  enum class State { kIdle, kLooking, kSettling, kChecking };

  OpenCalls calls_;
  StallCheck* check_;
  std::uint64_t stall_ns_;
  State state_ = State::kIdle;
  int rounds_ = 0;
  std::uint64_t asked_ = 0;  // identifies the state of the last check
  std::uint64_t began_ns_ = 0;
  std::uint64_t rest_until_ns_ = 0;
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decides when to check whether threads wait for each other: once futex waits have lasted long enough, and again only
// after a change. A check loads the whole trace, in another process.
#pragma once

#include <cstdint>
#include <optional>

#include "support/result.h"
#include "trace/raw_writer.h"
#include "tracer/futex/futex_watch.h"

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
  // `check`: null if stalls are not watched. Waits count if they are at least `stall_ns` old.
  StallWatch(StallCheck* check, std::uint64_t stall_ns) : check_(check), stall_ns_(stall_ns) {}

  // Call it often, so that the end of a check is noticed at once. Returns true if threads wait for each other.
  Result<bool> work(FutexWatch& futexes, trace::RawWriter& writer, std::uint64_t now_ns);
  // Call it about every second, with the number of traced threads: begins a check when it is time.
  Result<void> check(FutexWatch& futexes, std::uint64_t now_ns, std::uint64_t threads);

 private:
  static constexpr std::uint64_t kRest = 10;  // rest between checks, as a multiple of the last check's duration

  enum class State { kIdle, kLooking, kChecking };  // kLooking: the memory of the waits is being read for a check

  StallCheck* check_;
  std::uint64_t stall_ns_;
  State state_ = State::kIdle;
  std::uint64_t asked_ = 0;  // identifies the state of the last check
  std::uint64_t began_ns_ = 0;
  std::uint64_t rest_until_ns_ = 0;
};

}  // namespace uscope::tracer

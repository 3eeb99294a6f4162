// When it is worth asking whether threads wait for each other: once futex waits have lasted long enough, and again only
// where something has changed since. Asking takes a load of the whole trace, in another process.
#pragma once

#include <cstdint>
#include <optional>

#include "support/result.h"
#include "trace/raw_writer.h"
#include "tracer/futex/futex_watch.h"

namespace uscope::tracer {

// Finds out, from the raw trace as it is by now, whether threads wait for each other. It may take long: tracing goes on
// meanwhile.
class StallCheck {
 public:
  virtual ~StallCheck() = default;
  virtual void begin() = 0;                // never before the last one has come to an end
  virtual std::optional<bool> poll() = 0;  // nothing: there is none, or it is still at it
};

class StallWatch {
 public:
  // `check`: null where nobody asks. Waits that are at least `stall_ns` old count.
  StallWatch(StallCheck* check, std::uint64_t stall_ns) : check_(check), stall_ns_(stall_ns) {}

  // To be called often, so that a check's end is seen when it comes. True: threads wait for each other.
  Result<bool> work(FutexWatch& futexes, trace::RawWriter& writer, std::uint64_t now_ns);
  // To be called about every second, with the number of threads that are traced: begins a check where it is time.
  Result<void> look(FutexWatch& futexes, std::uint64_t now_ns, std::uint64_t threads);

 private:
  static constexpr std::uint64_t kRest = 10;  // times as long as the last check took

  enum class State { kIdle, kLooking, kChecking };  // kLooking: the waits' memory is being read for it

  StallCheck* check_;
  std::uint64_t stall_ns_;
  State state_ = State::kIdle;
  std::uint64_t asked_ = 0;  // what the last check was about
  std::uint64_t began_ns_ = 0;
  std::uint64_t rest_until_ns_ = 0;
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/recorder/stall_watch.h"

#include <algorithm>

namespace uscope::tracer {

Result<bool> StallWatch::work(FutexWatch& futexes, trace::RawWriter& writer, std::uint64_t now_ns) {
  if (state_ == State::kLooking && !futexes.is_scanning()) {
    if (auto done = writer.flush(); !done) return done.error();
    state_ = State::kChecking;
    check_->begin();
  } else if (state_ == State::kChecking) {
    const std::optional<bool> answer = check_->poll();
    if (!answer) return false;
    state_ = State::kIdle;
    rest_until_ns_ = now_ns + kRest * (now_ns - began_ns_);
    return *answer;
  }
  return false;
}

Result<void> StallWatch::check(FutexWatch& futexes, std::uint64_t now_ns, std::uint64_t threads) {
  if (check_ == nullptr || state_ != State::kIdle) return {};
  const WaitSet waits = futexes.waits_before(now_ns - std::min(now_ns, stall_ns_));
  // If every thread waits, there is no reason to rest.
  if (now_ns < rest_until_ns_ && waits.count < threads) return {};
  // A thread that has ended may be the one that would have woken another.
  const std::uint64_t asked = waits.mark + threads;
  if (waits.count == 0 || asked == asked_) return {};
  if (auto done = futexes.scan_all(); !done) return done;
  asked_ = asked;
  began_ns_ = now_ns;
  state_ = State::kLooking;
  return {};
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/recorder/stall_watch.h"

#include <algorithm>

namespace uscope::tracer {

Result<bool> StallWatch::work(const FutexWatch& futexes, const WaitWatch& waits, trace::RecordSink& sink,
                              std::uint64_t now_ns) {
  if (state_ == State::kLooking && !futexes.is_scanning() && !waits.is_looking()) {
    state_ = State::kSettling;
    rounds_ = 0;
  } else if (state_ == State::kSettling && ++rounds_ >= kRoundsToSettle) {
    if (auto done = sink.flush(); !done) return done.error();
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

Result<void> StallWatch::check(FutexWatch& futexes, WaitWatch& waits, std::uint64_t now_ns, std::uint64_t threads) {
  // A look that is under way may be the one of the attachment.
  if (check_ == nullptr || state_ != State::kIdle || waits.is_looking()) return {};
  const OpenCalls::Set open = calls_.begun_before(now_ns - std::min(now_ns, stall_ns_));
  // If every thread waits, there is no reason to rest.
  if (now_ns < rest_until_ns_ && open.count < threads) return {};
  // A thread that has ended may be the one that would have woken another.
  const std::uint64_t asked = open.mark + threads;
  if (open.count == 0 || asked == asked_) return {};
  if (auto done = futexes.scan_all(); !done) return done;
  if (auto done = waits.begin(); !done) return done;
  asked_ = asked;
  began_ns_ = now_ns;
  state_ = State::kLooking;
  return {};
}

}  // namespace uscope::tracer

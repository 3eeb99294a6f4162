#include "tracer/stall_watch.h"

#include <algorithm>

namespace uscope::tracer {

Result<bool> StallWatch::look(Collector& collector, TraceWriter& writer, std::uint64_t now_ns, std::uint64_t threads) {
  if (check_ == nullptr) return false;
  if (checking_) {
    const std::optional<bool> answer = check_->poll();
    if (!answer) return false;
    if (*answer) return true;
    checking_ = false;
    rest_until_ns_ = now_ns + kRest * (now_ns - began_ns_);
  }
  const WaitSet waits = collector.waits_before(now_ns - std::min(now_ns, stall_ns_));
  // Where every thread waits there is nothing to rest for.
  if (now_ns < rest_until_ns_ && waits.count < threads) return false;
  // A thread less may be the one that would have woken another.
  const std::uint64_t asked = waits.mark + threads;
  if (waits.count == 0 || asked == asked_) return false;
  if (auto done = collector.look_at_all_waits(); !done) return done.error();
  if (auto done = writer.flush(); !done) return done.error();
  asked_ = asked;
  began_ns_ = now_ns;
  checking_ = true;
  check_->begin();
  return false;
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/errand.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "support/clock.h"
#include "tracer/process/thread_state.h"
#include "tracer/scouts/scout_packets.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {
Errand::Errand(Scouts& scouts, Scout scout, int patience_ms)
    : scouts_(&scouts),
      scout_(std::move(scout)),
      began_ns_(monotonic_ns()),
      patience_(static_cast<std::uint64_t>(patience_ms) * kMillisecondNs, began_ns_) {}

Errand::~Errand() {
  if (!scout_.socket) return;
  if (done_ && !last_)
    scouts_->give_back(std::move(scout_));
  else
    scouts_->give_up(std::move(scout_), blamed_);
}

Errand::Came Errand::next(ScoutMessage& answer) {
  while (!done_) {
    const auto head = receive_packet(scout_.socket.get(), partial_, MSG_DONTWAIT);
    if (!head && (errno == EAGAIN || errno == EINTR)) return Came::kNothing;
    if (!head) return Came::kLost;
    patience_.renew(monotonic_ns());
    if (head->kind == Packet::kGoesTo) at_ = head->number;
    if (head->kind == Packet::kEnd) {
      answer = std::exchange(partial_, {});
      return Came::kAnswer;
    }
    last_ = head->kind == Packet::kLast;
    done_ = last_ || head->kind == Packet::kDone;
  }
  return Came::kDone;
}

bool Errand::wait(int milliseconds) const {
  return is_readable(scout_.socket.get(), milliseconds);
}

Activity Errand::activity() const {
  const auto scout = static_cast<std::uint32_t>(scout_.pid);
  Activity now;
  now.scout_runs = tracer::is_running(scout);
  now.other_runs = !now.scout_runs && blamed_ != 0 && any_thread_runs(blamed_);
  now.scout_ran_ns = processor_time_ns(scout);
  return now;
}

bool Errand::is_running() const {
  const Activity now = activity();
  return now.scout_runs || now.other_runs;
}

bool Errand::hangs() {
  return !done_ && patience_.is_over(monotonic_ns(), activity()) && !is_readable(scout_.socket.get(), 0);
}

}  // namespace uscope::tracer

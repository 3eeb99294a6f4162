// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/errand.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "support/clock.h"
#include "tracer/scouts/scout_packets.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {
namespace {

// Runs, or is about to: then only load on the CPUs delays it.
bool is_running(pid_t pid) {
  const UniqueFd stat(open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text{};
  const ssize_t count = stat ? read(stat.get(), text.data(), text.size() - 1) : -1;
  const std::string_view line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  const std::size_t at = line.rfind(')');
  return at != std::string_view::npos && at + 2 < line.size() && line[at + 2] == 'R';
}

}  // namespace

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

bool Errand::is_running() const {
  return tracer::is_running(scout_.pid);
}

bool Errand::hangs() {
  return !done_ && patience_.is_over(monotonic_ns(), is_running()) && !is_readable(scout_.socket.get(), 0);
}

}  // namespace uscope::tracer

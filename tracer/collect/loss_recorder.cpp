// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/loss_recorder.h"

#include <algorithm>

#include "support/clock.h"
#include "trace/loss_class.h"

namespace uscope::tracer {

Result<void> LossRecorder::write(std::uint32_t cause, trace::ProcessId process, std::uint64_t count,
                                 std::uint64_t from_ns) {
  if (count == 0) return {};
  usc_loss loss{};
  loss.head.time = monotonic_ns();
  loss.from_ns = from_ns;
  loss.count = count;
  loss.cause = cause;
  loss.process = process.value();
  return sink_.append_own(loss);
}

Result<void> LossRecorder::record(usc_loss_cause cause, trace::ProcessId process, std::uint64_t from_ns,
                                  std::uint64_t count) {
  if (trace::counts_events(trace::loss_class(cause))) own_events_ += count;
  return write(cause, process, count, from_ns);
}

Result<void> LossRecorder::record_counted(const std::unordered_map<trace::ProcessId, std::uint64_t>& given_up) {
  const auto stats = backend_.stats();
  if (!stats) return stats.error();
  const auto by_process = backend_.process_losses();
  if (!by_process) return by_process.error();
  std::array<std::uint64_t, USC_LOSS_COUNT> fresh{};
  for (std::size_t cause = 0; cause < fresh.size(); cause++) {
    std::uint64_t total = 0;
    for (const usc_stats& cpu : *stats) total += cpu.loss[cause];
    fresh[cause] = total - recorded_[cause];
    recorded_[cause] = total;
  }
  Result<void> result;
  const auto tell = [&](std::uint32_t cause, trace::ProcessId process, std::uint64_t count) {
    if (auto done = write(cause, process, count, from_ns_); !done && result) result = done;
  };
  for (const auto& [key, total] : *by_process) {
    const trace::ProcessId process(key.process);
    std::uint64_t& recorded = process_recorded_[{process, key.cause}];
    // The two counters are read one after the other: never more of a process than of all.
    const std::uint64_t count = key.cause < fresh.size() ? std::min(total - recorded, fresh[key.cause]) : 0;
    recorded += count;
    tell(key.cause, process, count);
    if (key.cause < fresh.size()) fresh[key.cause] -= count;
  }
  for (std::uint32_t cause = 0; cause < fresh.size(); cause++) tell(cause, {}, fresh[cause]);
  for (const auto& [process, count] : given_up) tell(USC_LOSS_DEFERRED_GIVEN_UP, process, count);
  from_ns_ = monotonic_ns();
  return result;
}

std::uint64_t LossRecorder::events() const {
  std::uint64_t sum = own_events_;
  for (std::uint32_t cause = 0; cause < recorded_.size(); cause++)
    if (trace::counts_events(trace::loss_class(cause))) sum += recorded_[cause];
  return sum;
}

}  // namespace uscope::tracer

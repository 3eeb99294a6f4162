// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Loss records: what the kernel side has counted since they were last written, and what the collector itself gives up.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "support/clock.h"
#include "support/result.h"
#include "trace/ids.h"
#include "trace/sink.h"
#include "tracer/backend/backend.h"

namespace uscope::tracer {

class LossRecorder {
 public:
  LossRecorder(Backend& backend, trace::RecordSink& sink) : backend_(backend), sink_(sink), from_ns_(monotonic_ns()) {}

  // `count` losses of the collector's own, since `from_ns`; without an id where they are of no process.
  Result<void> record(usc_loss_cause cause, trace::ProcessId process, std::uint64_t from_ns, std::uint64_t count = 1);
  // The kernel side's, and walks that were given up, by process, since the last call.
  Result<void> record_counted(const std::unordered_map<trace::ProcessId, std::uint64_t>& given_up);

  // When the last records were written.
  [[nodiscard]] std::uint64_t from_ns() const { return from_ns_; }
  // Events that are missing, by any cause.
  [[nodiscard]] std::uint64_t events() const;

 private:
  Result<void> write(std::uint32_t cause, trace::ProcessId process, std::uint64_t count, std::uint64_t from_ns);

  Backend& backend_;
  trace::RecordSink& sink_;
  std::array<std::uint64_t, USC_LOSS_COUNT> recorded_{};
  std::unordered_map<trace::IdPair<trace::ProcessId, std::uint32_t>, std::uint64_t> process_recorded_;  // by cause, too
  std::uint64_t from_ns_;
  std::uint64_t own_events_ = 0;  // that are missing by what record() was told
};

}  // namespace uscope::tracer

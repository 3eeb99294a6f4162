// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Says in which file the handler of a delivered signal lies, so that the loader can name it: the kernel side gives its
// address only. The mapping may be in a record of another CPU that has not been read yet, so a delivery is written one
// round after it came, in its own place: with its CPU and sequence number.
#pragma once

#include <cstdint>
#include <vector>

#include "support/result.h"
#include "trace/sink.h"
#include "tracer/model/mapping_timeline.h"
#include "uscope/record.h"

namespace uscope::tracer {

class SignalHandlers {
 public:
  // Both must outlive this object.
  SignalHandlers(const MappingTimeline& mappings, trace::RecordSink& sink) : mappings_(mappings), sink_(sink) {}

  // Takes a usc_signal, and writes it at once if it has no handler to be looked up.
  Result<void> add(const usc_signal& signal);
  // At the end of each round: writes those that came in the round before.
  Result<void> work();
  // Nothing is held back any more.
  [[nodiscard]] bool empty() const { return older_.empty() && newer_.empty(); }

 private:
  Result<void> write(usc_signal signal);

  const MappingTimeline& mappings_;
  trace::RecordSink& sink_;
  std::vector<usc_signal> newer_;  // of this round
  std::vector<usc_signal> older_;  // of the one before
};

}  // namespace uscope::tracer

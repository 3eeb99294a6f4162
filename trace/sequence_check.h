// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Finds out how many records of a trace are missing without anybody having said so.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/raw_record.h"

namespace uscope::trace {

// Every record of a processor took a sequence number when it was made, also one that found no room. Of each processor
// the numbers given out are known (usc_cpu_total; without one, the span from the first to the last seen), and the
// records that arrived; the difference must be what the trace itself counts as lost in the ring. Order does not matter.
// Limit: without usc_cpu_total (the tracer was killed) what is missing before the first and after the last record is
// not seen.
class SequenceCheck {
 public:
  explicit SequenceCheck(std::uint32_t cpus) : cpus_(cpus) {}

  void observe(const RawRecord& record);

  // Records that are missing and that no usc_loss explains.
  [[nodiscard]] std::uint64_t unexplained() const;

  // Whether the trace was ended in order: there are totals.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  struct Cpu {
    std::uint64_t seen = 0;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t total = 0;
    bool has_total = false;
  };

  std::vector<Cpu> cpus_;
  std::uint64_t explained_ = 0;
  bool complete_ = false;
};

}  // namespace uscope::trace

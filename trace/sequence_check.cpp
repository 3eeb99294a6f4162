// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/sequence_check.h"

#include <algorithm>
#include <limits>

namespace uscope::trace {
namespace {

// A damaged count may be any number.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

}  // namespace

void SequenceCheck::observe(const RawRecord& record) {
  const usc_record& head = record.head;
  if (head.type == USC_RECORD_LOSS) {
    const auto loss = record.as<usc_loss>();
    if (usc_loss_is_numbered(loss.cause)) explained_ = sum(explained_, loss.count);
  }
  if (head.cpu >= cpus_.size()) return;
  Cpu& cpu = cpus_[head.cpu];
  if (head.type == USC_RECORD_CPU_TOTAL) {
    const auto total = record.as<usc_cpu_total>();
    cpu.total = total.records - std::min(total.first, total.records);
    cpu.has_total = complete_ = true;
    return;
  }
  if (cpu.seen == 0) cpu.low = cpu.high = head.seq;
  cpu.low = std::min<std::uint64_t>(cpu.low, head.seq);
  cpu.high = std::max<std::uint64_t>(cpu.high, head.seq);
  cpu.seen++;
}

std::uint64_t SequenceCheck::unexplained() const {
  std::uint64_t missing = 0;
  for (const Cpu& cpu : cpus_) {
    const std::uint64_t span = cpu.seen ? cpu.high - cpu.low + 1 : 0;
    const std::uint64_t given = cpu.has_total ? cpu.total : span;
    if (given > cpu.seen) missing = sum(missing, given - cpu.seen);
  }
  return missing > explained_ ? missing - explained_ : 0;
}

}  // namespace uscope::trace

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/totals.h"

#include <array>
#include <string>
#include <utility>

#include "support/clock.h"
#include "trace/names.h"
#include "trace/record_builder.h"

namespace uscope::tracer {
namespace {

constexpr std::array kCounters{
    std::pair{"walks", &usc_stats::walks},
    std::pair{"frames_walked", &usc_stats::frames_walked},
    std::pair{"frames_kept", &usc_stats::frames_kept},
    std::pair{"walks_stopped_early", &usc_stats::walks_stopped_early},
    std::pair{"memo_hits", &usc_stats::memo_hits},
    std::pair{"mapping_lookups", &usc_stats::mapping_lookups},
    std::pair{"stacks_sent", &usc_stats::stacks_sent},
    std::pair{"walked_twice", &usc_stats::walked_twice},
};

}  // namespace

Result<void> write_totals(Backend& backend, trace::RecordSink& sink) {
  const auto sequences = backend.sequence_numbers();
  if (!sequences) return sequences.error();
  for (std::size_t cpu = 0; cpu < sequences->size(); cpu++) {
    usc_cpu_total total{};
    total.head.cpu = static_cast<__u16>(cpu);
    total.head.seq = (*sequences)[cpu];
    total.head.time = monotonic_ns();
    total.records = (*sequences)[cpu];
    if (auto done = sink.append(trace::RecordBuilder<usc_cpu_total>(total).head()); !done) return done;
  }
  const auto stats = backend.stats();
  if (!stats) return stats.error();
  const auto write_sum = [&](const std::string& key, const auto& counter_of) {
    std::uint64_t sum = 0;
    for (const usc_stats& cpu : *stats) sum += counter_of(cpu);
    return sink.append_meta(key, std::to_string(sum));
  };
  for (const auto& [key, counter] : kCounters)
    if (auto done = write_sum(key, [member = counter](const usc_stats& cpu) { return cpu.*member; }); !done)
      return done;
  for (std::uint32_t reason = 0; reason < USC_DEFER_COUNT; reason++) {
    const std::string name(trace::counted_defer_reason(reason));
    if (name.empty()) continue;
    auto done = write_sum("deferred_" + name, [&](const usc_stats& cpu) { return cpu.deferred[reason]; });
    if (!done) return done;
  }
  return {};
}

}  // namespace uscope::tracer

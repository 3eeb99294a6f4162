// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/gap_writer.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace uscope::store {
namespace {

LastingText edge_name(GapEdge edge) {
  switch (edge) {
    case GapEdge::kTracing:
      return {"tracing"};
    case GapEdge::kLeft:
      return {"left"};
    case GapEdge::kThread:
      return {"thread"};
    default:
      return {"call"};
  }
}

}  // namespace

void LossTimes::add(trace::LossClass missing, std::uint64_t count, trace::ProcessId process, std::uint64_t from_ns,
                    std::uint64_t until_ns) {
  if (count == 0 || (missing != trace::LossClass::EVENTS && missing != trace::LossClass::RECORDS)) return;
  spans_[process].emplace_back(from_ns, until_ns);
}

void LossTimes::finish() {
  for (auto& [process, spans] : spans_) {
    std::sort(spans.begin(), spans.end());
    std::vector<Span> merged;
    for (const Span& span : spans) {
      if (merged.empty() || span.first > merged.back().second)
        merged.push_back(span);
      else
        merged.back().second = std::max(merged.back().second, span.second);
    }
    spans = std::move(merged);
  }
}

bool LossTimes::has(trace::ProcessId process, std::uint64_t from_ns, std::uint64_t until_ns) const {
  if (always_) return true;
  for (const trace::ProcessId owner : {process, trace::ProcessId()}) {
    const auto at = spans_.find(owner);
    if (at == spans_.end()) continue;
    const auto span = std::lower_bound(at->second.begin(), at->second.end(), from_ns,
                                       [](const Span& one, std::uint64_t time) { return one.second < time; });
    if (span != at->second.end() && span->first <= until_ns) return true;
  }
  return false;
}

GapWriter::GapWriter(const TableWriter& tables, LossTimes losses, std::size_t most_pairs)
    : tables_(tables), most_pairs_(most_pairs), losses_(std::move(losses)) {}

std::size_t GapWriter::PairHash::operator()(const Pair& pair) const noexcept {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  std::uint64_t hash = std::uint64_t{pair.before_stack.value()} << 32U | pair.after_stack.value();
  for (const std::uint64_t part :
       {std::uint64_t{pair.before_kind.value()} << 32U | pair.after_kind.value(),
        static_cast<std::uint64_t>(pair.since) << 8U | static_cast<std::uint64_t>(pair.until)})
    hash = (hash ^ hash >> 29U ^ part) * kFactor;
  return static_cast<std::size_t>(hash ^ hash >> 32U);
}

// Of two that are equally long, the earlier one stays.
bool GapWriter::longer(const Gap& a, const Gap& b) {
  return std::tie(b.duration, a.from_ns, a.thread) < std::tie(a.duration, b.from_ns, b.thread);
}

Result<void> GapWriter::prepare() {
  auto rows = tables_.rows("gap_total", 13);
  if (!rows) return rows.error();
  total_rows_ = std::move(*rows);
  return {};
}

void GapWriter::add(const Gap& gap) {
  Total& total = totals_[{gap.since, gap.until, gap.before.kind, gap.before.stack, gap.after.kind, gap.after.stack}];
  if (total.gaps++ == 0 || longer(gap, total.longest)) total.longest = gap;
  total.total_ns += gap.duration;
  if (gaps_.size() < kGapsKept || longer(gap, gaps_.front())) keep(gap);
  if (totals_.size() >= most_pairs_) full_.push_back(std::exchange(totals_, {}));
}

void GapWriter::keep(const Gap& gap) {
  if (gaps_.size() == kGapsKept) {
    std::pop_heap(gaps_.begin(), gaps_.end(), longer);
    gaps_.pop_back();
  }
  gaps_.push_back(gap);
  std::push_heap(gaps_.begin(), gaps_.end(), longer);
}

Result<void> GapWriter::write_totals(const Totals& totals) {
  for (const auto& [pair, total] : totals) {
    const Gap& longest = total.longest;
    auto done = total_rows_->add(edge_name(pair.since), edge_name(pair.until), maybe_id(pair.before_kind),
                                 maybe_id(pair.before_stack), maybe_id(pair.after_kind), maybe_id(pair.after_stack),
                                 total.gaps, total.total_ns, longest.duration, stored_time(longest.from_ns),
                                 longest.thread, maybe_id(longest.before.event), maybe_id(longest.after.event));
    if (!done) return done;
  }
  return {};
}

Result<void> GapWriter::write_full() {
  for (const Totals& totals : full_)
    if (auto done = write_totals(totals); !done) return done;
  full_.clear();
  return {};
}

Result<void> GapWriter::write() {
  if (auto done = write_full(); !done) return done;
  if (auto done = write_totals(std::exchange(totals_, {})); !done) return done;
  auto rows = tables_.rows("gap", 8);
  if (!rows) return rows.error();
  for (const Gap& gap : gaps_) {
    auto done = (*rows)->add(gap.thread, stored_time(gap.from_ns), gap.duration, edge_name(gap.since),
                             edge_name(gap.until), maybe_id(gap.before.event), maybe_id(gap.after.event),
                             losses_.has(gap.process, gap.from_ns, gap.from_ns + gap.duration));
    if (!done) return done;
  }
  return tables_.inserter().settle();
}

}  // namespace uscope::store

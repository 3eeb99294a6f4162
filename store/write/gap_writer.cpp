// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/gap_writer.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "trace/loss_class.h"

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

GapWriter::GapWriter(DatabaseWriter& database, const Definitions& definitions, std::size_t most_pairs)
    : database_(database), most_pairs_(most_pairs), all_doubtful_(definitions.records_missing) {
  for (const LossFacts& loss : definitions.losses) {
    const trace::LossClass missing = trace::loss_class(loss.cause);
    if (loss.count == 0 || (missing != trace::LossClass::EVENTS && missing != trace::LossClass::RECORDS)) continue;
    losses_[loss.process].emplace_back(loss.from_ns, loss.until_ns);
  }
  for (auto& [process, spans] : losses_) {
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
  auto rows = database_.rows("gap_total", 13);
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

// A call of the thread may have been lost in the gap.
bool GapWriter::is_doubtful(const Gap& gap) const {
  if (all_doubtful_) return true;
  for (const trace::ProcessId process : {gap.process, trace::ProcessId()}) {
    const auto at = losses_.find(process);
    if (at == losses_.end()) continue;
    const auto span = std::lower_bound(at->second.begin(), at->second.end(), gap.from_ns,
                                       [](const Span& one, std::uint64_t time) { return one.second < time; });
    if (span != at->second.end() && span->first <= gap.from_ns + gap.duration) return true;
  }
  return false;
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
  auto rows = database_.rows("gap", 8);
  if (!rows) return rows.error();
  for (const Gap& gap : gaps_) {
    auto done =
        (*rows)->add(gap.thread, stored_time(gap.from_ns), gap.duration, edge_name(gap.since), edge_name(gap.until),
                     maybe_id(gap.before.event), maybe_id(gap.after.event), is_doubtful(gap));
    if (!done) return done;
  }
  return database_.inserter().settle();
}

}  // namespace uscope::store

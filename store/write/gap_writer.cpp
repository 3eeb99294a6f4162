// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/gap_writer.h"

#include <algorithm>

#include "trace/loss_class.h"

namespace uscope::store {

GapWriter::GapWriter(const Definitions& definitions) : all_doubtful_(definitions.records_missing) {
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

Result<void> GapWriter::write(DatabaseWriter& database) {
  auto insert = database.prepare("INSERT INTO gap VALUES(?1, ?2, ?3, ?4)");
  if (!insert) return insert.error();
  for (const Gap& gap : gaps_)
    if (auto done = insert->run(gap.before, gap.after, gap.duration, is_doubtful(gap)); !done) return done;
  return {};
}

}  // namespace uscope::store

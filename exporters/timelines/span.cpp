// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A slice without an end that lies within one with an end is over with that one. No slice ends after one around it, so
// the ends of those that have one fall from the outermost to the innermost.
#include "exporters/timelines/span.h"

#include <algorithm>

namespace uscope::exporters {

Lasting lasting(const analyzer::EventRow& event) {
  if (event.dur_ns && *event.dur_ns >= 0) return Lasting::kFinished;
  const bool began = event.how == "open" || event.how == "attached" || event.how == "killed" || event.how == "noreturn";
  return began ? Lasting::kUnfinished : Lasting::kMoment;
}

std::int64_t end_of(const analyzer::EventRow& event) {
  return analyzer::difference(event.ts_ns,
                              analyzer::difference(0, std::max<std::int64_t>(0, event.dur_ns.value_or(0))));
}

void OpenSlices::advance(std::int64_t ts_ns, const std::function<void(std::int64_t)>& end) {
  latest_ = ts_ns;
  while (!ends_.empty()) {
    // Of the innermost with a time: those within it have none, and are over with it.
    std::size_t timed = ends_.size();
    while (timed > 0 && !ends_[timed - 1]) timed--;
    if (timed == 0 || *ends_[timed - 1] > ts_ns) return;
    const std::int64_t over = *ends_[timed - 1];
    for (; ends_.size() >= timed; ends_.pop_back()) end(over);
  }
}

bool OpenSlices::open(std::optional<std::int64_t> until_ns) {
  if (until_ns)
    for (auto around = ends_.rbegin(); around != ends_.rend(); ++around)
      if (*around) {
        if (**around < *until_ns) return false;
        break;
      }
  ends_.push_back(until_ns);
  return true;
}

void OpenSlices::finish(std::optional<std::int64_t> until_ns, const std::function<void(std::int64_t)>& end) {
  std::int64_t last = latest_;
  while (!ends_.empty()) {
    std::optional<std::int64_t> over = ends_.back();
    for (auto around = ends_.rbegin(); !over && around != ends_.rend(); ++around) over = *around;
    if (!over) over = until_ns;
    if (!over) return;  // nor has any around it
    last = std::max(last, *over);
    end(last);
    ends_.pop_back();
  }
}

}  // namespace uscope::exporters

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/window/kept_looks.h"

#include <utility>

namespace uscope::live {

void KeptLooks::mark(const usc_look& look) {
  if (look.end == USC_LOOK_BEGIN) {
    next_ = {keep(look.head)};
    return;
  }
  Look whole = std::exchange(next_, {});
  if (whole.empty() || as<usc_look>(whole.front()).look != look.look || whole.size() - 1 != look.records) return;
  whole.push_back(keep(look.head));
  (first_.empty() ? first_ : last_) = std::move(whole);
}

bool KeptLooks::take(const usc_record& record) {
  switch (record.type) {
    case USC_RECORD_LOOK:
      mark(trace::record_as<usc_look>(record));
      return true;
    case USC_RECORD_THREAD_LOOK:
    case USC_RECORD_WAITED:
    case USC_RECORD_RESOURCE:
    case USC_RECORD_HELD_LOCK:
    case USC_RECORD_MONITOR:
    case USC_RECORD_LOOK_TROUBLE:
      if (!next_.empty()) next_.push_back(keep(record));
      if (next_.size() > kMostRecords) next_.clear();
      return true;
    default:
      return false;
  }
}

Result<void> KeptLooks::write(WindowTrace& to) const {
  for (const Look* look : {&first_, &last_, &next_})
    for (const KeptRecord& record : *look)
      if (auto done = write_kept(to, record); !done) return done;
  return {};
}

}  // namespace uscope::live

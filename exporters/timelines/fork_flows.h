// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// From the call that made a thread or process to the first thing that it did.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_row.h"
#include "analyzer/read/row_ids.h"

namespace uscope::exporters {

class ForkFlows {
 public:
  explicit ForkFlows(const analyzer::Catalog& catalog);

  // The thread that this call has made; none: it is no such call, or failed, or the thread is not in the trace.
  [[nodiscard]] analyzer::ThreadRowId made_by(const analyzer::EventRow& event);
  // Whether the event is the first of a thread that a call before it was said to have made. Says so once.
  [[nodiscard]] bool is_first(const analyzer::EventRow& event) { return awaited_.erase(event.thread_id) != 0; }

 private:
  const analyzer::Catalog& catalog_;
  std::unordered_multimap<std::int64_t, const analyzer::Thread*> by_tid_;  // in each namespace
  std::unordered_set<analyzer::ThreadRowId> awaited_;
};

}  // namespace uscope::exporters

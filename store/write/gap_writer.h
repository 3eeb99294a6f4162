// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Finds the longest times that a thread spent between two of its calls: the table `gap`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/db/database.h"
#include "store/model/definitions.h"
#include "store/model/row_ids.h"

namespace uscope::store {

// As many of the longest gaps are kept.
constexpr std::size_t kGapsKept = 1000;

struct Gap {
  EventRowId before;
  EventRowId after;
  std::uint64_t from_ns = 0;
  std::uint64_t duration = 0;
  trace::ProcessId process;
};

class GapWriter {
 public:
  explicit GapWriter(const Definitions& definitions);

  void add(const Gap& gap) {
    if (gaps_.size() == kGapsKept && !longer(gap, gaps_.front())) return;
    keep(gap);
  }

  Result<void> write(DatabaseWriter& database);

 private:
  using Span = std::pair<std::uint64_t, std::uint64_t>;  // first and last time

  static bool longer(const Gap& a, const Gap& b) {
    return a.duration != b.duration ? a.duration > b.duration : a.after < b.after;
  }
  void keep(const Gap& gap);
  [[nodiscard]] bool is_doubtful(const Gap& gap) const;

  bool all_doubtful_;                                               // records are missing, and nobody knows when
  std::unordered_map<trace::ProcessId, std::vector<Span>> losses_;  // of events; sorted, disjoint. None: of anybody
  std::vector<Gap> gaps_;                                           // a heap, the shortest first
};

}  // namespace uscope::store

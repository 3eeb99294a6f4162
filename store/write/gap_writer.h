// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The times that threads spent outside of calls: the longest of them (the table `gap`), and their sums by the calls on
// both sides (`gap_total`). Memory is bounded: when there are kMostGapPairs sums, counting begins anew once they are
// put aside to be written, so that one pair may have several rows, which add up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/db/database.h"
#include "store/model/definitions.h"
#include "store/model/gathering_map.h"
#include "store/model/row_ids.h"

namespace uscope::store {

constexpr std::size_t kGapsKept = 1000;                       // of the longest
constexpr std::size_t kMostGapPairs = std::size_t{1} << 16U;  // in memory

// What a gap begins or ends with: a call's return or entry, the beginning or end of tracing, or the thread's own.
enum class GapEdge : std::uint8_t { kCall, kTracing, kLeft, kThread };

// A call beside a gap; nothing where there is none.
struct GapCall {
  EventRowId event;
  KindRowId kind;
  StackRowId stack;
};

struct Gap {
  GapEdge since = GapEdge::kCall;
  GapEdge until = GapEdge::kCall;
  GapCall before;
  GapCall after;
  ThreadRowId thread;
  trace::ProcessId process;
  std::uint64_t from_ns = 0;
  std::uint64_t duration = 0;
};

class GapWriter {
 public:
  // Both must outlive this object. `most_pairs` is for tests.
  GapWriter(DatabaseWriter& database, const Definitions& definitions, std::size_t most_pairs = kMostGapPairs);

  Result<void> prepare();  // to be called first
  void add(const Gap& gap);
  Result<void> write_full();  // sums that were put aside: adds their rows, see DatabaseWriter::rows()
  Result<void> write();       // all that has not been written yet

 private:
  using Span = std::pair<std::uint64_t, std::uint64_t>;  // first and last time

  struct Pair {
    GapEdge since;
    GapEdge until;
    KindRowId before_kind;
    StackRowId before_stack;
    KindRowId after_kind;
    StackRowId after_stack;
    bool operator==(const Pair&) const = default;
  };
  struct PairHash {
    std::size_t operator()(const Pair& pair) const noexcept;
  };
  struct Total {
    std::uint64_t gaps = 0;
    std::uint64_t total_ns = 0;
    Gap longest;
  };

  static bool longer(const Gap& a, const Gap& b);
  void keep(const Gap& gap);
  using Totals = GatheringMap<Pair, Total, PairHash>;
  Result<void> write_totals(const Totals& totals);
  [[nodiscard]] bool is_doubtful(const Gap& gap) const;

  DatabaseWriter& database_;
  std::size_t most_pairs_;
  std::unique_ptr<TableRows> total_rows_;
  Totals totals_;
  std::vector<Totals> full_;
  bool all_doubtful_;                                               // records are missing, and nobody knows when
  std::unordered_map<trace::ProcessId, std::vector<Span>> losses_;  // of events; sorted, disjoint. None: of anybody
  std::vector<Gap> gaps_;                                           // a heap, the shortest first
};

}  // namespace uscope::store

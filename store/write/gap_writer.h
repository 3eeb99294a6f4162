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

#include "store/db/row_ids.h"
#include "store/db/table_writer.h"
#include "store/model/gathering_map.h"
#include "trace/ids.h"
#include "trace/loss_class.h"

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

// When calls may have been lost.
class LossTimes {
 public:
  // Records are missing, and nobody knows when.
  void set_always() { always_ = true; }
  // A loss of this many; those that leave out no calls do not count.
  void add(trace::LossClass missing, std::uint64_t count, trace::ProcessId process, std::uint64_t from_ns,
           std::uint64_t until_ns);
  void finish();  // after the last one

  // Whether some call of this process may have been lost then.
  [[nodiscard]] bool has(trace::ProcessId process, std::uint64_t from_ns, std::uint64_t until_ns) const;

 private:
  using Span = std::pair<std::uint64_t, std::uint64_t>;  // first and last time

  bool always_ = false;
  std::unordered_map<trace::ProcessId, std::vector<Span>> spans_;  // after finish(): sorted, disjoint. None: of anybody
};

class GapWriter {
 public:
  // What is behind `tables` must outlive this object. `most_pairs` is for tests.
  GapWriter(const TableWriter& tables, LossTimes losses, std::size_t most_pairs = kMostGapPairs);

  Result<void> prepare();  // to be called first
  void add(const Gap& gap);
  Result<void> write_full();  // sums that were put aside: adds their rows, see TableWriter::rows()
  Result<void> write();       // all that has not been written yet

 private:
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

  TableWriter tables_;
  std::size_t most_pairs_;
  std::unique_ptr<TableRows> total_rows_;
  Totals totals_;
  std::vector<Totals> full_;
  LossTimes losses_;
  std::vector<Gap> gaps_;  // a heap, the shortest first
};

}  // namespace uscope::store

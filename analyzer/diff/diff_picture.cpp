// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/diff_picture.h"

#include <algorithm>
#include <set>

namespace uscope::analyzer {
namespace {

SideOfCell side_of(const std::vector<const Cell*>& runs) {
  SideOfCell side;
  for (const Cell* cell : runs) {
    if (!cell) continue;
    side.runs++;
    side.events += cell->events;
    side.open += cell->open;
    side.timed += cell->timed;
    side.total_ns += cell->total_ns;
    for (const auto& [error, count] : cell->errnos) side.errors[error] += count.events;
  }
  return side;
}

}  // namespace

void picture_cells(const std::vector<CellRow>& rows, const std::vector<CellKey>& keep, DiffPicture& picture,
                   std::size_t most) {
  const std::set<CellKey> kept(keep.begin(), keep.end());
  struct Ranked {
    const CellRow* row;
    bool kept;
    double events;  // of a run
  };
  std::vector<Ranked> ranked;
  ranked.reserve(rows.size());
  const auto mean = [](const std::vector<const Cell*>& runs) {
    double events = 0;
    for (const Cell* cell : runs) events += cell ? static_cast<double>(cell->events) : 0;
    return events / static_cast<double>(std::max<std::size_t>(1, runs.size()));
  };
  for (const CellRow& row : rows)
    ranked.push_back({&row, kept.count(row.key) != 0, std::max(mean(row.normal), mean(row.abnormal))});
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.kept != b.kept ? a.kept : a.events > b.events; });
  const std::size_t shown = std::min(most, ranked.size());
  picture.cells_left_out = ranked.size() - shown;
  ranked.resize(shown);
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.events > b.events; });
  picture.cells.clear();
  picture.cells.reserve(shown);
  for (const Ranked& one : ranked)
    picture.cells.push_back({one.row->key, side_of(one.row->normal), side_of(one.row->abnormal)});
}

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What pictures of a comparison need beyond its findings: every cell of the matrix with its counts on both sides, and
// the stacks of both sides as one tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/diff/diff_cells.h"
#include "analyzer/diff/merged_stacks.h"

namespace uscope::analyzer {

// A cell in all runs of a side, together.
struct SideOfCell {
  std::uint64_t events = 0;
  std::uint64_t open = 0;   // never returned
  std::uint64_t timed = 0;  // events with a duration
  std::uint64_t total_ns = 0;
  std::size_t runs = 0;  // that have the cell
  std::map<std::int64_t, std::uint64_t> errors;
};

struct PicturedCell {
  CellKey key;
  SideOfCell normal;
  SideOfCell abnormal;
};

struct DiffPicture {
  static constexpr std::size_t kMostCells = 30'000;
  std::vector<PicturedCell> cells;  // those with most events of a run first
  std::size_t cells_left_out = 0;
  MergedStacks stacks;
};

// At most `most` cells; those in `keep` before all others. Sets `cells` and `cells_left_out`.
void picture_cells(const std::vector<CellRow>& rows, const std::vector<CellKey>& keep, DiffPicture& picture,
                   std::size_t most = DiffPicture::kMostCells);

}  // namespace uscope::analyzer

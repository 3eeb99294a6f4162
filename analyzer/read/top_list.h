// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A list of which the first lines are wanted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace uscope::analyzer {

// A list cut to a limit, and its full length.
template <typename Line>
struct TopList {
  std::vector<Line> lines;
  std::uint64_t total = 0;
};

// The first `limit` lines by `less`; 0 means all.
template <typename Line, typename Less>
TopList<Line> top(std::vector<Line> lines, std::size_t limit, Less less) {
  TopList<Line> list;
  list.total = lines.size();
  const std::size_t kept = limit == 0 ? lines.size() : std::min(limit, lines.size());
  const auto end = lines.begin() + static_cast<std::ptrdiff_t>(kept);
  std::partial_sort(lines.begin(), end, lines.end(), less);
  lines.erase(end, lines.end());
  list.lines = std::move(lines);
  return list;
}

}  // namespace uscope::analyzer

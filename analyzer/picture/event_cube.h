// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Counts of events by call and function (cell), thread, time and duration: what remains of a picture when it is limited
// to some cells. Durations are in two steps for each power of two, time in equal parts of the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/picture/time_line.h"

namespace uscope::analyzer {

constexpr std::size_t kTimeSteps = 120;

// 0 for 0 ns, then two for each power of two: 1, 1.5, 2, 3, 4, 6, … are where they begin.
[[nodiscard]] std::size_t duration_step(std::uint64_t ns);

struct CubeCount {
  std::size_t cell = 0;
  std::size_t thread = 0;
  std::size_t time = 0;
  std::optional<std::size_t> step;  // nullopt: without a duration
  std::uint64_t events = 0;
  std::uint64_t total_ns = 0;  // of samples, what they stand for
};

struct HeatCount {
  std::size_t kind = 0;  // its place in the catalog
  std::size_t time = 0;
  std::size_t step = 0;
  std::uint64_t events = 0;
};

// Of all cells, those with most events are kept, as far as `most` counts hold; a cell is kept whole or not at all.
class EventCube {
 public:
  EventCube(std::int64_t duration_ns, std::size_t kinds, std::size_t most)
      : duration_ns_(duration_ns), most_(most), heat_(kinds) {}

  void add(const PictureEvent& event, std::size_t kind);
  [[nodiscard]] std::vector<CubeCount> counts();                                 // by cell, thread, time, step
  [[nodiscard]] std::vector<HeatCount> heat() const;                             // of all events with a duration
  [[nodiscard]] const std::vector<bool>& left_out() const { return left_out_; }  // by cell: it is not among counts()

 private:
  static constexpr std::size_t kSteps = 128;
  struct Sum {
    std::uint64_t events = 0;
    std::uint64_t total_ns = 0;
  };
  struct Hash {
    std::size_t operator()(std::uint64_t key) const noexcept { return key * 0x9e3779b97f4a7c15ULL >> 8U; }
  };
  [[nodiscard]] std::size_t time_of(std::int64_t ts_ns) const;
  // Leaves out cells until at most `most` counts remain.
  void leave_out(std::size_t most);

  std::int64_t duration_ns_;
  std::size_t most_;
  std::unordered_map<std::uint64_t, Sum, Hash> sums_;
  std::vector<std::uint64_t> events_;  // by cell
  std::vector<bool> left_out_;
  std::vector<std::vector<std::uint64_t>> heat_;  // by kind: times × steps
};

}  // namespace uscope::analyzer

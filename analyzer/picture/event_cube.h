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

// Counts by a group and a place within it, in bounded memory: where there are more than `most`, the groups with fewest
// events are left out; a group is kept whole or not at all.
class GroupedCounts {
 public:
  static constexpr unsigned kPlaceBits = 38;

  explicit GroupedCounts(std::size_t most) : most_(most) {}

  // `place` has kPlaceBits. Groups of 2^26 and more are left out.
  void add(std::size_t group, std::uint64_t place, std::uint64_t ns);
  void leave_out(std::size_t group);

  struct Count {
    std::size_t group = 0;
    std::uint64_t place = 0;
    std::uint64_t events = 0;
    std::uint64_t total_ns = 0;
  };
  // By group and place. To be called once, at the end.
  [[nodiscard]] std::vector<Count> finish();
  [[nodiscard]] bool is_left_out(std::size_t group) const { return group < left_out_.size() && left_out_[group]; }
  [[nodiscard]] std::uint64_t events_left_out() const;

 private:
  struct Sum {
    std::uint64_t events = 0;
    std::uint64_t total_ns = 0;
  };
  struct Hash {
    std::size_t operator()(std::uint64_t key) const noexcept { return key * 0x9e3779b97f4a7c15ULL >> 8U; }
  };
  void shrink(std::size_t most);

  std::size_t most_;
  std::unordered_map<std::uint64_t, Sum, Hash> sums_;
  std::vector<std::uint64_t> events_;  // by group
  std::vector<bool> left_out_;
};

class EventCube {
 public:
  // `most`: counts of each, counts() and heat().
  EventCube(std::int64_t duration_ns, std::size_t most) : duration_ns_(duration_ns), cells_(most), kinds_(most) {}

  void add(const PictureEvent& event, std::size_t kind);
  // To be called once each, at the end.
  [[nodiscard]] std::vector<CubeCount> counts();  // by cell, thread, time, step
  [[nodiscard]] std::vector<HeatCount> heat();    // of events with a duration, by kind
  // Its events are not among counts().
  [[nodiscard]] bool is_left_out(std::size_t cell) const { return cells_.is_left_out(cell); }
  [[nodiscard]] std::uint64_t heat_left_out() const { return kinds_.events_left_out(); }

 private:
  [[nodiscard]] std::size_t time_of(std::int64_t ts_ns) const;

  std::int64_t duration_ns_;
  GroupedCounts cells_;
  GroupedCounts kinds_;
};

}  // namespace uscope::analyzer

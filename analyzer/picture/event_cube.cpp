// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A place within a cell has 24 bits of the thread, 7 of the time and 7 of the duration's step; within a kind, only the
// latter two.
#include "analyzer/picture/event_cube.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace uscope::analyzer {
namespace {

constexpr unsigned kStepBits = 7;
constexpr unsigned kTimeBits = 7;
constexpr unsigned kThreadBits = 24;
static_assert(kStepBits + kTimeBits + kThreadBits == GroupedCounts::kPlaceBits);
constexpr std::size_t kNoStep = 127;

std::uint64_t bits(std::uint64_t place, unsigned from, unsigned count) {
  return place >> from & ((std::uint64_t{1} << count) - 1);
}

}  // namespace

std::size_t duration_step(std::uint64_t ns) {
  if (ns < 2) return ns;
  const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1;
  return std::size_t{2} * power + (ns >> (power - 1) & 1U);
}

void GroupedCounts::leave_out(std::size_t group) {
  if (group >= events_.size()) {
    events_.resize(group + 1);
    left_out_.resize(group + 1);
  }
  left_out_[group] = true;
}

void GroupedCounts::add(std::size_t group, std::uint64_t place, std::uint64_t ns) {
  if (group >= events_.size()) {
    events_.resize(group + 1);
    left_out_.resize(group + 1);
  }
  events_[group]++;
  if (group >> (64 - kPlaceBits) != 0) left_out_[group] = true;
  if (left_out_[group]) return;
  Sum& sum = sums_[std::uint64_t{group} << kPlaceBits | place];
  sum.events++;
  sum.total_ns += ns;
  if (sums_.size() > 4 * most_) shrink(3 * most_);
}

void GroupedCounts::shrink(std::size_t most) {
  std::vector<std::size_t> sizes(events_.size());
  for (const auto& [key, sum] : sums_) sizes[key >> kPlaceBits]++;
  std::vector<std::size_t> order(events_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return events_[a] != events_[b] ? events_[a] > events_[b] : a < b; });
  std::size_t room = most;
  for (const std::size_t group : order) {
    if (sizes[group] > room) left_out_[group] = true;
    if (!left_out_[group]) room -= sizes[group];
  }
  std::erase_if(sums_, [&](const auto& entry) { return left_out_[entry.first >> kPlaceBits]; });
}

std::vector<GroupedCounts::Count> GroupedCounts::finish() {
  shrink(most_);
  std::vector<Count> counts;
  counts.reserve(sums_.size());
  for (const auto& [key, sum] : sums_)
    counts.push_back({key >> kPlaceBits, bits(key, 0, kPlaceBits), sum.events, sum.total_ns});
  std::sort(counts.begin(), counts.end(),
            [](const Count& a, const Count& b) { return a.group != b.group ? a.group < b.group : a.place < b.place; });
  return counts;
}

std::uint64_t GroupedCounts::events_left_out() const {
  std::uint64_t events = 0;
  for (std::size_t group = 0; group < events_.size(); group++)
    if (left_out_[group]) events += events_[group];
  return events;
}

std::size_t EventCube::time_of(std::int64_t ts_ns) const {
  if (duration_ns_ <= 0 || ts_ns <= 0) return 0;
  const double part = static_cast<double>(ts_ns) / static_cast<double>(duration_ns_) * kTimeSteps;
  return std::min(static_cast<std::size_t>(part), kTimeSteps - 1);
}

void EventCube::add(const PictureEvent& event, std::size_t kind) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.dur_ns.value_or(event.part_ns)));
  const std::size_t step = event.dur_ns ? duration_step(ns) : kNoStep;
  const std::uint64_t place = std::uint64_t{time_of(event.ts_ns)} << kStepBits | step;
  if (event.dur_ns) kinds_.add(kind, place, ns);
  if (event.thread >> kThreadBits != 0) cells_.leave_out(event.cell);
  cells_.add(event.cell, std::uint64_t{bits(event.thread, 0, kThreadBits)} << (kStepBits + kTimeBits) | place, ns);
}

std::vector<CubeCount> EventCube::counts() {
  std::vector<CubeCount> counts;
  for (const GroupedCounts::Count& count : cells_.finish()) {
    const std::uint64_t step = bits(count.place, 0, kStepBits);
    counts.push_back({count.group, bits(count.place, kStepBits + kTimeBits, kThreadBits),
                      bits(count.place, kStepBits, kTimeBits),
                      step == kNoStep ? std::nullopt : std::optional<std::size_t>(step), count.events, count.total_ns});
  }
  return counts;
}

std::vector<HeatCount> EventCube::heat() {
  std::vector<HeatCount> counts;
  for (const GroupedCounts::Count& count : kinds_.finish())
    counts.push_back(
        {count.group, bits(count.place, kStepBits, kTimeBits), bits(count.place, 0, kStepBits), count.events});
  return counts;
}

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A count is found by one number of 64 bits: 26 of the cell, 24 of the thread, 7 of the time and 7 of the duration's
// step. Cells and threads with larger numbers are left out.
#include "analyzer/picture/event_cube.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace uscope::analyzer {
namespace {

constexpr unsigned kStepBits = 7;
constexpr unsigned kTimeBits = 7;
constexpr unsigned kThreadBits = 24;
constexpr unsigned kCellAt = kStepBits + kTimeBits + kThreadBits;
constexpr std::size_t kNoStep = 127;

std::uint64_t bits(std::uint64_t key, unsigned from, unsigned count) {
  return key >> from & ((std::uint64_t{1} << count) - 1);
}

}  // namespace

std::size_t duration_step(std::uint64_t ns) {
  if (ns < 2) return ns;
  const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1;
  return 2 * power + (ns >> (power - 1) & 1U);
}

std::size_t EventCube::time_of(std::int64_t ts_ns) const {
  if (duration_ns_ <= 0 || ts_ns <= 0) return 0;
  const double part = static_cast<double>(ts_ns) / static_cast<double>(duration_ns_) * kTimeSteps;
  return std::min(static_cast<std::size_t>(part), kTimeSteps - 1);
}

void EventCube::add(const PictureEvent& event, std::size_t kind) {
  const std::size_t time = time_of(event.ts_ns);
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.dur_ns.value_or(event.part_ns)));
  const std::size_t step = event.dur_ns ? duration_step(ns) : kNoStep;
  if (event.dur_ns) {
    if (heat_[kind].empty()) heat_[kind].resize(kTimeSteps * kSteps);
    heat_[kind][time * kSteps + step]++;
  }
  if (event.cell >= events_.size()) {
    events_.resize(event.cell + 1);
    left_out_.resize(event.cell + 1);
  }
  events_[event.cell]++;
  if (event.cell >> (64 - kCellAt) != 0 || event.thread >> kThreadBits != 0) left_out_[event.cell] = true;
  if (left_out_[event.cell]) return;
  const std::uint64_t key = std::uint64_t{event.cell} << kCellAt |
                            std::uint64_t{event.thread} << (kStepBits + kTimeBits) | std::uint64_t{time} << kStepBits |
                            step;
  Sum& sum = sums_[key];
  sum.events++;
  sum.total_ns += ns;
  if (sums_.size() > 4 * most_) leave_out(3 * most_);
}

void EventCube::leave_out(std::size_t most) {
  std::vector<std::size_t> sizes(events_.size());
  for (const auto& [key, sum] : sums_) sizes[key >> kCellAt]++;
  std::vector<std::size_t> order(events_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return events_[a] != events_[b] ? events_[a] > events_[b] : a < b; });
  std::size_t room = most;
  for (const std::size_t cell : order) {
    if (sizes[cell] > room) left_out_[cell] = true;
    if (!left_out_[cell]) room -= sizes[cell];
  }
  std::erase_if(sums_, [&](const auto& entry) { return left_out_[entry.first >> kCellAt]; });
}

std::vector<CubeCount> EventCube::counts() {
  leave_out(most_);
  std::vector<std::uint64_t> keys;
  keys.reserve(sums_.size());
  for (const auto& [key, sum] : sums_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  std::vector<CubeCount> counts;
  counts.reserve(keys.size());
  for (const std::uint64_t key : keys) {
    const Sum& sum = sums_.at(key);
    const std::uint64_t step = bits(key, 0, kStepBits);
    counts.push_back({key >> kCellAt, bits(key, kStepBits + kTimeBits, kThreadBits), bits(key, kStepBits, kTimeBits),
                      step == kNoStep ? std::nullopt : std::optional<std::size_t>(step), sum.events, sum.total_ns});
  }
  return counts;
}

std::vector<HeatCount> EventCube::heat() const {
  std::vector<HeatCount> counts;
  for (std::size_t kind = 0; kind < heat_.size(); kind++)
    for (std::size_t place = 0; place < heat_[kind].size(); place++)
      if (heat_[kind][place] != 0) counts.push_back({kind, place / kSteps, place % kSteps, heat_[kind][place]});
  return counts;
}

}  // namespace uscope::analyzer

#include "tracer/sample_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace uscope::tracer {

bool SampleQueue::add(const usc_sample& sample, std::uint64_t round_ns) {
  auto held = mirror_.take(sample);
  if (!held) return false;
  held->round_ns = round_ns;
  fresh_.push_back(std::move(*held));
  return true;
}

void SampleQueue::begin_round() {
  due_.erase(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  if (waiting_.empty() && due_.empty()) waiting_since_ns_ = ~std::uint64_t{0};
  std::move(fresh_.begin(), fresh_.end(), std::back_inserter(due_));
  fresh_.clear();
}

std::optional<HeldSample> SampleQueue::take() {
  if (at_ == due_.size()) return std::nullopt;
  return std::move(due_[at_++]);
}

void SampleQueue::let_wait(HeldSample sample, std::uint32_t serial) {
  sample.waits++;
  waiting_since_ns_ = std::min(waiting_since_ns_, sample.round_ns);
  if (sample.head().verify == 0) stacks_[sample.head().stack] = serial;
  waiting_[serial].push_back(std::move(sample));
}

std::optional<std::uint32_t> SampleQueue::who_waits(std::uint32_t stack) const {
  const auto found = stacks_.find(stack);
  return found == stacks_.end() ? std::nullopt : std::optional(found->second);
}

void SampleQueue::rows_came(std::uint32_t serial) {
  const auto found = waiting_.find(serial);
  if (found == waiting_.end()) return;
  for (const HeldSample& sample : found->second)
    if (sample.head().verify == 0) stacks_.erase(sample.head().stack);
  // Before those that are due, which may be comparisons with what these will come to.
  due_.insert(due_.begin() + static_cast<std::ptrdiff_t>(at_), std::make_move_iterator(found->second.begin()),
              std::make_move_iterator(found->second.end()));
  waiting_.erase(found);
}

}  // namespace uscope::tracer

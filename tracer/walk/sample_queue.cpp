// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/sample_queue.h"

#include <iterator>
#include <utility>

namespace uscope::tracer {

bool SampleQueue::add(const usc_sample& sample, std::uint64_t since_ns) {
  auto held = mirror_.take(sample);
  if (!held) return false;
  held->since_ns = since_ns;
  put_back(std::move(*held));
  return true;
}

void SampleQueue::put_back(HeldSample sample) {
  hold(sample);
  fresh_.push_back(std::move(sample));
}

void SampleQueue::begin_round() {
  std::move(fresh_.begin(), fresh_.end(), std::back_inserter(due_));
  fresh_.clear();
}

std::optional<HeldSample> SampleQueue::take() {
  if (due_.empty()) return std::nullopt;
  HeldSample sample = std::move(due_.front());
  due_.pop_front();
  let_go(sample);
  return sample;
}

void SampleQueue::hold(const HeldSample& sample) {
  held_since_[sample.since_ns]++;
  held_bytes_ += sample.own_bytes();
}

void SampleQueue::let_go(const HeldSample& sample) {
  held_bytes_ -= sample.own_bytes();
  const auto count = held_since_.find(sample.since_ns);
  if (--count->second == 0) held_since_.erase(count);
}

void SampleQueue::let_wait(HeldSample sample, trace::FileId file) {
  sample.waits++;
  hold(sample);
  if (sample.head().verify == 0) stacks_[trace::StackId(sample.head().stack)] = file;
  waiting_[file].push_back(std::move(sample));
}

std::optional<trace::FileId> SampleQueue::who_waits(trace::StackId stack) const {
  const auto found = stacks_.find(stack);
  return found == stacks_.end() ? std::nullopt : std::optional(found->second);
}

void SampleQueue::rows_came(trace::FileId file) {
  const auto found = waiting_.find(file);
  if (found == waiting_.end()) return;
  // Before those that are due, which may be comparisons with what these will come to.
  for (auto sample = found->second.rbegin(); sample != found->second.rend(); ++sample) {
    if (sample->head().verify == 0) stacks_.erase(trace::StackId(sample->head().stack));
    due_.push_front(std::move(*sample));
  }
  waiting_.erase(found);
}

void SampleQueue::stop_waiting() {
  stopped_ = true;
  while (!waiting_.empty()) rows_came(waiting_.begin()->first);
}

}  // namespace uscope::tracer

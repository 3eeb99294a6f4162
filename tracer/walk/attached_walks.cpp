// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/attached_walks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "support/clock.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kLongestNs = 5'000'000'000;  // of waiting for rows, for all walks

}  // namespace

AttachedWalks::AttachedWalks(Backend& backend, const WalkInputs& inputs, std::function<bool()> wait,
                             std::uint64_t end_ns)
    : backend_(backend),
      inputs_(inputs),
      wait_(std::move(wait)),
      until_ns_(std::min(monotonic_ns() + kLongestNs, end_ns)) {}

UserStack AttachedWalks::walk(const AttachedCall& call, const usc_sample& sample) {
  UserStack walked;
  walked.ended = static_cast<std::uint8_t>(USC_ENDED_BROKEN + int{USC_BROKEN_COMPAT});
  if (call.event.abi == USC_ABI_COMPAT) return walked;
  walked = walk_sample(sample, inputs_);
  while (walked.waits_for && monotonic_ns() < until_ns_ && wait_()) walked = walk_sample(sample, inputs_);
  return walked;
}

Result<FinishedWalk> AttachedWalks::finish(const AttachedCall& call) {
  const auto id = backend_.reserve_stack();
  if (!id) return id.error();
  std::vector<char> copy = call.sample;
  auto& sample = *reinterpret_cast<usc_sample*>(copy.data());
  const UserStack walked = walk(call, sample);
  sample.stack = id->value();
  return FinishedWalk{define_stack(sample, walked), static_cast<bool>(walked.waits_for)};
}

}  // namespace uscope::tracer

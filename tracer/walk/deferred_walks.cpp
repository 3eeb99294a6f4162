// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/deferred_walks.h"

#include <span>
#include <utility>

#include "support/clock.h"

namespace uscope::tracer {
namespace {

// From the call on: for records that are under way, and while the process's mappings could not be told.
constexpr std::uint64_t kLateMappingNs = 1'000'000'000;
constexpr std::uint64_t kLockedMappingsNs = 10'000'000'000;
constexpr std::uint64_t kAskAfterNs = 2'000'000;
constexpr std::size_t kMostAsked = 4096;
// Telling that took t is followed by this many t without: a process may have very many mappings, and calls from
// places that none of them holds.
constexpr std::uint64_t kRest = 20;

bool is_unmapped(const UserStack& walked) {
  return walked.ended == USC_ENDED_BROKEN + int{USC_BROKEN_NO_MAPPING};
}

}  // namespace

trace::RecordBuilder<usc_stack> define_stack(const usc_sample& sample, const UserStack& walked) {
  usc_stack stack{};
  stack.head = sample.head;
  stack.stack = sample.stack;
  stack.mm = walked.has_jit ? sample.mm : 0;
  stack.depth = static_cast<__u16>(walked.frames.size());
  stack.ended = walked.ended;
  stack.deferred = 1;
  return std::move(trace::RecordBuilder<usc_stack>(stack).add_values(std::span(walked.frames)));
}

UserStack walk_sample(const usc_sample& sample, const WalkInputs& inputs, bool mappings_are_told) {
  CodeSources code{.memory = {}, .mappings_are_told = mappings_are_told};
  if (inputs.code != nullptr)
    code.memory = [&](std::uint64_t pc) {
      return inputs.code->at(trace::MmId(sample.mm), inputs.tasks.find(trace::TaskId(sample.head.task)).pid, pc);
    };
  return walk_sample(sample, inputs.mappings, inputs.files, inputs.rows, inputs.scope, code);
}

// A mapping is announced at the next call of the task that made it, which may not come for long, or ever; or find the
// mappings locked again, up to the task's last call. Then the process's mappings are asked for, before it may be gone.
bool DeferredWalks::is_time_to_ask(const HeldSample& held) const {
  if (held.asked || closing_) return !held.asked;
  const std::uint64_t now = monotonic_ns();
  const auto before = asked_.find(trace::MmId(held.head().mm));
  const bool rests = before != asked_.end() && !before->second.has_told(held) && now < before->second.rest_until_ns;
  return !rests && now - held.head().head.time >= kAskAfterNs;
}

bool DeferredWalks::may_be_mapped_late(const HeldSample& held) const {
  const std::uint64_t longest = held.asked ? kLateMappingNs : kLockedMappingsNs;
  return !closing_ && samples_.may_wait(held) && monotonic_ns() - held.head().head.time < longest;
}

// Once for all walks of an address space that wait by then; and again, after a rest, where not all could be told: a
// process that starts threads or loads libraries may have its mappings locked each time.
Result<void> DeferredWalks::ask_for_mappings(HeldSample& held) {
  const usc_sample& sample = held.head();
  if (asked_.size() > kMostAsked) asked_.clear();
  Asked& asked = asked_[trace::MmId(sample.mm)];
  held.asked = closing_ || asked.has_told(held);
  if (asked.has_told(held)) return {};
  asked = {.ns = monotonic_ns()};
  auto announced = backend_.announce_mappings(inputs_.tasks.find(trace::TaskId(sample.head.task)).pid);
  const std::uint64_t now = monotonic_ns();
  asked.rest_until_ns = now + kRest * (now - asked.ns);
  if (!announced) return announced.error();
  asked.told = *announced;
  held.asked = held.asked || asked.told;
  return {};
}

Result<std::optional<FinishedWalk>> DeferredWalks::finish(HeldSample held) {
  const std::uint64_t version = inputs_.mappings.version(trace::MmId(held.head().mm), held.head().head.time) + 1;
  if (held.unmapped_version == version && may_be_mapped_late(held) && !is_time_to_ask(held)) {
    samples_.put_back(std::move(held));
    return std::optional<FinishedWalk>();
  }
  const std::vector<char> whole = held.whole();
  const auto& sample = *reinterpret_cast<const usc_sample*>(whole.data());
  UserStack walked = walk_sample(sample, inputs_);
  if (walked.waits_for && samples_.may_wait(held)) {
    samples_.let_wait(std::move(held), walked.waits_for);
    return std::optional<FinishedWalk>();
  }
  bool unmapped = is_unmapped(walked) && sample.reason != USC_DEFER_COPIED;
  const bool ask = unmapped && is_time_to_ask(held);
  if (ask) {
    if (auto announced = ask_for_mappings(held); !announced) return announced.error();
  }
  if (ask || (unmapped && may_be_mapped_late(held))) {
    held.unmapped_version = version;
    samples_.put_back(std::move(held));
    return std::optional<FinishedWalk>();
  }
  if (is_unmapped(walked) && asked_[trace::MmId(sample.mm)].has_told(held)) {
    walked = walk_sample(sample, inputs_, true);
    unmapped = unmapped && is_unmapped(walked);
  }
  return std::optional(FinishedWalk{define_stack(sample, walked), unmapped || walked.waits_for});
}

}  // namespace uscope::tracer

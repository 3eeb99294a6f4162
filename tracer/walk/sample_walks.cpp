// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/sample_walks.h"

#include <optional>
#include <utility>
#include <vector>

#include "support/clock.h"

namespace uscope::tracer {
namespace {

// Not for long: thousands of walks may have waited for one file, and meanwhile the rings fill.
constexpr std::uint64_t kSliceNs = 2'000'000;

}  // namespace

SampleWalks::SampleWalks(Backend& backend, trace::RecordSink& sink, const WalkInputs& inputs, StackHandler on_stack,
                         bool verifies, CompareObserver* observer)
    : sink_(sink), inputs_(inputs), on_stack_(std::move(on_stack)), walks_(backend, samples_, inputs) {
  if (verifies) verifier_ = std::make_unique<Verifier>(inputs.mappings, inputs.files, inputs.scope, observer);
}

Result<void> SampleWalks::add(const usc_sample& sample, std::uint64_t since_ns) {
  return samples_.add(sample, since_ns) ? Result<void>() : lose(sample);
}

Result<void> SampleWalks::work() {
  const std::uint64_t until = monotonic_ns() + kSliceNs;
  while (monotonic_ns() < until) {
    auto held = samples_.take();
    if (!held) break;
    const bool compares = held->head().verify != 0;
    if (auto done = compares ? verify(std::move(*held)) : finish(std::move(*held)); !done) return done;
  }
  return {};
}

Result<void> SampleWalks::finish(HeldSample held) {
  const trace::TaskId task(held.head().head.task);
  const auto done = walks_.finish(std::move(held));
  if (!done) return done.error();
  if (!*done) return {};
  if ((*done)->given_up) count_given_up(task);
  figures_.finished++;
  const usc_stack& stack = (*done)->stack.record();
  on_stack_(stack);
  return sink_.append(stack.head);
}

Result<void> SampleWalks::verify(HeldSample held) {
  if (const auto serial = samples_.who_waits(trace::StackId(held.head().stack))) {
    samples_.let_wait(std::move(held), *serial);
    return {};
  }
  const std::vector<char> whole = held.whole();
  const auto& sample = *reinterpret_cast<const usc_sample*>(whole.data());
  std::optional<usc_verify> outcome = verifier_ ? verifier_->check(sample) : std::nullopt;
  if (!outcome) return lose(sample);
  figures_.verified++;
  if (outcome->first_difference >= 0) figures_.differing++;
  outcome->head = sample.head;
  outcome->entry_ns = sample.entry_ns;
  return sink_.append(trace::RecordBuilder<usc_verify>(*outcome).head());
}

// A sample's number is explained once (loss.def): by the loss if that is numbered, else by a record in its place.
Result<void> SampleWalks::lose(const usc_sample& sample) {
  usc_loss loss{};
  loss.head = sample.head;
  loss.from_ns = sample.head.time;
  loss.count = 1;
  loss.cause = sample.verify != 0 ? USC_LOSS_VERIFY_SKIPPED : USC_LOSS_DEFERRED_GIVEN_UP;
  loss.process = inputs_.tasks.find(trace::TaskId(sample.head.task)).process.value();
  if (usc_loss_is_numbered(loss.cause) != 0) return sink_.append_own(loss);
  return sink_.append(trace::RecordBuilder<usc_loss>(loss).head());
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What becomes of the stack copies that the kernel side sends (usc_sample): a walk that it left to user space is
// finished, and its stack is written; a copy of --verify is compared with the stack that was recorded. What is written
// takes the sample's place: its CPU and sequence number.
//
// A copy is looked at one round after it came, since records of other CPUs that it needs may not have been read yet,
// and later if a file's rows are being made or a mapping is missing (sample_queue.h, deferred_walks.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "support/result.h"
#include "trace/sink.h"
#include "tracer/backend/backend.h"
#include "tracer/walk/deferred_walks.h"
#include "tracer/walk/sample_queue.h"
#include "tracer/walk/verifier.h"
#include "tracer/walk/walk_inputs.h"

namespace uscope::tracer {

class SampleWalks {
 public:
  struct Figures {
    std::uint64_t finished = 0;  // walks
    std::uint64_t verified = 0;
    std::uint64_t differing = 0;
  };
  using StackHandler = std::function<void(const usc_stack&)>;

  // `on_stack` is called for each finished stack, before it is written. `verifies`: samples of --verify are compared;
  // else they are counted as lost. `observer` may be null.
  SampleWalks(Backend& backend, trace::RecordSink& sink, const WalkInputs& inputs, StackHandler on_stack, bool verifies,
              CompareObserver* observer);

  // Call it for every stack definition: samples of --verify refer to them.
  void observe(const usc_stack& stack) {
    if (verifier_) verifier_->remember(stack);
  }

  void begin_round() { samples_.begin_round(); }
  // `since_ns`: a time that the sample's call did not begin before.
  Result<void> add(const usc_sample& sample, std::uint64_t since_ns);
  void rows_came(trace::FileId file) { samples_.rows_came(file); }
  // Finishes or compares copies that are due, for about 2 ms.
  Result<void> work();

  // No new call is recorded any more: walks that wait for a mapping ask for it, or are finished as they are.
  void close() { walks_.close(); }
  // From here on no walk waits for rows.
  void stop_waiting() { samples_.stop_waiting(); }

  [[nodiscard]] bool empty() const { return samples_.empty(); }
  [[nodiscard]] bool has_due() const { return samples_.has_due(); }
  [[nodiscard]] std::uint64_t held_since_ns() const { return samples_.held_since_ns(); }
  [[nodiscard]] const Figures& figures() const { return figures_; }

  // Counts a walk of this task that ended without something it needed.
  void count_given_up(trace::TaskId task) { given_up_[inputs_.tasks.find(task).process]++; }
  // How many walks were given up since the last call, by process.
  std::unordered_map<trace::ProcessId, std::uint64_t> take_given_up() { return std::exchange(given_up_, {}); }

 private:
  Result<void> finish(HeldSample held);
  Result<void> verify(HeldSample held);
  Result<void> lose(const usc_sample& sample);

  trace::RecordSink& sink_;
  const WalkInputs inputs_;
  StackHandler on_stack_;
  SampleQueue samples_;
  DeferredWalks walks_;
  std::unique_ptr<Verifier> verifier_;
  std::unordered_map<trace::ProcessId, std::uint64_t> given_up_;
  Figures figures_;
};

}  // namespace uscope::tracer

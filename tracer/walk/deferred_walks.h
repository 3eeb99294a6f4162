// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Walks that the kernel side could not finish, finished over the copy of the stack that it sent. What such a walk needs
// may still be under way: a file's unwind rows, or a mapping that has not been announced yet; then the walk waits.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "support/result.h"
#include "trace/record_builder.h"
#include "tracer/backend/backend.h"
#include "tracer/walk/sample_queue.h"
#include "tracer/walk/user_walk.h"
#include "tracer/walk/walk_inputs.h"

namespace uscope::tracer {

// A usc_stack record, its frames behind it, as the kernel side would have sent it.
trace::RecordBuilder<usc_stack> define_stack(const usc_sample& sample, const UserStack& walked);

// walk_sample() with all inputs; the code is read from the sample's process.
[[nodiscard]] UserStack walk_sample(const usc_sample& sample, const WalkInputs& inputs, bool mappings_are_told = false);

struct FinishedWalk {
  trace::RecordBuilder<usc_stack> stack;  // the record that defines it
  bool given_up = false;                  // something that it needed never came
};

class DeferredWalks {
 public:
  DeferredWalks(Backend& backend, SampleQueue& samples, const WalkInputs& inputs)
      : backend_(backend), samples_(samples), inputs_(inputs) {}

  // Nothing where it waits, in the queue again.
  Result<std::optional<FinishedWalk>> finish(HeldSample held);
  // No further mapping will be announced without a request.
  void close() { closing_ = true; }

 private:
  [[nodiscard]] bool is_time_to_ask(const HeldSample& held) const;
  Result<void> ask_for_mappings(HeldSample& held);
  [[nodiscard]] bool may_be_mapped_late(const HeldSample& held) const;

  Backend& backend_;
  SampleQueue& samples_;
  const WalkInputs inputs_;
  // The last time that an address space's mappings were asked for.
  struct Asked {
    std::uint64_t ns = 0;
    std::uint64_t rest_until_ns = 0;
    bool told = false;  // all of them

    [[nodiscard]] bool has_told(const HeldSample& held) const { return told && ns > held.head().head.time; }
  };
  std::unordered_map<trace::MmId, Asked> asked_;
  bool closing_ = false;
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The walks of the stacks that threads had when tracing began (attached_calls.h).
#pragma once

#include <cstdint>
#include <functional>

#include "support/result.h"
#include "tracer/backend/backend.h"
#include "tracer/walk/attached_calls.h"
#include "tracer/walk/deferred_walks.h"
#include "tracer/walk/user_walk.h"
#include "tracer/walk/walk_inputs.h"

namespace uscope::tracer {

class AttachedWalks {
 public:
  // `wait` is called while rows that a walk needs are being made. It returns false if none will come any more; then,
  // and after 5 seconds for all walks together, a walk ends without them.
  // No stack waits for its files after `end_ns`.
  AttachedWalks(Backend& backend, const WalkInputs& inputs, std::function<bool()> wait, std::uint64_t end_ns);

  // The stack of a call, under a number that the kernel side does not use.
  Result<FinishedWalk> finish(const AttachedCall& call);

 private:
  UserStack walk(const AttachedCall& call, const usc_sample& sample);

  Backend& backend_;
  const WalkInputs inputs_;
  std::function<bool()> wait_;
  std::uint64_t until_ns_;
};

}  // namespace uscope::tracer

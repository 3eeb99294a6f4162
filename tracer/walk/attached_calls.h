// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls that threads were found in when tracing began: their stacks are copied from outside, without stopping
// anybody, and walked here.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "support/result.h"
#include "tracer/backend/backend.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

// A call under way, and a usc_sample with the copy of the thread's stack.
struct AttachedCall {
  usc_event event{};
  std::vector<char> sample;
};

// Those that did not move while their stacks were copied: for the others the kernel side sends the return, with a
// stack of its own. Scouts copy (scouts.h): where a page does not answer, the stack ends before it. `meanwhile` is
// called again and again until they are done.
Result<std::vector<AttachedCall>> copy_attached_calls(Backend& backend, Scouts* scouts,
                                                      const std::function<Result<void>()>& meanwhile);

}  // namespace uscope::tracer

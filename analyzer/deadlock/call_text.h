// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a look found a thread in, as a text: "read(3<pipe:[4711]>, 64 bytes)", "flock(3</tmp/app.lock>, LOCK_EX)".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/look.h"

namespace uscope::analyzer {

// Whether the call is about a set of descriptors.
[[nodiscard]] bool asks_many(std::string_view call);

// `descriptor`: what the look has of a descriptor of the thread's process; null: nothing. Names in the text may hold
// any byte.
using FindDescriptor = std::function<const Resource*(std::int64_t fd)>;
[[nodiscard]] std::string call_text(const LastCall& thread, const LookedThread& looked,
                                    const FindDescriptor& descriptor);

}  // namespace uscope::analyzer

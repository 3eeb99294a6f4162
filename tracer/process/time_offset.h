// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Time namespaces: how far a thread's CLOCK_MONOTONIC is ahead of the host's.
#pragma once

#include <cstdint>
#include <optional>

namespace uscope::tracer {

// In nanoseconds. Returns nullopt if it cannot be determined: the thread has ended, or /proc only shows the namespace
// of its children, which is another one (after unshare).
[[nodiscard]] std::optional<std::int64_t> time_offset_of(std::uint32_t tid);

}  // namespace uscope::tracer

// Time namespaces: by how much a thread's CLOCK_MONOTONIC is before the host's.
#pragma once

#include <cstdint>
#include <optional>

namespace uscope::tracer {

// In nanoseconds. Nothing where it cannot be told: it has gone, or /proc tells of its children's namespace only, which
// is another one (after unshare).
[[nodiscard]] std::optional<std::int64_t> time_offset_of(std::uint32_t tid);

}  // namespace uscope::tracer

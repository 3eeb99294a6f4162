// What the examinations of both backends look at.
#pragma once

#include <cstdint>
#include <string>

#include "tracer/preflight.h"

namespace uscope::tracer {

// Bits by capability number; 0 where they cannot be asked.
[[nodiscard]] std::uint64_t effective_capabilities();
// uname -r.
[[nodiscard]] std::string kernel_release();
[[nodiscard]] Check check_kernel();
// "none", "integrity" or "confidentiality"; "" where the kernel has no lockdown.
[[nodiscard]] std::string lockdown_level();

}  // namespace uscope::tracer

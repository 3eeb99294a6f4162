// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The ids by which a process in a pid namespace (a container) knows its threads.
#pragma once

#include <cstdint>
#include <map>

namespace uscope::tracer {

// Of each thread of the process the id that the process itself sees, and the id in uscope's own namespace.
[[nodiscard]] std::map<std::uint32_t, std::uint32_t> thread_ids_of(std::uint32_t pid);

}  // namespace uscope::tracer

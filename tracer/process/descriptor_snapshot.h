// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The open descriptors of a process, from /proc; read when it enters the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace uscope::tracer {

struct OpenDescriptor {
  int fd = 0;               // USC_FD_CWD: the working directory; absent for a process with a root of its own
  std::uint32_t flags = 0;  // USC_FD_CLOEXEC
  std::string target;       // as in /proc: "/etc/passwd"; of a socket with its address: "socket:[4711] at inet:[::]:80"
};

// Returns at most kMostDescriptors, in no order; none if /proc does not show them.
inline constexpr std::size_t kMostDescriptors = 16384;
[[nodiscard]] std::vector<OpenDescriptor> open_descriptors_of(std::uint32_t pid);

}  // namespace uscope::tracer

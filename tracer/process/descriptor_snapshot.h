// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The open descriptors of a process, from /proc; read when it enters the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace uscope::tracer {

// As the kernel numbers it.
struct DescriptorFile {
  std::uint64_t dev = 0;
  std::uint64_t ino = 0;
  std::uint32_t space = 0;  // the process's mount namespace, by its inode; 0: nothing is known
};

struct OpenDescriptor {
  int fd = 0;               // USC_FD_CWD: the working directory; absent for a process with a root of its own
  std::uint32_t flags = 0;  // USC_FD_CLOEXEC
  std::string target;       // as in /proc: "/etc/passwd"; of a socket with its address: "socket:[4711] at inet:[::]:80"
  DescriptorFile file{};    // of what has a path
};

// Returns at most kMostDescriptors, in no order; none if /proc does not show them.
inline constexpr std::size_t kMostDescriptors = 16384;
[[nodiscard]] std::vector<OpenDescriptor> open_descriptors_of(std::uint32_t pid);

}  // namespace uscope::tracer

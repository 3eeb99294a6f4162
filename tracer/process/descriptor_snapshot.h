// What a process has open, by /proc: for when it comes into the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace uscope::tracer {

struct OpenDescriptor {
  int fd = 0;               // USC_FD_CWD: the working directory; not told of a process with a root of its own
  std::uint32_t flags = 0;  // USC_FD_CLOEXEC
  std::string target;       // as /proc has it: "/etc/passwd", "socket:[4711]"
};

// At most kMost of them, in no order; none where /proc does not tell.
inline constexpr std::size_t kMostDescriptors = 16384;
[[nodiscard]] std::vector<OpenDescriptor> open_descriptors_of(std::uint32_t pid);

}  // namespace uscope::tracer

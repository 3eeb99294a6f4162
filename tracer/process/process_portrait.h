// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Facts about a process that ran before the trace which the kernel side does not give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracer/process/descriptor_snapshot.h"

namespace uscope::tracer {

struct ProcessPortrait {
  std::string name;  // of its first thread
  std::string path;  // given to exec; its executable's if that is not known
  std::string arguments;
  std::uint64_t descriptors_ns = 0;  // when they were read
  std::vector<OpenDescriptor> descriptors;
  bool has_io_uring = false;
};

// Asks /proc; scouts/process_looks.h does.
class PortraitSource {
 public:
  virtual ~PortraitSource() = default;
  // Nullopt if nothing answered. Descriptors are read if `with_descriptors`.
  virtual std::optional<ProcessPortrait> portrait_of(std::uint32_t pid, bool with_descriptors) = 0;
  virtual std::vector<OpenDescriptor> descriptors_of(std::uint32_t pid) = 0;
};

}  // namespace uscope::tracer

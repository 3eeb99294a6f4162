// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a breakpoint in a process's code is one of the kernel's (uprobes), which it puts into every process that maps
// the file privately, or the process's own. Both are a byte in a page of the process's own, so the file is mapped here:
// what the kernel puts there into a new mapping, it has put into the other one.
//
// Limit: a tracer may have the kernel put its breakpoints into one process alone. Such a one counts as the process's
// own.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace uscope::tracer {

inline constexpr unsigned char kBreakpoint = 0xcc;  // int3

class KernelBreakpoints {
 public:
  // Whether the kernel puts one at an offset in a file of this number, to which `path` leads. False if the file cannot
  // be mapped.
  bool is_one_at(std::uint32_t file, const std::string& path, std::uint64_t offset);

 private:
  std::set<std::pair<std::uint32_t, std::uint64_t>> found_;
};

}  // namespace uscope::tracer

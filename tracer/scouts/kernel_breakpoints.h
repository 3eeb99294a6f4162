// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a breakpoint in a process's code is one of the kernel's (uprobes), which it puts into every process that maps
// the file privately, or the process's own. Both are a byte in a page of the process's own, so the file is mapped here:
// what the kernel puts there into a new mapping, it has put into the other one.
//
// A place is looked at after the process's own byte was read, so that a breakpoint that comes meanwhile is seen in
// both; of a page with many, only the first ones are: thousands would take seconds.
//
// Limit: a tracer may have the kernel put its breakpoints into one process alone. Such a one counts as the process's
// own.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace uscope::tracer {

inline constexpr unsigned char kBreakpoint = 0xcc;  // int3

class KernelBreakpoints {
 public:
  // Whether the kernel puts one at an offset in a file of this number, to which `path` leads. False if the file cannot
  // be mapped.
  bool is_one_at(std::uint32_t file, const std::string& path, std::uint64_t offset);

 private:
  static constexpr std::uint32_t kFreshLooks = 16;

  // False if the page cannot be mapped.
  bool read(const std::string& path, const std::pair<std::uint32_t, std::uint64_t>& page);

  std::pair<std::uint32_t, std::uint64_t> page_;  // of `bytes_`: file and number
  std::vector<unsigned char> bytes_;
  std::uint32_t fresh_ = 0;  // for how many places it was read
  std::set<std::pair<std::uint32_t, std::uint64_t>> found_;
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which backend is to be opened, how large it is, and which processes it traces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uscope::tracer {

// Sizes of what is kept in the kernel.
struct BackendSizes {
  std::uint32_t ring_bytes = 16u << 20;  // of each processor; a power of two
  std::uint32_t rows = 4u << 20;         // unwind rows of all files, 8 bytes each
  std::uint32_t index_entries = 1u << 20;
  std::uint32_t rules = 1u << 14;
};

// Identifies the processes to trace, unless the target is a launched command. usc_target says which of these members
// count.
struct TargetNames {
  std::vector<std::string> apps;       // base names of executables and scripts
  std::vector<std::uint32_t> pids;     // in our own pid namespace
  std::vector<std::uint64_t> cgroups;  // ids, of version 2
};

// kAuto: the kernel module where it is loaded and free, else BPF.
enum class BackendChoice : std::uint8_t { kAuto, kBpf, kKmod };

}  // namespace uscope::tracer

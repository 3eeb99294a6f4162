// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Shared memory of a process, and the processes that share it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace uscope::tracer {

// A file by the numbers that the kernel side uses too: device (major << 20 | minor) and inode.
using SharedFile = std::pair<std::uint64_t, std::uint64_t>;

struct SharedMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // in the file, of start
  SharedFile file;
  std::string name;  // as in /proc/PID/maps: "/dev/shm/x", "/dev/zero (deleted)"
};

// Its shared mappings, by address; nullopt if /proc does not show them.
[[nodiscard]] std::optional<std::vector<SharedMapping>> shared_mappings_of(std::uint32_t pid);

// Which other processes are queried, and how.
struct AskedAround {
  std::set<std::uint32_t> known;                // processes of the trace, and uscope's own: never counted as untraced
  std::set<std::uint32_t> silent;               // not queried, and assumed to have the object in question
  std::function<void(std::uint32_t pid)> asks;  // called with each process before it is queried
};

// How many processes that are not known map each of these files; `files` must be sorted.
[[nodiscard]] std::vector<std::uint32_t> count_untraced_sharers(const std::vector<SharedFile>& files,
                                                                const AskedAround& around);

}  // namespace uscope::tracer

// What of a process's memory other processes may share, and who does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace uscope::tracer {

// A file by the numbers that the kernel side knows it by, too: device (major << 20 | minor) and inode.
using SharedFile = std::pair<std::uint64_t, std::uint64_t>;

struct SharedMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // in the file, of start
  SharedFile file;
  std::string name;  // as /proc/PID/maps has it: "/dev/shm/x", "/dev/zero (deleted)"
};

// Its mappings that are shared, by address; nothing where /proc does not tell of it.
[[nodiscard]] std::optional<std::vector<SharedMapping>> shared_mappings_of(std::uint32_t pid);

// Who else is asked about, and how.
struct AskedAround {
  std::set<std::uint32_t> known;                // processes of the trace, and our own: no strangers
  std::set<std::uint32_t> silent;               // not asked, and taken to have what is asked for
  std::function<void(std::uint32_t pid)> asks;  // told of each process before it is asked
};

// How many processes that are not known map each of these files, which are sorted.
[[nodiscard]] std::vector<std::uint32_t> count_strangers(const std::vector<SharedFile>& files,
                                                         const AskedAround& around);

}  // namespace uscope::tracer

// What of a process's memory other processes may share, and who does.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
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
};

// Its mappings that are shared, by address; nothing where /proc does not tell of it.
[[nodiscard]] std::optional<std::vector<SharedMapping>> shared_mappings_of(std::uint32_t pid);

// How many processes that are not in `known` map each of these files.
[[nodiscard]] std::vector<std::uint32_t> count_strangers(const std::vector<SharedFile>& files,
                                                         const std::set<std::uint32_t>& known);

}  // namespace uscope::tracer

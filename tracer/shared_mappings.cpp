#include "tracer/shared_mappings.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tracer/process_list.h"

namespace uscope::tracer {
namespace {

constexpr unsigned kMinorBits = 20;  // as the kernel packs a device's two numbers

// 7f00a000-7f00b000 rw-s 00001000 fd:01 1234   /dev/shm/x
std::optional<SharedMapping> shared_mapping_in(const std::string& line) {
  std::istringstream words(line);
  SharedMapping mapping;
  char sign = 0;
  std::string permissions;
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  words >> std::hex >> mapping.start >> sign >> mapping.end >> permissions >> mapping.offset >> major >> sign >>
      minor >> std::dec >> mapping.file.second;
  if (!words || permissions.size() < 4 || permissions[3] != 's') return std::nullopt;
  mapping.file.first = major << kMinorBits | minor;
  return mapping;
}

}  // namespace

std::optional<std::vector<SharedMapping>> shared_mappings_of(std::uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(living_thread_of(pid)) + "/maps");
  if (!file) return std::nullopt;
  std::vector<SharedMapping> mappings;
  for (std::string line; std::getline(file, line);)
    if (auto mapping = shared_mapping_in(line)) mappings.push_back(*mapping);
  return mappings;
}

std::vector<std::uint32_t> count_strangers(const std::vector<SharedFile>& files, const std::set<std::uint32_t>& known) {
  std::vector<std::uint32_t> counts(files.size());
  if (files.empty()) return counts;
  for (const std::uint32_t pid : running_processes()) {
    if (known.count(pid) != 0 || pid == static_cast<std::uint32_t>(getpid())) continue;
    const auto mappings = shared_mappings_of(pid);
    for (std::size_t i = 0; mappings && i < files.size(); i++)
      counts[i] += std::any_of(mappings->begin(), mappings->end(),
                               [&](const SharedMapping& mapping) { return mapping.file == files[i]; })
                       ? 1
                       : 0;
  }
  return counts;
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/shared_mappings.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tracer/process/process_list.h"

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
  std::getline(words >> std::ws, mapping.name);
  return mapping;
}

}  // namespace

std::optional<std::vector<SharedMapping>> shared_mappings_of(std::uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/maps", living_thread_of(pid)));
  if (!file) return std::nullopt;
  std::vector<SharedMapping> mappings;
  for (std::string line; std::getline(file, line);)
    if (auto mapping = shared_mapping_in(line)) mappings.push_back(*mapping);
  return mappings;
}

std::vector<std::uint32_t> count_untraced_sharers(const std::vector<SharedFile>& files, const AskedAround& around) {
  std::vector<std::uint32_t> counts(files.size());
  if (files.empty()) return counts;
  for (const std::uint32_t pid : running_processes()) {
    if (around.known.count(pid) != 0) continue;
    if (around.silent.count(pid) != 0) {
      for (std::uint32_t& count : counts) count++;
      continue;
    }
    around.asks(pid);
    const auto mappings = shared_mappings_of(pid);
    std::set<std::size_t> held;  // indices into files, each once
    for (std::size_t i = 0; mappings && i < mappings->size(); i++) {
      const auto file = std::lower_bound(files.begin(), files.end(), (*mappings)[i].file);
      if (file != files.end() && *file == (*mappings)[i].file)
        held.insert(static_cast<std::size_t>(file - files.begin()));
    }
    for (const std::size_t file : held) counts[file]++;
  }
  return counts;
}

}  // namespace uscope::tracer

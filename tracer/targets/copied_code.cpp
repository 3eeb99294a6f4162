// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/copied_code.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

struct FileMapping {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::string permissions;  // "r-xp"

  [[nodiscard]] bool executable() const { return permissions[2] == 'x'; }
  [[nodiscard]] bool writable() const { return permissions[1] == 'w'; }
  [[nodiscard]] bool is_private() const { return permissions[3] == 'p'; }
  // As the kernel's valid_vma() (kernel/events/uprobes.c).
  [[nodiscard]] bool takes_breakpoints() const { return is_private() && !writable(); }
  [[nodiscard]] bool holds(std::uint64_t place) const { return place - offset < bytes; }
};

std::vector<FileMapping> mappings_of(std::string_view maps, const std::string& file) {
  std::vector<FileMapping> out;
  std::istringstream lines{std::string(maps)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    std::string_view path = std::string_view(line).substr(slash);
    if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
    if (path != file) continue;
    std::istringstream words(line);
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    char dash = 0;
    FileMapping mapping;
    words >> std::hex >> start >> dash >> end >> mapping.permissions >> mapping.offset;
    if (!words || mapping.permissions.size() != 4) continue;
    mapping.bytes = end - start;
    out.push_back(std::move(mapping));
  }
  return out;
}

}  // namespace

std::string why_without_probes(std::string_view maps, const std::string& file, bool is_its_program,
                               std::span<const std::uint64_t> places) {
  const std::vector<FileMapping> mappings = mappings_of(maps, file);
  // Who only reads a file has no reason to map it executable, or to write into its own copy of it.
  const bool is_loaded = is_its_program || std::any_of(mappings.begin(), mappings.end(), [](const FileMapping& one) {
                           return one.executable() || (one.writable() && one.is_private());
                         });
  if (!is_loaded) return "";
  for (const std::uint64_t place : places) {
    const auto any = [&](bool with_breakpoints) {
      return std::any_of(mappings.begin(), mappings.end(), [&](const FileMapping& one) {
        return one.executable() && one.holds(place) && one.takes_breakpoints() == with_breakpoints;
      });
    };
    if (any(false)) return "executes a shared or writable mapping";
    if (!any(true)) return "has other memory in the place, which may be a copy,";
  }
  return "";
}

std::vector<WithoutProbes> processes_without_probes(const ProbePlan& plan, std::span<const std::uint32_t> pids) {
  std::map<std::string, std::vector<std::uint64_t>> files;
  for (const Probe& probe : plan.probes)
    if (!probe.path.empty()) {
      auto& places = files[path_in_its_root(probe.path)];
      places.insert(places.end(), probe.places.begin(), probe.places.end());
    }
  std::vector<WithoutProbes> out;
  if (files.empty()) return out;
  for (const std::uint32_t pid : pids) {
    std::stringstream maps;
    maps << std::ifstream(fmt::format("/proc/{}/maps", pid)).rdbuf();
    const std::string program = executable_of(pid);
    for (const auto& [path, places] : files) {
      const std::string why = why_without_probes(maps.str(), path, program == path, places);
      if (!why.empty())
        out.emplace_back(pid,
                         fmt::format("process {} ({}) {} of code of {} that is to be probed: what it calls there is "
                                     "not recorded",
                                     pid, name_of(pid), why, path));
    }
  }
  return out;
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/application_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/glob.h"
#include "support/text.h"
#include "symbolizer/elf/elf_facts.h"
#include "tracer/process/launcher.h"
#include "tracer/process/library_search.h"
#include "tracer/process/process_list.h"
#include "tracer/scouts/process_looks.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostProgramFiles = 512;

std::string canonical(const std::string& path) {
  std::error_code error;
  const auto found = std::filesystem::canonical(path, error);
  return error ? path : found.string();
}

void add_name(ApplicationFile& file, std::string_view name) {
  if (!name.empty() && std::find(file.names.begin(), file.names.end(), name) == file.names.end())
    file.names.emplace_back(name);
}

OpenedFile open_by_scout(Scouts& scouts, std::uint32_t pid, const std::string& path) {
  return opened_file(ask(&scouts, pid, open_file, OpenRequest{.path = path, .pid = pid}.bytes()));
}

bool leads_to(Scouts& scouts, std::uint32_t pid, const std::string& path, const FileIdentity& id) {
  const OpenedFile found = open_by_scout(scouts, pid, path);
  return found.status.st_mode != 0 && identity_of(found.status) == id;
}

// The first path by which this process finds the mapped file.
std::string path_of_mapping(Scouts& scouts, std::uint32_t pid, const ExecutableMapping& mapping,
                            const std::string& entry, const FileIdentity& id) {
  if (leads_to(scouts, pid, mapping.path, id)) return mapping.path;
  std::string inside = fmt::format("/proc/{}/root{}", pid, mapping.path);
  return leads_to(scouts, pid, inside, id) ? inside : entry;
}

}  // namespace

std::vector<ApplicationFile> mapped_files(const std::vector<std::uint32_t>& pids, Scouts& scouts,
                                          std::vector<std::uint32_t>& unanswered) {
  std::vector<ApplicationFile> files;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known;
  ProcessLooks looks(&scouts);
  for (const std::uint32_t pid : pids) {
    const trace::ProcessNames names = looks.names_of(pid);
    const std::uint32_t living = living_thread_of(pid);
    for (const ExecutableMapping& mapping : looks.executable_mappings_of(pid)) {
      if (!mapping.path.starts_with('/')) continue;
      const std::string entry = map_files_entry(living, mapping.start, mapping.end);
      OpenedFile opened = open_by_scout(scouts, pid, entry);
      const FileIdentity id = identity_of(opened.status);
      if (!opened.fd || !known.emplace(id.device, id.inode).second) continue;
      const std::string name(base_name(mapping.path));
      files.push_back({{name}, path_of_mapping(scouts, pid, mapping, entry, id), std::move(opened.fd), id});
      if (name == names.executable)
        for (const std::string& other : names.all()) add_name(files.back(), base_name(other));
    }
    const auto silent = scouts.take_unresponsive();
    unanswered.insert(unanswered.end(), silent.begin(), silent.end());
  }
  return files;
}

std::vector<ApplicationFile> files_of_program(const std::string& path) {
  std::vector<ApplicationFile> files;
  std::vector<std::string> wanted{path};
  std::map<std::string, std::size_t> known;
  while (!wanted.empty() && files.size() < kMostProgramFiles) {
    const std::string next = std::move(wanted.back());
    wanted.pop_back();
    const std::string file = canonical(next);
    if (const auto before = known.find(file); before != known.end()) {
      if (before->second < files.size()) add_name(files[before->second], base_name(next));
      continue;
    }
    const auto place = known.emplace(file, SIZE_MAX).first;
    const auto fd = open_regular(file, "");
    if (!fd) continue;
    if (const std::string interpreter = script_interpreter(fd->get()); !interpreter.empty()) {
      wanted.push_back(interpreter);
      continue;
    }
    const auto facts = symbolizer::read_elf_facts(fd->get(), file);
    if (!facts) continue;
    place->second = files.size();
    files.push_back({{std::string(base_name(file))}, file, UniqueFd(), {}});
    add_name(files.back(), base_name(next));
    for (std::string& library : asked_for(*facts, file)) wanted.push_back(std::move(library));
  }
  return files;
}

std::optional<ApplicationFile> file_named(const std::string& binary) {
  std::string path = binary;
  if (binary.find('/') == std::string::npos) {
    path = find_library(binary);
    if (path.empty())
      if (const auto program = find_program(binary)) path = *program;
  }
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return std::nullopt;
  ApplicationFile file{{}, canonical(path), UniqueFd(), {}};
  add_name(file, base_name(file.path));
  add_name(file, base_name(path));
  return file;
}

std::string with_files_searched(const std::string& remedy, const Application& application, const std::string& form) {
  if (application.program.empty()) return remedy;
  return fmt::format(
      "{}{}of the command, only its first program, {}, and that one's libraries were searched; name the file of a "
      "program "
      "that it starts: -t {}./PROGRAM:NAME",
      remedy, remedy.empty() ? "" : "; ", application.program, form);
}

bool goes_by(const ApplicationFile& file, const std::string& binary) {
  if (binary.find('/') != std::string::npos) return glob_matches(binary, file.path) || canonical(binary) == file.path;
  return std::any_of(file.names.begin(), file.names.end(), [&](const std::string& name) {
    return glob_matches(binary, name) || glob_matches(binary + ".*", name);
  });
}

}  // namespace uscope::tracer

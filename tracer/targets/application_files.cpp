// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/application_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostProgramFiles = 512;

using FileId = std::pair<dev_t, ino_t>;

FileId id_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? FileId{status.st_dev, status.st_ino} : FileId{};
}

UniqueFd open_file(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (fd && (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))) fd.reset();
  return fd;
}

std::string canonical(const std::string& path) {
  std::error_code error;
  const auto found = std::filesystem::canonical(path, error);
  return error ? path : found.string();
}

void add_name(ApplicationFile& file, std::string_view name) {
  if (!name.empty() && std::find(file.names.begin(), file.names.end(), name) == file.names.end())
    file.names.emplace_back(name);
}

}  // namespace

std::vector<ApplicationFile> mapped_files(const std::vector<std::uint32_t>& pids) {
  std::vector<ApplicationFile> files;
  std::set<FileId> known;
  for (const std::uint32_t pid : pids) {
    const std::string executable = executable_of(pid);
    std::set<std::string> paths;
    for (const ExecutableMapping& mapping : executable_mappings_of(pid))
      if (mapping.path.starts_with('/')) paths.insert(mapping.path);
    for (const std::string& path : paths) {
      const std::string inside = "/proc/" + std::to_string(pid) + "/root" + path;
      UniqueFd fd = open_file(inside);
      if (!fd || !known.insert(id_of(fd.get())).second) continue;
      const UniqueFd here = open_file(path);
      const bool same = here && id_of(here.get()) == id_of(fd.get());
      files.push_back({{std::string(base_name(path))}, same ? path : inside, std::move(fd)});
      if (path == executable)
        for (const std::string& name : names_of(pid).all()) add_name(files.back(), base_name(name));
    }
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
    const UniqueFd fd = open_file(file);
    if (!fd) continue;
    if (const std::string interpreter = script_interpreter(fd.get()); !interpreter.empty()) {
      wanted.push_back(interpreter);
      continue;
    }
    const auto facts = symbolizer::read_elf_facts(fd.get(), file);
    if (!facts) continue;
    place->second = files.size();
    files.push_back({{std::string(base_name(file))}, file, UniqueFd()});
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
  ApplicationFile file{{}, canonical(path), UniqueFd()};
  add_name(file, base_name(file.path));
  add_name(file, base_name(path));
  return file;
}

bool goes_by(const ApplicationFile& file, const std::string& binary) {
  if (binary.find('/') != std::string::npos) return glob_matches(binary, file.path) || canonical(binary) == file.path;
  return std::any_of(file.names.begin(), file.names.end(), [&](const std::string& name) {
    return glob_matches(binary, name) || glob_matches(binary + ".*", name);
  });
}

}  // namespace uscope::tracer

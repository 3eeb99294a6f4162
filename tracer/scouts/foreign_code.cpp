// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/foreign_code.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/auxv.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "support/regular_file.h"
#include "symbolizer/elf/elf_facts.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

// The value behind a name in a file of /proc.
std::optional<std::string> value_of(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string word; file >> word;)
    if (word == name && file >> word) return word;
  return std::nullopt;
}

// Of a thread's status; 0: not known.
std::uint32_t number_of(std::uint32_t tid, std::string_view name) {
  const auto value = value_of(fmt::format("/proc/{}/status", tid), name);
  return value ? static_cast<std::uint32_t>(std::strtoul(value->c_str(), nullptr, 10)) : 0;
}

bool is_writing(const std::string& descriptor_info) {
  constexpr int kOctal = 8;
  const auto flags = value_of(descriptor_info, "flags:");
  return flags && (std::strtoul(flags->c_str(), nullptr, kOctal) & O_ACCMODE) != O_RDONLY;
}

// Executable memory that is no file's, nor the kernel's own.
bool has_made_code(const std::string& maps) {
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string range, modes, offset, device, inode, name;
    words >> range >> modes >> offset >> device >> inode >> name;
    if (modes.size() > 2 && modes[2] == 'x' && inode == "0" && name.empty()) return true;
  }
  return false;
}

bool is_static_program(std::uint32_t tid) {
  const std::string path = fmt::format("/proc/{}/exe", tid);
  const auto fd = open_regular(path, "");
  if (!fd) return false;
  const auto facts = symbolizer::read_elf_facts(fd->get(), path);
  if (!facts || !facts->interpreter.empty() || !facts->needed.empty()) return false;
  // A dynamic loader that was started by its name executes what it loads; of a file it has all that a static program
  // has.
  const std::string target = link_target(path);
  return !facts->dynamic || !target.substr(target.rfind('/') + 1).starts_with("ld");
}

}  // namespace

std::uint32_t tracer_of(std::uint32_t tid) {
  return number_of(tid, "TracerPid:");
}

std::uint32_t tracing_process_of(std::uint32_t tid) {
  const std::uint32_t tracer = tracer_of(tid);
  return tracer == 0 ? 0 : number_of(tracer, "Tgid:");
}

bool can_write_memory(std::uint32_t pid) {
  if (pid == 0) return false;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid), error)) {
    const std::string target = link_target(entry.path());
    if (!target.starts_with("/proc/") || !target.ends_with("/mem")) continue;
    if (is_writing(fmt::format("/proc/{}/fdinfo/{}", pid, entry.path().filename().string()))) return true;
  }
  return false;
}

std::uint64_t loader_base_of(std::uint32_t tid) {
  std::ifstream file(fmt::format("/proc/{}/auxv", tid), std::ios::binary);
  std::array<std::uint64_t, 2> entry{};
  while (file.read(reinterpret_cast<char*>(entry.data()), sizeof(entry)) && entry[0] != AT_NULL)
    if (entry[0] == AT_BASE) return entry[1];
  return 0;
}

bool translates_code(std::uint32_t tid, const std::string& maps) {
  return loader_base_of(tid) == 0 && has_made_code(maps) && is_static_program(tid);
}

}  // namespace uscope::tracer

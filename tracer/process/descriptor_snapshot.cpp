// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/descriptor_snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>

#include "tracer/process/copied_descriptor.h"
#include "tracer/process/process_list.h"
#include "uscope/record.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kLongestTarget = 1024;

// Returns nullopt if there is not a target, or if it is too long to be kept whole.
std::optional<std::string> target_of(const std::string& link) {
  std::string target = link_target(link);
  if (target.empty() || target.size() > kLongestTarget) return std::nullopt;
  return target;
}

// Whether an exec closes it; nullopt if it is gone.
std::optional<bool> closes_on_exec(const std::string& info) {
  std::ifstream file(info);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags:"))
      return (std::strtoul(line.c_str() + std::strlen("flags:"), nullptr, 8) & O_CLOEXEC) != 0;
  return std::nullopt;
}

// The device and inode that the kernel has itself; a server of the file system is not asked.
DescriptorFile file_of(const std::string& link, std::uint32_t space) {
  struct statx found {};
  if (space == 0 || statx(AT_FDCWD, link.c_str(), AT_STATX_DONT_SYNC, STATX_INO, &found) != 0) return {};
  constexpr unsigned kMinorBits = 20;
  return {std::uint64_t{found.stx_dev_major} << kMinorBits | found.stx_dev_minor, found.stx_ino, space};
}

std::uint32_t mount_space_of(const std::string& folder) {
  struct stat space {};
  return stat((folder + "/ns/mnt").c_str(), &space) == 0 ? static_cast<std::uint32_t>(space.st_ino) : 0;
}

}  // namespace

std::vector<OpenDescriptor> open_descriptors_of(std::uint32_t pid) {
  const std::string folder = fmt::format("/proc/{}", pid);
  std::vector<OpenDescriptor> found;
  const bool has_plain_root = target_of(folder + "/root") == "/";
  if (auto cwd = target_of(folder + "/cwd"); cwd && has_plain_root)
    found.push_back({USC_FD_CWD, 0, std::move(*cwd), {}});
  struct Close {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  const std::uint32_t space = mount_space_of(folder);
  const std::unique_ptr<DIR, Close> list(opendir((folder + "/fd").c_str()));
  if (!list) return found;
  while (const dirent* entry = readdir(list.get())) {
    const std::string_view name = entry->d_name;
    int fd = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc() ||
        found.size() > kMostDescriptors)
      continue;
    const std::string link = folder + "/fd/" + std::string(name);
    auto target = target_of(link);
    const auto closes = closes_on_exec(folder + "/fdinfo/" + std::string(name));
    if (target && target->starts_with("socket:["))
      if (const std::string address = socket_address_of(pid, fd, *target); !address.empty()) *target += " " + address;
    if (!target || !closes) continue;
    const DescriptorFile file = target->starts_with('/') ? file_of(link, space) : DescriptorFile();
    found.push_back({fd, *closes ? std::uint32_t{USC_FD_CLOEXEC} : 0U, std::move(*target), file});
  }
  return found;
}

}  // namespace uscope::tracer

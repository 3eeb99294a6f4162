// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/mounts.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "syscalls/call_traits.h"
#include "tracer/process/process_list.h"
#include "tracer/waits/descriptors.h"
#include "tracer/waits/thread_status.h"

namespace uscope::tracer {
namespace {

bool has_part(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return text.find(part) != std::string_view::npos; });
}

// mountinfo writes blanks, tabs, line ends and backslashes as "\040".
std::string unescaped(const std::string& field) {
  constexpr std::size_t kDigits = 3;
  std::string out;
  for (std::size_t i = 0; i < field.size(); i++) {
    const bool is_code =
        field[i] == '\\' && i + kDigits < field.size() && field.find_first_not_of("01234567", i + 1) > i + kDigits;
    out += is_code ? static_cast<char>(std::strtoul(field.substr(i + 1, kDigits).c_str(), nullptr, 8)) : field[i];
    if (is_code) i += kDigits;
  }
  return out;
}

std::vector<Mount> mounts_of(std::uint32_t pid) {
  std::ifstream file(folder_of(pid) + "/mountinfo");
  return read_mounts(file);
}

std::optional<std::uint32_t> mount_id_of(std::uint32_t pid, int fd) {
  std::ifstream file(fmt::format("{}/fdinfo/{}", folder_of(pid), fd));
  constexpr std::string_view kName = "mnt_id:";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kName))
      return static_cast<std::uint32_t>(std::strtoul(line.c_str() + kName.size(), nullptr, 10));
  return std::nullopt;
}

// Follows a path by the names in it. Links are read only where no served file system is.
std::optional<ServedFile> follow(std::uint32_t pid, const std::vector<Mount>& mounts, std::string path) {
  constexpr int kMostSteps = 400;
  const std::string root = folder_of(pid) + "/root";
  std::string done;
  int steps = 0;
  for (std::size_t at = 0; at < path.size() && steps++ < kMostSteps;) {
    const std::size_t begin = path.find_first_not_of('/', at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    at = end;
    if (part == ".") continue;
    if (part == "..") {
      done.erase(done.rfind('/') == std::string::npos ? 0 : done.rfind('/'));
      continue;
    }
    done += "/" + part;
    const Mount* mount = mount_of(mounts, done);
    if (mount != nullptr && is_served(mount->type)) {
      const std::size_t rest = path.find_first_not_of('/', at);
      return ServedFile{done + (rest == std::string::npos ? "" : "/" + path.substr(rest)), *mount};
    }
    const std::string target = link_target(root + done);
    if (target.empty()) continue;
    if (target.starts_with('/')) done.clear();
    if (!target.starts_with('/')) done.replace(done.rfind('/'), std::string::npos, "/");
    path = done.append(target).append(path, at);
    done.clear();
    at = 0;
  }
  return std::nullopt;
}

std::optional<ServedFile> served_descriptor(std::uint32_t pid, const std::vector<Mount>& mounts, int fd) {
  const auto id = mount_id_of(pid, fd);
  const auto found = std::find_if(mounts.begin(), mounts.end(), [&](const Mount& it) { return id && it.id == *id; });
  if (found == mounts.end() || !is_served(found->type)) return std::nullopt;
  return ServedFile{link_target(fmt::format("{}/fd/{}", folder_of(pid), fd)), *found};
}

}  // namespace

std::string Mount::text() const {
  const bool has_source = type.starts_with("fuse") ? !source.empty() && source != "fuse" && !type.ends_with(source)
                                                   : !source.empty() && source != "none";
  return fmt::format("{} ({}{})", point, type, has_source ? " of " + source : "");
}

bool is_served(std::string_view type) {
  static constexpr std::array<std::string_view, 17> kTypes{"fuseblk",  "nfs",    "nfs4", "cifs",     "smb3",  "smbfs",
                                                           "9p",       "ceph",   "afs",  "lustre",   "gfs2",  "ocfs2",
                                                           "virtiofs", "autofs", "coda", "orangefs", "beegfs"};
  return type == "fuse" || type.starts_with("fuse.") || std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

bool may_wait_for_server(const std::string& wchan) {
  if (wchan.empty() || wchan == "0") return true;
  return has_part(wchan, {"request_wait_answer",
                          "fuse",
                          "nfs",
                          "rpc_",
                          "cifs",
                          "smb",
                          "p9_",
                          "ceph",
                          "afs_",
                          "autofs",
                          "lustre",
                          "ptlrpc",
                          "dlm_",
                          "ocfs2",
                          "coda",
                          "orangefs",
                          "folio_wait",
                          "wait_on_page",
                          "netfs",
                          "io_schedule",
                          "d_alloc_parallel",
                          "rwsem_down",
                          "lookup_slow"});
}

std::vector<Mount> read_mounts(std::istream& lines) {
  std::vector<Mount> mounts;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    Mount mount;
    std::string parent;
    std::string root;
    std::string options;
    char colon = 0;
    if (!(in >> mount.id >> parent >> mount.major >> colon >> mount.minor >> root >> mount.point >> options)) continue;
    for (std::string field; in >> field && field != "-";) continue;
    if (!(in >> mount.type)) continue;
    in >> mount.source;
    mount.point = unescaped(mount.point);
    mount.source = unescaped(mount.source);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path) {
  const Mount* found = nullptr;
  for (const Mount& mount : mounts) {
    const std::string_view point = mount.point == "/" ? std::string_view() : std::string_view(mount.point);
    const bool holds = path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
    if (holds && (found == nullptr || mount.point.size() >= found->point.size())) found = &mount;
  }
  return found;
}

std::optional<ServedFile> served_file(std::uint32_t pid, const CallFound& call, const ReadMemory& read) {
  if (call.abi != USC_ABI_NATIVE) return std::nullopt;
  const syscalls::ObjectArgs args = syscalls::object_args(static_cast<usc_abi>(call.abi), call.nr);
  const std::vector<Mount> mounts = mounts_of(pid);
  const auto number = [&](int arg) { return static_cast<int>(static_cast<std::uint32_t>(call.args[arg])); };
  for (const auto& [arg, folder] : {std::pair(args.path, args.folder), std::pair(args.target, args.target_folder)}) {
    if (arg < 0) continue;
    const auto path = text_at(call.args[arg], read);
    if (!path) continue;
    const int from = folder < 0 ? AT_FDCWD : number(folder);
    if (path->starts_with('/')) {
      if (auto found = follow(pid, mounts, *path)) return found;
      continue;
    }
    if (from != AT_FDCWD) {
      auto found = served_descriptor(pid, mounts, from);
      if (found && !path->empty()) found->path += "/" + *path;
      if (found) return found;
    }
    const std::string place =
        from == AT_FDCWD ? folder_of(pid) + "/cwd" : fmt::format("{}/fd/{}", folder_of(pid), from);
    if (auto found = follow(pid, mounts, link_target(place) + "/" + *path)) return found;
  }
  for (const int arg : {args.descriptor, args.source})
    if (arg >= 0)
      if (auto found = served_descriptor(pid, mounts, number(arg))) return found;
  return std::nullopt;
}

// Linux tells since 6.11 of which connection a descriptor of /dev/fuse is. Where it does not, one server alone is the
// one.
std::vector<std::pair<std::uint32_t, int>> fuse_servers(const Mount& mount,
                                                        const std::function<bool(std::uint32_t)>& may_ask) {
  if (!mount.type.starts_with("fuse")) return {};
  static constexpr std::string_view kDevice = "/dev/fuse";
  constexpr std::string_view kName = "fuse_connection:";
  std::vector<std::pair<std::uint32_t, int>> known;
  std::vector<std::pair<std::uint32_t, int>> unknown;
  std::set<std::uint32_t> processes;
  for (const std::uint32_t pid : running_processes()) {
    if (!may_ask(pid)) continue;
    const auto found = descriptors_of(folder_of(pid), [](const Descriptor& one) { return one.name == kDevice; });
    if (!found) continue;
    for (const auto& [fd, descriptor] : *found) {
      if (descriptor.name != kDevice) continue;
      std::ifstream info(fmt::format("{}/fdinfo/{}", folder_of(pid), fd));
      bool tells = false;
      for (std::string line; std::getline(info, line);) {
        if (!line.starts_with(kName)) continue;
        tells = true;
        if (std::strtoul(line.c_str() + kName.size(), nullptr, 10) == mount.minor) known.emplace_back(pid, fd);
      }
      if (tells) continue;
      unknown.emplace_back(pid, fd);
      processes.insert(pid);
    }
  }
  if (known.empty() && processes.size() == 1) return unknown;
  return known;
}

std::optional<std::uint64_t> fuse_calls_waiting(const Mount& mount) {
  if (!mount.type.starts_with("fuse")) return std::nullopt;
  std::ifstream file(fmt::format("/sys/fs/fuse/connections/{}/waiting", mount.minor));
  std::uint64_t count = 0;
  return file >> count ? std::optional(count) : std::nullopt;
}

}  // namespace uscope::tracer

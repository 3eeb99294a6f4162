// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/kcmp.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>

#include "support/unique_fd.h"
#include "tracer/process/process_list.h"
#include "tracer/waits/terminals.h"
#include "tracer/waits/thread_status.h"

namespace uscope::tracer {
namespace {

std::uint8_t type_of_name(const std::string& name) {
  static constexpr std::pair<std::string_view, std::uint8_t> kNames[] = {
      {"pipe:[", USC_RESOURCE_PIPE},
      {"socket:[", USC_RESOURCE_INET},
      {"anon_inode:[eventfd]", USC_RESOURCE_EVENTFD},
      {"anon_inode:[pidfd]", USC_RESOURCE_PIDFD},
      {"pidfd:[", USC_RESOURCE_PIDFD},
      {"anon_inode:[eventpoll]", USC_RESOURCE_EPOLL},
      {"anon_inode:[signalfd]", USC_RESOURCE_SIGNALFD},
      {"anon_inode:[timerfd]", USC_RESOURCE_TIMERFD},
      {"anon_inode:inotify", USC_RESOURCE_INOTIFY},
      {"anon_inode:[inotify", USC_RESOURCE_INOTIFY},
      {"/dev/pts/", USC_RESOURCE_TTY},
      {"/dev/tty", USC_RESOURCE_TTY},
      {"/dev/ptmx", USC_RESOURCE_TTY},
      {"/dev/console", USC_RESOURCE_TTY},
  };
  for (const auto& [start, type] : kNames)
    if (name.starts_with(start)) return type;
  return name.starts_with('/') ? USC_RESOURCE_FILE : USC_RESOURCE_OTHER;
}

// "tfd:        5 events:       19 data:                5  pos:0 ino:4c5 sdev:f": the device as the kernel has it.
std::optional<Descriptor::InSet> set_entry(const std::string& line) {
  constexpr unsigned kMinorBits = 20;
  Descriptor::InSet entry;
  unsigned long inode = 0;
  unsigned device = 0;
  if (sscanf(line.c_str(), "tfd: %d events: %x", &entry.fd, &entry.events) != 2) return std::nullopt;
  const std::size_t at = line.find("ino:");
  if (at != std::string::npos && sscanf(line.c_str() + at, "ino:%lx sdev:%x", &inode, &device) == 2)
    entry.object = {makedev(device >> kMinorBits, device & ((1U << kMinorBits) - 1)), inode};
  return entry;
}

// "    0: pipe:[4711]" of the files that are registered with a ring; "" of any other line.
std::string file_of_ring(const std::string& line) {
  std::size_t at = line.find_first_not_of(' ');
  const std::size_t digits = at;
  while (at < line.size() && line[at] >= '0' && line[at] <= '9') at++;
  if (digits == std::string::npos || at == digits || line.compare(at, 2, ": ") != 0) return "";
  const std::string name = line.substr(at + 2);
  return name.starts_with('/') || name.find(":[") != std::string::npos ? name : "";
}

// What fdinfo says; false if it cannot be read. `of` is a process's or thread's folder in /proc.
bool read_fdinfo(const std::string& of, Descriptor& descriptor) {
  std::ifstream file(fmt::format("{}/fdinfo/{}", of, descriptor.fd));
  bool has_flags = false;
  for (std::string line; std::getline(file, line);) {
    const auto value = [&line](std::string_view key) -> const char* {
      return line.starts_with(key) ? line.c_str() + key.size() : nullptr;
    };
    if (const char* flags = value("flags:")) {
      descriptor.flags = static_cast<std::uint32_t>(std::strtoul(flags, nullptr, 8));
      has_flags = true;
    } else if (const char* count = value("eventfd-count:")) {
      descriptor.queued = std::strtoull(count, nullptr, 16);
    } else if (const char* id = value("eventfd-id:")) {
      descriptor.object = {0, std::strtoull(id, nullptr, 10)};
    } else if (const char* process = value("Pid:")) {
      const long number = std::strtol(process, nullptr, 10);
      descriptor.peer = number > 0 ? static_cast<std::uint64_t>(number) : 0;
    } else if (const char* sent = value("scm_fds:")) {
      descriptor.sends_descriptors = std::strtoul(sent, nullptr, 10) != 0;
    } else if (const char* terminal = value("tty-index:")) {  // the master's side alone
      descriptor.type = USC_RESOURCE_PTMX;
      descriptor.terminal = static_cast<std::uint32_t>(std::strtoul(terminal, nullptr, 10));
    } else if (value("tfd:") != nullptr) {
      if (const auto entry = set_entry(line)) descriptor.set.push_back(*entry);
    } else if (descriptor.type == USC_RESOURCE_OTHER) {
      if (auto kept = file_of_ring(line); !kept.empty()) descriptor.in_ring.push_back(std::move(kept));
    }
  }
  return has_flags;
}

constexpr unsigned kAsked = STATX_TYPE | STATX_INO | STATX_NLINK;

void set_object(const struct statx& found, Descriptor& descriptor) {
  descriptor.object = {makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino};
  descriptor.has_links = found.stx_nlink != 0;
  if (const auto number = pseudo_terminal(found.stx_rdev_major, found.stx_rdev_minor);
      number && S_ISCHR(found.stx_mode)) {
    descriptor.type = USC_RESOURCE_TTY;
    descriptor.terminal = number;
  }
  if (descriptor.type != USC_RESOURCE_FILE) return;
  if (S_ISFIFO(found.stx_mode)) descriptor.type = USC_RESOURCE_FIFO;
  if (S_ISCHR(found.stx_mode) || S_ISBLK(found.stx_mode)) descriptor.type = USC_RESOURCE_DEVICE;
}

// Device, inode and type of what has a path. The kernel's own knowledge: no file server is asked.
void read_object(const std::string& of, Descriptor& descriptor) {
  struct statx found {};
  if (statx(AT_FDCWD, fmt::format("{}/fd/{}", of, descriptor.fd).c_str(), AT_STATX_DONT_SYNC, kAsked, &found) == 0)
    set_object(found, descriptor);
}

struct Folder {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

std::uint64_t number_in(const std::string& name) {
  const std::size_t open = name.find('[');
  return open == std::string::npos ? 0 : std::strtoull(name.c_str() + open + 1, nullptr, 10);
}

std::string last_part(std::string path) {
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path.substr(path.rfind('/') + 1);
}

std::string folder_of(std::uint32_t pid) {
  return fmt::format("/proc/{}", pid);
}

std::vector<std::string> other_tables(std::uint32_t pid) {
  std::vector<std::string> folders;
  for (const std::uint32_t tid : threads_of(pid)) {
    if (tid == pid) continue;
    // Above 0: they differ. What the kernel does not tell counts as shared: nearly all threads share.
    if (syscall(SYS_kcmp, pid, tid, KCMP_FILES, 0, 0) > 0)
      folders.push_back(fmt::format("{}/task/{}", folder_of(pid), tid));
  }
  return folders;
}

std::optional<bool> is_what_number_says(std::uint32_t pid, const Descriptor& epoll, std::size_t entry,
                                        const Descriptors& table) {
  const Descriptor::InSet& asked = epoll.set[entry];
  const auto now = table.find(asked.fd);
  if (now == table.end()) return false;
  // The kernel counts entries with one number in the order in which it lists them.
  const auto before = std::count_if(epoll.set.begin(), epoll.set.begin() + static_cast<std::ptrdiff_t>(entry),
                                    [&](const Descriptor::InSet& other) { return other.fd == asked.fd; });
  const kcmp_epoll_slot slot{static_cast<__u32>(epoll.fd), static_cast<__u32>(asked.fd), static_cast<__u32>(before)};
  const long result = syscall(SYS_kcmp, pid, pid, KCMP_EPOLL_TFD, asked.fd, &slot);
  if (result >= 0) return result == 0;
  if (!now->second.object || asked.object.second == 0 || now->second.name.starts_with("anon_inode:"))
    return std::nullopt;
  return *now->second.object == asked.object;
}

bool OpenFile::operator<(const OpenFile& other) const {
  constexpr long kLess = 1;
  return syscall(SYS_kcmp, task, other.task, KCMP_FILE, fd, other.fd) == kLess;
}

std::optional<bool> OpenFile::is(const OpenFile& other) const {
  const long order = syscall(SYS_kcmp, task, other.task, KCMP_FILE, fd, other.fd);
  if (order >= 0) return order == 0;
  return errno == EBADF || errno == ESRCH ? std::optional(false) : std::nullopt;
}

namespace {

struct ByTable {
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    constexpr long kLess = 1;
    return syscall(SYS_kcmp, a, b, KCMP_FILES, 0, 0) == kLess;
  }
};

}  // namespace

// A set stays whole whatever the kernel answers of processes that end meanwhile.
std::vector<std::pair<std::uint32_t, std::uint32_t>> shared_tables(const std::vector<std::uint32_t>& pids) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> shared;
  std::set<std::uint32_t, ByTable> tables(pids.begin(), pids.end());
  const auto share = [](std::uint32_t a, std::uint32_t b) {
    return a != b && syscall(SYS_kcmp, a, b, KCMP_FILES, 0, 0) == 0;
  };
  for (const std::uint32_t pid : running_processes())
    if (const auto same = tables.find(pid); same != tables.end() && share(*same, pid)) shared.emplace_back(pid, *same);
  return shared;
}

std::optional<Descriptors> descriptors_of(const std::string& of, const std::function<bool(const Descriptor&)>& takes) {
  const std::string path = of + "/fd";
  const std::unique_ptr<DIR, Folder> folder(opendir(path.c_str()));
  if (!folder) return std::nullopt;
  Descriptors all;
  while (const dirent* entry = readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    Descriptor descriptor;
    descriptor.fd = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    descriptor.name = link_target(fmt::format("{}/{}", path, entry->d_name));
    descriptor.type = type_of_name(descriptor.name);
    if (!takes(descriptor) || !read_fdinfo(of, descriptor) || (descriptor.flags & O_PATH) != 0) continue;
    const bool is_anonymous = descriptor.name.starts_with("anon_inode:");
    if (!is_anonymous) read_object(of, descriptor);
    all.emplace(descriptor.fd, std::move(descriptor));
  }
  return all;
}

// Who waits in the open has found the path, so the kernel remembers all of its parts.
std::optional<Descriptor> find_fifo(const std::string& from, const std::string& path) {
  const UniqueFd folder(open(from.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return std::nullopt;
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_CACHED | RESOLVE_NO_MAGICLINKS | (path.starts_with('/') ? RESOLVE_IN_ROOT : 0);
  const UniqueFd found(static_cast<int>(syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof(how))));
  struct statx facts {};
  if (!found || statx(found.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, kAsked, &facts) != 0) return std::nullopt;
  Descriptor descriptor;
  descriptor.type = USC_RESOURCE_FILE;
  set_object(facts, descriptor);
  if (descriptor.type != USC_RESOURCE_FIFO) return std::nullopt;
  descriptor.name = link_target(fmt::format("/proc/self/fd/{}", found.get()));
  return descriptor;
}

}  // namespace uscope::tracer

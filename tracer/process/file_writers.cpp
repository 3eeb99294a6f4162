// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/file_writers.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <memory>
#include <string>

#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

// By what the kernel has of the file already (AT_STATX_DONT_SYNC): a file server may not answer.
bool leads_to(const std::string& link, const FileIdentity& file) {
  struct statx status {};
  return statx(AT_FDCWD, link.c_str(), AT_STATX_DONT_SYNC, STATX_INO | STATX_TYPE, &status) == 0 &&
         S_ISREG(status.stx_mode) && status.stx_ino == file.inode &&
         makedev(status.stx_dev_major, status.stx_dev_minor) == file.device;
}

// The mode of a descriptor's link in /proc tells how it is open.
bool is_writable(const std::string& link) {
  struct stat status {};
  return lstat(link.c_str(), &status) == 0 && (status.st_mode & S_IWUSR) != 0;
}

bool has_open(std::uint32_t pid, const FileIdentity& file) {
  struct Close {
    void operator()(DIR* folder) const { closedir(folder); }
  };
  const std::string path = fmt::format("/proc/{}/fd/", pid);
  const std::unique_ptr<DIR, Close> folder(opendir(path.c_str()));
  if (!folder) return false;
  while (const dirent* entry = readdir(folder.get()))
    if (const std::string link = path + entry->d_name;
        entry->d_name[0] != '.' && is_writable(link) && leads_to(link, file))
      return true;
  return false;
}

}  // namespace

std::uint32_t writer_of(const FileIdentity& file) {
  for (const std::uint32_t pid : running_processes()) {
    const std::uint32_t living = living_thread_of(pid);
    if (has_open(living, file)) return pid;
  }
  return 0;
}

}  // namespace uscope::tracer

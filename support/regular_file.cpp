// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/regular_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

namespace uscope {
namespace {

// Whether somebody has a lease on a file that is broken by opening it so, as /proc/locks lists it ("LEASE ACTIVE
// WRITE"). Where the file system has a device number of its own (overlayfs, btrfs), stat shows another one: the number
// of the file decides.
bool is_leased(const struct stat& status, int access) {
  struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> locks(std::fopen("/proc/locks", "re"));
  if (!locks) return false;
  std::array<char, 256> line{};
  while (std::fgets(line.data(), line.size(), locks.get()) != nullptr) {
    std::array<char, 16> kind{};
    unsigned device_major = 0;
    unsigned device_minor = 0;
    unsigned long long inode = 0;
    if (std::sscanf(line.data(), "%*s LEASE ACTIVE %15s %*s %x:%x:%llu", kind.data(), &device_major, &device_minor,
                    &inode) != 4)
      continue;
    constexpr std::uint64_t kOfLayer = 0xffffffff;  // overlayfs may put more into the upper bits
    const bool is_file = major(status.st_dev) == 0
                             ? (inode & kOfLayer) == (status.st_ino & kOfLayer)
                             : inode == status.st_ino && makedev(device_major, device_minor) == status.st_dev;
    if (is_file && (access != O_RDONLY || std::string_view(kind.data()) == "WRITE")) return true;
  }
  return false;
}

}  // namespace

int stat_without_server(int fd, struct stat& status) {
  struct statx known {};
  if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &known) != 0) return -1;
  status = {};
  status.st_dev = makedev(known.stx_dev_major, known.stx_dev_minor);
  status.st_ino = known.stx_ino;
  status.st_mode = known.stx_mode;
  status.st_size = static_cast<off_t>(known.stx_size);
  status.st_mtim = {known.stx_mtime.tv_sec, known.stx_mtime.tv_nsec};
  status.st_ctim = {known.stx_ctime.tv_sec, known.stx_ctime.tv_nsec};
  return 0;
}

UniqueFd open_if_regular(int there, struct stat& status, int access, Leases leases) {
  if (fstat(there, &status) != 0) {
    status = {};
    return {};
  }
  if (!S_ISREG(status.st_mode)) {
    errno = EINVAL;
    return {};
  }
  if (leases == Leases::kKept && is_leased(status, access)) {
    errno = EAGAIN;
    return {};
  }
  const std::string same = fmt::format("/proc/self/fd/{}", there);
  return UniqueFd(open(same.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

UniqueFd open_regular_at(int folder, const std::string& name, int access, Leases leases) {
  const UniqueFd there(openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  return there ? open_if_regular(there.get(), status, access, leases) : UniqueFd();
}

Result<UniqueFd> open_regular(const std::filesystem::path& path, const std::string& give, Leases leases) {
  const auto failed = [&] {
    const int number = errno;
    if (number == EAGAIN)
      return Error{"cannot open " + path.string() + ": a process holds a lease on it (fcntl, F_SETLEASE)",
                   "try again when it has given it back; /proc/locks names the process (LEASE)"};
    return errno_error("cannot open " + path.string(), number,
                       number == EACCES && !give.empty()
                           ? "read it as its owner, or as root: a trace is readable by its owner only"
                           : give);
  };
  const UniqueFd there(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!there) return failed();
  struct stat status {};
  UniqueFd file = open_if_regular(there.get(), status, O_RDONLY, leases);
  if (file) return file;
  if (status.st_mode != 0 && !S_ISREG(status.st_mode)) return Error{path.string() + " is not a regular file", give};
  if (errno == ENOENT && access("/proc/self/fd", F_OK) != 0)
    return Error{"cannot open " + path.string() + ": /proc is not there", "mount it: mount -t proc none /proc"};
  return failed();
}

}  // namespace uscope

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/regular_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

namespace uscope {

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

UniqueFd open_if_regular(int there, struct stat& status, int access) {
  if (fstat(there, &status) != 0) {
    status = {};
    return {};
  }
  if (!S_ISREG(status.st_mode)) {
    errno = EINVAL;
    return {};
  }
  const std::string same = fmt::format("/proc/self/fd/{}", there);
  return UniqueFd(open(same.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

UniqueFd open_regular_at(int folder, const std::string& name, int access) {
  const UniqueFd there(openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  return there ? open_if_regular(there.get(), status, access) : UniqueFd();
}

Result<UniqueFd> open_regular(const std::filesystem::path& path, const std::string& give) {
  const auto failed = [&] {
    const int number = errno;
    if (number == EAGAIN)
      return Error{"cannot open " + path.string() + ": a process holds a lease on it, and was asked to give it back",
                   "try again; /proc/locks names the process (LEASE)"};
    return errno_error("cannot open " + path.string(), number,
                       number == EACCES && !give.empty()
                           ? "read it as its owner, or as root: a trace is readable by its owner only"
                           : give);
  };
  const UniqueFd there(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!there) return failed();
  struct stat status {};
  UniqueFd file = open_if_regular(there.get(), status);
  if (file) return file;
  if (status.st_mode != 0 && !S_ISREG(status.st_mode)) return Error{path.string() + " is not a regular file", give};
  if (errno == ENOENT && access("/proc/self/fd", F_OK) != 0)
    return Error{"cannot open " + path.string() + ": /proc is not there", "mount it: mount -t proc none /proc"};
  return failed();
}

}  // namespace uscope

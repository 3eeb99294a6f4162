// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/regular_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

namespace uscope {

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

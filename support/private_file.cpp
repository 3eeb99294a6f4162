// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/private_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <random>

namespace uscope {
namespace {

// Not every file system supports O_TMPFILE (NFS does not, FUSE usually does not).
Result<UniqueFd> open_and_unlink(int folder) {
  std::random_device random;
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; attempt++) {
    const std::string name = fmt::format(".uscope-{}-{}", getpid(), random());
    UniqueFd file(openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file) {
      (void)unlinkat(folder, name.c_str(), 0);
      return file;
    }
    if (errno != EEXIST) break;
  }
  return errno_error("cannot make a temporary file", errno, "set TMPDIR to a folder that can be written");
}

}  // namespace

Result<UniqueFd> duplicate(int fd) {
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) return errno_error("cannot duplicate a descriptor", errno);
  return copy;
}

Result<UniqueFd> open_nameless(int folder) {
  UniqueFd file(openat(folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (file) return file;
  return open_and_unlink(folder);
}

Result<UniqueFd> open_sorting_folder(int otherwise) {
  UniqueFd folder;
  if (const char* chosen = std::getenv("SQLITE_TMPDIR"); chosen != nullptr)
    folder.reset(open(chosen, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return duplicate(otherwise);
  return folder;
}

Result<UniqueFd> open_temporary_folder() {
  const std::array<const char*, 4> places{std::getenv("SQLITE_TMPDIR"), std::getenv("TMPDIR"), "/var/tmp", "/tmp"};
  for (const char* place : places) {
    if (place == nullptr || *place == '\0') continue;
    UniqueFd folder(open(place, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder && faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) == 0) return folder;
  }
  return Error{"there is no folder for temporary files: neither $TMPDIR nor /var/tmp nor /tmp can be written",
               "set TMPDIR to a folder that can be written"};
}

}  // namespace uscope

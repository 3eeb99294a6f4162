// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The only way in which uscope opens a file whose path somebody else chose, or whose place on the way somebody else can
// change: what a traced program maps, executes, names as its interpreter or writes beside itself. Opening is an act: a
// tape rewinds, a watchdog is armed, a FIFO's writer goes on. So what a path leads to is first held without opening it
// (O_PATH), then looked at, and only a regular file is opened: by its descriptor, so that it is the file that was
// looked at. Opening also breaks a write lease (fcntl(2), F_SETLEASE): its holder gets a signal, which ends it if it
// has no handler. So a file with such a lease is left alone; should it get one between the look and the opening, nobody
// waits for the holder. tests/layout/opens.py holds the tree to this.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope {

// Which file it is, by whatever path. All zero: not known.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
[[nodiscard]] inline FileIdentity identity_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

// As fstat(2), by what the kernel has of the file already (AT_STATX_DONT_SYNC): a file server may not answer. Of the
// file's times only that of its last change. Not 0: errno tells why.
[[nodiscard]] int stat_without_server(int fd, struct stat& status);

// What becomes of a lease (fcntl, F_SETLEASE) that opening a file would break, which ends a holder that does not expect
// it.
enum class Leases {
  kKept,    // The file is not opened (EAGAIN). For files of programs that are looked at. To ask holds up all file locks
            // of the machine, for up to 20 ms the first time.
  kBroken,  // as by every other program that opens the file
};

// Opens what a descriptor of O_PATH refers to, if it is a regular file; else the result is empty, with errno: EINVAL if
// it is something else, which stays unopened; EAGAIN: see Leases. `status` is the file's in both cases, or all zero.
// `access`: O_RDONLY or O_RDWR. Needs /proc.
[[nodiscard]] UniqueFd open_if_regular(int there, struct stat& status, int access = O_RDONLY,
                                       Leases leases = Leases::kKept);

// Opens a regular file by its name in a folder (AT_FDCWD: by its path), if that is no link.
[[nodiscard]] UniqueFd open_regular_at(int folder, const std::string& name, int access = O_RDONLY,
                                       Leases leases = Leases::kKept);

// Opens a regular file for reading, through links. `give`: the remedy of every error, but of a missing
// permission: it is for traces. Without it, no error has a remedy.
Result<UniqueFd> open_regular(const std::filesystem::path& path, const std::string& give,
                              Leases leases = Leases::kKept);

}  // namespace uscope

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tells when a file in which there are probes is about to be changed in place. The kernel keeps a breakpoint at an
// offset of the file, and executes there what the file held before: whoever executes another content goes astray.
//
// A lease (fcntl(2), F_RDLCK) has the kernel hold whoever opens the file for writing, or truncates it, until let_go():
// so probes are gone before anything is changed. Where the file system has no leases, a change is seen after it was
// made: by inotify, and where it was made through a mapping, by the file's size and time of change. A file that is open
// for writing already could be changed at any time: it is for the caller to leave it alone. One thread, which open() is
// called from.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

class FileGuard {
 public:
  // How often sizes and times are compared of files without a lease.
  static constexpr std::uint64_t kCompareEveryNs = 1'000'000'000;

  // kNotice: the file system has no leases, or none for this file. kOpenForWriting: it is not guarded, since it may be
  // changed without another open().
  enum class Kind : std::uint8_t { kLease, kNotice, kOpenForWriting };
  // kOpened: it is about to be changed, and is not before let_go(). kLate: the same, but let_go() has failed. kChanged:
  // it has been changed.
  enum class News : std::uint8_t { kOpened, kLate, kChanged };
  using Changes = std::vector<std::pair<std::size_t, News>>;

  Result<void> open();
  // Guards an open file, which must stay open until let_go(). `number`: the caller's name for it.
  Result<Kind> add(std::size_t number, int fd);
  // The files that are about to be changed, or have been; each is told once, and none as kLate.
  Changes take_changed(std::uint64_t now_ns);
  // Returns false if the kernel has taken the file's lease away before (fs.lease-break-time): whoever opened the file
  // may have changed it already.
  bool let_go(std::size_t number);
  // Readable when take_changed() has something to tell; -1 before open().
  [[nodiscard]] int fd() const { return poll_.get(); }

 private:
  struct Guarded {
    int fd = -1;
    bool leased = false;
    bool told = false;
    int watch = -1;  // inotify's, without a lease
    struct stat status {};
  };
  Result<int> begin_watch(int fd);
  bool drain();
  void take_noticed(Changes& changed);
  static void tell(std::size_t number, Guarded& file, News news, Changes& changed);

  UniqueFd poll_;
  UniqueFd signals_;
  UniqueFd inotify_;
  std::map<std::size_t, Guarded> files_;
  std::uint64_t compared_ns_ = 0;
};

}  // namespace uscope::tracer

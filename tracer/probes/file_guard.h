// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tells when a file in which there are probes is about to be changed in place. The kernel keeps a breakpoint at an
// offset of the file, and executes there what the file held before: whoever executes another content goes astray.
//
// A lease (fcntl(2), F_RDLCK) has the kernel hold whoever opens the file for writing, or truncates it, until let_go():
// so probes are gone before anything is changed. Where there is no lease (the file system has none; another process has
// the file open for writing already), a change is seen after it was made: by inotify, and where it was made through a
// mapping, by the file's size and time of change. One thread, which open() is called from.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

class FileGuard {
 public:
  // How often sizes and times are compared of files without a lease.
  static constexpr std::uint64_t kCompareEveryNs = 1'000'000'000;

  enum class Kind : std::uint8_t {
    kLease,
    kNotice,
    kOpenForWriting
  };  // the last one: kNotice, since a writer is there

  Result<void> open();
  // Guards an open file, which must stay open until let_go(). `number`: the caller's name for it.
  Result<Kind> add(std::size_t number, int fd);
  // The files that are about to be changed, or have been; each is told once. Nobody changes one that has a lease before
  // let_go().
  std::vector<std::size_t> take_changed(std::uint64_t now_ns);
  void let_go(std::size_t number);
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
  bool drain();
  void take_noticed(std::vector<std::size_t>& changed);
  void tell(std::size_t number, Guarded& file, std::vector<std::size_t>& changed);

  UniqueFd poll_;
  UniqueFd signals_;
  UniqueFd inotify_;
  std::map<std::size_t, Guarded> files_;
  std::uint64_t compared_ns_ = 0;
};

}  // namespace uscope::tracer

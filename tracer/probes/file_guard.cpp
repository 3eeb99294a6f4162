// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/probes/file_guard.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "support/regular_file.h"

namespace uscope::tracer {
namespace {

// Not one of those that C libraries or debuggers take for themselves.
int lease_signal() {
  return SIGRTMIN + 9;
}

// Elsewhere EAGAIN means that the file is open for writing (fcntl(2)). File systems of other machines give leases only
// for what the server has left to this one (NFS: a delegation; SMB: an oplock), and refuse others with EAGAIN, too.
bool may_refuse_leases(int fd) {
  constexpr unsigned kCifs = 0xff534d42;
  constexpr unsigned kSmb2 = 0xfe534d42;
  struct statfs system {};
  if (fstatfs(fd, &system) != 0) return false;
  const auto kind = static_cast<unsigned>(system.f_type);
  return kind == NFS_SUPER_MAGIC || kind == kCifs || kind == kSmb2;
}

auto content_of(const struct stat& status) {
  return std::make_tuple(status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// Where the queue of signals is full, the kernel sends SIGIO instead, which would end this process.
Result<UniqueFd> lease_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, lease_signal());
  sigaddset(&wanted, SIGIO);
  if (const int error = pthread_sigmask(SIG_BLOCK, &wanted, nullptr); error != 0)
    return errno_error("cannot block the signals of leases", error);
  UniqueFd fd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return errno_error("cannot watch the signals of leases", errno);
  return fd;
}

}  // namespace

Result<void> FileGuard::open() {
  if (poll_) return {};
  auto signals = lease_signals();
  if (!signals) return signals.error();
  signals_ = std::move(*signals);
  poll_.reset(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  if (!poll_ || epoll_ctl(poll_.get(), EPOLL_CTL_ADD, signals_.get(), &event) != 0)
    return errno_error("cannot make an epoll descriptor", errno);
  return {};
}

// An inotify instance is made for the first file without a lease: a user may have few (fs.inotify.max_user_instances).
Result<int> FileGuard::begin_watch(int fd) {
  if (!inotify_) {
    UniqueFd made(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    epoll_event event{};
    event.events = EPOLLIN;
    if (!made || epoll_ctl(poll_.get(), EPOLL_CTL_ADD, made.get(), &event) != 0)
      return errno_error("cannot watch files (inotify_init1)", errno, "raise fs.inotify.max_user_instances");
    inotify_ = std::move(made);
  }
  const int begun = inotify_add_watch(inotify_.get(), fmt::format("/proc/self/fd/{}", fd).c_str(), IN_MODIFY);
  if (begun < 0)
    return errno_error("cannot watch a file with probes (inotify_add_watch)", errno,
                       "raise fs.inotify.max_user_watches");
  return begun;
}

Result<FileGuard::Kind> FileGuard::add(std::size_t number, int fd) {
  Guarded file;
  file.fd = fd;
  const f_owner_ex owner{F_OWNER_TID, gettid()};
  file.leased = fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, lease_signal()) == 0 &&
                fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
  if (!file.leased && errno == EAGAIN && !may_refuse_leases(fd)) return Kind::kOpenForWriting;
  // The first look at the content comes before whoever watches: a change in between is told twice, not never.
  if (fstat(fd, &file.status) != 0) return errno_error("cannot look at a file with probes (fstat)", errno);
  if (!file.leased) {
    const auto watched = begin_watch(fd);
    if (!watched) return watched.error();
    file.watch = *watched;
  }
  files_[number] = file;
  return file.leased ? Kind::kLease : Kind::kNotice;
}

// Whether a signal came.
bool FileGuard::drain() {
  signalfd_siginfo info{};
  bool any = false;
  while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) any = true;
  return any;
}

void FileGuard::tell(std::size_t number, Guarded& file, News news, Changes& changed) {
  if (!file.told) changed.emplace_back(number, news);
  file.told = true;
}

void FileGuard::take_noticed(Changes& changed) {
  alignas(inotify_event) std::array<char, 4096> bytes{};
  while (true) {
    const ssize_t got = read(inotify_.get(), bytes.data(), bytes.size());
    if (got <= 0) return;
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, bytes.data() + at, sizeof(event));
      at += static_cast<ssize_t>(sizeof(event) + event.len);
      // A queue that has overflowed may have lost any of them.
      for (auto& [number, file] : files_)
        if (!file.leased && ((event.mask & IN_Q_OVERFLOW) != 0 || file.watch == event.wd))
          tell(number, file, News::kChanged, changed);
    }
  }
}

FileGuard::Changes FileGuard::take_changed(std::uint64_t now_ns) {
  Changes changed;
  if (!poll_) return changed;
  const bool is_due = now_ns >= compared_ns_ + kCompareEveryNs;
  if (is_due) compared_ns_ = now_ns;
  // With the time of comparison, leases are asked for, too: a signal may have been taken by nobody.
  if (drain() || is_due)
    for (auto& [number, file] : files_)
      if (file.leased && fcntl(file.fd, F_GETLEASE) != F_RDLCK) tell(number, file, News::kOpened, changed);
  take_noticed(changed);
  if (!is_due) return changed;
  for (auto& [number, file] : files_) {
    struct stat status {};
    // Of a file with a lease, too: overlayfs has its own, and who changes the file below asks nobody for it.
    if (stat_without_server(file.fd, status) != 0 || content_of(status) != content_of(file.status))
      tell(number, file, News::kChanged, changed);
  }
  return changed;
}

bool FileGuard::let_go(std::size_t number) {
  const auto at = files_.find(number);
  if (at == files_.end()) return true;
  const Guarded& file = at->second;
  // generic_delete_lease() of fs/locks.c fails where no lease is left.
  const bool was_held = !file.leased || fcntl(file.fd, F_SETLEASE, F_UNLCK) == 0;
  // Two descriptors of one inode have one watch.
  const auto same = [&](const auto& other) { return other.first != number && other.second.watch == file.watch; };
  if (file.watch >= 0 && std::none_of(files_.begin(), files_.end(), same))
    (void)inotify_rm_watch(inotify_.get(), file.watch);
  files_.erase(at);
  return was_held;
}

}  // namespace uscope::tracer

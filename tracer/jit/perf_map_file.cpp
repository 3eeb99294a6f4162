// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/jit/perf_map_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "support/clock_offsets.h"

namespace uscope::tracer {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// File times come from a clock that advances with the timer tick, 10 ms at most.
constexpr std::int64_t kTickNs = 20'000'000;

std::string read_small(int folder, const char* name) {
  const UniqueFd fd(openat(folder, name, O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t count = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
  return count > 0 ? std::string(text.data(), static_cast<std::size_t>(count)) : std::string();
}

// Field 22 of /proc/PID/stat, in ticks of CLOCK_BOOTTIME; the name before it may hold blanks and brackets.
std::optional<std::int64_t> start_of_process(const std::string& stat) {
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; field++) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoll(stat.c_str() + at + 1, nullptr, 10) * (kSecond / sysconf(_SC_CLK_TCK));
}

}  // namespace

std::optional<PerfMapFile> PerfMapFile::of_process(std::uint32_t pid, std::uint64_t seen_ns,
                                                   const ProcessLooks& looks) {
  PerfMapFile file;
  file.pid_ = pid;
  file.looks_ = looks;
  file.process_.reset(open(fmt::format("/proc/{}", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!file.process_) return std::nullopt;
  const auto started = start_of_process(read_small(file.process_.get(), "stat"));
  const std::int64_t since_boot = static_cast<std::int64_t>(seen_ns) + clock_offsets().boot;
  if (!started || *started > since_boot + kTickNs) return std::nullopt;
  const UniqueFd root(openat(file.process_.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return std::nullopt;
  file.folder_ = file.looks_.open_folder(pid, root.get(), "tmp");
  if (!file.folder_) return std::nullopt;
  file.look_at_user();
  return file;
}

PerfMapFile PerfMapFile::again() const {
  PerfMapFile file;
  file.process_.reset(fcntl(process_.get(), F_DUPFD_CLOEXEC, 0));
  file.folder_.reset(fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0));
  file.user_ = user_;
  file.pid_ = pid_;
  file.looks_ = looks_;
  return file;
}

void PerfMapFile::look_at_user() {
  const std::string status = read_small(process_.get(), "status");
  const std::size_t line = status.find("\nUid:\t");
  if (line == std::string::npos) return;
  const std::size_t effective = status.find('\t', line + 6);
  if (effective != std::string::npos)
    user_ = static_cast<std::uint32_t>(std::strtoul(status.c_str() + effective + 1, nullptr, 10));
}

OpenedFile PerfMapFile::open_map(const std::string& name, bool* refused) {
  OpenedFile file = looks_.open_in_folder(pid_, folder_.get(), name);
  const struct stat& status = file.status;
  const bool is_there = status.st_mode != 0;
  if (!file.fd && file.error == ENOENT && !is_there && name == last_name_) {
    file.fd.reset(fcntl(last_.get(), F_DUPFD_CLOEXEC, 0));
    file.status = last_status_;
  }
  *refused = file.error == ELOOP || file.error == ENXIO;  // a link, a socket
  if (is_there)
    *refused = !S_ISREG(status.st_mode) || (status.st_uid != user_ && status.st_uid != 0) || status.st_nlink > 1;
  if (*refused) file.fd.reset();
  return file;
}

PerfMapBytes PerfMapFile::read(const std::string& name, const Lifetime& lifetime, bool changed_only) {
  PerfMapBytes map;
  look_at_user();
  bool refused = false;
  OpenedFile file = open_map(name, &refused);
  const UniqueFd& fd = file.fd;
  const struct stat& status = file.status;
  if (!fd) {
    if (refused) map.state = PerfMapBytes::State::kRefused;
    return map;
  }
  const Stamp stamp{status.st_ino, status.st_size, status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
  const std::int64_t written = stamp.mtime_ns - clock_offsets().real;
  if (written < static_cast<std::int64_t>(lifetime.from_ns) - kTickNs) return map;
  if (lifetime.until_ns && written > static_cast<std::int64_t>(*lifetime.until_ns) + kTickNs) return map;
  if (changed_only && name == last_name_ && stamp == last_stamp_) {
    map.state = PerfMapBytes::State::kUnchanged;
    return map;
  }
  const std::size_t size = static_cast<std::size_t>(std::max<std::int64_t>(stamp.size, 0));
  const std::size_t skipped = size > kPerfMapBytes ? size - kPerfMapBytes : 0;
  map.bytes.resize(size - skipped);
  std::size_t have = 0;
  while (have < map.bytes.size()) {
    const ssize_t count =
        pread(fd.get(), map.bytes.data() + have, map.bytes.size() - have, static_cast<off_t>(skipped + have));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  map.bytes.resize(have);
  map.from_start = skipped == 0;
  map.state = PerfMapBytes::State::kRead;
  last_status_ = status;
  last_ = std::move(file.fd);
  last_name_ = name;
  last_stamp_ = stamp;
  return map;
}

}  // namespace uscope::tracer

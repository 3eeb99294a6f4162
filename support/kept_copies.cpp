// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/kept_copies.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace uscope {
namespace {

constexpr std::uint64_t kAlignment = 4096;
constexpr std::uint64_t kAtOnce = 256U << 10;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) & ~(kAlignment - 1);
}

bool write_all(int fd, const char* bytes, std::size_t count, std::uint64_t at) {
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = pwrite(fd, bytes + done, count - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

bool copy_bytes(int from, std::uint64_t offset, int to, std::uint64_t at, std::uint64_t bytes) {
  std::vector<char> room(std::min(bytes, kAtOnce));
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t most = std::min<std::uint64_t>(bytes - done, room.size());
    const ssize_t got = pread(from, room.data(), most, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !write_all(to, room.data(), static_cast<std::size_t>(got), at + done)) return false;
    done += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace

UniqueFd copy_to_memory(int fd, std::uint64_t offset, std::uint64_t bytes) {
  UniqueFd copy(memfd_create("uscope-copy", MFD_CLOEXEC));
  if (!copy || !copy_bytes(fd, offset, copy.get(), 0, bytes)) return {};
  return copy;
}

std::optional<KeptCopy> KeptCopies::add(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || status.st_size < 0) return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  const auto offset = reserve(bytes);
  if (!offset) return std::nullopt;
  if (copy_bytes(fd, 0, all_->get(), *offset, bytes)) return KeptCopy(all_, *offset, bytes);
  give_back(*offset, bytes);
  return std::nullopt;
}

std::optional<std::uint64_t> KeptCopies::reserve(std::uint64_t bytes) {
  if (bytes == 0 || bytes > limits_.of_one) return std::nullopt;
  const std::lock_guard lock(guard_);
  if (!begun_) {
    begun_ = true;
    auto file = begin_ ? begin_() : Result<UniqueFd>(UniqueFd(memfd_create("uscope-copies", MFD_CLOEXEC)));
    if (file && *file) all_ = std::make_shared<const UniqueFd>(std::move(*file));
  }
  struct statvfs room {};
  const std::uint64_t most = begin_ ? limits_.of_all : limits_.in_memory;
  if (!all_ || bytes > most || end_ > most - bytes || fstatvfs(all_->get(), &room) != 0) return std::nullopt;
  // Where that is not known (memory without a limit of its own), there are no blocks at all.
  if (room.f_blocks != 0 && bytes > std::uint64_t{room.f_bavail} * room.f_frsize / limits_.share_of_free)
    return std::nullopt;
  const std::uint64_t offset = end_;
  end_ += aligned(bytes);
  return offset;
}

// The room of the last one is used again.
void KeptCopies::give_back(std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard lock(guard_);
  if (end_ == offset + aligned(bytes)) end_ = offset;
}

}  // namespace uscope

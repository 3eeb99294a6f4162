// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/memory_file.h"

#include <elf.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace uscope::tracer {
namespace {

// Successive contents that were not ELF files and had changed before they were read, as with a compiler that writes all
// the time.
constexpr unsigned kManyTimes = 8;

struct DataRange {
  off_t begin;
  off_t end;
};

// Of so many bytes of a file, those that are not in holes; all of them if the file system cannot say, or the file
// becomes shorter meanwhile.
std::vector<DataRange> data_of(int fd, off_t bytes) {
  std::vector<DataRange> ranges;
  for (off_t at = 0; at < bytes;) {
    const off_t begin = lseek(fd, at, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) break;
    const off_t end = begin < 0 ? -1 : std::min(bytes, lseek(fd, begin, SEEK_HOLE));
    if (end <= begin) return {{0, bytes}};
    ranges.push_back({begin, end});
    at = end;
  }
  return ranges;
}

}  // namespace

bool is_on_memory(int fd) {
  struct statfs status {};
  return fstatfs(fd, &status) == 0 && (status.f_type == TMPFS_MAGIC || status.f_type == HUGETLBFS_MAGIC);
}

std::shared_ptr<const void> CopyRoom::take(std::uint64_t bytes) {
  std::uint64_t left = left_->load();
  do {
    if (bytes > left) return nullptr;
  } while (!left_->compare_exchange_weak(left, left - bytes));
  return {left_.get(), [all = left_, bytes](const void*) { *all += bytes; }};
}

ElfCopy copy_elf_file(int fd, CopyRoom& room) {
  struct stat status {};
  std::array<char, SELFMAG> start{};
  if (fstat(fd, &status) != 0 || static_cast<std::uint64_t>(status.st_size) > kMostCopied ||
      pread(fd, start.data(), start.size(), 0) != SELFMAG || std::memcmp(start.data(), ELFMAG, SELFMAG) != 0)
    return {};
  const std::vector<DataRange> ranges = data_of(fd, status.st_size);
  off_t bytes = 0;
  for (const DataRange& range : ranges) bytes += range.end - range.begin;
  ElfCopy copy;
  copy.room = room.take(static_cast<std::uint64_t>(bytes));
  if (!copy.room) return {};
  copy.fd = UniqueFd(memfd_create("uscope-copy", MFD_CLOEXEC));
  // Readers take files of one user only, so the copy gets the file's owner.
  if (!copy.fd || ftruncate(copy.fd.get(), status.st_size) != 0 ||
      fchown(copy.fd.get(), status.st_uid, status.st_gid) != 0 || fchmod(copy.fd.get(), status.st_mode & 0777) != 0)
    return {};
  for (const DataRange& range : ranges) {
    if (lseek(copy.fd.get(), range.begin, SEEK_SET) < 0) return {};
    for (off_t at = range.begin; at < range.end;)
      if (sendfile(copy.fd.get(), fd, &at, static_cast<std::size_t>(range.end - at)) <= 0) return {};
  }
  return copy;
}

MemoryFiles::Seen MemoryFiles::saw_code(const usc_file_key& key, bool unchanged) {
  Memory& memory = memory_[{key.dev, key.ino}];
  Seen seen;
  seen.first = memory.times == 0;
  memory.times++;
  seen.settled = !memory.settled && !memory.elf && (unchanged || memory.times >= kManyTimes);
  if (seen.settled) memory.settled = true;
  return seen;
}

usc_file_key MemoryFiles::key_of(const usc_file_key& key) {
  usc_file_key memory{};
  memory.dev = key.dev;
  memory.ino = key.ino;
  return memory;
}

}  // namespace uscope::tracer

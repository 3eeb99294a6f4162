// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/memory_file.h"

#include <elf.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace uscope::tracer {
namespace {

// Successive contents that were not ELF files and had changed before they were read, as with a compiler that writes all
// the time.
constexpr unsigned kManyTimes = 8;

}  // namespace

bool is_on_memory(int fd) {
  struct statfs status {};
  return fstatfs(fd, &status) == 0 && (status.f_type == TMPFS_MAGIC || status.f_type == HUGETLBFS_MAGIC);
}

UniqueFd copy_elf_file(int fd) {
  struct stat status {};
  std::array<char, SELFMAG> start{};
  if (fstat(fd, &status) != 0 || static_cast<std::uint64_t>(status.st_size) > kMostCopied ||
      pread(fd, start.data(), start.size(), 0) != SELFMAG || std::memcmp(start.data(), ELFMAG, SELFMAG) != 0)
    return {};
  UniqueFd copy(memfd_create("uscope-copy", MFD_CLOEXEC));
  // Readers take files of one user only, so the copy gets the file's owner.
  if (!copy || fchown(copy.get(), status.st_uid, status.st_gid) != 0 || fchmod(copy.get(), status.st_mode & 0777) != 0)
    return {};
  off_t at = 0;
  while (at < status.st_size) {
    const ssize_t sent = sendfile(copy.get(), fd, &at, static_cast<std::size_t>(status.st_size - at));
    if (sent <= 0) return {};
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

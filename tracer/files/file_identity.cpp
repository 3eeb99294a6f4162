// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/file_identity.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstring>

#include "symbolizer/elf/file_writes.h"
#include "tracer/files/memory_file.h"

namespace uscope::tracer {
namespace {

// The same comparison with the result of stat, for a file of which only a copy may be held.
bool has_key(const struct stat& status, const usc_file_key& key) {
  constexpr unsigned kMinorBits = 20;  // as the kernel packs a device's two numbers
  const std::uint64_t device = std::uint64_t{major(status.st_dev)} << kMinorBits | minor(status.st_dev);
  return device == key.dev && status.st_ino == key.ino && static_cast<std::uint64_t>(status.st_size) == key.size &&
         status.st_ctim.tv_sec == key.ctime_sec && status.st_ctim.tv_nsec == key.ctime_nsec;
}

}  // namespace

std::optional<usc_file_key> key_of(Backend& backend, int fd) {
  void* page = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0);
  if (page == MAP_FAILED) return std::nullopt;
  const Result<usc_file_key> own = backend.own_file_key(page);
  munmap(page, 1);
  return own ? std::optional(*own) : std::nullopt;
}

bool is_same(const usc_file_key& a, const usc_file_key& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

bool is_same_inode(const usc_file_key& a, const usc_file_key& b) {
  return a.dev == b.dev && a.ino == b.ino;
}

bool is_mapped_file(Backend& backend, const OpenedFile& opened, const usc_file_key& key, bool deleted) {
  if (opened.is_copy) return has_key(opened.status, key);
  const auto own = key_of(backend, opened.fd.get());
  if (!own) return false;
  if (is_same(*own, key)) return true;
  if (!is_same_inode(*own, key)) return false;
  // Or nothing but its name has changed since, see is_unwritten_since().
  return (deleted && is_on_memory(opened.fd.get())) || symbolizer::is_unwritten(opened.status, key);
}

bool is_unwritten_since(Backend& backend, int fd, const usc_file_key& key, bool has_build_id) {
  const auto own = key_of(backend, fd);
  if (!own || !is_same_inode(*own, key)) return false;
  if (is_same(*own, key)) return true;
  // Loaded and deleted at once, as compilers do that build libraries.
  struct stat status {};
  return fstat(fd, &status) == 0 && symbolizer::is_unwritten(status, key) && (status.st_nlink == 0 || has_build_id);
}

}  // namespace uscope::tracer

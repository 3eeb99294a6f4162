// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/kernel_breakpoints.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "support/page_size.h"
#include "support/regular_file.h"
#include "support/unique_fd.h"

namespace uscope::tracer {
namespace {

const std::uint64_t kMappedBytes = page_bytes();

// Of a page of this process, which ends where the file does: a load from behind that would raise SIGBUS.
std::vector<unsigned char> bytes_of(const void* page) {
  const UniqueFd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  std::vector<unsigned char> bytes(kMappedBytes);
  const ssize_t count = pread(memory.get(), bytes.data(), bytes.size(), reinterpret_cast<off_t>(page));
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return bytes;
}

}  // namespace

bool KernelBreakpoints::is_one_at(std::uint32_t file, const std::string& path, std::uint64_t offset) {
  if (found_.contains({file, offset})) return true;
  const std::pair page{file, offset / kMappedBytes};
  if (page != page_) fresh_ = 0;
  if (fresh_ < kFreshLooks && !read(path, page)) return false;
  fresh_++;
  const std::uint64_t at = offset % kMappedBytes;
  const bool is_one = at < bytes_.size() && bytes_[at] == kBreakpoint;
  if (is_one) found_.emplace(file, offset);
  return is_one;
}

bool KernelBreakpoints::read(const std::string& path, const std::pair<std::uint32_t, std::uint64_t>& page) {
  const auto fd = open_regular(path, "");
  if (!fd) return false;
  void* const mapped =
      mmap(nullptr, kMappedBytes, PROT_READ, MAP_PRIVATE, fd->get(), static_cast<off_t>(page.second * kMappedBytes));
  if (mapped == MAP_FAILED) return false;
  bytes_ = bytes_of(mapped);
  page_ = page;
  munmap(mapped, kMappedBytes);
  return true;
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/kernel_breakpoints.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/regular_file.h"
#include "support/unique_fd.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMappedBytes = 4096;

// Of a page of this process, which ends where the file does: a load from behind that would raise SIGBUS.
bool has_breakpoint(const void* page, std::uint64_t at) {
  const UniqueFd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  unsigned char byte = 0;
  return pread(memory.get(), &byte, sizeof(byte), reinterpret_cast<off_t>(page) + static_cast<off_t>(at)) ==
             sizeof(byte) &&
         byte == kBreakpoint;
}

}  // namespace

bool KernelBreakpoints::is_one_at(std::uint32_t file, const std::string& path, std::uint64_t offset) {
  if (found_.contains({file, offset})) return true;
  const auto fd = open_regular(path, "");
  if (!fd) return false;
  void* const page = mmap(nullptr, kMappedBytes, PROT_READ, MAP_PRIVATE, fd->get(),
                          static_cast<off_t>(offset / kMappedBytes * kMappedBytes));
  if (page == MAP_FAILED) return false;
  const bool is_one = has_breakpoint(page, offset % kMappedBytes);
  munmap(page, kMappedBytes);
  if (is_one) found_.emplace(file, offset);
  return is_one;
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/java/target_memory.h"

#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

namespace uscope::tracer {

bool ProcessMemory::read(std::uint64_t address, std::span<std::byte> to) {
  const iovec local = {static_cast<void*>(to.data()), to.size()};
  const iovec remote = {reinterpret_cast<void*>(address), to.size()};  // NOLINT(performance-no-int-to-ptr)
  return process_vm_readv(static_cast<pid_t>(pid_), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(to.size());
}

const MemoryReader::Page* MemoryReader::page(std::uint64_t number) {
  if (const auto known = pages_.find(number); known != pages_.end()) return &known->second;
  pages_read_++;
  Page bytes;
  if (!memory_.read(number * kPage, bytes)) return nullptr;
  if (pages_.size() >= kMostKept) pages_.clear();
  return &pages_.emplace(number, bytes).first->second;
}

bool MemoryReader::read(std::uint64_t address, std::span<std::byte> to) {
  if (address + to.size() < address || is_exhausted()) return false;
  reads_++;
  while (!to.empty()) {
    const Page* const bytes = page(address / kPage);
    if (bytes == nullptr) return false;
    const std::uint64_t at = address % kPage;
    const std::size_t count = std::min<std::size_t>(to.size(), kPage - at);
    std::memcpy(static_cast<void*>(to.data()), bytes->data() + at, count);
    to = to.subspan(count);
    address += count;
  }
  return true;
}

std::optional<std::string> MemoryReader::c_string(std::uint64_t address, std::size_t most) {
  std::string text;
  for (; text.size() <= most; address++) {
    const auto next = get<char>(address);
    if (!next) return std::nullopt;
    if (*next == '\0') return text;
    text.push_back(*next);
  }
  return std::nullopt;
}

}  // namespace uscope::tracer

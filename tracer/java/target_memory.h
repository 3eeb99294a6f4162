// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The memory of a process from outside. What is read there may be damaged, hostile, or changing: every read is bounded
// in size, and a MemoryReader in number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "uscope/arch/arch.h"

namespace uscope::tracer {

class TargetMemory {
 public:
  virtual ~TargetMemory() = default;
  // Fills `to` with the bytes at `address`; false if not all of them can be read.
  virtual bool read(std::uint64_t address, std::span<std::byte> to) = 0;
};

// The memory of a running process by process_vm_readv, which neither stops nor signals it. A page may never answer, so
// this is work for a scout.
class ProcessMemory final : public TargetMemory {
 public:
  explicit ProcessMemory(std::uint32_t pid) : pid_(pid) {}
  bool read(std::uint64_t address, std::span<std::byte> to) override;

 private:
  std::uint32_t pid_;
};

// Reads values of a memory page by page. It keeps pages until forget(), so that a value that is read twice is the same.
class MemoryReader {
 public:
  // At most 1 GiB is read, in so many pages, and so many values are taken from them (about a second). Then every read
  // fails.
  static constexpr std::uint64_t kMostPages = 1U << 18U;
  static constexpr std::uint64_t kMostReads = 1U << 24U;

  explicit MemoryReader(TargetMemory& memory) : memory_(memory) {}

  bool read(std::uint64_t address, std::span<std::byte> to);
  template <typename T>
  std::optional<T> get(std::uint64_t address) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (!read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
  // 0 where nothing can be read, which is no valid pointer either.
  std::uint64_t pointer(std::uint64_t address) { return get<std::uint64_t>(address).value_or(0); }
  // Text up to its NUL, of at most `most` bytes; nullopt if it is longer or cannot be read.
  std::optional<std::string> c_string(std::uint64_t address, std::size_t most);

  void forget() { pages_.clear(); }
  [[nodiscard]] bool is_exhausted() const { return pages_read_ >= kMostPages || reads_ >= kMostReads; }

 private:
  static constexpr std::uint64_t kPage = USC_PAGE_BYTES;
  static constexpr std::size_t kMostKept = 4096;
  using Page = std::array<std::byte, kPage>;
  const Page* page(std::uint64_t number);

  TargetMemory& memory_;
  std::unordered_map<std::uint64_t, Page> pages_;
  std::uint64_t pages_read_ = 0;
  std::uint64_t reads_ = 0;
};

}  // namespace uscope::tracer

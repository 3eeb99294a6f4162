// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kernel module's device and the memory mapped from it, as owning handles.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace uscope::tracer {

// A range of addresses that is unmapped as a whole.
class MappedRange {
 public:
  MappedRange() = default;
  MappedRange(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  MappedRange(MappedRange&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedRange& operator=(MappedRange&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;
  ~MappedRange() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  [[nodiscard]] char* bytes() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace uscope::tracer

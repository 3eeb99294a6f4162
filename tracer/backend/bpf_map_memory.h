// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "support/result.h"

namespace uscope::tracer {

// A shared mapping of an array map's values.
class MapMemory {
 public:
  MapMemory() = default;
  MapMemory(const MapMemory&) = delete;
  MapMemory& operator=(const MapMemory&) = delete;
  ~MapMemory() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Result<void> open(int map_fd, std::size_t bytes, const char* name) {
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
    if (data == MAP_FAILED) return errno_error(std::string("cannot map the BPF map ") + name, errno);
    data_ = data;
    bytes_ = bytes;
    return {};
  }
  template <typename T>
  T* as() {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the fuzz targets share. A target is one LLVMFuzzerTestOneInput(); linked with replay.cpp instead of libFuzzer it
// runs the files of a corpus, which is a test in every build.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "support/unique_fd.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace uscope::fuzz {

// A property that does not hold is a crash, so that the fuzzer keeps the input.
inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  std::abort();
}

// Takes values off an input; zeros where it has come to its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  template <typename T>
  T take() {
    T value{};
    const std::size_t bytes = left_.size() < sizeof(T) ? left_.size() : sizeof(T);
    std::memcpy(&value, left_.data(), bytes);
    left_ = left_.subspan(bytes);
    return value;
  }
  // 0 … most
  std::size_t count(std::size_t most) { return take<std::uint8_t>() % (most + 1); }
  [[nodiscard]] bool empty() const { return left_.empty(); }
  [[nodiscard]] std::span<const std::uint8_t> rest() const { return left_; }

 private:
  std::span<const std::uint8_t> left_;
};

// The input as a file, as the product's readers take them.
inline UniqueFd as_file(std::span<const std::uint8_t> bytes) {
  UniqueFd fd(memfd_create("fuzz", MFD_CLOEXEC));
  require(fd && write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "a memory file");
  return fd;
}

}  // namespace uscope::fuzz

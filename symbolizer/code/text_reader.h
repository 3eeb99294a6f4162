// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the code of a file from which rows are derived.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uscope::symbolizer {

constexpr std::uint64_t kMaxTextBytes = 1u << 30;  // code for which rows are built

// The text of a file or an image, read on demand in ascending order.
class TextReader {
 public:
  explicit TextReader(int fd) : fd_(fd), window_(kWindow) {}
  explicit TextReader(std::span<const std::byte> image) : image_(image) {}

  static constexpr std::size_t kWindow = 65536;

  // The bytes at a file offset: `count` of them (at most kWindow), or none if not all can be read.
  std::span<const std::byte> bytes_at(std::uint64_t offset, std::size_t count);

  // Whether a system call instruction (0f 05) lies at this file offset.
  bool has_syscall_at(std::uint64_t offset) {
    constexpr std::array kOpcode = {std::byte{0x0f}, std::byte{0x05}};
    const auto bytes = bytes_at(offset, kOpcode.size());
    return std::equal(bytes.begin(), bytes.end(), kOpcode.begin(), kOpcode.end());
  }

 private:
  int fd_ = -1;
  std::uint64_t start_ = 0;  // file offset of image_
  std::vector<std::byte> window_;
  std::span<const std::byte> image_;
};

}  // namespace uscope::symbolizer

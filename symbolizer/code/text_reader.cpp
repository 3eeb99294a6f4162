// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/text_reader.h"

#include <unistd.h>

namespace uscope::symbolizer {
std::span<const std::byte> TextReader::bytes_at(std::uint64_t offset, std::size_t count) {
  if (fd_ >= 0 && (offset < start_ || offset - start_ + count > image_.size())) {
    const ssize_t got = pread(fd_, window_.data(), window_.size(), static_cast<off_t>(offset));
    start_ = offset;
    image_ = std::span<const std::byte>(window_).first(got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  const std::uint64_t at = offset - start_;
  if (at >= image_.size() || image_.size() - at < count) return {};
  return image_.subspan(at, count);
}

}  // namespace uscope::symbolizer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/byte_reader.h"

#include <fmt/core.h>

namespace uscope {

std::string_view ByteReader::c_string() {
  const auto* nul = left() == 0 ? nullptr : static_cast<const std::uint8_t*>(std::memchr(at_, 0, left()));
  if (nul == nullptr) {
    fail("text that ends with a NUL");
    return {};
  }
  const std::string_view found = text(static_cast<std::uint64_t>(nul - at_));
  at_++;
  return found;
}

ByteReader ByteReader::from(std::uint64_t offset) const {
  ByteReader other = *this;
  other.at_ = begin_;
  if (offset < offset_ || offset - offset_ > static_cast<std::uint64_t>(end_ - begin_))
    other.fail("an offset within the data", offset);
  else
    other.at_ += offset - offset_;
  return other;
}

void ByteReader::fail(const char* expected, std::uint64_t at) {
  if (!ok()) return;
  expected_ = expected;
  failed_at_ = at;
  end_ = at_;
}

Error ByteReader::error() const {
  if (ok()) return {};
  return {fmt::format("{}{}at offset {}: expected {}", name_, name_.empty() ? "" : ": ", failed_at_, expected_), ""};
}

}  // namespace uscope

#include "symbolizer/row_builder_text.h"

#include <unistd.h>

namespace uscope::symbolizer {
namespace {

// The length of the no-operation or int3 that an assembler pads with at the front of `code`, 0 where there is none.
std::size_t padding_length(std::span<const std::byte> code) {
  constexpr std::byte kInt3{0xcc};
  constexpr std::byte kOperandSize{0x66};
  constexpr std::byte kCodeSegment{0x2e};
  constexpr std::byte kNop{0x90};
  if (!code.empty() && code[0] == kInt3) return 1;
  std::size_t at = 0;
  while (at < code.size() && (code[at] == kOperandSize || code[at] == kCodeSegment)) at++;
  if (at < code.size() && code[at] == kNop) return at + 1;
  // 0f 1f /0: the long form, with an operand that says how long it is.
  if (code.size() - at < 3 || code[at] != std::byte{0x0f} || code[at + 1] != std::byte{0x1f}) return 0;
  const auto operand = std::to_integer<unsigned>(code[at + 2]);
  const bool has_index = (operand & 7) == 4;
  constexpr std::size_t kDisplacement[] = {0, 1, 4};
  if (operand >> 3 != 0 && operand >> 3 != 8 && operand >> 3 != 16) return 0;
  const std::size_t length = at + 3 + (has_index ? 1 : 0) + kDisplacement[operand >> 6];
  return length <= code.size() ? length : 0;
}

}  // namespace

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

bool is_padding(std::span<const std::byte> code) {
  while (!code.empty()) {
    const std::size_t length = padding_length(code);
    if (length == 0) return false;
    code = code.subspan(length);
  }
  return true;
}

}  // namespace uscope::symbolizer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/signal_trampoline.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace uscope::symbolizer {
namespace {

constexpr std::array<unsigned char, 7> kShort = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};
constexpr std::array<unsigned char, 9> kLong = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
constexpr std::array<unsigned char, 6> kTail = {15, 0, 0, 0, 0x0f, 0x05};  // of both

template <std::size_t N>
bool is_code_of(std::span<const std::byte> code, const std::array<unsigned char, N>& bytes) {
  return code.size() >= N && std::memcmp(code.data(), bytes.data(), N) == 0;
}

}  // namespace

std::size_t signal_trampoline_length(std::span<const std::byte> code) {
  if (is_code_of(code, kShort)) return kShort.size();
  if (is_code_of(code, kLong)) return kLong.size();
  return 0;
}

std::vector<std::size_t> find_signal_trampolines(std::span<const std::byte> code) {
  std::vector<std::size_t> found;
  for (std::size_t from = 0; from + kTail.size() <= code.size();) {
    const auto* hit =
        static_cast<const std::byte*>(memmem(code.data() + from, code.size() - from, kTail.data(), kTail.size()));
    if (hit == nullptr) break;
    const auto tail = static_cast<std::size_t>(hit - code.data());
    from = tail + 1;
    for (const std::size_t length : {kLong.size(), kShort.size()}) {
      const std::size_t head = length - kTail.size();
      if (tail < head || signal_trampoline_length(code.subspan(tail - head)) != length) continue;
      found.push_back(tail - head);
      break;
    }
  }
  return found;
}

}  // namespace uscope::symbolizer

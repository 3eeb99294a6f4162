// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A 128-bit hash at the speed of memory, to distinguish contents that differ by accident or by a tool's work. It does
// not withstand an attacker who chooses the bytes: use Sha256 for that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace uscope::symbolizer {

class FastHash {
 public:
  // The size of every piece but the last must be a multiple of 16 bytes.
  void add(std::span<const std::byte> bytes) {
    while (bytes.size() >= kStep) {
      step(bytes.data());
      bytes = bytes.subspan(kStep);
    }
    if (bytes.empty()) return;
    std::array<std::byte, kStep> last{};
    std::memcpy(last.data(), bytes.data(), bytes.size());
    step(last.data());
    state_[0] ^= bytes.size();
  }
  [[nodiscard]] std::array<std::uint64_t, 2> finish() const {
    return {mix(state_[0] ^ state_[1] >> 32U), mix(state_[1] ^ state_[0] >> 29U)};
  }

 private:
  static constexpr std::size_t kStep = 16;

  // Invertible, like every step: two contents that differ in one step cannot become equal by later equal steps.
  static std::uint64_t mix(std::uint64_t value) {
    value *= 0x9e3779b97f4a7c15ULL;
    return value ^ value >> 32U;
  }
  void step(const std::byte* at) {
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), at, kStep);
    state_[0] = mix(state_[0] ^ words[0]);
    state_[1] = mix(state_[1] ^ words[1]);
  }

  std::array<std::uint64_t, 2> state_{0xff51afd7ed558ccdULL, 0xc4ceb9fe1a85ec53ULL};
};

}  // namespace uscope::symbolizer

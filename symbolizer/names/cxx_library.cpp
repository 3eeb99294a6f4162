// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/cxx_library.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kLoadBytes = 10;  // of `movabs $CLASS,%REGISTER`: REX.W, the opcode, eight bytes
constexpr std::size_t kAtOnce = 1 << 20;

// Compilers also add the negated class and compare the sum with 0 or 1.
bool is_exception_class(std::uint64_t value) {
  constexpr std::array<std::uint64_t, 2> kClasses{0x474e5543432b2b00, 0x434c4e47432b2b00};  // GNUCC++, CLNGC++
  return std::any_of(kClasses.begin(), kClasses.end(), [&](std::uint64_t one) {
    // "GNUCC++\1" is a dependent exception.
    return value == one || value == one + 1 || value == -one || value == -one - 1;
  });
}

bool loads_exception_class(const std::byte* code) {
  const auto rex = std::to_integer<unsigned>(code[0]);
  if ((rex & 0xfeU) != 0x48 || (std::to_integer<unsigned>(code[1]) & 0xf8U) != 0xb8) return false;
  std::uint64_t value = 0;
  std::memcpy(&value, code + 2, sizeof(value));
  return is_exception_class(value);
}

}  // namespace

std::optional<std::uint64_t> find_exception_class(const ReadCode& read, std::uint64_t low, std::uint64_t high) {
  while (low < high && high - low >= kLoadBytes) {
    const std::vector<std::byte> code = read(low, std::min<std::uint64_t>(high - low, kAtOnce));
    if (code.size() < kLoadBytes) break;
    const std::size_t last = code.size() - kLoadBytes;
    for (std::size_t at = 0; at <= last; at++)
      if (loads_exception_class(&code[at])) return low + at;
    low += last + 1;
  }
  return std::nullopt;
}

}  // namespace uscope::symbolizer

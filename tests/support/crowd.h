// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How much the tests of bounds do: that what grows does so in proportion shows in a smaller crowd, too.
#pragma once

#include <cstdint>

namespace uscope::test {

#ifdef USCOPE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// `full`, or an eighth of it where AddressSanitizer makes every step several times as long.
constexpr std::uint64_t crowd(std::uint64_t full) {
  return kSanitized ? full / 8 : full;
}

}  // namespace uscope::test

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Errors of a write that found no room: a full disk, a quota, and the limit of file sizes (`ulimit -f`), which is an
// error like the others since uscope holds SIGXFSZ back (support/end_signals.h).
#pragma once

#include <cerrno>

namespace uscope {

[[nodiscard]] constexpr bool is_no_room(int number) {
  return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

// What to do; `otherwise` for other errors.
[[nodiscard]] constexpr const char* room_remedy(int number, const char* otherwise) {
  if (number == EFBIG) return "raise the limit of file sizes (ulimit -f)";
  return is_no_room(number) ? "free space on the disk, or write elsewhere" : otherwise;
}

}  // namespace uscope

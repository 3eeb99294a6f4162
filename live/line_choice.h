// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which lines of a picture are shown, and in what order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "live/call_counts.h"

namespace uscope::live {

// What there is most of in the first line.
enum class Order { kCalls, kTime, kErrors };

// Calls that wait (syscalls/call_traits.h): behind the others, left out, or alone.
enum class Waits { kApart, kNone, kOnly };

struct LineChoice {
  Order order = Order::kCalls;
  // Only lines with this text, in upper or lower case: in call, function or the module's file name; of a thread, in
  // name, pid, tid or the most frequent call.
  std::string filter{};
  bool reverse = false;         // the least first
  Waits waits = Waits::kApart;  // of lines by call
};

// The places of the chosen lines in `lines`, in their order; calls that wait come behind the others, whatever the
// order. Equal lines are ordered by calls, then by their texts, so that they do not change places from one picture to
// the next.
[[nodiscard]] std::vector<std::size_t> chosen(const std::vector<CallLine>& lines, const LineChoice& choice);
[[nodiscard]] std::vector<std::size_t> chosen(const std::vector<ThreadLine>& lines, const LineChoice& choice);

}  // namespace uscope::live

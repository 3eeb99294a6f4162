// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an export of single events has written.
#pragma once

#include <cstdint>

namespace uscope::exporters {

struct TimelineTotals {
  std::uint64_t events = 0;
  std::uint64_t unfinished = 0;  // of these: began, and were not seen to end
};

}  // namespace uscope::exporters

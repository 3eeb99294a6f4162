// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The words of waited_descriptor.wants and event_descriptor.wants.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "uscope/record.h"

namespace uscope::store {

// `wants`: enum usc_wants_kind, as check_record() lets pass.
[[nodiscard]] inline std::string_view wants_name(std::uint8_t wants) {
  static constexpr std::array<std::string_view, USC_WANTS_KINDS> kWants{"read",    "write",  "read or write", "lock",
                                                                        "connect", "accept", "other"};
  return kWants.at(wants);
}

}  // namespace uscope::store

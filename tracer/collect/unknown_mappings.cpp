// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/unknown_mappings.h"

#include <algorithm>
#include <cstddef>

namespace uscope::tracer {

Result<void> UnknownMappings::ask(std::uint64_t now_ns) {
  Result<void> outcome;
  for (std::size_t i = 0; i < asked_.size();) {
    Asked& asked = asked_[i];
    if (asked.next_ns > now_ns) {
      i++;
      continue;
    }
    const auto announced = backend_.announce_mappings(asked.pid);
    if (announced && !*announced) {
      asked.next_ns = now_ns + asked.rest_ns;
      asked.rest_ns = std::min(2 * asked.rest_ns, kLongestRestNs);
      i++;
      continue;
    }
    if (!announced && outcome) outcome = announced.error();
    asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return outcome;
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/unknown_mappings.h"

#include <algorithm>

#include "support/clock.h"

namespace uscope::tracer {

void UnknownMappings::add(std::uint32_t pid) {
  const auto same = [pid](const Asked& asked) { return asked.pid == pid; };
  if (std::none_of(asked_.begin(), asked_.end(), same)) asked_.push_back({pid, 0, kFirstRestNs});
}

Result<void> UnknownMappings::ask(std::uint64_t now_ns) {
  std::vector<Asked> again;  // behind the others, so that these have their turn
  Result<void> outcome;
  std::erase_if(asked_, [&](Asked& asked) {
    if (asked.next_ns > now_ns || !outcome || monotonic_ns() > now_ns + kLongestRoundNs) return false;
    const auto announced = backend_.announce_mappings(asked.pid);
    if (!announced) outcome = announced.error();
    if (announced && !*announced)
      again.push_back({asked.pid, now_ns + asked.rest_ns, std::min(2 * asked.rest_ns, kLongestRestNs)});
    return true;
  });
  asked_.insert(asked_.end(), again.begin(), again.end());
  return outcome;
}

}  // namespace uscope::tracer

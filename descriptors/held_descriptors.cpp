// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "descriptors/held_descriptors.h"

#include <algorithm>
#include <tuple>

namespace uscope::descriptors {

std::string_view held_until_name(HeldUntil until) {
  switch (until) {
    case HeldUntil::kClose:
      return "close";
    case HeldUntil::kExec:
      return "exec";
    case HeldUntil::kExit:
      return "exit";
    case HeldUntil::kLeft:
      return "left";
    case HeldUntil::kTracing:
      break;
  }
  return "tracing";
}

void HeldDescriptors::add(const HeldDescriptor& held) {
  if (held_.size() < kMost)
    held_.push_back(held);
  else if (held_.back().process != held.process)
    held_.push_back({.process = held.process, .until_ns = held.until_ns, .until = held.until});
}

std::span<const HeldDescriptor> HeldDescriptors::sorted() {
  std::sort(held_.begin(), held_.end(), [](const HeldDescriptor& a, const HeldDescriptor& b) {
    return std::tie(a.process, a.fd, a.until_ns, a.opened) < std::tie(b.process, b.fd, b.until_ns, b.opened);
  });
  return held_;
}

}  // namespace uscope::descriptors

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/descriptors/held_descriptors.h"

#include <algorithm>
#include <tuple>

namespace uscope::store {

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

// In an order that depends on the trace alone.
Result<void> HeldDescriptors::write(DatabaseWriter& database) {
  std::sort(held_.begin(), held_.end(), [](const HeldDescriptor& a, const HeldDescriptor& b) {
    return std::tie(a.process, a.fd, a.until_ns, a.opened) < std::tie(b.process, b.fd, b.until_ns, b.opened);
  });
  auto insert = database.prepare("INSERT INTO held_descriptor VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
  if (!insert) return insert.error();
  for (const HeldDescriptor& held : held_) {
    const auto until = held.until_ns ? std::optional(static_cast<std::int64_t>(*held.until_ns)) : std::nullopt;
    auto done = insert->run(held.process, held.fd, maybe_id(held.name), maybe_id(held.opened), until,
                            held_until_name(held.until));
    if (!done) return done;
  }
  return {};
}

}  // namespace uscope::store

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls that have not returned, and that no time limit ends: what may hang.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::tracer {

class OpenCalls {
 public:
  // Call it for every event as it arrives, including open and attached ones.
  void observe(const usc_event& event);

  struct Set {
    std::uint64_t count = 0;
    std::uint64_t mark = 0;  // equal if two sets are equal
  };
  // Those that began before `before_ns`.
  [[nodiscard]] Set begun_before(std::uint64_t before_ns) const;

 private:
  std::unordered_map<trace::TaskId, std::uint64_t> entries_ns_;
};

}  // namespace uscope::tracer

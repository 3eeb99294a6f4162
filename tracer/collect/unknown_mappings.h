// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Processes whose executable mappings the kernel side does not know from their beginning: those that ran before the
// trace, and their children that were forked meanwhile. As long as it does not know them, it has to take many a call
// for a change of mappings, which makes every call of such a process dearer. So they are asked for until they could be
// gone through.
#pragma once

#include <cstdint>
#include <vector>

#include "support/result.h"
#include "tracer/backend/backend.h"

namespace uscope::tracer {

class UnknownMappings {
 public:
  explicit UnknownMappings(Backend& backend) : backend_(backend) {}
  // `pid`: of the initial namespace.
  void add(std::uint32_t pid);
  // Asks for those whose time has come: at once, and where their mappings were locked, after a rest that doubles. Those
  // for whom this time would be too long have their turn in the next round.
  Result<void> ask(std::uint64_t now_ns);
  [[nodiscard]] bool empty() const { return asked_.empty(); }

 private:
  static constexpr std::uint64_t kFirstRestNs = 20'000'000;
  static constexpr std::uint64_t kLongestRestNs = 2'000'000'000;
  static constexpr std::uint64_t kLongestRoundNs = 20'000'000;

  struct Asked {
    std::uint32_t pid = 0;
    std::uint64_t next_ns = 0;
    std::uint64_t rest_ns = 0;
  };

  Backend& backend_;
  std::vector<Asked> asked_;
};

}  // namespace uscope::tracer

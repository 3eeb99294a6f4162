// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The code that walks in user space meet in memory without a file: the bytes at a pc may say how it will return
// (usc_rule_of_return). The kernel side reads them while it walks; a stack copy does not hold them, so a scout reads
// them from the process. Of a process that has ended there is nothing to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "trace/ids.h"
#include "tracer/scouts/scouts.h"
#include "tracer/scouts/waiting_debt.h"

namespace uscope::tracer {

class JitCode {
 public:
  static constexpr std::size_t kMostKept = 65536;

  // The scouts may be null: then the caller's thread reads.
  explicit JitCode(Scouts* scouts = nullptr) : scouts_(scouts) {}

  // The eight bytes at a pc; nothing if they could not be read, or if reading took too much time lately. `pid`: a
  // process with this address space. Each pc is looked at once.
  std::optional<std::uint64_t> at(trace::MmId mm, std::uint32_t pid, std::uint64_t pc);

 private:
  Scouts* scouts_;
  WaitingDebt debt_;
  std::map<std::pair<trace::MmId, std::uint64_t>, std::optional<std::uint64_t>> known_;
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `record --until-stall`: a child process loads the raw trace in its present state into an unnamed store next to the
// output, and diagnoses it.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/session/record_outputs.h"
#include "support/process/child_work.h"
#include "tracer/recorder/stall_watch.h"

namespace uscope::cli {

class ForkedStallCheck : public tracer::StallCheck {
 public:
  // A stall counts if threads have waited for each other for at least `stall_ns`.
  ForkedStallCheck(const RecordOutputs& outputs, std::uint64_t stall_ns) : outputs_(outputs), stall_ns_(stall_ns) {}

  void begin() override;
  std::optional<bool> poll() override;

 private:
  [[nodiscard]] int check() const;
  [[nodiscard]] Result<bool> is_stalled() const;

  const RecordOutputs& outputs_;
  std::uint64_t stall_ns_;
  std::optional<ChildWork> work_;
};

}  // namespace uscope::cli

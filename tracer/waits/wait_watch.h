// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Takes looks at what all traced threads wait in and who holds what they wait for (wait_look.h), by scouts, and writes
// them to the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "support/clock.h"
#include "support/result.h"
#include "trace/sink.h"
#include "trace/string_filter.h"
#include "tracer/model/task_table.h"
#include "tracer/scouts/patience.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

class WaitWatch {
 public:
  // All must outlive this object. `strings` decides what is written of the names of what descriptors stand for. Without
  // scouts the caller's thread does the work at once.
  WaitWatch(const TaskTable& tasks, trace::RecordSink& sink, const trace::StringFilter& strings,
            Scouts* scouts = nullptr)
      : tasks_(tasks), sink_(sink), strings_(strings), scouts_(scouts) {}

  // Begins a look, if none is under way. `at`: USC_RESOURCE_AT_ATTACH for the one that is taken when processes that ran
  // before have come into the trace.
  Result<void> begin(std::uint8_t at = USC_RESOURCE_AT_LOOK);
  // Writes the look when it is whole.
  Result<void> work();
  // A look without threads: what an earlier one found is over.
  Result<void> write_empty();
  [[nodiscard]] bool is_looking() const { return errand_.has_value(); }
  void give_up() { errand_.reset(); }
  [[nodiscard]] bool has_looked() const { return written_ != 0; }

 private:
  static constexpr int kMostHangs = 6;
  static constexpr int kFirstPatienceMs = 750;
  // The kernel stops all that lock files while it lists the locks, and first waits until no CPU is locking a file,
  // which takes long where CPUs are few and busy. Nobody is to blame for that. Beyond the patience for any step.
  static constexpr std::uint64_t kMachinePatienceNs = 2'000 * kMillisecondNs;

  // The scout hangs: is that still within the time that the kernel's list may take?
  bool waits_for_machine();
  Result<void> send();
  Result<void> write(const std::vector<ScoutMessage>& seen);
  Result<void> append(const usc_record& record);
  Result<void> append_resource(const usc_resource& resource);

  const TaskTable& tasks_;
  trace::RecordSink& sink_;
  const trace::StringFilter& strings_;
  Scouts* scouts_;
  std::optional<Errand> errand_;
  std::vector<ScoutMessage> seen_;
  std::vector<std::uint32_t> silent_;  // pids that did not answer in this look
  int hung_ = 0;
  std::optional<CountedTime> machine_;  // since the scout hangs at the kernel's list
  std::uint8_t at_ = USC_RESOURCE_AT_LOOK;
  std::uint32_t number_ = 0;
  std::uint32_t written_ = 0;
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Futex waits that have not returned, and the state of their memory after their entry: at the end of the trace, or when
// a check for threads that wait for each other is made.
//
// Scouts (scouts.h) read the memory, since a page of it may never answer. Meanwhile tracing continues.
//
// A look at all waits is one consistent snapshot: threads that are found asleep before all memory is read, and have not
// run until after that, were all asleep in their waits at one instant, and the values read were valid then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "support/result.h"
#include "trace/sink.h"
#include "tracer/model/task_table.h"
#include "tracer/scouts/scouts.h"
#include "uscope/record.h"

namespace uscope::tracer {

// One wait, as passed to the scout that examines it.
struct FutexQuestion {
  // How much memory around the address is read: less, if a larger read did not answer.
  enum class Depth : std::uint32_t { kAround, kPage, kNone };
  std::uint64_t entry_ns = 0;
  std::uint64_t args[6] = {};
  trace::TaskId task;
  std::uint32_t tid = 0;
  std::uint32_t pid = 0;
  trace::MmId mm;
  std::uint32_t nr = 0;
  std::uint32_t abi = 0;
  Depth depth = Depth::kAround;
  // Number of untraced processes with its address space, if it may have been shared before the trace; else
  // USC_FUTEX_SHARERS_UNKNOWN. They are counted again if `counts_sharers`.
  std::uint32_t sharers = USC_FUTEX_SHARERS_UNKNOWN;
  std::uint32_t counts_sharers = 0;
  std::uint32_t pad = 0;
};

class FutexWatch {
 public:
  // All must outlive this object. Without scouts the caller's thread does the work at once.
  FutexWatch(const TaskTable& tasks, trace::RecordSink& sink, Scouts* scouts = nullptr)
      : tasks_(tasks), sink_(sink), scouts_(scouts) {}

  // Call it for every event as it arrives, including open and attached ones.
  void observe(const usc_event& event);

  // Begins to examine the waits that were found open since the last look. Threads may run meanwhile.
  Result<void> scan_new();
  // Begins one snapshot of all waits.
  Result<void> scan_all();
  // Writes what the scouts have found so far. If the memory of a wait does not answer, the wait is written with less of
  // it, or not at all.
  Result<void> work();
  // is_scanning(): a look is in progress; is_hanging(): something in it has not answered.
  [[nodiscard]] bool is_scanning() const { return look_.has_value(); }
  [[nodiscard]] bool is_hanging() const { return look_ && look_->hung != 0; }
  // Stops waiting for the look in progress.
  void give_up() {
    look_.reset();
    all_asked_ = false;
  }

  [[nodiscard]] std::size_t waits() const { return waits_.size(); }

 private:
  struct Wait {
    trace::TaskId task = {};
    std::uint64_t entry_ns = 0;
    std::uint64_t args[6] = {};
    std::uint32_t nr = 0;
    std::uint8_t abi = 0;
    bool entered = false;  // its call's entry was seen
    bool looked_at = false;
    FutexQuestion::Depth depth = FutexQuestion::Depth::kAround;
  };
  struct Look {
    bool at_once = false;
    std::vector<FutexQuestion> questions;
    std::vector<std::uint32_t> silent;  // pids of processes that are not queried
    std::uint32_t hung = 0;             // how often it was started again
    std::optional<Errand> errand;
    std::vector<ScoutMessage> seen;  // results so far
  };

  void ask_about(const Wait& wait, Look& look) const;
  Result<void> begin(Look look);
  Result<void> send();
  Result<void> write(const std::vector<ScoutMessage>& seen);
  Result<void> avoid(Look& look, std::uint32_t place);
  Result<void> let_be(const FutexQuestion& question);

  const TaskTable& tasks_;
  trace::RecordSink& sink_;
  Scouts* scouts_;
  std::optional<Look> look_;
  bool all_asked_ = false;  // begin another look when this one is over
  std::unordered_map<trace::TaskId, Wait> waits_;
  std::unordered_map<trace::MmId, std::uint32_t> sharers_;  // number of untraced processes
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The traced tasks according to the records: which are alive, and which address space each uses. Gives names while
// tracing, and shows when an address space is no longer used.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/ids.h"
#include "tracer/model/map_owners.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct TaskInfo {
  trace::ProcessId process;
  std::uint32_t pid = 0;
  std::uint32_t ns_pid = 0;  // in the innermost namespace
  std::uint32_t tid = 0;
  trace::MmId mm;
  std::string name;
  // The owners of its address space, which may become known, or more, later.
  [[nodiscard]] const std::vector<MapOwner>& maps() const { return *owners; }
  MapOwners::List owners = std::make_shared<std::vector<MapOwner>>();
};

class TaskTable {
 public:
  void start(const usc_task& record);
  void exec(const usc_exec& record);
  void rename(const usc_task_name& record);
  void exit(const usc_task_exit& record);

  // Never null: a task whose start has not arrived yet has no name.
  [[nodiscard]] const TaskInfo& find(trace::TaskId serial) const;
  // Whether the address space existed before the trace: an untraced process may share it.
  [[nodiscard]] bool was_adopted(trace::MmId mm) const { return adopted_.count(mm) != 0; }
  // The address spaces of living tasks.
  [[nodiscard]] std::unordered_set<trace::MmId> spaces_in_use() const;
  // Pids of processes that are alive, or ended a short time ago.
  [[nodiscard]] std::set<std::uint32_t> living() const;
  // All tasks that are alive, or ended a short time ago.
  [[nodiscard]] std::vector<std::pair<trace::TaskId, const TaskInfo*>> alive() const;
  // The process with a pid, if there is one.
  [[nodiscard]] trace::ProcessId process_of(std::uint32_t pid) const;
  [[nodiscard]] std::uint64_t processes() const { return processes_ > 0 ? static_cast<std::uint64_t>(processes_) : 0; }

  // Forgets tasks that ended more than kGraceNs before `now`, and returns the address spaces that no task uses any
  // more. The grace time is for records of other CPUs that still refer to them.
  std::vector<trace::MmId> reap(std::uint64_t now);

 private:
  static constexpr std::uint64_t kGraceNs = 2'000'000'000;
  struct Ended {
    trace::TaskId task;
    std::uint64_t time = 0;
  };
  // An address space without users.
  struct Left {
    trace::MmId mm;
    std::uint64_t time = 0;
  };

  TaskInfo& slot(trace::TaskId serial);
  void release(trace::MmId mm, std::uint64_t time);

  std::unordered_map<trace::TaskId, TaskInfo> tasks_;
  std::unordered_map<trace::MmId, std::int64_t> mm_users_;
  std::unordered_set<trace::MmId> adopted_;
  MapOwners owners_;
  std::deque<Ended> ended_;
  std::deque<Left> left_;
  std::int64_t processes_ = 0;
  TaskInfo unknown_;
};

}  // namespace uscope::tracer

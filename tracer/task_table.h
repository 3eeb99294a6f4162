// The traced tasks as the record stream tells of them: who is alive, which address space each uses. For names while
// tracing, and to know when an address space is not used any more.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "uscope/record.h"

namespace uscope::tracer {

// A process whose perf map may tell of an address space: since when it has had it, in CLOCK_MONOTONIC.
struct MapOwner {
  std::uint32_t pid = 0;
  std::uint32_t ns_pid = 0;
  std::uint64_t from_ns = 0;
};

struct TaskInfo {
  std::uint32_t process = 0;  // serial
  std::uint32_t pid = 0;
  std::uint32_t ns_pid = 0;  // of the innermost namespace
  std::uint32_t tid = 0;
  std::uint32_t mm = 0;
  std::vector<MapOwner>
      maps;  // of its address space: its process, then those whose mappings it began with, inner first
  std::string name;
};

class TaskTable {
 public:
  void start(const usc_task& record);
  void exec(const usc_exec& record);
  void rename(const usc_task_name& record);
  void exit(const usc_task_exit& record);

  // Never null: a task whose start has not come yet is shown as nameless.
  [[nodiscard]] const TaskInfo& find(std::uint32_t serial) const;
  // Pids of those that are alive, or ended a short time ago.
  [[nodiscard]] std::set<std::uint32_t> living() const;
  [[nodiscard]] std::uint64_t processes() const { return processes_ > 0 ? static_cast<std::uint64_t>(processes_) : 0; }

  // Forgets tasks that ended more than kGraceNs before `now`, and returns the address spaces that no task uses any
  // more. The grace time is for records of other processors that still refer to them.
  std::vector<std::uint32_t> bury(std::uint64_t now);

 private:
  static constexpr std::uint64_t kGraceNs = 2'000'000'000;
  struct Ended {
    std::uint32_t serial = 0;
    std::uint64_t time = 0;
  };

  TaskInfo& slot(std::uint32_t serial);
  [[nodiscard]] std::vector<MapOwner> maps_of(const usc_task& record) const;
  void release(std::uint32_t mm, std::uint64_t time);

  std::unordered_map<std::uint32_t, TaskInfo> tasks_;
  std::unordered_map<std::uint32_t, std::int64_t> mm_users_;
  std::deque<Ended> ended_;  // tasks
  std::deque<Ended> left_;   // address spaces without users
  std::int64_t processes_ = 0;
  TaskInfo unknown_;
};

}  // namespace uscope::tracer

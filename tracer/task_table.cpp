#include "tracer/task_table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostForebears = 4;

std::string text_of(const char (&name)[16]) {
  return {name, strnlen(name, sizeof(name))};
}

}  // namespace

TaskInfo& TaskTable::slot(std::uint32_t serial) {
  return tasks_[serial];
}

void TaskTable::start(const usc_task& record) {
  TaskInfo& task = slot(record.head.task);
  task.process = record.process;
  task.pid = record.pid;
  task.ns_pid = record.ns_pid;
  task.tid = record.tid;
  if (task.name.empty()) task.name = text_of(record.name);
  // An exec that came before its task's start has set the address space already; it did not know the pids.
  if (task.mm != 0) {
    const std::uint64_t from_ns = task.maps.empty() ? record.start_ns : task.maps[0].from_ns;
    task.maps = {{record.pid, record.ns_pid, from_ns}};
  } else {
    task.mm = record.mm;
    task.maps = maps_of(record);
    mm_users_[record.mm]++;
  }
  if ((record.flags & USC_TASK_PROCESS) != 0) processes_++;
  // The same thread went on under another serial.
  if ((record.flags & USC_TASK_EXEC_TID) != 0) ended_.push_back({record.parent_task, record.head.time});
}

// Of tasks that share an address space they are the same; a forked process has its own, and for the code that it
// inherited its parent's.
std::vector<MapOwner> TaskTable::maps_of(const usc_task& record) const {
  std::vector<MapOwner> maps;
  const auto parent = tasks_.find(record.parent_task);
  const bool known = parent != tasks_.end();
  if (known && record.parent_mm == record.mm) return parent->second.maps;
  maps.push_back({record.pid, record.ns_pid, record.start_ns});
  if (known && record.parent_mm != 0) {
    const std::vector<MapOwner>& before = parent->second.maps;
    std::copy_n(before.begin(), std::min(before.size(), kMostForebears), std::back_inserter(maps));
  }
  return maps;
}

void TaskTable::exec(const usc_exec& record) {
  TaskInfo& task = slot(record.head.task);
  if (task.mm != 0) release(task.mm, record.head.time);
  task.mm = record.mm;
  task.maps = {{task.pid, task.ns_pid, record.head.time}};
  mm_users_[record.mm]++;
  task.name = text_of(record.name);
}

void TaskTable::rename(const usc_task_name& record) {
  slot(record.head.task).name = text_of(record.name);
}

void TaskTable::exit(const usc_task_exit& record) {
  if ((record.flags & USC_EXIT_GROUP_DEAD) != 0) processes_--;
  ended_.push_back({record.head.task, record.head.time});
}

const TaskInfo& TaskTable::find(std::uint32_t serial) const {
  const auto found = tasks_.find(serial);
  return found == tasks_.end() ? unknown_ : found->second;
}

std::set<std::uint32_t> TaskTable::living() const {
  std::set<std::uint32_t> pids;
  for (const auto& [serial, task] : tasks_) pids.insert(task.pid);
  return pids;
}

void TaskTable::release(std::uint32_t mm, std::uint64_t time) {
  if (--mm_users_[mm] <= 0) left_.push_back({mm, time});
}

std::vector<std::uint32_t> TaskTable::bury(std::uint64_t now) {
  while (!ended_.empty() && ended_.front().time + kGraceNs < now) {
    const Ended ended = ended_.front();
    ended_.pop_front();
    const auto task = tasks_.find(ended.serial);
    if (task == tasks_.end()) continue;
    release(task->second.mm, ended.time);
    tasks_.erase(task);
  }
  std::vector<std::uint32_t> unused;
  while (!left_.empty() && left_.front().time + kGraceNs < now) {
    const std::uint32_t mm = left_.front().serial;
    left_.pop_front();
    // A start that came late may have taken it up meanwhile.
    const auto users = mm_users_.find(mm);
    if (users == mm_users_.end() || users->second > 0) continue;
    mm_users_.erase(users);
    unused.push_back(mm);
  }
  return unused;
}

}  // namespace uscope::tracer

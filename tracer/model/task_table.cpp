// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/model/task_table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostForebears = 4;

std::string text_of(const char (&name)[16]) {
  return {name, strnlen(name, sizeof(name))};
}

std::shared_ptr<std::vector<MapOwner>> owned_by(const MapOwner& owner) {
  return std::make_shared<std::vector<MapOwner>>(1, owner);
}

}  // namespace

TaskInfo& TaskTable::slot(trace::TaskId serial) {
  return tasks_[serial];
}

void TaskTable::start(const usc_task& record) {
  TaskInfo& task = slot(trace::TaskId(record.head.task));
  task.process = trace::ProcessId(record.process);
  task.pid = record.pid;
  task.ns_pid = record.ns_pid;
  task.tid = record.tid;
  if (task.name.empty()) task.name = text_of(record.name);
  // An exec that arrived before its task's start has already set the address space, but did not know the pids.
  if (task.mm) {
    const std::uint64_t from_ns = task.maps().empty() ? record.start_ns : task.maps()[0].from_ns;
    task.owners = owned_by({record.pid, record.ns_pid, from_ns});
  } else {
    task.mm = trace::MmId(record.mm);
    task.owners = owners_of(record);
    mm_users_[task.mm]++;
    if ((record.flags & USC_TASK_ATTACHED) != 0) share_owners(task, (record.flags & USC_TASK_PROCESS) != 0);
  }
  if ((record.flags & USC_TASK_PROCESS) != 0) processes_++;
  // The same thread continued under another serial.
  if ((record.flags & USC_TASK_EXEC_TID) != 0) ended_.push_back({trace::TaskId(record.parent_task), record.head.time});
}

// Tasks that share an address space have the same owners; a forked process has its own and, for the code that it
// inherited, its parent's.
TaskTable::Owners TaskTable::owners_of(const usc_task& record) const {
  const auto parent = tasks_.find(trace::TaskId(record.parent_task));
  const bool known = parent != tasks_.end();
  if (known && record.parent_mm == record.mm) return parent->second.owners;
  Owners owners = owned_by({record.pid, record.ns_pid, record.start_ns});
  if (known && record.parent_mm != 0) {
    const std::vector<MapOwner>& before = parent->second.maps();
    std::copy_n(before.begin(), std::min(before.size(), kMostForebears), std::back_inserter(*owners));
  }
  return owners;
}

// Processes that ran before the trace may share an address space: the map of each may then describe its code, the
// eldest one's first. There may be thousands of them: each adds itself to one short list for all.
void TaskTable::share_owners(TaskInfo& task, bool is_process) {
  const auto [at, is_first] = adopted_.try_emplace(task.mm, task.owners);
  if (is_first || at->second == task.owners) return;
  const Owners own = std::exchange(task.owners, at->second);
  if (!is_process) return;
  std::vector<MapOwner>& all = *at->second;
  for (const MapOwner& owner : *own) {
    const auto same = [&](const MapOwner& known) { return known.pid == owner.pid; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(owner);
  }
  std::sort(all.begin(), all.end(), [](const MapOwner& a, const MapOwner& b) { return a.from_ns < b.from_ns; });
  if (all.size() > kMostForebears + 1) all.resize(kMostForebears + 1);
}

void TaskTable::exec(const usc_exec& record) {
  TaskInfo& task = slot(trace::TaskId(record.head.task));
  if (task.mm) release(task.mm, record.head.time);
  task.mm = trace::MmId(record.mm);
  task.owners = owned_by({task.pid, task.ns_pid, record.head.time});
  mm_users_[task.mm]++;
  task.name = text_of(record.name);
}

void TaskTable::rename(const usc_task_name& record) {
  slot(trace::TaskId(record.head.task)).name = text_of(record.name);
}

void TaskTable::exit(const usc_task_exit& record) {
  if ((record.flags & USC_EXIT_GROUP_DEAD) != 0) processes_--;
  ended_.push_back({trace::TaskId(record.head.task), record.head.time});
}

const TaskInfo& TaskTable::find(trace::TaskId serial) const {
  const auto found = tasks_.find(serial);
  return found == tasks_.end() ? unknown_ : found->second;
}

std::unordered_set<trace::MmId> TaskTable::spaces_in_use() const {
  auto users = mm_users_;
  for (const Ended& ended : ended_)
    if (const auto task = tasks_.find(ended.task); task != tasks_.end()) users[task->second.mm]--;
  std::unordered_set<trace::MmId> used;
  for (const auto& [mm, count] : users)
    if (count > 0) used.insert(mm);
  return used;
}

std::set<std::uint32_t> TaskTable::living() const {
  std::set<std::uint32_t> pids;
  for (const auto& [serial, task] : tasks_) pids.insert(task.pid);
  return pids;
}

trace::ProcessId TaskTable::process_of(std::uint32_t pid) const {
  const auto found =
      std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& task) { return pid != 0 && task.second.pid == pid; });
  return found == tasks_.end() ? trace::ProcessId() : found->second.process;
}

void TaskTable::release(trace::MmId mm, std::uint64_t time) {
  if (--mm_users_[mm] <= 0) left_.push_back({mm, time});
}

std::vector<trace::MmId> TaskTable::reap(std::uint64_t now) {
  while (!ended_.empty() && ended_.front().time + kGraceNs < now) {
    const Ended ended = ended_.front();
    ended_.pop_front();
    const auto task = tasks_.find(ended.task);
    if (task == tasks_.end()) continue;
    release(task->second.mm, ended.time);
    tasks_.erase(task);
  }
  std::vector<trace::MmId> unused;
  while (!left_.empty() && left_.front().time + kGraceNs < now) {
    const trace::MmId mm = left_.front().mm;
    left_.pop_front();
    // A late start may have taken it into use in the meantime.
    const auto users = mm_users_.find(mm);
    if (users == mm_users_.end() || users->second > 0) continue;
    mm_users_.erase(users);
    adopted_.erase(mm);
    unused.push_back(mm);
  }
  return unused;
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/model/task_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace uscope::tracer {
namespace {

std::string text_of(const char (&name)[16]) {
  return {name, strnlen(name, sizeof(name))};
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
    task.owners = owners_.name(task.mm, record.pid, record.ns_pid, record.start_ns);
  } else {
    task.mm = trace::MmId(record.mm);
    task.owners = owners_.start(record);
    mm_users_[task.mm]++;
    if ((record.flags & USC_TASK_ATTACHED) != 0) adopted_.insert(task.mm);
  }
  if ((record.flags & USC_TASK_PROCESS) != 0) processes_++;
  // The same thread continued under another serial.
  if ((record.flags & USC_TASK_EXEC_TID) != 0) ended_.push_back({trace::TaskId(record.parent_task), record.head.time});
}

void TaskTable::exec(const usc_exec& record) {
  TaskInfo& task = slot(trace::TaskId(record.head.task));
  if (task.mm) release(task.mm, record.head.time);
  task.mm = trace::MmId(record.mm);
  task.owners = owners_.exec(task.mm, {task.pid, task.ns_pid, record.head.time});
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

std::vector<std::pair<trace::TaskId, const TaskInfo*>> TaskTable::alive() const {
  std::vector<std::pair<trace::TaskId, const TaskInfo*>> all;
  for (const auto& [serial, task] : tasks_) all.emplace_back(serial, &task);
  std::sort(all.begin(), all.end());
  return all;
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
    owners_.forget(mm);
    unused.push_back(mm);
  }
  return unused;
}

}  // namespace uscope::tracer

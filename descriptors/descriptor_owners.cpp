// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "descriptors/descriptor_owners.h"

#include <algorithm>

namespace uscope::descriptors {

DescriptorOwner* DescriptorOwners::find(trace::TaskId task) {
  const auto at = owners_.find(task);
  return at == owners_.end() ? nullptr : &at->second;
}

DescriptorOwner* DescriptorOwners::first_of(trace::ProcessId process) {
  const auto at = first_.find(process);
  return at == first_.end() ? nullptr : find(at->second);
}

void DescriptorOwners::doubt(SharedTable& table) {
  table.unsure = true;
  table.descriptors.forget();
}

void DescriptorOwners::doubt(SharedFolder& folder) {
  folder.unsure = true;
  folder.working = {};
  folder.root_is_plain = false;
}

void DescriptorOwners::take(DescriptorOwner& owner, std::shared_ptr<SharedTable> table) {
  if (owner.table) owner.table->users--;
  owner.table = std::move(table);
  owner.table->users++;
  if (owner.supervised) doubt(*owner.table);
  if (const auto silent = unknown_.find(owner.process); silent != unknown_.end())
    owner.table->unknown_until = std::max(owner.table->unknown_until, silent->second);
}

void DescriptorOwners::take(DescriptorOwner& owner, std::shared_ptr<SharedFolder> folder) {
  if (owner.folder) owner.folder->users--;
  owner.folder = std::move(folder);
  owner.folder->users++;
}

// If others share it, and the time of the copy is unknown, any of them may have changed any part of it before.
std::shared_ptr<SharedTable> DescriptorOwners::copy_of(const SharedTable& table, std::optional<std::uint64_t> stamp) {
  auto made = std::make_shared<SharedTable>();
  if (table.unsure || (!stamp && table.users > 1)) return made;
  made->descriptors.take_copy(table.descriptors, stamp.value_or(kAnyStamp));
  return made;
}

std::shared_ptr<SharedFolder> DescriptorOwners::copy_of(const SharedFolder& folder,
                                                        std::optional<std::uint64_t> stamp) {
  auto made = std::make_shared<SharedFolder>();
  const bool was_changed = !stamp ? folder.users > 1 : folder.stamp > *stamp || folder.under_way != 0;
  if (folder.unsure || was_changed) return made;
  *made = folder;
  made->users = made->under_way = 0;
  made->unclear = false;
  return made;
}

DescriptorOwner DescriptorOwners::unknown() {
  DescriptorOwner owner;
  owner.table = std::make_shared<SharedTable>();
  owner.folder = std::make_shared<SharedFolder>();
  doubt(*owner.table);
  doubt(*owner.folder);
  return owner;
}

DescriptorOwner DescriptorOwners::made_by(const store::TaskStart& start, std::optional<std::uint64_t> stamp) {
  const DescriptorOwner* maker = find(start.parent_task);
  if (!maker) return unknown();
  DescriptorOwner owner;
  owner.supervised = maker->supervised;
  owner.table = (start.flags & USC_TASK_SAME_FILES) != 0 ? maker->table : copy_of(*maker->table, stamp);
  owner.folder = (start.flags & USC_TASK_SAME_FS) != 0 ? maker->folder : copy_of(*maker->folder, stamp);
  return owner;
}

// The number of tasks that share a table, compared with the process's threads, shows whether any outside of the process
// does; not if one of the threads has another table. What a thread did before it was met is also unknown.
DescriptorOwner DescriptorOwners::met(const store::TaskStart& start) {
  DescriptorOwner owner = unknown();
  owner.supervised = (start.flags & USC_TASK_SUPERVISED) != 0;
  const bool same_table = (start.flags & USC_TASK_SAME_FILES) != 0;
  const bool same_folder = (start.flags & USC_TASK_SAME_FS) != 0;
  if ((start.flags & USC_TASK_PROCESS) != 0) {
    if (same_table) owner.table = std::make_shared<SharedTable>();
    if (same_folder) owner.folder = std::make_shared<SharedFolder>();
    return owner;
  }
  const DescriptorOwner* first = first_of(start.process);
  if (!first) return owner;
  same_table ? first->table->descriptors.forget() : doubt(*first->table);
  if (!same_folder) doubt(*first->folder);
  if (same_table) owner.table = first->table;
  if (same_folder) owner.folder = first->folder;
  return owner;
}

void DescriptorOwners::begin(const store::TaskStart& start, std::optional<std::uint64_t> stamp) {
  DescriptorOwner owner;
  if ((start.flags & USC_TASK_EXEC_TID) != 0) {
    const DescriptorOwner* before = find(start.parent_task);
    owner = before ? *before : unknown();
  } else {
    owner = (start.flags & USC_TASK_FORKED) != 0 ? made_by(start, stamp) : met(start);
  }
  owner.process = start.process;
  owner.table->users++;
  owner.folder->users++;
  end(start.task, false);
  if ((start.flags & USC_TASK_EXEC_TID) != 0) end(start.parent_task, false);
  DescriptorOwner& now = owners_[start.task] = std::move(owner);
  take(now, now.table);
  if (!sees_unsharing_ && now.table->users > 1) doubt(*now.table);
  if (!sees_unsharing_ && now.folder->users > 1) doubt(*now.folder);
  tasks_[start.process].insert(start.task);
  if ((start.flags & (USC_TASK_PROCESS | USC_TASK_EXEC_TID)) != 0) first_[start.process] = start.task;
}

void DescriptorOwners::end(trace::TaskId task, bool goes_on) {
  const auto at = owners_.find(task);
  if (at == owners_.end()) return;
  const DescriptorOwner owner = std::move(at->second);
  owners_.erase(at);
  if (const auto tasks = tasks_.find(owner.process); tasks != tasks_.end()) {
    tasks->second.erase(task);
    if (tasks->second.empty()) tasks_.erase(tasks);
  }
  if (const auto first = first_.find(owner.process); first != first_.end() && first->second == task)
    first_.erase(first);
  if (--owner.table->users != 0 && goes_on) doubt(*owner.table);
  if (--owner.folder->users != 0 && goes_on) doubt(*owner.folder);
}

void DescriptorOwners::unshare_table(DescriptorOwner& owner, std::optional<std::uint64_t> stamp) {
  if (owner.table->users > 1 || owner.table->unsure) take(owner, copy_of(*owner.table, stamp));
}

void DescriptorOwners::unshare_folder(DescriptorOwner& owner, std::optional<std::uint64_t> stamp) {
  if (owner.folder->users > 1 || owner.folder->unsure) take(owner, copy_of(*owner.folder, stamp));
}

void DescriptorOwners::exec(trace::TaskId task, std::optional<std::uint64_t> stamp) {
  DescriptorOwner* owner = find(task);
  if (!owner) return;
  unshare_table(*owner, stamp);
  owner->table->descriptors.drop_close_on_exec();
}

void DescriptorOwners::supervise(DescriptorOwner& owner) {
  owner.supervised = true;
  doubt(*owner.table);
}

void DescriptorOwners::doubt_shared_between_processes(trace::ProcessId process) {
  std::unordered_map<const SharedTable*, std::uint32_t> own;
  each(process, [&own](const DescriptorOwner& owner) { own[owner.table.get()]++; });
  each(process, [&own](const DescriptorOwner& owner) {
    if (owner.table->users > own[owner.table.get()]) doubt(*owner.table);
  });
}

void DescriptorOwners::silence(trace::ProcessId process, std::uint64_t until) {
  std::uint64_t& silent = unknown_[process];
  silent = std::max(silent, until);
  each(process, [silent](DescriptorOwner& owner) {
    owner.table->descriptors.forget();
    owner.table->unknown_until = std::max(owner.table->unknown_until, silent);
    owner.folder->working = {};
  });
}

}  // namespace uscope::descriptors

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which task uses which table of descriptors and which folder (root and working directory), as in the kernel: tasks
// that share one have the same object here. A task starts with what the kernel side saw it share (USC_TASK_*), and
// stops sharing by exec, unshare and its end. Anything that a task outside of the trace may change is `unsure`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "descriptors/descriptor_table.h"
#include "store/model/definitions.h"

namespace uscope::descriptors {

struct SharedTable {
  DescriptorTable descriptors;
  std::uint32_t users = 0;
  bool unsure = false;              // nothing is known of it, and nothing will be
  std::uint64_t unknown_until = 0;  // calls were lost: nothing is known before this time
};

struct SharedFolder {
  trace::TextId working;            // none: unknown
  std::uint64_t working_stamp = 0;  // when it was set
  bool root_is_plain = false;       // the root is that of the mount namespace: an absolute path is what it looks like
  std::uint64_t root_stamp = 0;     // when that was found
  std::uint64_t stamp = 0;          // of the last change
  std::uint32_t under_way = 0;      // calls in progress that change it
  bool unclear = false;             // several of them at once
  std::uint32_t users = 0;
  bool unsure = false;
};

struct DescriptorOwner {
  trace::ProcessId process;
  std::shared_ptr<SharedTable> table;    // never null
  std::shared_ptr<SharedFolder> folder;  // never null
  bool supervised = false;               // a supervisor may change its table
};

class DescriptorOwners {
 public:
  static constexpr std::uint64_t kAnyStamp = std::numeric_limits<std::uint64_t>::max();

  // If false: tasks that share something may have been separated unseen, so nothing is known of what they share.
  void set_sees_unsharing(bool sees) { sees_unsharing_ = sees; }

  // Returns null if the trace has no such task. Valid until the next change.
  [[nodiscard]] DescriptorOwner* find(trace::TaskId task);
  [[nodiscard]] DescriptorOwner* first_of(trace::ProcessId process);

  // A task enters the trace. `stamp`: of the entry of the call that made it, if known.
  void begin(const store::TaskStart& start, std::optional<std::uint64_t> stamp);
  void end(trace::TaskId task, bool goes_on);
  // From here on the task alone has what existed at `stamp` and has not been changed since.
  void exec(trace::TaskId task, std::optional<std::uint64_t> stamp);
  void unshare_table(DescriptorOwner& owner, std::optional<std::uint64_t> stamp);
  void unshare_folder(DescriptorOwner& owner, std::optional<std::uint64_t> stamp);

  // A supervisor may change the table of this task and of its children.
  void supervise(DescriptorOwner& owner);
  static void doubt(SharedTable& table);
  static void doubt(SharedFolder& folder);

  // Visits the tasks of one process; of no process: all tasks.
  template <typename Visitor>
  void each(trace::ProcessId process, Visitor visit) {
    if (!process) {
      for (auto& [task, owner] : owners_) visit(owner);
    } else if (const auto tasks = tasks_.find(process); tasks != tasks_.end()) {
      for (const trace::TaskId task : tasks->second) visit(owners_.at(task));
    }
  }
  // How many tasks the process has.
  [[nodiscard]] std::size_t tasks_of(trace::ProcessId process) const {
    const auto tasks = tasks_.find(process);
    return tasks == tasks_.end() ? 0 : tasks->second.size();
  }
  // Nothing is known of this process before that time, whatever table its tasks will have.
  void silence(trace::ProcessId process, std::uint64_t until);
  // An exec of this process may have been lost: anything that it shares with another one may now be its own.
  void doubt_shared_between_processes(trace::ProcessId process);

 private:
  std::shared_ptr<SharedTable> copy_of(const SharedTable& table, std::optional<std::uint64_t> stamp);
  static std::shared_ptr<SharedFolder> copy_of(const SharedFolder& folder, std::optional<std::uint64_t> stamp);
  void take(DescriptorOwner& owner, std::shared_ptr<SharedTable> table);
  static void take(DescriptorOwner& owner, std::shared_ptr<SharedFolder> folder);
  DescriptorOwner made_by(const store::TaskStart& start, std::optional<std::uint64_t> stamp);
  DescriptorOwner met(const store::TaskStart& start);
  DescriptorOwner unknown();

  bool sees_unsharing_ = true;
  std::unordered_map<trace::TaskId, DescriptorOwner> owners_;
  std::unordered_map<trace::ProcessId, std::unordered_set<trace::TaskId>> tasks_;
  std::unordered_map<trace::ProcessId, trace::TaskId> first_;
  std::unordered_map<trace::ProcessId, std::uint64_t> unknown_;
};

}  // namespace uscope::descriptors

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The part of DescriptorTracker that keeps who had what open. Of a process that has ended, what it had inherited and
// did not change is left out, unless it is a socket with an address: whoever has that keeps the address in use.
#include <limits>

#include "descriptors/descriptor_tracker.h"

namespace uscope::descriptors {
trace::TextId DescriptorTracker::name_of(const Descriptor& descriptor) const {
  return descriptor.socket != 0 ? sockets_[descriptor.socket - 1].label : descriptor.name;
}

OpenFile DescriptorTracker::open_file_of(const Descriptor& descriptor) const {
  OpenFile found = descriptor.socket != 0 ? sockets_[descriptor.socket - 1].open_file : descriptor.open_file;
  if (found.file.ino != 0) return found;
  if (const auto learned = learned_files_.find(found.id); learned != learned_files_.end()) found.file = learned->second;
  return found;
}

OpenFile DescriptorTracker::new_open_file(bool unsure, const FoundFile& file) {
  return {.id = OpenFileId(++open_files_), .unsure = unsure, .file = file};
}

bool DescriptorTracker::has_address(const Descriptor& descriptor) const {
  return descriptor.socket != 0 && sockets_[descriptor.socket - 1].has_address;
}

// Whether something may be open of which nothing is known, since events were lost or others may change the table.
bool DescriptorTracker::may_have_more(const DescriptorOwner& owner) const {
  return owner.table->unsure || owner.table->unknown_until != 0 || unknown_until_ != 0 || forgotten_ != 0;
}

void DescriptorTracker::hold(const DescriptorOwner& owner, int fd, const Descriptor& descriptor, std::uint64_t time,
                             HeldUntil until) {
  if (descriptor.stamp <= forgotten_) return;
  const bool goes_on = until == HeldUntil::kTracing;
  held_.add({owner.process, fd, name_of(descriptor), descriptor.opened, goes_on ? std::nullopt : std::optional(time),
             until, open_file_of(descriptor)});
}

// Numbers that are about to be closed or replaced.
void DescriptorTracker::release(const DescriptorOwner& owner, int first, int last, std::uint64_t time) {
  if (!is_said(owner, time)) return;
  owner.table->descriptors.each_between(first, last, [&](int fd, const Descriptor& descriptor) {
    if (has_address(descriptor)) hold(owner, fd, descriptor, time, HeldUntil::kClose);
  });
}

void DescriptorTracker::exec(trace::TaskId task, std::optional<std::uint64_t> stamp, std::uint64_t time) {
  if (const DescriptorOwner* owner = owners_.find(task); owner && is_said(*owner, time))
    owner->table->descriptors.each_closed_by_exec([&](int fd, const Descriptor& descriptor) {
      if (has_address(descriptor)) hold(*owner, fd, descriptor, time, HeldUntil::kExec);
    });
  owners_.exec(task, stamp);
}

void DescriptorTracker::end_task(const store::TaskEnd& end) {
  const DescriptorOwner* owner = owners_.find(end.task);
  if (owner && owners_.tasks_of(owner->process) == 1) {
    const HeldUntil until = end.goes_on ? HeldUntil::kLeft : HeldUntil::kExit;
    if (may_have_more(*owner)) held_.add({.process = owner->process, .until_ns = end.time, .until = until});
    if (is_said(*owner, end.time))
      owner->table->descriptors.each([&](int fd, const Descriptor& descriptor) {
        const bool is_own = descriptor.opener == owner->process;
        if (is_own || has_address(descriptor)) hold(*owner, fd, descriptor, end.time, until);
      });
  }
  owners_.end(end.task, end.goes_on);
  entered_.erase(end.task);
}

Result<std::span<const HeldDescriptor>> DescriptorTracker::finish() {
  queue_returns();
  if (!usable_ || !sees_tables_) return std::span<const HeldDescriptor>();
  constexpr auto kEnd = std::numeric_limits<std::uint64_t>::max();
  if (auto done = apply_until(kEnd); !done) return done.error();
  std::unordered_map<trace::ProcessId, const DescriptorOwner*> first;
  owners_.each({}, [&](const DescriptorOwner& owner) { first.emplace(owner.process, &owner); });
  for (const auto& [process, any] : first) {
    const DescriptorOwner* leader = owners_.first_of(process);
    const DescriptorOwner& owner = leader ? *leader : *any;
    if (may_have_more(owner)) held_.add({.process = process});
    if (!is_said(owner, kEnd)) continue;
    owner.table->descriptors.each(
        [&](int fd, const Descriptor& descriptor) { hold(owner, fd, descriptor, kEnd, HeldUntil::kTracing); });
  }
  return held_.sorted();
}

}  // namespace uscope::descriptors

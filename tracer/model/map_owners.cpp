// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/model/map_owners.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostOwners = 5;

void add_if_new(std::vector<MapOwner>& all, std::vector<MapOwner>::iterator where, const MapOwner& owner) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const MapOwner& known) { return known.pid == owner.pid; });
  if (same == all.end())
    all.insert(where, owner);
  else
    same->from_ns = std::min(same->from_ns, owner.from_ns);
}

// There may be thousands of processes with one address space: each adds itself to one short list for all.
void add_sharer(std::vector<MapOwner>& all, const MapOwner& owner) {
  add_if_new(all, all.end(), owner);
  std::sort(all.begin(), all.end(), [](const MapOwner& a, const MapOwner& b) { return a.from_ns < b.from_ns; });
  if (all.size() > kMostOwners) all.resize(kMostOwners);
}

}  // namespace

MapOwners::List MapOwners::start(const usc_task& record) {
  const trace::MmId mm(record.mm);
  const MapOwner own{record.pid, record.ns_pid, record.start_ns};
  const auto [at, is_first] = spaces_.try_emplace(mm);
  Space& space = at->second;
  const bool shares = record.parent_task != 0 && record.parent_mm == record.mm;  // a thread, or a vfork's child
  if (is_first) {
    space.owners = std::make_shared<std::vector<MapOwner>>(1, own);
    if (shares) space.awaited = mm;
  } else if ((record.flags & USC_TASK_ATTACHED) != 0) {
    if ((record.flags & USC_TASK_PROCESS) != 0) add_sharer(*space.owners, own);
  } else if (!shares) {
    add_if_new(*space.owners, space.owners->begin(), own);
    space.awaited = {};
  }
  if (record.parent_task != 0 && record.parent_mm != 0 && !shares)
    add_ancestors(mm, space, trace::MmId(record.parent_mm));
  tell_copies_of(mm);
  return space.owners;
}

MapOwners::List MapOwners::exec(trace::MmId mm, const MapOwner& owner) {
  Space& space = spaces_[mm];
  space.owners = std::make_shared<std::vector<MapOwner>>(1, owner);
  tell_copies_of(mm);
  return space.owners;
}

MapOwners::List MapOwners::name(trace::MmId mm, std::uint32_t pid, std::uint32_t ns_pid, std::uint64_t start_ns) {
  const auto found = spaces_.find(mm);
  if (found == spaces_.end()) return exec(mm, {pid, ns_pid, start_ns});
  MapOwner& own = found->second.owners->front();
  own.pid = pid;
  own.ns_pid = ns_pid;
  tell_copies_of(mm);
  return found->second.owners;
}

void MapOwners::forget(trace::MmId mm) {
  const auto found = spaces_.find(mm);
  if (found == spaces_.end()) return;
  if (const auto waiting = waiting_.find(found->second.awaited); waiting != waiting_.end()) {
    waiting->second.erase(mm);
    if (waiting->second.empty()) waiting_.erase(waiting);
  }
  spaces_.erase(found);
}

void MapOwners::add_ancestors(trace::MmId mm, Space& space, trace::MmId parent) {
  const auto found = spaces_.find(parent);
  const bool is_known = found != spaces_.end() && found->second.owners->front().pid != 0;
  space.awaited = is_known ? found->second.awaited : parent;
  if (space.awaited) waiting_[space.awaited].insert(mm);
  if (!is_known) return;
  for (const MapOwner& owner : *found->second.owners)
    if (space.owners->size() < kMostOwners) add_if_new(*space.owners, space.owners->end(), owner);
}

void MapOwners::tell_copies_of(trace::MmId mm) {
  if (spaces_.at(mm).owners->front().pid == 0) return;
  const auto found = waiting_.find(mm);
  if (found == waiting_.end()) return;
  for (const trace::MmId copy : std::exchange(found->second, {}))
    if (const auto space = spaces_.find(copy); space != spaces_.end()) add_ancestors(copy, space->second, mm);
  if (const auto told = waiting_.find(mm); told != waiting_.end() && told->second.empty()) waiting_.erase(told);
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/jit/jit_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "support/clock.h"
#include "trace/record_type.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kEveryNs = 1'000'000'000;
// A reading that took t is followed by this many t without one.
constexpr std::uint64_t kRest = 20;
// Time for reading between two passes over the rings; a map that is being read is read to its end.
constexpr std::uint64_t kSliceNs = 50'000'000;
// Addresses of one address space. Further ones have no name; of found ones only duplicates are lost.
constexpr std::size_t kMostWanted = 1U << 16;
constexpr std::size_t kMostFound = 1U << 18;
// The limit for all address spaces together.
constexpr std::size_t kMostAddresses = 1U << 19;

}  // namespace

void JitNames::observe(const usc_stack& stack) {
  const trace::MmId mm(stack.mm);
  if (!mm) return;
  Space& space = spaces_[mm];
  if (!space.task) {
    space.task = trace::TaskId(stack.head.task);
    space.seen_ns = stack.head.time;
    unmet_.push_back(mm);
  }
  if (space.met && !space.file) return;  // no names will be found
  for (const std::uint64_t frame : trace::frames_of(stack)) {
    if (trace::file_of(frame) != trace::kNoFile) continue;
    const std::uint64_t address = usc_frame_place(frame) - (usc_frame_is_exact(frame) != 0 ? 0 : 1);
    if (!space.found.contains(address)) insert(space, address);
  }
}

void JitNames::insert(Space& space, std::uint64_t address) {
  if (space.wanted.size() >= kMostWanted || addresses_ >= kMostAddresses) return;
  if (!space.wanted.insert(address).second) return;
  addresses_++;
  space.fresh = true;
}

void JitNames::forget(trace::MmId mm) {
  const auto found = spaces_.find(mm);
  if (found == spaces_.end()) return;
  addresses_ -= found->second.wanted.size() + found->second.found.size();
  open_.erase(mm);
  spaces_.erase(found);
}

void JitNames::read_map_soon(trace::MmId mm) {
  const auto found = spaces_.find(mm);
  if (found != spaces_.end()) found->second.next_ns = 0;
}

// A vfork's child leaves its parent's address space, so nothing ends.
void JitNames::leave(const usc_exec& exec) {
  const TaskInfo& task = tasks_.find(trace::TaskId(exec.head.task));
  const auto found = spaces_.find(task.mm);
  if (found == spaces_.end() || task.maps().empty() || task.maps()[0].pid != task.pid) return;
  found->second.left_ns = exec.head.time;
  found->second.next_ns = 0;
}

JitNews JitNames::work(std::uint64_t now, bool closing) {
  JitNews news;
  std::erase_if(unmet_, [&](trace::MmId mm) {
    const auto found = spaces_.find(mm);
    if (found == spaces_.end()) return true;
    Space& space = found->second;
    if (space.met) return true;
    open_map(space, news);
    if (space.file) open_.insert(mm);
    if (space.met && !space.file) addresses_ -= std::exchange(space.wanted, {}).size();
    return space.met;
  });
  for (const trace::MmId mm : open_) {
    Space& space = spaces_.at(mm);
    if (space.wanted.empty() || (now < space.next_ns && !closing)) continue;
    // The rings come first; maps that have been read rest, so that the others have their turn.
    if (!closing && monotonic_ns() - now > kSliceNs) break;
    read_maps(mm, space, news);
    const std::uint64_t took = monotonic_ns() - now;
    space.next_ns = now + std::max(kEveryNs, took * kRest);
  }
  return news;
}

// The process is opened in the same round as the first stack with such code, since it may end at any time.
void JitNames::open_map(Space& space, JitNews& news) {
  const TaskInfo& task = tasks_.find(space.task);
  if (task.maps().empty() || task.maps()[0].pid == 0) return;  // its start arrives in the next round
  space.met = true;
  space.process = task.process;
  space.owners = task.owners;
  if (open_.size() >= kMostOpen) {
    news.troubles.push_back({USC_LOSS_JIT_SPACES_FULL, space.process});
    return;
  }
  const std::uint32_t pid = space.owners->front().pid;
  space.file = PerfMapFile::of_process(pid, space.seen_ns, looks_);
  // A first thread that has ended has no root any more, but its process has.
  if (!space.file && task.tid != pid) space.file = PerfMapFile::of_process(task.tid, space.seen_ns, looks_);
  if (!space.file && command_ && pid == space.owners->front().ns_pid) space.file = command_->again();
}

void JitNames::read_maps(trace::MmId mm, Space& space, JitNews& news) {
  for (std::size_t i = 0; i < space.owners->size(); i++) {
    const MapOwner& owner = (*space.owners)[i];
    const Lifetime lifetime{owner.from_ns, i == 0 ? space.left_ns : std::nullopt};
    read_map(mm, space, fmt::format("perf-{}.map", owner.ns_pid), lifetime, news);
    if (owner.pid != owner.ns_pid) read_map(mm, space, fmt::format("perf-{}.map", owner.pid), lifetime, news);
  }
  space.fresh = false;
}

void JitNames::read_map(trace::MmId mm, Space& space, const std::string& name, const Lifetime& lifetime,
                        JitNews& news) {
  if (space.wanted.empty()) return;
  const PerfMapBytes map = space.file->read(name, lifetime, !space.fresh);
  if (map.state == PerfMapBytes::State::kRefused && !space.refusal_counted) {
    space.refusal_counted = true;
    news.troubles.push_back({USC_LOSS_PERF_MAP_REFUSED, space.process});
  }
  if (map.state != PerfMapBytes::State::kRead) return;
  if (!map.from_start && !space.size_counted) {
    space.size_counted = true;
    news.troubles.push_back({USC_LOSS_PERF_MAP_SIZE, space.process});
  }
  if (space.found.size() > kMostFound) addresses_ -= std::exchange(space.found, {}).size();
  for (PerfMapEntry& entry : find_in_perf_map(map.bytes, map.from_start, space.wanted)) {
    if (!space.found.insert(entry.address).second) addresses_--;
    news.names.push_back({mm, std::move(entry)});
  }
}

}  // namespace uscope::tracer

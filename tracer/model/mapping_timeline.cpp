// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each address space has two parts. Changes that a look-up may still need one by one are stored by address block and
// time: for each block that contains an address, the last change before the time is found, and the latest of these
// counts. Older ones are settled in the order of their time: applied to a map of what is mapped, whose copies cost
// nothing, so that a settled fork takes over its parent's map. Until then a forked address space queries its parent as
// of the fork's time.
//
// Limits: a change that arrives after later ones were settled counts as if it had come after them. Nothing is known of
// times before the last settled change; that matters only for an address space that changes more often than is kept
// (kBlocksOfOne, kMostBlocks).
#include "tracer/model/mapping_timeline.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

// Calls see(start, level) for each block of [start, end).
template <typename See>
void each_block(std::uint64_t start, std::uint64_t end, const See& see) {
  while (start < end) {
    const int aligned = start == 0 ? 63 : std::countr_zero(start);
    const int fits = static_cast<int>(std::bit_width(end - start)) - 1;
    const auto level = static_cast<unsigned>(std::min(aligned, fits));
    see(start, level);
    start += std::uint64_t{1} << level;
  }
}

std::uint64_t block_of(std::uint64_t address, unsigned level) {
  return level > 63 ? 0 : address >> level << level;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdU;
  return hash ^ hash >> 32;
}

}  // namespace

// Iterative: a chain of forks may be longer than the stack is deep.
MappingTimeline::~MappingTimeline() {
  std::vector<std::shared_ptr<Space>> parents;
  for (auto& [mm, space] : spaces_) parents.push_back(std::move(space->parent));
  while (!parents.empty()) {
    const std::shared_ptr<Space> space = std::move(parents.back());
    parents.pop_back();
    if (space && space->parent) parents.push_back(std::move(space->parent));
  }
}

const std::shared_ptr<MappingTimeline::Space>& MappingTimeline::space(trace::MmId mm) {
  std::shared_ptr<Space>& found = spaces_[mm];
  if (!found) found = std::make_shared<Space>(blocks_);
  return found;
}

const MappingTimeline::Space* MappingTimeline::find_space(trace::MmId mm) const {
  const auto found = spaces_.find(mm);
  return found == spaces_.end() ? nullptr : found->second.get();
}

void MappingTimeline::add(const usc_map& record) {
  change(trace::MmId(record.mm), {record.start, record.end, record.offset, trace::FileId(record.file)},
         record.head.time, false);
}

// Records the change even if nothing is known to be mapped: the record of the mapping that it removes may come later.
// The kernel side does not announce calls that can only have unmapped data.
void MappingTimeline::remove(const usc_unmap& record) {
  change(trace::MmId(record.mm), {record.start, record.end, 0, {}}, record.head.time, true);
}

void MappingTimeline::change(trace::MmId mm, const Mapping& mapping, std::uint64_t time, bool gone) {
  if (mapping.start >= mapping.end) return;
  const std::shared_ptr<Space>& target = space(mm);
  const When when{time, ++number_};
  const Change* change = &target->changes.emplace(when, Change{mapping, gone}).first->second;
  each_block(mapping.start, mapping.end, [&](std::uint64_t start, unsigned level) {
    target->blocks.emplace(Placed{{start, level}, when}, change);
    target->levels[level]++;
    blocks_++;
  });
  target->announced++;
  queue(target, time);
  limit(*target);
}

void MappingTimeline::limit(Space& space) {
  const std::size_t own = space.blocks.size();
  if (own <= kBlocksOfOne && (blocks_ <= kMostBlocks || own <= kFewBlocks)) return;
  resolve(space);
  const auto middle = std::next(space.changes.begin(), static_cast<std::ptrdiff_t>(space.changes.size() / 2));
  settle(space, middle->first.time);
}

void MappingTimeline::fork(trace::MmId mm, trace::MmId parent, std::uint64_t time) {
  if (!parent || parent == mm) return;
  const std::shared_ptr<Space> from = space(parent);
  const std::shared_ptr<Space>& child = space(mm);
  if (child->parent || !child->settled.empty()) return;
  // A cycle of forks is damage.
  int forebears = 0;
  for (const Space* at = from.get(); at != nullptr && forebears <= kMostForebears; at = at->parent.get(), forebears++)
    if (at == child.get()) return;
  child->parent = from;
  child->forked_at = time;
  child->announced++;
  from->forks.emplace(time, child);
  queue(from, time);
}

void MappingTimeline::forget(trace::MmId mm) {
  spaces_.erase(mm);
}

void MappingTimeline::queue(const std::shared_ptr<Space>& space, std::uint64_t time) {
  if (std::exchange(space->queued, true)) return;
  due_.emplace(time, space);
}

void MappingTimeline::settle(std::uint64_t time) {
  if (time <= kGraceNs) return;
  time -= kGraceNs;
  while (!due_.empty() && due_.top().first < time) {
    const std::shared_ptr<Space> space = due_.top().second;
    due_.pop();
    space->queued = false;
    if (space->parent && space->forked_at >= time) {
      queue(space, space->forked_at);
      continue;
    }
    resolve(*space);
    settle(*space, time);
    std::uint64_t next = kLast;
    if (!space->changes.empty()) next = space->changes.begin()->first.time;
    if (!space->forks.empty()) next = std::min(next, space->forks.begin()->first);
    if (next != kLast) queue(space, next);
  }
}

// Settles the ancestors as far as needed to start with what was mapped at the fork.
void MappingTimeline::resolve(Space& space) {
  std::vector<std::shared_ptr<Space>> forebears;
  for (std::shared_ptr<Space> at = space.parent; at; at = at->parent) forebears.push_back(at);
  for (std::size_t i = forebears.size(); i-- > 0;)
    settle(*forebears[i], i == 0 ? space.forked_at : forebears[i - 1]->forked_at);
}

// Settles changes and forks up to `time`, in a space whose own fork is settled.
void MappingTimeline::settle(Space& space, std::uint64_t time) {
  while (true) {
    const auto change = space.changes.begin();
    const auto fork = space.forks.begin();
    const std::uint64_t changes_at = change == space.changes.end() ? kLast : change->first.time;
    const std::uint64_t forks_at = fork == space.forks.end() ? kLast : fork->first;
    if (std::min(changes_at, forks_at) == kLast || std::min(changes_at, forks_at) > time) return;
    if (changes_at <= forks_at) {
      apply(space.settled, change->second);
      each_block(change->second.mapping.start, change->second.mapping.end, [&](std::uint64_t start, unsigned level) {
        space.blocks.erase(Placed{{start, level}, change->first});
        space.levels[level]--;
        blocks_--;
      });
      space.settled_until = std::max(space.settled_until, change->first);
      space.changes.erase(change);
      continue;
    }
    if (const std::shared_ptr<Space> child = fork->second.lock(); child && child->parent.get() == &space) {
      child->settled = space.settled;
      child->settled_until = space.settled_until;
      child->parent.reset();
    }
    space.forks.erase(fork);
  }
}

void MappingTimeline::apply(Settled& settled, const Change& change) {
  const auto& [start, end, offset, file] = change.mapping;
  // Two may reach beyond the change: the one before it, and the last one in it.
  std::optional<Stretch> behind;
  if (const auto* last = settled.at_or_before(end - 1); last != nullptr && last->value.end > end) behind = last->value;
  if (const auto* before = settled.at_or_before(start);
      before != nullptr && before->key < start && before->value.end > start)
    settled.set(before->key, {start, Mapping(before->value.mapping)});
  if (const auto* inside = settled.at_or_after(start); inside != nullptr && inside->key < end)
    (void)settled.cut(start, end - 1);
  if (behind) settled.set(end, *behind);
  if (!change.gone) settled.set(start, {end, change.mapping});
}

// The latest change that is not settled.
MappingTimeline::Found MappingTimeline::latest(const Space& space, std::uint64_t address, std::uint64_t time) {
  Found best{};
  for (unsigned level = 0; level < space.levels.size(); level++) {
    if (space.levels[level] == 0) continue;
    const Block block{block_of(address, level), level};
    auto at = space.blocks.upper_bound(Placed{block, {time, kLast}});
    if (at == space.blocks.begin()) continue;
    --at;
    if (at->first.first == block && (best.second == nullptr || best.first < at->first.second))
      best = {at->first.second, at->second};
  }
  return best;
}

std::optional<Mapping> MappingTimeline::find(trace::MmId mm, std::uint64_t address, std::uint64_t time) const {
  const Space* space = find_space(mm);
  for (int forebears = 0; space != nullptr && forebears < kMostForebears; forebears++) {
    if (time < space->settled_until.time) return std::nullopt;
    if (const Change* change = latest(*space, address, time).second; change != nullptr)
      return change->gone ? std::nullopt : std::optional(change->mapping);
    if (!space->parent) {
      const auto* stretch = space->settled.at_or_before(address);
      return stretch != nullptr && address < stretch->value.end ? std::optional(stretch->value.mapping) : std::nullopt;
    }
    time = std::min(time, space->forked_at);
    space = space->parent.get();
  }
  return std::nullopt;
}

std::optional<Mapping> MappingTimeline::find_announced_later(trace::MmId mm, std::uint64_t address,
                                                             std::uint64_t time) const {
  const Space* space = find_space(mm);
  if (space == nullptr || time < space->settled_until.time) return std::nullopt;
  Found first{};
  for (unsigned level = 0; level < space->levels.size(); level++) {
    if (space->levels[level] == 0) continue;
    const Block block{block_of(address, level), level};
    const auto at = space->blocks.upper_bound(Placed{block, {time, kLast}});
    if (at != space->blocks.end() && at->first.first == block &&
        (first.second == nullptr || at->first.second < first.first))
      first = {at->first.second, at->second};
  }
  return first.second == nullptr || first.second->gone ? std::nullopt : std::optional(first.second->mapping);
}

std::vector<Mapping> MappingTimeline::all(trace::MmId mm, std::uint64_t time) const {
  // Each announced stretch is looked up as of `time`; most mappings are whole, so their start decides.
  std::map<std::uint64_t, Mapping> whole;
  const auto ask = [&](std::uint64_t start) {
    const auto now = find(mm, start, time);
    if (now && now->start == start) whole[start] = *now;
  };
  const Space* space = find_space(mm);
  std::uint64_t at = time;
  for (int forebears = 0; space != nullptr && forebears < kMostForebears; forebears++) {
    for (const auto& [when, change] : space->changes) {
      if (when.time > at) break;
      if (!change.gone) ask(change.mapping.start);
    }
    space->settled.each([&](std::uint64_t start, const Stretch&) { ask(start); });
    at = std::min(at, space->forked_at);
    space = space->parent.get();
  }
  std::vector<Mapping> mappings;
  mappings.reserve(whole.size());
  for (const auto& [start, mapping] : whole) mappings.push_back(mapping);
  return mappings;
}

std::unordered_set<trace::FileId> MappingTimeline::files_of(const std::unordered_set<trace::MmId>& spaces) const {
  std::unordered_set<trace::FileId> found;
  for (const trace::MmId mm : spaces) {
    const Space* space = find_space(mm);
    for (int forebears = 0; space != nullptr && forebears < kMostForebears; forebears++) {
      for (const auto& [when, change] : space->changes)
        if (!change.gone) found.insert(change.mapping.file);
      space->settled.each([&](std::uint64_t, const Stretch& stretch) { found.insert(stretch.mapping.file); });
      space = space->parent.get();
    }
  }
  return found;
}

std::uint64_t MappingTimeline::version(trace::MmId mm, std::uint64_t time) const {
  std::uint64_t hash = 0;
  const Space* space = find_space(mm);
  for (int forebears = 0; space != nullptr && forebears < kMostForebears; forebears++) {
    auto after = space->changes.upper_bound({time, kLast});
    const std::uint64_t last = after == space->changes.begin() ? space->settled_until.number : (--after)->first.number;
    hash = mix(mix(hash, space->announced), last);
    if (space->parent) time = std::min(time, space->forked_at);
    space = space->parent.get();
  }
  return hash;
}

}  // namespace uscope::tracer

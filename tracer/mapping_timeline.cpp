#include "tracer/mapping_timeline.h"

#include <algorithm>
#include <iterator>

namespace uscope::tracer {

std::shared_ptr<MappingTimeline::Space>& MappingTimeline::space(std::uint32_t mm) {
  std::shared_ptr<Space>& found = spaces_[mm];
  if (!found) found = std::make_shared<Space>();
  return found;
}

void MappingTimeline::add(const usc_map& record) {
  Space& target = *space(record.mm);
  const Mapping mapping{record.start, record.end, record.offset, record.file};
  // Told again, unchanged: nothing new.
  const Entry* known = latest(target, record.start, record.head.time);
  if (known != nullptr && !known->gone && known->mapping.start == mapping.start && known->mapping.end == mapping.end &&
      known->mapping.file == mapping.file && known->mapping.offset == mapping.offset)
    return;
  target.entries.push_back({mapping, record.head.time, false});
  target.version++;
  prune(target, record.head.time);
}

void MappingTimeline::remove(const usc_unmap& record) {
  Space& target = *space(record.mm);
  const auto overlaps = [&](const Entry& entry) {
    return entry.mapping.start < record.end && record.start < entry.mapping.end;
  };
  // Most calls unmap what was never executable: not worth an entry, unless a parent's mappings are meant.
  bool matters = std::any_of(target.entries.begin(), target.entries.end(), overlaps);
  for (const Space* parent = target.parent.get(); parent != nullptr && !matters; parent = parent->parent.get())
    matters = std::any_of(parent->entries.begin(), parent->entries.end(), overlaps);
  if (!matters) return;
  target.entries.push_back({{record.start, record.end, 0, 0}, record.head.time, true});
  target.version++;
  prune(target, record.head.time);
}

void MappingTimeline::fork(std::uint32_t mm, std::uint32_t parent, std::uint64_t time) {
  if (parent == 0 || parent == mm) return;
  Space& child = *space(mm);
  child.parent = space(parent);
  child.forked_at = time;
  child.version++;
}

void MappingTimeline::forget(std::uint32_t mm) {
  spaces_.erase(mm);
}

const MappingTimeline::Entry* MappingTimeline::latest(const Space& space, std::uint64_t address, std::uint64_t time) {
  const Entry* best = nullptr;
  for (const Entry& entry : space.entries) {
    if (entry.from > time || address < entry.mapping.start || address >= entry.mapping.end) continue;
    if (best == nullptr || entry.from >= best->from) best = &entry;
  }
  return best;
}

std::optional<Mapping> MappingTimeline::find(std::uint32_t mm, std::uint64_t address, std::uint64_t time) const {
  const auto found = spaces_.find(mm);
  const Space* space = found == spaces_.end() ? nullptr : found->second.get();
  while (space != nullptr) {
    if (const Entry* entry = latest(*space, address, time); entry != nullptr) {
      if (entry->gone) return std::nullopt;
      return entry->mapping;
    }
    time = std::min(time, space->forked_at);
    space = space->parent.get();
  }
  return std::nullopt;
}

std::optional<Mapping> MappingTimeline::find_told_later(std::uint32_t mm, std::uint64_t address,
                                                        std::uint64_t time) const {
  const auto found = spaces_.find(mm);
  if (found == spaces_.end()) return std::nullopt;
  const Entry* first = nullptr;
  for (const Entry& entry : found->second->entries) {
    if (entry.from <= time || address < entry.mapping.start || address >= entry.mapping.end) continue;
    if (first == nullptr || entry.from < first->from) first = &entry;
  }
  if (first == nullptr || first->gone) return std::nullopt;
  return first->mapping;
}

// Drops what later entries have covered for long. The work is bounded by growing the threshold with what remains.
void MappingTimeline::prune(Space& space, std::uint64_t now) {
  if (space.entries.size() < space.prune_at) return;
  const auto covered = [&](const Entry& entry) {
    return std::any_of(space.entries.begin(), space.entries.end(), [&](const Entry& later) {
      return later.from > entry.from && later.from + kKeepNs < now && later.mapping.start <= entry.mapping.start &&
             later.mapping.end >= entry.mapping.end;
    });
  };
  std::vector<Entry> kept;
  std::copy_if(space.entries.begin(), space.entries.end(), std::back_inserter(kept),
               [&](const Entry& entry) { return !covered(entry); });
  space.entries = std::move(kept);
  space.prune_at = std::max<std::size_t>(128, space.entries.size() * 2);
}

std::vector<Mapping> MappingTimeline::all(std::uint32_t mm, std::uint64_t time) const {
  // Every stretch that was ever told of is asked for as of `time`; most mappings are whole, so that its start decides.
  std::map<std::uint64_t, Mapping> whole;
  const auto found = spaces_.find(mm);
  const Space* space = found == spaces_.end() ? nullptr : found->second.get();
  std::uint64_t at = time;
  while (space != nullptr) {
    for (const Entry& entry : space->entries) {
      if (entry.gone || entry.from > at) continue;
      const auto now = find(mm, entry.mapping.start, time);
      if (now && now->start == entry.mapping.start) whole[now->start] = *now;
    }
    at = std::min(at, space->forked_at);
    space = space->parent.get();
  }
  std::vector<Mapping> mappings;
  mappings.reserve(whole.size());
  for (const auto& [start, mapping] : whole) mappings.push_back(mapping);
  return mappings;
}

std::uint64_t MappingTimeline::version(std::uint32_t mm, std::uint64_t time) const {
  const auto found = spaces_.find(mm);
  std::uint64_t told = 0;
  std::uint64_t held = 0;
  for (const Space* space = found == spaces_.end() ? nullptr : found->second.get(); space != nullptr;
       space = space->parent.get()) {
    told += space->version;
    held += static_cast<std::uint64_t>(std::count_if(space->entries.begin(), space->entries.end(),
                                                     [&](const Entry& entry) { return entry.from <= time; }));
    time = std::min(time, space->forked_at);
  }
  return told << 32 | held;
}

}  // namespace uscope::tracer

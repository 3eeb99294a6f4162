// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "descriptors/descriptor_table.h"

#include <algorithm>
#include <limits>

namespace uscope::descriptors {

bool DescriptorTable::holds_any(int first, int last) const {
  const auto holds = [&](const Entries& entries) {
    const Entries::Entry* next = entries.at_or_after(first);
    return next != nullptr && next->key <= last;
  };
  return holds(kept_) || holds(closed_by_exec_);
}

void DescriptorTable::cut(int first, int last) {
  if (!holds_any(first, last)) return;
  (void)kept_.cut(first, last);
  (void)closed_by_exec_.cut(first, last);
}

void DescriptorTable::note_change(int first, int last) {
  if (watchers_ == 0) return;
  constexpr std::size_t kMostChanges = 4096;
  if (changed_.size() >= kMostChanges) changed_ = {{0, std::numeric_limits<int>::max()}};
  int& until = changed_.try_emplace(first, last).first->second;
  until = std::max(until, last);
}

bool DescriptorTable::was_changed(int fd) const {
  return std::any_of(changed_.begin(), changed_.end(),
                     [fd](const auto& range) { return range.first <= fd && fd <= range.second; }) ||
         under_way_.count(fd) != 0;
}

void DescriptorTable::end_watch() {
  if (watchers_ > 0 && --watchers_ == 0) changed_.clear();
}

const Descriptor* DescriptorTable::find(int fd) const {
  const Descriptor* kept = kept_.find(fd);
  return kept != nullptr ? kept : closed_by_exec_.find(fd);
}

void DescriptorTable::set(int fd, const Descriptor& descriptor) {
  constexpr std::size_t kLatest = 1024;
  note_change(fd, fd);
  cut(fd, fd);
  if (kept_.size() + closed_by_exec_.size() >= kMostOfOne || Entries::nodes() >= kMost) return;
  (descriptor.close_on_exec ? closed_by_exec_ : kept_).set(fd, descriptor);
  latest_.emplace_back(descriptor.stamp, fd);
  if (latest_.size() <= kLatest) return;
  forgotten_ = latest_.front().first;
  latest_.pop_front();
}

void DescriptorTable::close_range(int first, int last) {
  if (first < 0 || first > last) return;
  note_change(first, last);
  if (first == last) {
    if (const auto at = under_way_.find(first); at != under_way_.end()) at->second.unclear = true;
  } else {
    for (auto& [fd, calls] : under_way_)
      if (fd >= first && fd <= last) calls.unclear = true;
  }
  cut(first, last);
}

void DescriptorTable::set_close_on_exec(int first, int last, bool value) {
  if (first < 0 || first > last) return;
  note_change(first, last);
  Entries& from = value ? kept_ : closed_by_exec_;
  Entries& to = value ? closed_by_exec_ : kept_;
  const Entries::Entry* next = to.at_or_after(first);
  const Entries changed = from.cut(first, last);
  if (next == nullptr || next->key > last)
    to.put_between(changed);
  else
    changed.each([&](int fd, const Descriptor& descriptor) { to.set(fd, descriptor); });
}

void DescriptorTable::forget() {
  close_range(0, std::numeric_limits<int>::max());
}

DescriptorTable::UnderWay& DescriptorTable::begin(int fd) {
  note_change(fd, fd);
  UnderWay& calls = under_way_[fd];
  // An opening call may get this number at any time from here on, since it was not known to be in use.
  if (calls.strays + calls.replacements != 0) calls.unclear = true;
  return calls;
}

bool DescriptorTable::end(int fd, std::uint32_t UnderWay::*kind) {
  note_change(fd, fd);
  const auto at = under_way_.find(fd);
  if (at == under_way_.end() || at->second.*kind == 0) return false;
  const bool clear = !at->second.unclear;
  (at->second.*kind)--;
  if (at->second.none()) under_way_.erase(at);
  return clear;
}

bool DescriptorTable::begin_close(int fd) {
  const bool stray = find(fd) == nullptr;
  UnderWay& calls = begin(fd);
  if (stray && calls.openings != 0) calls.unclear = true;
  (stray ? calls.strays : calls.closes)++;
  if (!stray) cut(fd, fd);
  return stray;
}

void DescriptorTable::end_close(int fd, bool stray) {
  end(fd, stray ? &UnderWay::strays : &UnderWay::closes);
}

bool DescriptorTable::end_open(int fd) {
  return end(fd, &UnderWay::openings);
}

void DescriptorTable::begin_replace(int fd) {
  UnderWay& calls = begin(fd);
  if (!calls.none()) calls.unclear = true;
  calls.replacements++;
  cut(fd, fd);
}

bool DescriptorTable::end_replace(int fd) {
  return end(fd, &UnderWay::replacements);
}

void DescriptorTable::take_copy(const DescriptorTable& other, std::uint64_t stamp) {
  kept_ = other.kept_;
  closed_by_exec_ = other.closed_by_exec_;
  latest_.clear();
  forgotten_ = std::min(stamp, other.latest_.empty() ? other.forgotten_ : other.latest_.back().first);
  if (other.forgotten_ > stamp) return forget();
  for (auto set = other.latest_.rbegin(); set != other.latest_.rend() && set->first > stamp; ++set) {
    const Descriptor* now = find(set->second);
    if (now != nullptr && now->stamp > stamp) cut(set->second, set->second);
  }
}

void DescriptorTable::drop_close_on_exec() {
  note_change(0, std::numeric_limits<int>::max());
  closed_by_exec_ = {};
}

}  // namespace uscope::descriptors

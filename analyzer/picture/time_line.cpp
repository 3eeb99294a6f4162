// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls of one thread do not overlap, so a call costs as many steps as it crosses parts, and a thread as many as it has
// events and parts. In a store where they do overlap, a call that crosses many parts is cheap still: at most
// kMostParts.
#include "analyzer/picture/time_line.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace uscope::analyzer {
namespace {

constexpr std::size_t kMostParts = 4096;

bool longer(const TimeMark& a, const TimeMark& b) {
  return a.dur_ns != b.dur_ns ? a.dur_ns > b.dur_ns : a.event < b.event;
}

}  // namespace

std::uint64_t fair_limit(std::vector<std::uint64_t> counts, std::uint64_t most) {
  std::sort(counts.begin(), counts.end());
  std::uint64_t left = most;
  for (std::size_t i = 0; i < counts.size(); i++) {
    const std::uint64_t share = left / (counts.size() - i);
    if (counts[i] > share) return std::max<std::uint64_t>(1, share);
    left -= counts[i];
  }
  return most;
}

TimeLine::TimeLine(const std::vector<Life>& threads, std::size_t most) {
  std::vector<std::uint64_t> counts;
  counts.reserve(threads.size());
  for (const Life& life : threads) counts.push_back(life.events);
  const std::uint64_t limit = fair_limit(std::move(counts), most);
  threads_.resize(threads.size());
  for (std::size_t i = 0; i < threads.size(); i++) {
    Thread& thread = threads_[i];
    thread.lane.begin_ns = threads[i].begin_ns;
    thread.lane.end_ns = std::max(threads[i].begin_ns, threads[i].end_ns);
    const std::int64_t lived = std::max<std::int64_t>(1, thread.lane.end_ns - thread.lane.begin_ns);
    const auto share = static_cast<std::size_t>(std::min(limit, threads[i].events));
    thread.parts = std::clamp<std::size_t>(std::bit_floor(share / 2), 1, kMostParts);
    thread.most_marks = threads[i].events <= limit ? share : share - std::min(share, thread.parts);
    const auto parts = static_cast<std::int64_t>(thread.parts);
    thread.lane.part_ns = lived / parts + (lived % parts != 0 ? 1 : 0);
  }
}

std::size_t TimeLine::part_of(const Thread& thread, std::int64_t ns) {
  const std::int64_t part = (std::max(ns, thread.lane.begin_ns) - thread.lane.begin_ns) / thread.lane.part_ns;
  return std::min(static_cast<std::size_t>(part), thread.parts - 1);
}

template <typename Add>
void TimeLine::spread(Thread& thread, std::int64_t from, std::int64_t until, const Add& add) {
  const std::int64_t begin = std::max(from, thread.lane.begin_ns);
  const std::int64_t end = std::min(until, thread.lane.end_ns);
  if (begin >= end) return;
  for (std::size_t part = part_of(thread, begin), last = part_of(thread, end - 1); part <= last; part++) {
    const std::int64_t left = thread.lane.begin_ns + static_cast<std::int64_t>(part) * thread.lane.part_ns;
    const std::int64_t ns = std::min(end, left + thread.lane.part_ns) - std::max(begin, left);
    if (ns > 0) add(thread.lane.buckets[part], static_cast<std::uint64_t>(ns));
  }
}

void TimeLine::keep(Thread& thread, const TimeMark& mark) {
  std::vector<TimeMark>& marks = thread.lane.marks;
  if (marks.size() >= thread.most_marks) {
    thread.lane.all = false;
    if (thread.most_marks == 0 || !longer(mark, marks.front())) return;
    std::pop_heap(marks.begin(), marks.end(), longer);
    marks.pop_back();
  }
  marks.push_back(mark);
  std::push_heap(marks.begin(), marks.end(), longer);
}

void TimeLine::add(const PictureEvent& event) {
  if (event.thread >= threads_.size()) return;
  Thread& thread = threads_[event.thread];
  ThreadLane& lane = thread.lane;
  if (lane.buckets.empty()) lane.buckets.resize(thread.parts);
  lane.events++;
  TimeBucket& first = lane.buckets[part_of(thread, event.ts_ns)];
  first.events++;
  if (event.error != 0) first.errors++;
  if (event.use == TimeUse::kUser || event.use == TimeUse::kKernel) {
    thread.has_samples = true;
    first.cpu_ns[static_cast<std::size_t>(event.use) - static_cast<std::size_t>(TimeUse::kUser)] +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.part_ns));
    return;
  }
  const std::int64_t until =
      event.dur_ns ? event.ts_ns + *event.dur_ns : (event.open ? std::max(lane.end_ns, event.ts_ns) : event.ts_ns);
  if (event.group != CallGroup::kNone) {
    spread(thread, event.ts_ns, until,
           [&](TimeBucket& bucket, std::uint64_t ns) { bucket.call_ns[static_cast<std::size_t>(event.group)] += ns; });
  } else if (event.use != TimeUse::kNothing && event.use != TimeUse::kCall) {
    const std::size_t use = static_cast<std::size_t>(event.use) - static_cast<std::size_t>(TimeUse::kUser);
    spread(thread, event.ts_ns, until, [&](TimeBucket& bucket, std::uint64_t ns) { bucket.cpu_ns[use] += ns; });
  }
  keep(thread, {event.id, event.ts_ns, until - event.ts_ns, event.cell, event.error, event.open});
}

std::vector<ThreadLane> TimeLine::finish() {
  std::vector<ThreadLane> lanes;
  lanes.reserve(threads_.size());
  for (Thread& thread : threads_) {
    ThreadLane& lane = thread.lane;
    std::sort(lane.marks.begin(), lane.marks.end(), [](const TimeMark& a, const TimeMark& b) {
      return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : a.event < b.event;
    });
    for (std::size_t place = 0; place < lane.buckets.size(); place++) lane.buckets[place].place = place;
    const bool wanted = !lane.all || thread.has_samples;
    std::erase_if(lane.buckets, [&](const TimeBucket& bucket) {
      const auto is_zero = [](std::uint64_t ns) { return ns == 0; };
      return !wanted || (bucket.events == 0 && std::all_of(bucket.call_ns.begin(), bucket.call_ns.end(), is_zero) &&
                         std::all_of(bucket.cpu_ns.begin(), bucket.cpu_ns.end(), is_zero));
    });
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads over time, in as many items as a page can hold: of each thread, its longest calls one by one, and for all its
// events counts in equal parts of its life. A thread with few events keeps all of them one by one. What may be kept in
// all is shared out evenly: nobody gets more before everybody has as much, or all that there is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/picture/call_group.h"
#include "analyzer/read/row_ids.h"
#include "analyzer/time/time_sweep.h"

namespace uscope::analyzer {

// Times count from the trace's start, and lie within the trace.
struct PictureEvent {
  EventRowId id;
  std::size_t thread = 0;  // its place in the catalog
  std::size_t cell = 0;    // Picture::cells
  std::int64_t ts_ns = 0;
  std::optional<std::int64_t> dur_ns{};  // nullopt: it never returned, or does not last
  bool open = false;                     // it had not ended with the trace
  std::int64_t error = 0;                // positive; 0: none
  CallGroup group = CallGroup::kNone;
  TimeUse use = TimeUse::kNothing;  // of samples and times off the CPU
  std::int64_t part_ns = 0;         // of a sample: the time that it stands for
};

struct TimeMark {
  EventRowId event;
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;  // of an open one: up to the end of the thread, or of the trace
  std::size_t cell = 0;
  std::int64_t error = 0;
  bool open = false;
};

// What a thread did on the CPU, or off it: TimeUse without kNothing and kCall.
constexpr std::size_t kCpuUses = 6;

struct TimeBucket {
  std::size_t place = 0;  // from the thread's start, in parts of ThreadLane::part_ns
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::array<std::uint64_t, kCallGroups> call_ns{};  // that lies in this part
  std::array<std::uint64_t, kCpuUses> cpu_ns{};
};

struct ThreadLane {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t events = 0;
  std::int64_t part_ns = 1;
  std::vector<TimeBucket> buckets;  // those with something in them
  std::vector<TimeMark> marks;      // by time
  bool all = true;                  // every event but samples is among the marks
};

class TimeLine {
 public:
  struct Life {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t events = 0;  // as the store says
  };
  // `most`: marks and buckets altogether; half as many buckets more where threads with few events have samples.
  TimeLine(const std::vector<Life>& threads, std::size_t most);

  // In any order.
  void add(const PictureEvent& event);
  // To be called once, at the end.
  [[nodiscard]] std::vector<ThreadLane> finish();

 private:
  struct Thread {
    ThreadLane lane;
    std::size_t most_marks = 0;  // lane.marks is a heap with the shortest first
    std::size_t parts = 1;
    bool has_samples = false;
  };
  // Adds a time to the parts that it lies in.
  template <typename Add>
  static void spread(Thread& thread, std::int64_t from, std::int64_t until, const Add& add);
  static std::size_t part_of(const Thread& thread, std::int64_t ns);
  static void keep(Thread& thread, const TimeMark& mark);

  std::vector<Thread> threads_;
};

// The most that each may have so that the sum of min(count, limit) is at most `most`, or 1.
[[nodiscard]] std::uint64_t fair_limit(std::vector<std::uint64_t> counts, std::uint64_t most);

}  // namespace uscope::analyzer

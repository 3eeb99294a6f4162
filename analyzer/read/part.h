// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The part of a recording that a question is about: threads, for the times at which they had a name, and a span of
// time. An event belongs to the part in which it began, whole: the same events as EventFilter means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"

namespace uscope::analyzer {

class Part {
 public:
  using Span = std::pair<std::int64_t, std::int64_t>;  // first and last moment, CLOCK_MONOTONIC

  // `catalog` must outlive this object. Of the filter only those members count that choose tasks and times.
  // `processes`: GLOBs on any name that the process ever went by, which chooses it for all its time.
  Part(const Catalog& catalog, const EventFilter& filter);

  // Whether nothing limits it.
  [[nodiscard]] bool is_all() const { return !chooses_tasks_ && !filter_.since_ns && !filter_.until_ns; }
  // Whether it has all that happened, limited or not.
  [[nodiscard]] bool is_whole() const {
    return !chooses_tasks_ && since_ns_ <= catalog_->start_ns && until_ns_ >= catalog_->end_ns;
  }
  // Whether it is limited to some tasks.
  [[nodiscard]] bool chooses_tasks() const { return chooses_tasks_; }

  // Whether what a thread did at a moment belongs to it, or anything of the thread's life.
  [[nodiscard]] bool has(const Thread& thread, std::int64_t ts_ns) const;
  [[nodiscard]] bool has(const Thread& thread) const { return !spans_of(thread).empty(); }
  // Whether it has one of the process's threads.
  [[nodiscard]] bool has(const Process& process) const;
  // How many.
  [[nodiscard]] std::uint64_t threads_of(const Process& process) const {
    return process_threads_[catalog_->processes.index_of(process)];
  }
  [[nodiscard]] bool has(std::int64_t ts_ns) const { return ts_ns >= since_ns_ && ts_ns <= until_ns_; }

  // Whether the tasks that are chosen have it, by the name that it had then, whatever span of time is asked for.
  [[nodiscard]] bool chooses(const Thread& thread, std::int64_t ts_ns) const;

  // When it has the thread: by time, disjoint; in its life and in the span of time. What is there before a thread's
  // life begins, a call that it was attached in, counts for its beginning.
  [[nodiscard]] const std::vector<Span>& spans_of(const Thread& thread) const {
    return spans_[catalog_->threads.index_of(thread)];
  }

  // CLOCK_MONOTONIC; without a limit the least and the greatest number.
  [[nodiscard]] std::int64_t since_ns() const { return since_ns_; }
  [[nodiscard]] std::int64_t until_ns() const { return until_ns_; }
  // How much of the recording's time it has.
  [[nodiscard]] std::int64_t duration_ns() const;
  // What chose it.
  [[nodiscard]] const EventFilter& filter() const { return filter_; }

 private:
  [[nodiscard]] bool chooses(const Thread& thread) const;
  [[nodiscard]] bool chooses(const Process& process) const;
  [[nodiscard]] std::vector<Span> named_spans(const Thread& thread) const;

  const Catalog* catalog_;
  EventFilter filter_;
  bool chooses_tasks_;
  std::int64_t since_ns_;
  std::int64_t until_ns_;
  std::vector<bool> chosen_;                    // like Catalog::threads: by all but names of threads
  std::vector<std::vector<Span>> spans_;        // likewise
  std::vector<std::uint64_t> process_threads_;  // like Catalog::processes
};

// Whether the thread ever had a name that one of the GLOBs matches.
[[nodiscard]] bool was_named(const Thread& thread, const std::vector<std::string>& globs);

}  // namespace uscope::analyzer

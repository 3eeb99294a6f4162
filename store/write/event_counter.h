// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Counts events for all tables of totals: by cell, thread, object, gap, and how stacks ended. The loader does that
// while it writes them, a reader for a part of them. Counting takes about as long as the rest of what is done for an
// event, so it is done on a thread of its own, a batch at a time. Batches end where the trace's events say, never when
// a thread is ready: a trace always makes the same rows in the same order.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "store/db/row_ids.h"
#include "store/db/table_writer.h"
#include "store/model/gathering_map.h"
#include "store/write/cell_latency.h"
#include "store/write/event_totals.h"
#include "store/write/gap_writer.h"
#include "store/write/object_totals.h"
#include "support/result.h"

namespace uscope::store {

// The place of a thread among those that are counted, from 0.
using CountedThread = std::size_t;

// An event, as it was written.
struct CountedEvent {
  ObjectTotals::Facts facts;  // `duration` is 0 where it did not return
  CallObject object;          // of a system call
  StackRowId stack;           // may be none
  CountedThread thread = 0;
  std::uint64_t entry_ns = 0;
  std::uint64_t end_ns = 0;                 // not before entry_ns
  std::optional<std::uint8_t> stack_ended;  // how its user stack ended, if it has one
  bool stack_guessed = false;               // that one rests on a guess
  bool returned = false;
  bool unfinished = false;  // never returned
  bool is_over = false;     // the call has ended, seen or not
  bool attached = false;    // the call began before tracing
  bool is_syscall = false;
  bool is_call = false;      // its kind is a system call's: also of what is counted with them
  bool waits = false;        // a call that waits
  bool is_left_out = false;  // it only tells when its thread was in calls
};

using StackEnds = std::array<std::uint64_t, 256>;  // by how a stack ended, USC_ENDED_…

class EventCounter {
 public:
  // What is behind `tables` must outlive this object.
  EventCounter(const TableWriter& tables, LossTimes losses)
      : tables_(tables), objects_(tables), gaps_(tables, std::move(losses)) {}
  EventCounter(const EventCounter&) = delete;
  EventCounter& operator=(const EventCounter&) = delete;
  ~EventCounter() { end_thread(); }

  Result<void> prepare();  // to be called first

  // What a thread begins with. It must come before its events, once.
  struct Thread {
    ThreadRowId row;
    trace::ProcessId process = {};
    bool is_many = false;  // stands for several threads: they have no gaps
    // Since when it is in no call, and what that began with; nothing if it is in one, or if that is not known.
    std::optional<std::uint64_t> outside_ns{};
    GapEdge outside_since = GapEdge::kCall;
  };
  CountedThread add_thread(const Thread& thread);

  // Only these gaps are to be counted, by their thread and beginning. It is asked on the counting thread.
  using GapFilter = std::function<bool(ThreadRowId thread, std::uint64_t from_ns)>;
  void want_gaps(GapFilter filter) { wants_gap_ = std::move(filter); }

  // Events come by their entry, except those beyond the bound of trace/event_order.h. One is filled in where it is to
  // lie, and then added.
  [[nodiscard]] CountedEvent& next() { return coming_.emplace_back(); }
  Result<void> add_next() { return coming_.size() < kBatch ? Result<void>() : hand_over(); }

  // Counts all that was added, and ends the thread.
  Result<void> settle();

  // The following only after settle(). A thread's last gap has ended, with no call after it:
  void end_gap(CountedThread thread, std::uint64_t time, GapEdge until) {
    take_threads();
    end_gap(threads_[thread], time, until, {});
  }
  // Of a thread of which it was not known since when it was in no call: all its gaps so far, wanted or not, and the
  // time of its first call, or of `end_gap`.
  struct Gaps {
    std::uint64_t gaps = 0;
    std::uint64_t gap_ns = 0;
    std::optional<std::uint64_t> first_ns;  // nothing: it had no call, or was found in one
  };
  [[nodiscard]] Gaps gaps_of(CountedThread thread);
  // What it was then: its first gap, up to `first_ns`.
  void add_first_gap(CountedThread thread, std::uint64_t from_ns, GapEdge since);

  // Writes all totals; `stacks`: how many distinct ones ended so.
  Result<void> write(const StackEnds& stacks);

 private:
  static constexpr std::size_t kBatch = 2048;

  using CellKey = trace::IdPair<KindRowId, FrameRowId>;  // kind, trigger
  struct Cell {
    std::uint64_t events = 0;
    std::uint64_t errors = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t open = 0;
    EventRowId first;
    CellLatency latency;
  };
  struct Work {
    std::uint64_t events = 0;
    std::uint64_t errors = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t wait_ns = 0;  // part of it in calls that wait
  };
  // What a thread did in one program.
  struct Program : Work {
    trace::ImageId image;
  };
  struct Counts : Work {
    Thread thread;
    GapCall last{};          // the call before, if being outside of calls began with one
    std::uint64_t gaps = 0;  // times outside of calls
    std::uint64_t gap_ns = 0;
    Gaps all;  // also those that are not wanted
    GapEdge first_until = GapEdge::kCall;
    GapCall first{};                // the call at all.first_ns, if that is one
    bool begins = true;             // it had no call yet
    std::vector<Program> programs;  // in the order of their first events; few threads execute many
  };

  Result<void> hand_over();
  void take_threads();
  void begin_thread();
  void end_thread();
  void wait_until_counted();
  void run();
  void count_batch();
  void count(const CountedEvent& event);
  void count_for_thread(const CountedEvent& event);
  static void count_work(const CountedEvent& event, Work& work);
  static Program& program_of(Counts& counts, trace::ImageId image);
  void end_gap(Counts& counts, std::uint64_t time, GapEdge until, const GapCall& after);
  Result<void> write_cells();
  Result<void> write_threads();
  Result<void> write_stack_ends(const StackEnds& stacks);

  TableWriter tables_;
  GapFilter wants_gap_;

  // Of the thread that adds.
  std::vector<CountedEvent> coming_;
  std::vector<Thread> coming_threads_;
  std::size_t known_threads_ = 0;

  // Of the counting thread while is_counting_, otherwise of the one that adds.
  std::vector<CountedEvent> batch_;
  ObjectTotals objects_;
  GapWriter gaps_;
  EventTotals totals_;
  std::vector<Counts> threads_;
  GatheringMap<CellKey, Cell> cells_;
  StackEnds end_events_{};
  std::map<StackRowId, std::uint64_t> guessed_;       // events of each stack that rests on a guess
  std::uint64_t gap_left_ = std::uint64_t{1} << 62U;  // of all gaps, so that no reader's sum overflows

  std::thread thread_;
  bool may_begin_ = true;  // the thread
  std::mutex mutex_;       // guards everything below
  std::condition_variable has_batch_;
  std::condition_variable is_counted_;
  bool is_counting_ = false;
  bool ends_ = false;
  std::exception_ptr failure_;
};

}  // namespace uscope::store

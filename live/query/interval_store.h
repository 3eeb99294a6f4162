// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Receives the records of a running trace, and cuts them into intervals: of each one a raw trace with all that its
// events refer to, and, of a question whose sums are made while tracing, its partial rows.
//
// An event belongs to the interval in which it ended. A call that has not returned belongs to none before the end, at
// which it counts as open. An interval is closed when all that was sent in it has been seen, and when the stacks of its
// events are known, which some processes make wait: kStackPatienceNs at most.
//
// Stacks are kept, since the kernel side tells of each once. When there are too many it is asked to tell anew of those
// that come again; the others are forgotten when no event can name them any more.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "live/query/partial_events.h"
#include "live/query/sums.h"
#include "live/window/window.h"
#include "query/plan/plan.h"
#include "support/clock_offsets.h"
#include "trace/hit.h"
#include "trace/sequence_check.h"
#include "trace/sink.h"

namespace uscope::query {

// Times are those of v_event.ts_ns.
struct IntervalFacts {
  std::uint64_t from_ns = 0;
  std::uint64_t until_ns = 0;       // of the last one: when tracing ended
  std::uint64_t events = 0;         // that were taken for the question
  std::uint64_t lost = 0;           // events that are missing
  std::uint64_t without_stack = 0;  // stacks that were not known in time
  std::uint64_t names_beyond = 0;   // names and users of threads that were too many to be told apart
  bool last = false;
};

struct ClosedInterval {
  IntervalFacts facts;
  UniqueFd trace;
  std::uint64_t bytes = 0;  // of it
  PartialRows rows;         // of Way::kSums: events_of() says which event of the trace each row is of
};

class IntervalStore : public trace::RecordSink {
 public:
  static constexpr std::uint64_t kStackPatienceNs = 400'000'000;
  // Who waits in a call that long has been told of, with its stack: a call that is under way is listed after a second.
  static constexpr std::uint64_t kOpenCallsNs = 5'000'000'000;
  static constexpr std::size_t kMostStacks = 200'000;
  using Close = std::function<Result<void>(ClosedInterval&&)>;

  // `interval_ns` 0: there is one interval. `length_ns`: how long is traced, 0 if that is open; the moments until the
  // tracer has ended belong to the last interval. `folder` is for files without names. `plan` must outlive this object.
  // With more than `most_stacks` of them, some are forgotten.
  IntervalStore(const Plan& plan, std::uint64_t interval_ns, std::uint64_t length_ns, int folder, Close close,
                std::size_t most_stacks = kMostStacks);

  Result<void> append(const usc_record& record) override;
  Result<void> flush() override { return {}; }
  [[nodiscard]] bool failed() const override { return !trouble_; }
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }

  // When tracing begins, and when whatever was sent before a time has been seen; see tracer::RecordObserver.
  void on_start(std::uint64_t start_ns);
  void on_round(std::uint64_t before_ns);

  // When (CLOCK_MONOTONIC) the interval that is closed next has its end; ~0: at the end of tracing.
  [[nodiscard]] std::uint64_t due_ns() const {
    return intervals_.empty() ? ~std::uint64_t{0} : intervals_.front().until_ns;
  }

  // Rows that the kernel side has summed, as tracer::RecordObserver::on_sums() has them: of the interval that is to be
  // closed first, until on_sums_sent().
  void add(const usc_query_row& row, const usc_query_steps* steps = nullptr);

  // What is wanted of the recorder, as a client of it asks (tracer::RoundRequests): each stays wanted until the
  // function that reports it done is called.

  // An interval waits for its sums. Also in between, when threads have had so many names that those are to be forgotten
  // that no row needs.
  [[nodiscard]] bool wants_sums();
  void on_sums_sent();
  // An interval waits for the losses that belong to it.
  [[nodiscard]] bool wants_losses() const { return wants_losses_; }
  void on_losses_recorded() { wants_losses_ = false; }
  // So many stacks are kept that some are to be forgotten.
  [[nodiscard]] bool wants_stacks() const {
    return !asked_for_stacks_ && window_.definitions().stacks() > stacks_allowed_;
  }
  void on_stacks_resent(trace::StackId first);

  // How many names and users of threads are kept (live/window/guises.h).
  [[nodiscard]] std::size_t kept_guises() const { return window_.definitions().guises().size(); }

  // How many calls are kept for later intervals' descriptors.
  [[nodiscard]] std::size_t kept_changes() const { return window_.descriptors().size(); }

  // Once the tracer has ended: closes what is left, with the calls that are open.
  Result<void> finish();

 private:
  struct Interval {
    explicit Interval(const usc_query& program) : sums(program) {}
    std::uint64_t from_ns = 0;
    std::uint64_t until_ns = 0;
    std::optional<live::WindowTrace> trace;  // empty: no record so far
    Sums sums;
    std::vector<trace::Event> whole;
    std::set<trace::StackId> stacks;
    std::vector<live::DescriptorChange> changes;
    std::uint64_t events = 0;
    std::uint64_t lost = 0;
    std::uint64_t names_beyond = 0;
  };
  Interval& interval_of(std::uint64_t time);
  void begin_next();
  [[nodiscard]] std::uint64_t end_of(std::uint64_t from_ns) const;
  Result<live::WindowTrace*> trace_of(Interval& interval);
  Result<void> take(const usc_record& record);
  Result<void> take_event(const trace::Event& event);
  Result<void> take_hit(const usc_hit& hit);
  Result<void> take_loss(const usc_loss& loss);
  Result<void> take_string(const usc_string& string);
  Result<void> put_strings(Interval& interval, const trace::Event& event);
  void forget_ended(Interval& closed);
  Result<void> put(Interval& interval, const trace::Event& event, const usc_record& record);
  Result<void> put_open();
  [[nodiscard]] bool stacks_are_known(const Interval& interval);
  [[nodiscard]] std::uint64_t unknown_stacks(const Interval& interval) const;
  Result<void> close_first(bool last);
  void forget_stacks();
  [[nodiscard]] std::set<trace::ImageId> guises_in_use(std::size_t first_interval) const;
  void replace_guises(const std::unordered_map<trace::ImageId, trace::ImageId>& with);
  void forget_guises();

  const Plan& plan_;
  std::uint64_t interval_ns_;
  std::uint64_t length_ns_;
  int folder_;
  Close close_;
  std::int64_t utc_offset_ns_ = clock_offsets().real;
  std::uint64_t start_ns_ = 0;
  std::uint64_t last_ns_ = 0;  // of all records
  std::deque<Interval> intervals_;
  live::Window window_;
  trace::SequenceCheck sequence_;
  std::uint64_t bytes_ = 0;
  std::size_t most_stacks_;
  std::size_t stacks_allowed_;              // no less, and twice as many as were in use last
  std::uint64_t round_ns_ = 0;              // what was sent before this has been seen
  std::optional<trace::StackId> new_from_;  // stacks with smaller numbers are to be forgotten
  std::uint64_t new_from_ns_ = 0;           // since when none of them is named by a call that begins
  bool asked_for_losses_ = false;
  bool wants_losses_ = false;
  bool wants_sums_ = false;
  std::optional<std::size_t> guise_word_;        // of the question's keys
  std::optional<std::uint64_t> replaced_by_ns_;  // guises that were replaced by then are to be forgotten
  bool asked_for_stacks_ = false;
  bool told_sums_ = false;  // of the first interval, which is not closed yet
  Result<void> trouble_;    // what failed first; nothing is taken behind it
};

}  // namespace uscope::query

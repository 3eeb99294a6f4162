// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope record --print`: each call as the line that `uscope events` prints of it, in the order in which calls end.
// Signals and hits of probes stand among them. What is not over is printed when tracing ends. Only the names of
// descriptors and of signals' handlers are missing: the loader finds them when it knows the whole trace. Memory: what
// is left of calls that were not printed yet, of living tasks and of those that ended lately; names (program_names.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyzer/read/event_row.h"
#include "cli/session/program_names.h"
#include "cli/terminal/paint.h"
#include "cli/terminal/status_line.h"
#include "store/model/definitions.h"
#include "trace/call_join.h"
#include "trace/hit.h"
#include "trace/ids.h"
#include "tracer/collect/observer.h"

namespace uscope::cli {

class LivePrinter : public tracer::RecordObserver {
 public:
  // Lines go to stderr, around the status line. `strings`: whether the trace holds any.
  LivePrinter(StatusLine& status, bool strings) : status_(status), takes_strings_(strings) {}
  void on_start(std::uint64_t start_ns) override { start_ns_ = start_ns; }
  void on_event(const usc_event& event, const tracer::TaskInfo& task) override;
  void on_open_call(const usc_event& event) override;
  void on_task(const usc_task& task) override;
  void on_image(const usc_exec& exec) override;
  void on_string(const usc_string& string) override;
  void on_signal(const usc_signal& signal) override;
  void on_hit(const usc_hit& hit) override;
  void on_kind(const usc_kind& kind) override;
  void on_round(std::uint64_t before_ns, const tracer::TaskTable& tasks) override;

  // Calls that something is kept of until they are printed.
  [[nodiscard]] std::size_t kept_calls() const;

 private:
  // What is known of a task's calls that have not been printed yet.
  struct Strings {
    std::uint64_t entry_ns = 0;
    std::vector<analyzer::EventString> list;
    std::vector<analyzer::EventContent> contents;
    std::vector<analyzer::EventDescriptor> descriptors;
  };
  // By which an event is known.
  using EventKey = std::tuple<trace::TaskId, std::uint64_t, std::uint8_t>;  // task, entry, source
  struct Task {
    std::deque<Strings> strings;           // by entry
    std::deque<store::ImageFacts> images;  // of its execs, by time
    trace::OpenCall call;                  // that it is in
  };

  Task& task(trace::TaskId serial) { return tasks_[serial]; }
  void take_strings(const usc_event& event, Task& task, analyzer::EventRow& row) const;
  void forget_ended(const tracer::TaskTable& tasks);
  void print(const trace::Event& record, const tracer::TaskTable& tasks);
  [[nodiscard]] bool awaits_image(const usc_event& event, const tracer::TaskInfo& task) const;
  static void add_image(const usc_event& event, Task& task, analyzer::EventRow& row);

  StatusLine& status_;
  Paint paint_ = paint_for(stderr);
  bool takes_strings_;
  std::uint64_t start_ns_ = 0;
  std::vector<trace::Event> waiting_;  // for records of other processors that say more of them
  // What waiting_ has events of, by the number in the event's first argument.
  std::unordered_map<std::uint64_t, usc_signal> signals_;
  std::uint64_t last_signal_ = 0;
  trace::KindTable kinds_;
  std::map<EventKey, trace::Event> open_hits_;
  bool hits_have_strings_ = false;
  std::unordered_map<trace::TaskId, Task> tasks_;
  std::size_t looked_at_ = 0;  // tasks that were left when those that had ended were forgotten
  std::uint64_t seen_ns_ = 0;  // what was sent before this time has been seen
  ProgramNames programs_;
  bool told_of_names_ = false;
};

}  // namespace uscope::cli

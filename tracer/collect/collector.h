// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Turns what the kernel side sends into the raw trace. The collector hands each record to the rooms that need it, by a
// table of handlers (collector.cpp), passes it on to the trace, and accounts for losses. One thread, bounded memory.
//
// Records of different CPUs come in any order within a round (one pass over all rings). A record may refer to one in a
// ring that has not been read yet, so a deferred walk, which needs other records, waits for the next round
// (tracer/walk/sample_walks.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"
#include "trace/sink.h"
#include "trace/string_filter.h"
#include "tracer/backend/backend.h"
#include "tracer/collect/code_watch.h"
#include "tracer/collect/figures.h"
#include "tracer/collect/loss_recorder.h"
#include "tracer/collect/observer.h"
#include "tracer/collect/open_calls.h"
#include "tracer/collect/unknown_mappings.h"
#include "tracer/collect/unprobed_code.h"
#include "tracer/files/file_table.h"
#include "tracer/files/row_build_queue.h"
#include "tracer/files/walk_tables.h"
#include "tracer/futex/futex_watch.h"
#include "tracer/jit/jit_names.h"
#include "tracer/model/mapping_timeline.h"
#include "tracer/model/task_table.h"
#include "tracer/probes/hit_records.h"
#include "tracer/process/arrivals.h"
#include "tracer/scouts/process_looks.h"
#include "tracer/signals/signal_handlers.h"
#include "tracer/waits/wait_watch.h"
#include "tracer/walk/attached_calls.h"
#include "tracer/walk/sample_walks.h"

namespace uscope::tracer {

class Collector {
 public:
  // All must outlive this object; the observers and the scouts may be null.
  Collector(Backend& backend, FileTable& files, RowBuildQueue& maker, trace::RecordSink& sink, const usc_config& config,
            RecordObserver* observer, CompareObserver* compare_observer = nullptr, Scouts* scouts = nullptr);

  // One pass over all rings, and the walks left from the pass before. Returns the number of records seen.
  Result<std::size_t> round();
  // Writes calls that began before `before_ns` and have not returned. Returns the number of traced tasks.
  Result<std::uint64_t> write_open_calls(std::uint64_t before_ns);
  // Writes what is under way and is no call: threads that are off the CPUs.
  Result<void> write_open_hits();
  // The futex waits that are open; the rounds write what looks at them have seen.
  [[nodiscard]] FutexWatch& futexes() { return futexes_; }
  // Looks at what all threads wait in; the rounds write them.
  [[nodiscard]] WaitWatch& waits() { return waits_; }
  // No new call is recorded any more: walks that wait for a mapping ask for it, or are finished as they are.
  void close();
  // Walks that wait for a file's rows are finished without them.
  void give_up_rows();
  // Tells the observer what a question has summed until now; what comes after it is told from go_on_with_sums() on.
  Result<void> take_sums();
  void go_on_with_sums();
  // Writes calls that threads were found in, with their stacks. No stack waits for its files after `end_ns`.
  Result<void> write_attached_calls(const std::vector<AttachedCall>& calls, std::uint64_t end_ns);
  // Writes what was lost since the last call.
  Result<void> write_losses();
  // The command that is about to be started, and that it has been.
  void set_command(int pid);
  void command_started() { jit_names_.command_started(); }
  // `calls` sees each event from now on; it must outlive this object.
  void keep_open_calls(OpenCalls& calls) { open_calls_ = &calls; }
  // Decides what becomes of strings; to be called before the first round.
  void set_string_filter(trace::StringFilter filter) { strings_ = std::move(filter); }
  // From here on, what is mapped is held against the files with probes. After Backend::attach(); `targets` may be null.
  void watch_probed_files(FileTargets* targets) {
    unprobed_.emplace(backend_, files_, tasks_, targets, scouts_);
    code_watch_.emplace(backend_, tasks_, scouts_);
  }
  // A process, which runs already, executes code of a target without its probes.
  Result<void> count_without_probes(std::uint32_t pid);
  // Nothing more will be seen; once the rings are empty.
  void end_observation();
  // Writes counters and sequence totals, at the end.
  Result<void> write_totals();

  [[nodiscard]] bool has_pending() const {
    return !walks_.empty() || (closing_ && !signals_.empty()) || files_.is_opening() ||
           (maker_.is_busy() && !rows_given_up_) || (unprobed_ && unprobed_->is_reading());
  }
  // There are processes whose mappings the kernel side has not been told of.
  [[nodiscard]] bool has_unknown_mappings() const { return !unknown_mappings_.empty(); }
  // Walks could be finished now, but the rings come first.
  [[nodiscard]] bool is_behind() const { return walks_.has_due(); }
  [[nodiscard]] TraceFigures figures() const;
  // How many of the traced processes a signal has stopped (or a debugger), by /proc: asked of few processes only.
  [[nodiscard]] std::uint64_t stopped() const;
  [[nodiscard]] const TaskTable& tasks() const { return tasks_; }
  // What became of sources of events, a sentence each, since the last call.
  std::vector<std::string> take_source_news() { return std::exchange(source_news_, {}); }

 private:
  struct Handlers;

  void on_record(const usc_record& record);
  void on_event(const usc_event& event);
  void on_stack(const usc_stack& stack);
  void on_task(const usc_task& task);
  void on_exec(const usc_exec& exec);
  void on_task_exit(const usc_task_exit& exit);
  void on_task_name(const usc_task_name& name) { tasks_.rename(name); }
  void on_map(const usc_map& map) {
    mappings_.add(map);
    if (unprobed_) unprobed_->add(map);
  }
  void on_blind_map(const usc_blind_map& map) {
    if (unprobed_ && !had_breakpoints(map)) unprobed_->add(map);
  }
  void on_code_doubt(const usc_code_doubt& doubt) {
    if (code_watch_) code_watch_->doubt(doubt);
  }
  // Whether it was executable before, and had breakpoints: these stay in it while it is writable.
  [[nodiscard]] bool had_breakpoints(const usc_blind_map& map) const {
    const auto before = mappings_.find(trace::MmId(map.mm), map.start, map.head.time);
    return before && before->file == trace::FileId(map.file);
  }
  void on_unmap(const usc_unmap& unmap) { mappings_.remove(unmap); }
  void on_file(const usc_file& file) { record_error(files_.add_announced(file)); }
  void on_string(const usc_string& string);
  void on_signal(const usc_signal& signal);
  void on_hit(const usc_hit& hit);
  void on_partial(const usc_partial& partial);
  void on_sample(const usc_sample& sample) { record_error(walks_.add(sample, last_round_ns_)); }
  void record_error(const Result<void>& result);
  void take_rows();
  void write_file_news();
  void release_files();
  void write_jit_news();
  void forget_the_dead();
  void record_unresponsive();
  bool wait_for_rows();
  void tend_sources();
  void tell_source_loss(trace::ProcessId process, const SourceLoss& loss);

  Backend& backend_;
  FileTable& files_;
  RowBuildQueue& maker_;
  WalkTables rows_;
  trace::RecordSink& sink_;
  RecordObserver* observer_;
  OpenCalls* open_calls_ = nullptr;
  Scouts* scouts_;
  trace::StringFilter strings_;
  MappingTimeline mappings_;
  TaskTable tasks_;
  ProcessLooks looks_{scouts_};
  Arrivals arrivals_{looks_, strings_, sink_};
  UnknownMappings unknown_mappings_{backend_};
  JitNames jit_names_{tasks_, scouts_};
  FutexWatch futexes_{tasks_, sink_, scouts_};
  WaitWatch waits_{tasks_, sink_, strings_, scouts_};
  JitCode jit_code_{scouts_};
  SignalHandlers signals_{mappings_, sink_};
  HitRecords hits_{sink_};
  const WalkInputs inputs_;
  SampleWalks walks_;
  LossRecorder losses_;
  std::optional<UnprobedCode> unprobed_;
  std::optional<CodeWatch> code_watch_;
  std::vector<usc_query_row> early_sums_;  // of after the turn, met before it was over
  std::uint32_t sums_turn_ = 0;            // as in usc_partial: whose rows are told now
  std::uint64_t round_ns_ = 0;             // when this round began
  std::uint64_t last_round_ns_ = 0;        // and the one before
  std::vector<std::string> source_news_;
  std::uint64_t events_ = 0;
  std::uint64_t program_starts_ = 0;
  bool closing_ = false;
  bool rows_given_up_ = false;
  Result<void> trouble_;
};

}  // namespace uscope::tracer

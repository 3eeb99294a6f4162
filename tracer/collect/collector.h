// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Turns what the kernel side sends into the raw trace: passes records on, binds files and publishes their rows,
// finishes deferred walks, compares samples of --verify, accounts for losses. One thread, bounded memory.
//
// Records of different processors come in any order within a round (one pass over all rings), and a record may refer to
// one of another ring. So what needs more than itself, a walk, waits until the round after its own, and longer where a
// file's unwind rows are still being made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "support/result.h"
#include "trace/ids.h"
#include "trace/raw_writer.h"
#include "tracer/backend/backend.h"
#include "tracer/collect/loss_recorder.h"
#include "tracer/collect/string_filter.h"
#include "tracer/files/file_table.h"
#include "tracer/files/row_build_queue.h"
#include "tracer/files/walk_tables.h"
#include "tracer/futex/futex_watch.h"
#include "tracer/jit/jit_names.h"
#include "tracer/model/mapping_timeline.h"
#include "tracer/model/task_table.h"
#include "tracer/process/descriptor_snapshot.h"
#include "tracer/scouts/process_looks.h"
#include "tracer/walk/attached_calls.h"
#include "tracer/walk/deferred_walks.h"
#include "tracer/walk/sample_queue.h"
#include "tracer/walk/verifier.h"

namespace uscope::tracer {

// What is known of the running trace, for status lines and summaries.
struct TraceFigures {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;       // events that are missing, by any cause
  std::uint64_t processes = 0;  // alive
  std::uint64_t deferred = 0;   // walks finished in user space
  std::uint64_t verified = 0;
  std::uint64_t differing = 0;
  std::uint64_t raw_bytes = 0;
};

// Sees records as they pass; nothing may be kept of what is handed in.
class RecordObserver {
 public:
  virtual ~RecordObserver() = default;
  virtual void on_event(const usc_event& event, const TaskInfo& task) = 0;
  // Definitions, which may come later than what refers to them.
  virtual void on_stack(const usc_stack& /*stack*/) {}
  virtual void on_image(const usc_exec& /*exec*/) {}
  virtual void on_string(const usc_string& /*string*/) {}  // most often before its call's event
  virtual void on_file(trace::FileId /*serial*/, const File& /*file*/) {}
  virtual void on_jit_name(trace::MmId /*mm*/, const PerfMapEntry& /*name*/) {}
};

class Collector {
 public:
  Collector(Backend& backend, FileTable& files, RowBuildQueue& maker, trace::RawWriter& writer,
            const usc_config& config, RecordObserver* observer, CompareObserver* compare_observer = nullptr,
            Scouts* scouts = nullptr);

  // One pass over all rings, and the walks left from the pass before. The number of records seen.
  Result<std::size_t> round();
  // Calls that began before `before_ns` and have not returned; the number of traced tasks.
  Result<std::uint64_t> write_open_calls(std::uint64_t before_ns);
  // The futex waits that are open; what looks at them have seen is written by the rounds.
  [[nodiscard]] FutexWatch& futexes() { return futexes_; }
  // No new call is recorded any more: walks that wait for a mapping ask for it, or are finished as they are.
  void close();
  // Walks that wait for a file's rows are finished without them.
  void give_up_rows();
  // Calls that threads were found in, with their stacks. No stack waits for its files after `end_ns`.
  Result<void> write_attached_calls(const std::vector<AttachedCall>& calls, std::uint64_t end_ns);
  // What was lost since the last call.
  Result<void> write_losses();
  // The command that is about to be started, and that it has been.
  void set_command(int pid);
  void command_started() { jit_names_.command_started(); }
  // What becomes of strings; to be called before the first round.
  void set_string_filter(StringFilter filter) { strings_ = std::move(filter); }
  // Counters and sequence totals, at the end.
  Result<void> write_totals();

  [[nodiscard]] bool has_pending() const {
    return !samples_.empty() || files_.is_opening() || (maker_.is_busy() && !rows_given_up_);
  }
  // Walks could be finished now, but the rings come first.
  [[nodiscard]] bool is_behind() const { return samples_.has_due(); }
  [[nodiscard]] TraceFigures figures() const;

 private:
  void on_record(const usc_record& record);
  void on_exec(const usc_exec& exec);
  void lose_sample(const usc_sample& sample);
  void on_stack(const usc_stack& stack);
  void on_string(const usc_record& record);
  void read_descriptors(trace::ProcessId process, std::uint32_t pid);
  void write_descriptors(trace::ProcessId process, std::uint64_t time, std::uint64_t until,
                         const std::vector<OpenDescriptor>& descriptors);
  void record_error(const Result<void>& result);
  void pass_on(const usc_record& record) { record_error(writer_.append(record)); }
  void take_rows();
  void process_samples();
  void finish_walk(HeldSample held);
  void verify(HeldSample held);
  void write_file_news();
  void write_jit_news();
  void record_unresponsive();
  UserStack walk_attached(const AttachedCall& call, const usc_sample& sample, std::uint64_t until_ns);

  Backend& backend_;
  FileTable& files_;
  RowBuildQueue& maker_;
  WalkTables rows_;
  trace::RawWriter& writer_;
  const usc_config config_;
  RecordObserver* observer_;
  MappingTimeline mappings_;
  TaskTable tasks_;
  Scouts* scouts_;
  ProcessLooks looks_{scouts_};
  JitNames jit_names_{tasks_, scouts_};
  FutexWatch futexes_;
  std::unique_ptr<Verifier> verifier_;
  std::vector<std::uint32_t> adopted_;  // pids of processes that ran before, whose mappings are to be announced
  std::uint64_t round_ns_ = 0;          // when this round began
  std::uint64_t last_round_ns_ = 0;     // and the one before
  SampleQueue samples_;
  DeferredWalks walks_;
  StringFilter strings_;
  std::vector<OpenDescriptor> command_descriptors_;          // until the command's process is announced
  std::unordered_set<trace::ProcessId> unread_descriptors_;  // processes whose image comes next
  TraceFigures figures_;
  LossRecorder losses_;
  std::unordered_map<trace::ProcessId, std::uint64_t> given_up_;  // deferred walks without an end
  bool closing_ = false;
  bool rows_given_up_ = false;
  Result<void> trouble_;
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The state of one recording, for the files that begin it (recording_begin.cpp), run it (recorder.cpp) and end it
// (recording_end.cpp).
#pragma once

#include <sys/signalfd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/clock_offsets.h"
#include "symbolizer/reader/reader_processes.h"
#include "symbolizer/reader/row_cache.h"
#include "trace/raw_writer.h"
#include "tracer/backend/backend.h"
#include "tracer/collect/collector.h"
#include "tracer/files/file_table.h"
#include "tracer/files/row_build_queue.h"
#include "tracer/process/cpu_times.h"
#include "tracer/process/launcher.h"
#include "tracer/recorder/recorder.h"
#include "tracer/recorder/signal_rule.h"
#include "tracer/recorder/signal_watch.h"
#include "tracer/recorder/stall_watch.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

// The state of one recording between its start and its end.
class Recording {
 public:
  Recording(const RecordOptions& options, RecordingClient& client)
      : options_(options),
        client_(client),
        observer_(client.observer()),
        stalls_(options.stall_ns != 0 ? client.stall_check() : nullptr, options.stall_ns) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  // Does not wait for a file that is still being read.
  ~Recording() {
    if (readers_) readers_->stop();
  }

  Result<void> prepare();
  Result<void> run();
  RecordOutcome& outcome() { return outcome_; }
  FileTable& files() { return *files_; }
  // Removes the raw trace of a recording that never began.
  void discard() {
    if (options_.raw.discard) options_.raw.discard();
  }

 private:
  static constexpr int kLongestWaitMs = 10;
  static constexpr int kPendingWaitMs = 1;

  [[nodiscard]] bool launches() const { return (options_.config.target.kinds & USC_TARGET_LAUNCH) != 0; }
  Result<void> open_sink();
  Result<void> prepare_target();
  Result<void> begin();
  Result<void> await_exec(int timeout_ms);
  Result<void> adopt();
  Result<void> write_settings();
  [[nodiscard]] Error nobody_traced() const;
  [[nodiscard]] bool is_over(bool idle) const;
  Result<void> loop();
  Result<void> empty_rings(bool all);
  Result<void> scan_waits();
  Result<void> look_at_waits();
  Result<void> finish_look(std::uint64_t longest_ns);
  Result<void> look_when_quiet();
  [[nodiscard]] bool is_urgent();
  Result<void> serve_client();
  Result<void> send_sums();
  void tell_left_over(std::uint64_t now);
  void tell_source_news();
  Result<void> finish();
  [[nodiscard]] std::uint64_t ran_ns() const;
  Result<bool> each_second(std::uint64_t now);
  int next_wait(std::uint64_t now, std::size_t seen);
  void wait(int milliseconds);
  // When options_.duration_ns ends.
  [[nodiscard]] std::uint64_t limit_ns() const {
    return options_.duration_ns != 0 ? start_ns_ + options_.duration_ns : ~std::uint64_t{0};
  }
  [[nodiscard]] bool is_traced(std::uint32_t pid) const;
  void on_signals();
  void on_signal(const CameSignal& came);
  bool is_asked_again();
  void check_limits(std::uint64_t now);
  void stop(StopReason reason) {
    if (stopping_) return;
    outcome_.reason = reason;
    stopping_ = true;
    stop_ns_ = monotonic_ns();
  }

  const RecordOptions& options_;
  RecordingClient& client_;
  RecordObserver* observer_;  // the client's
  RoundRequests requests_;    // of the last round
  usc_config config_{};
  SignalWatch signals_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<symbolizer::RowCache> cache_;
  std::unique_ptr<symbolizer::ReaderProcesses> readers_;
  std::unique_ptr<Scouts> scouts_;
  std::unique_ptr<FileTable> files_;
  std::unique_ptr<trace::RawWriter> raw_;  // empty where the caller has a sink of its own
  trace::RecordSink* sink_ = nullptr;
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<RowBuildQueue> maker_;  // used by files and collector, and reads from both: destroyed before them
  std::optional<LaunchedCommand> command_;
  RecordOutcome outcome_;
  FoundRunning found_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t stop_ns_ = 0;
  ClockOffsets offsets_;
  CpuTimes cpu_times_;  // of processes that ran already
  StallWatch stalls_;
  std::uint64_t bytes_before_ = 0;
  std::uint64_t round_before_ns_ = 0;
  int idle_wait_ms_ = kLongestWaitMs;
  bool signals_wait_ = true;  // as far as is known
  std::vector<signalfd_siginfo> came_;
  bool executing_ = false;  // the command's exec is under way: its file does not come, or slowly
  bool stopping_ = false;
  std::vector<std::string> source_news_;
  bool interrupted_once_ = false;
  std::uint64_t command_ended_ns_ = 0;
  bool left_over_is_told_ = false;
  bool finishing_ = false;
  bool asked_again_ = false;          // to end, while it does
  bool is_quiet_ = false;             // no event came in the last second
  bool hung_at_interrupt_ = false;    // so it was when the first signal came
  std::uint64_t interrupted_ns_ = 0;  // when it was seen
  std::uint64_t events_before_ = ~std::uint64_t{0};
  std::uint64_t looked_at_events_ = ~std::uint64_t{0};
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One recording from start to end: backend, command, collector, raw trace.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "trace/ids.h"
#include "tracer/backend/backend_options.h"
#include "tracer/collect/figures.h"
#include "tracer/files/file.h"
#include "tracer/probes/probe_plan.h"
#include "tracer/process/launcher.h"
#include "tracer/process/name_search.h"
#include "uscope/control.h"

namespace uscope::trace {
class RecordSink;  // trace/sink.h
}

namespace uscope::tracer {

class FileTargets;      // tracer/probes/file_targets.h
class CompareObserver;  // tracer/walk/verifier.h
class RecordObserver;   // tracer/collect/observer.h
class StallCheck;       // tracer/recorder/stall_watch.h

// The destination of the raw trace.
struct RawOutput {
  std::string name;                         // for messages
  std::function<Result<UniqueFd>()> begin;  // opens a new empty file, called once; empty: nothing is kept
  std::function<void()> discard;            // nothing was recorded: removes the file; may be empty
};

struct RecordOptions {
  LaunchOptions launch;  // used if config.target.kinds has USC_TARGET_LAUNCH
  TargetNames target;    // for the other kinds; with --follow image also the command's name
  usc_config config{};   // scope, target, calls, verify_every; the number of CPUs is filled in
  ModuleGlobs modules;
  RawOutput raw;
  trace::RecordSink* sink = nullptr;  // takes the records in place of `raw`
  KeptCopies::Begin copies;           // where copies of traced files are kept; empty: in memory
  std::string cache_folder;           // for unwind rows; "" = the default
  std::vector<std::string> redact;    // patterns of texts that must not be recorded
  BackendChoice backend = BackendChoice::kAuto;
  BackendSizes sizes;
  ProbePlan probes;                                                   // what is traced beside system calls
  std::vector<std::pair<std::uint32_t, std::string>> without_probes;  // processes in which none of some file are hit,
                                                                      // and why: these are told already
  std::shared_ptr<FileTargets> file_targets;  // what they mean in files that are met while tracing; null: nothing
  std::uint64_t duration_ns = 0;              // stop after this time, 0 = no limit
  bool look_once = false;                     // stop when what runs has been met: its calls, and the stacks of these
  std::uint64_t max_bytes = 0;                // of the raw trace, 0 = no limit
  std::uint64_t stall_ns = 0;  // stop if threads wait for each other this long, as found by RecordHooks.stall; 0 =
                               // off
  std::vector<std::pair<std::string, std::string>> meta;  // written to the trace unchanged
  bool keeps_settings = false;  // the settings of the command, or of the processes that run already, are written, too,
                                // as `launch.setting` chooses
};

// kFinished: nothing that could be traced is left.
enum class StopReason { kFinished, kInterrupted, kDuration, kMaxSize, kStalled, kWriteFailed };

struct RecordOutcome {
  std::optional<CommandExit> command;  // nullopt: it was still running when tracing ended
  int exec_errno = 0;                  // the command could not be found or executed; `trouble` says more
  StopReason reason = StopReason::kFinished;
  int end_signal = 0;               // for kInterrupted: the signal at which tracing ended
  std::vector<std::uint32_t> left;  // pids of traced processes that still ran, in order
  std::string trouble;              // for exec_errno and kWriteFailed
  TraceFigures figures;
  std::uint64_t duration_ns = 0;
};

// What ran already when tracing began.
struct FoundRunning {
  std::uint64_t threads = 0;         // that are traced
  std::vector<MissingName> missing;  // names (--app) that no process has
};

struct RecordHooks {
  RecordObserver* observer = nullptr;           // receives each event
  CompareObserver* compare_observer = nullptr;  // receives each comparison of --verify
  std::function<void()> ready;                  // the kernel side is in place, and nothing is traced yet
  std::function<bool()> ending;                 // the kernel side is about to be removed; called until it returns true
  std::function<void(const FoundRunning&)> attached;  // running processes are now traced
  // The command has ended a while ago, and these processes that it has left are still traced, in order; told once.
  std::function<void(const std::vector<std::uint32_t>&)> left_over;
  std::function<void(const std::string&)> source_news;  // a source of events has ceased to tell all: a sentence
  std::function<void(const TraceFigures&, double)>
      status;                             // about four times a second, with the seconds since the start
  StallCheck* stall = nullptr;            // with RecordOptions.stall_ns
  std::function<void()> each_round;       // after each round of the collector, 40 ms apart or less
  std::span<pollfd> watched;              // what comes here ends a wait, too; each_round finds the last wait's revents
  std::function<std::uint64_t()> due_ns;  // asked as often; when (CLOCK_MONOTONIC) a round is wanted at the latest
  std::function<bool()> wants_sums;     // asked as often; true: what a question (usc_config) has summed is told to the
                                        // observer, and then:
  std::function<void()> sums_are_told;  // also at the end, for the last time
  std::function<bool()> wants_stacks;   // asked as often; true: all stacks are sent anew where they come again
  std::function<void(trace::StackId)> stacks_from;  // then: calls that begin from now on name no smaller one
  std::function<bool()> wants_end;                  // called as often; true: the observer has seen enough
  std::function<bool()> wants_losses;  // called as often; true: what was lost until now is recorded at once, and not
                                       // within the next second
};

// Records until the command and all its descendants have ended, or until a limit or signal ends it. Returns an error if
// something fails before the command starts, or if the backend fails; trouble with the raw file while tracing is in the
// outcome, and what was written can be loaded. `files_out` receives the descriptors of the traced files; the caller
// keeps them for the loader.
Result<RecordOutcome> record(const RecordOptions& options, const RecordHooks& hooks,
                             std::vector<std::unique_ptr<File>>* files_out);

}  // namespace uscope::tracer

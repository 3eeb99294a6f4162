// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One recording from start to end: backend, command, collector, raw trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/backend/backend_options.h"
#include "tracer/collect/figures.h"
#include "tracer/files/file.h"
#include "tracer/probes/probe_plan.h"
#include "tracer/process/launcher.h"
#include "tracer/process/name_search.h"
#include "tracer/recorder/recording_client.h"
#include "uscope/control.h"

namespace uscope::trace {
class RecordSink;  // trace/sink.h
}

namespace uscope::tracer {

class FileTargets;  // tracer/probes/file_targets.h

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
  std::uint64_t stall_ns = 0;  // stop if threads wait for each other this long, as the client's stall_check() finds;
                               // 0 = off
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

// Records until the command and all its descendants have ended, or until a limit or signal ends it. Returns an error if
// something fails before the command starts, or if the backend fails; trouble with the raw file while tracing is in the
// outcome, and what was written can be loaded. `files_out` receives the descriptors of the traced files; the caller
// keeps them for the loader.
Result<RecordOutcome> record(const RecordOptions& options, RecordingClient& client,
                             std::vector<std::unique_ptr<File>>* files_out);

}  // namespace uscope::tracer

// One recording from start to end: backend, command, collector, raw trace.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/collect/collector.h"
#include "tracer/files/file_table.h"
#include "tracer/process/launcher.h"
#include "tracer/recorder/stall_watch.h"
#include "uscope/control.h"

namespace uscope::tracer {

// Where the raw trace goes.
struct RawOutput {
  std::string name;                         // for messages
  std::function<Result<UniqueFd>()> begin;  // a new empty file, asked for once; empty: nothing is kept
  std::function<void()> discard;            // nothing was recorded: takes the file back; may be empty
};

struct RecordOptions {
  LaunchOptions launch;  // where config.target.kinds has USC_TARGET_LAUNCH
  TargetNames target;    // for its other kinds; with --follow image also the command's name
  usc_config config{};   // scope, target, calls, verify_every; the number of processors is filled in
  ModuleGlobs modules;
  RawOutput raw;
  std::string cache_folder;         // of unwind rows; "" = the usual one
  std::vector<std::string> redact;  // patterns of texts that are not to be recorded
  BackendChoice backend = BackendChoice::kAuto;
  BackendSizes sizes;
  std::uint64_t duration_ns = 0;  // stop after this time, 0 = no limit
  std::uint64_t max_bytes = 0;    // of the raw trace, 0 = no limit
  std::uint64_t stall_ns = 0;     // stop where threads wait for each other that long; RecordHooks.stall knows
  std::vector<std::pair<std::string, std::string>> meta;  // written to the trace as they are
};

// kFinished: nothing is left that could be traced.
enum class StopReason { kFinished, kInterrupted, kDuration, kMaxSize, kStalled, kWriteFailed };

struct RecordOutcome {
  std::optional<CommandExit> command;  // none: it was still running when tracing ended
  int exec_errno = 0;                  // the command could not be found or executed; `trouble` says more
  StopReason reason = StopReason::kFinished;
  std::string trouble;  // for exec_errno and kWriteFailed
  TraceFigures figures;
  std::uint64_t duration_ns = 0;
};

struct RecordHooks {
  RecordObserver* observer = nullptr;           // sees each event
  CompareObserver* compare_observer = nullptr;  // sees each comparison of --verify
  std::function<void()> ready;                  // the kernel side is in place, and nothing is traced yet
  std::function<bool()> ending;                 // the kernel side is about to go; called until it is true
  std::function<void(std::uint64_t)> attached;  // running processes are traced now: so many threads
  std::function<void(const TraceFigures&, double)>
      status;                       // about four times a second, with the seconds since the start
  StallCheck* stall = nullptr;      // with RecordOptions.stall_ns
  std::function<bool()> wants_end;  // asked as often: whether the one who looks on has seen enough
};

// Records until the command and all that came from it have ended, or a limit or signal ends it. Errors are those before
// the command was started, or a backend that failed; trouble with the raw file while tracing is in the outcome, and
// what was written can be loaded. The caller keeps `files_out` for the loader: the descriptors of the traced files.
Result<RecordOutcome> record(const RecordOptions& options, const RecordHooks& hooks,
                             std::vector<std::unique_ptr<File>>* files_out);

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/recording.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "analyzer/deadlock/deadlock.h"
#include "cli/render/deadlock_render.h"
#include "cli/render/no_calls.h"
#include "cli/render/units.h"
#include "cli/session/confined_load.h"
#include "cli/session/interruption.h"
#include "cli/session/live_printer.h"
#include "cli/session/load_options.h"
#include "cli/session/output_owner.h"
#include "cli/session/record_outputs.h"
#include "cli/session/record_target.h"
#include "cli/session/recorded_script.h"
#include "cli/session/stall_check.h"
#include "cli/terminal/output.h"
#include "cli/terminal/paint.h"
#include "cli/terminal/status_line.h"
#include "store/loader.h"
#include "support/end_signals.h"
#include "support/private_file.h"
#include "support/text.h"
#include "tracer/process/process_list.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {
namespace {

constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;

std::string reason_text(const tracer::RecordOutcome& outcome, bool launched) {
  const int number = outcome.end_signal;
  const bool is_asked = std::find(kEndSignals.begin(), kEndSignals.end(), number) != kEndSignals.end();
  switch (outcome.reason) {
    case tracer::StopReason::kInterrupted:
      if (is_asked) return launched ? "interrupted: the command goes on untraced" : "";
      return "interrupted by " + signal_name(number) +
             (number == SIGXCPU ? ", the limit of processor time (ulimit -t)" : "") +
             (launched ? ": the command goes on untraced" : "");
    case tracer::StopReason::kDuration:
      return launched ? "--duration has passed: the command goes on untraced" : "";
    case tracer::StopReason::kStalled:
      return launched ? "threads wait for each other: the command goes on untraced" : "threads wait for each other";
    case tracer::StopReason::kMaxSize:
      return launched ? "--max-size is reached: the command goes on untraced" : "--max-size is reached";
    case tracer::StopReason::kWriteFailed:  // printed before loading
    case tracer::StopReason::kFinished:
      break;
  }
  return "";
}

void print_summary(const RecordVerbOptions& options, const tracer::RecordOutcome& outcome,
                   const store::LoadSummary& loaded, const store::OutputPlace& place) {
  const std::string lost = group_digits(loaded.lost) + " lost";
  std::string line = "uscope: " + plural(loaded.events, "event") + ", " +
                     paint_for(stderr)(loaded.lost == 0 ? Ink::kPlain : Ink::kBad, lost);
  line += ", " + plural(loaded.processes, "process");
  line += ", " + human_duration(static_cast<double>(outcome.duration_ns)) + " -> " + escape_terminal(options.output);
  line += replaced_text(place);
  std::fprintf(stderr, "%s\n", line.c_str());
  if (loaded.lost_beside != 0) std::fprintf(stderr, "%s\n", lost_beside_text(loaded.lost_beside).c_str());
  if (loaded.events == 0 && loaded.lost == 0 && outcome.reason == tracer::StopReason::kFinished)
    if (const std::string none = no_calls_text(options.calls); !none.empty())
      std::fprintf(stderr, "  %s\n", none.c_str());
  if (const std::string why = reason_text(outcome, !options.command.empty()); !why.empty())
    std::fprintf(stderr, "  tracing ended early: %s\n", why.c_str());
}

// Exits as the command did; a signal is raised again, so that the caller sees it.
int end_as(const tracer::RecordOutcome& outcome) {
  if (!outcome.command) return 0;
  if (outcome.command->signal == 0) return outcome.command->code;
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  end_by_signal(outcome.command->signal);
  return 128 + outcome.command->signal;
}

// Prints what `uscope deadlock` prints, but to stderr, apart from the command's own output.
Result<int> show_stall(UniqueFd store, const RecordOutputs& outputs) {
  auto temporary = open_sorting_folder(outputs.database().folder());
  if (!temporary) return temporary.error();
  const auto database = store::Database::open(std::move(store), outputs.database().path(), std::move(*temporary));
  if (!database) return database.error();
  const auto diagnosis = analyzer::diagnose(*database);
  if (!diagnosis) return diagnosis.error();
  std::fputs(deadlock_text(*diagnosis, text_width(stderr)).c_str(), stderr);
  constexpr int kStalled = 1;
  return kStalled;
}

// Loads the raw trace into the database and gives that to its owner.
Result<int> load_recording(const RecordVerbOptions& options, const tracer::RecordOutcome& outcome,
                           RecordOutputs& outputs, std::optional<symbolizer::Debuginfod>& debuginfod,
                           store::LoadOptions&& loading, StatusLine& status) {
  if (outputs.drop_empty_raw())
    return Error{"nothing was recorded: no byte of the raw trace could be written", "free space, or write elsewhere"};
  auto raw = outputs.read_raw();
  if (!raw) return raw.error();
  auto database = outputs.database().begin();
  if (!database) return database.error().in(outputs.where_raw_is());
  auto written = database->duplicate();
  if (!written) return written.error();
  if (debuginfod) loading.fetch_debug_file = [&](const std::string& id) { return debuginfod->fetch(id); };
  OutputOwner owner({database->fd(), outputs.kept_raw()});
  const ConfinedLoad how{outputs.raw_name(), options.output, outputs.folders(), debuginfod.has_value()};
  auto loaded = load_confined(how, std::move(*raw), std::move(*database), std::move(loading), status);
  if (!loaded) return loaded.error().in(outputs.where_raw_is());
  auto settled = outputs.settle_raw();
  owner.give();  // the database is complete in either case
  if (!settled) return settled.error();
  const bool quiet = options.quiet && loaded->lost == 0;
  if (!quiet) print_summary(options, outcome, *loaded, outputs.database());
  if (debuginfod && !quiet)
    std::fprintf(stderr, "  %s\n", escape_terminal(debuginfod_text(debuginfod->figures())).c_str());
  if (outcome.reason == tracer::StopReason::kWriteFailed) return kTracingFailed;
  if (outcome.reason == tracer::StopReason::kStalled) return show_stall(std::move(*written), outputs);
  return end_as(outcome);
}

// The status line would erase what such a command writes: a prompt, the last line of its output.
bool shares_terminal(const RecordVerbOptions& options) {
  return !options.command.empty() &&
         (same_terminal(STDIN_FILENO, STDERR_FILENO) || same_terminal(STDOUT_FILENO, STDERR_FILENO));
}

// Prints what the user is to know while `record` runs.
class RecordVerb : public tracer::RecordingClient {
 public:
  // `stall`: null where nobody asks for it. The references must outlive this object.
  RecordVerb(const RecordVerbOptions& options, StatusLine& status, tracer::StallCheck* stall)
      : options_(options),
        status_(status),
        stall_(stall),
        printer_(status, !options.no_strings),
        script_(options.stap, status) {}

 private:
  tracer::RecordObserver* observer() override { return options_.print ? &printer_ : nullptr; }
  tracer::StallCheck* stall_check() override { return stall_; }

  void on_ready() override { script_.load(); }
  void on_attached(const tracer::FoundRunning& found) override {
    if (!options_.quiet) print_found(options_, found);
  }
  void on_status(const tracer::TraceFigures& now, double seconds) override {
    script_.check();
    const double rate = seconds > last_s_ ? static_cast<double>(now.events - last_events_) / (seconds - last_s_) : 0;
    status_.update({now.events, rate, now.lost, now.processes});
    last_events_ = now.events;
    last_s_ = seconds;
  }
  void on_source_news(const std::string& news) override {
    status_.clear();
    std::fprintf(stderr, "uscope: warning: %s\n", escape_terminal(news).c_str());
  }
  void on_left_over(const std::vector<std::uint32_t>& pids) override {
    if (options_.quiet) return;
    std::vector<std::pair<std::string, std::uint32_t>> processes;
    processes.reserve(pids.size());
    for (const std::uint32_t pid : pids) processes.emplace_back(tracer::name_of(pid), pid);
    status_.clear();
    std::fputs(left_over_text(processes).c_str(), stderr);
  }
  bool on_ending() override { return script_.step_unload(); }

  const RecordVerbOptions& options_;
  StatusLine& status_;
  tracer::StallCheck* stall_;
  LivePrinter printer_;
  RecordedScript script_;
  std::uint64_t last_events_ = 0;  // at the last status
  double last_s_ = 0;
};

}  // namespace

Result<int> run_record(const RecordVerbOptions& options) {
  auto outputs = RecordOutputs::find(options);
  if (!outputs) return outputs.error();
  auto recorder = recorder_options(options);
  if (!recorder) return recorder.error();
  recorder->raw = outputs->raw_output();
  recorder->copies = outputs->copies();
  recorder->keeps_settings = true;
  auto debuginfod = open_debuginfod(options.debuginfod);
  if (!debuginfod) return debuginfod.error();

  StatusLine status(options.quiet || shares_terminal(options) ? nullptr : stderr);
  std::optional<ForkedStallCheck> stall;
  if (recorder->stall_ns != 0) stall.emplace(*outputs, recorder->stall_ns);
  RecordVerb client(options, status, stall ? &*stall : nullptr);
  std::vector<std::unique_ptr<tracer::File>> files;
  auto outcome = tracer::record(*recorder, client, &files);
  stall.reset();
  status.clear();
  if (!outcome) return outcome.error();
  Interruption::ignore_senders(outcome->left);
  if (outcome->exec_errno != 0) {
    std::fprintf(stderr, "uscope: %s\n", escape_terminal(outcome->trouble).c_str());
    return outcome->exec_errno == ENOENT ? kNotFound : kCannotExecute;
  }
  if (outcome->reason == tracer::StopReason::kWriteFailed)
    std::fprintf(stderr, "uscope: tracing ended early: %s\n", escape_terminal(outcome->trouble).c_str());
  return load_recording(options, *outcome, *outputs, *debuginfod, load_options(files, status), status);
}

}  // namespace uscope::cli

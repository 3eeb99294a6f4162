// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a recording begins: the kernel side, the command, what runs already.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "support/clock.h"
#include "support/end_signals.h"
#include "support/process/inherited.h"
#include "support/process/priority.h"
#include "support/text.h"
#include "trace/raw_header.h"
#include "tracer/collect/observer.h"
#include "tracer/host/host.h"
#include "tracer/probes/plan_kinds.h"
#include "tracer/process/process_list.h"
#include "tracer/process/process_setting.h"
#include "tracer/recorder/descriptor_limit.h"
#include "tracer/recorder/recording.h"
#include "tracer/scouts/process_looks.h"
#include "tracer/walk/attached_calls.h"
#include "uscope/trace_map.h"

namespace uscope::tracer {
namespace {

constexpr int kExecWaitMs = 100;  // how long the rings are left alone for the command's exec
constexpr int kCollectorNice = -20;
constexpr int kReaderNice = -10;  // as for the threads of RowBuildQueue, which wait for them

Error interrupted() {
  return {"interrupted before tracing began", ""};
}

}  // namespace

Result<void> Recording::prepare() {
  config_ = options_.config;
  config_.cpus = possible_processors();
  if (auto held = hold_signals(); !held) return held;
  // The child is forked first: it inherits limits, signals and descriptors as uscope received them.
  if (launches()) {
    auto command = LaunchedCommand::prepare(options_.launch);
    if (!command) {
      if (!find_program(options_.launch.command.front())) outcome_.exec_errno = ENOENT;
      return command.error();
    }
    command_.emplace(std::move(*command));
    close_inherited_descriptors();
    let_go_of_standard_input();
  }
  // The processes that read other users' files are forked before anything is open that they must not have.
  symbolizer::ReaderOptions reading;
  reading.nice = kReaderNice;
  auto readers = symbolizer::ReaderProcesses::start(reading);
  if (!readers) return readers.error();
  readers_ = std::move(*readers);
  auto scouts = Scouts::start();
  if (!scouts) return scouts.error();
  scouts_ = std::move(*scouts);
  if (auto watching = signals_.open(); !watching) return watching;
  if (auto raised = raise_descriptor_limit(); !raised) return raised;
  if (!launches() && !in_initial_pid_namespace(this_host()))
    return Error{"uscope runs in a pid namespace of its own, and cannot look into processes that it does not start",
                 "run it in the initial one (docker run --pid=host, or hostPID in Kubernetes)"};
  if (auto open = open_sink(); !open) return open;
  auto backend = open_backend(options_.backend, config_, options_.sizes, options_.probes);
  if (!backend) return backend.error();
  backend_ = std::move(*backend);
  cache_ = std::make_unique<symbolizer::RowCache>(options_.cache_folder.empty() ? symbolizer::RowCache::default_folder()
                                                                                : options_.cache_folder);
  maker_ = std::make_unique<RowBuildQueue>(*cache_, RowBuildQueue::kThreads, *readers_);
  backend_->set_scouts(*scouts_);
  files_ = std::make_unique<FileTable>(*backend_, *maker_, options_.modules, scouts_.get(), options_.copies);
  if (config_.verify_every != 0) files_->keep_all();
  collector_ = std::make_unique<Collector>(*backend_, *files_, *maker_, *sink_, config_, observer_,
                                           client_.compare_observer(), scouts_.get());
  if (options_.stall_ns != 0) collector_->keep_open_calls(stalls_.calls());
  collector_->set_string_filter(trace::StringFilter(Redactor(options_.redact), config_.string_bytes != 0));
  for (const auto& [key, value] : options_.meta)
    if (auto done = sink_->append_meta(key, value); !done) return done;
  if (auto done = sink_->append_meta("backend", backend_->name()); !done) return done;
  if (command_)
    if (auto done = write_settings(); !done) return done;
  const auto told = [this](const usc_kind& kind) {
    if (observer_ != nullptr) observer_->on_kind(kind);
  };
  if (auto done = write_kinds(*sink_, options_.probes, monotonic_ns(), told); !done) return done;
  if (auto done = files_->publish_vdso(); !done) return done;
  if (auto done = prepare_target(); !done) return done;
  // A file met for the first time must be opened before a short-lived process has ended.
  raise_priority(kCollectorNice);
  if (auto done = backend_->attach(); !done) return done;
  collector_->watch_probed_files(options_.file_targets.get());
  client_.on_ready();
  return {};
}

Result<void> Recording::open_sink() {
  sink_ = options_.sink;
  if (sink_ != nullptr) return {};
  auto raw = options_.raw.begin ? options_.raw.begin() : Result<UniqueFd>(UniqueFd());
  if (!raw) return raw.error();
  auto writer =
      trace::RawWriter::create(std::move(*raw), options_.raw.name,
                               trace::header_of_this_machine(monotonic_ns(), clock_offsets().real, config_.cpus));
  if (!writer) return writer.error();
  raw_ = std::make_unique<trace::RawWriter>(std::move(*writer));
  sink_ = raw_.get();
  return {};
}

// Running processes are examined before the hooks are in place: the kernel side cannot read the arguments of another
// process, by which some are recognised, and rows are available from the first call on.
Result<void> Recording::prepare_target() {
  if (command_) files_->preload(command_->path());
  TargetNames names = options_.target;
  const __u32 kinds = options_.config.target.kinds;
  if ((kinds & USC_TARGET_APP) != 0 && !command_) {
    ProcessLooks looks(scouts_.get());
    NameSearch search(names.apps);
    for (const std::uint32_t pid : running_processes()) {
      if (end_is_asked_for()) return interrupted();
      if (!is_own_process(pid) && search.take(pid, looks.names_of(pid))) names.pids.push_back(pid);
    }
    found_.missing = search.missing();
  }
  for (const std::uint32_t pid : names.pids) files_->preload_process(pid);
  if (end_is_asked_for()) return interrupted();
  if (auto set = backend_->set_target(names); !set) return set;
  return command_ ? backend_->set_launched(command_->pid()) : Result<void>();
}

Error Recording::nobody_traced() const {
  const std::vector<std::uint32_t>& pids = options_.target.pids;
  if (std::all_of(pids.begin(), pids.end(), is_kernel_thread))
    return {fmt::format("{} {} a thread of the kernel, which makes no system calls", pids.front(),
                        pids.size() == 1 ? "is" : "and the others are each"),
            "`record -t sample` and `-t offcpu` do not follow such threads either; perf does"};
  return {pids.size() == 1 ? fmt::format("process {} has ended before tracing began", pids.front())
                           : "all processes had ended before tracing began",
          "with --app, uscope waits for the next one of a name"};
}

// Of the command, or of the running processes that no traced one has started.
Result<void> Recording::write_settings() {
  if (!options_.keeps_settings) return {};
  std::vector<trace::ProcessSetting> settings;
  if (command_) {
    settings.push_back(command_->setting());
  } else {
    const std::set<std::uint32_t> living = collector_->tasks().living();
    ProcessLooks looks(scouts_.get());
    for (const std::uint32_t pid : roots_of({living.begin(), living.end()})) {
      if (settings.size() == kMostSettings || end_is_asked_for()) break;
      auto setting = setting_of(pid, options_.launch.setting);
      if (!setting) continue;
      if (options_.launch.setting.texts) add_environment(looks.environment_of(pid), options_.launch.setting, *setting);
      settings.push_back(std::move(*setting));
    }
  }
  // A fact that is cut would mean nothing.
  while (!settings.empty() && trace::settings_text(settings).size() > trace::RecordSink::kMostMeta) settings.pop_back();
  return settings.empty() ? Result<void>() : sink_->append_meta("settings", trace::settings_text(settings));
}

// Takes in running processes, with the calls that their threads are in.
Result<void> Recording::adopt() {
  if (auto done = backend_->adopt(); !done) return done;
  // Until it knows their mappings, the kernel side records no calls of these processes.
  const std::uint64_t held_until_ns = monotonic_ns() + USC_HOLD_NS;
  // First the processes, then their mappings.
  for (int i = 0; i < 2; i++)
    if (auto seen = collector_->round(); !seen) return seen.error();
  while (collector_->has_unknown_mappings() && monotonic_ns() < held_until_ns && !end_is_asked_for()) {
    backend_->wait(kPendingWaitMs);
    if (auto seen = collector_->round(); !seen) return seen.error();
  }
  const auto calls = copy_attached_calls(*backend_, scouts_.get(), [this]() -> Result<void> {
    const auto seen = collector_->round();
    return seen ? Result<void>() : seen.error();
  });
  if (!calls) return calls.error();
  if (auto done = collector_->write_attached_calls(*calls, limit_ns()); !done) return done;
  const auto tasks = collector_->write_open_calls(0);
  if (!tasks) return tasks.error();
  if (*tasks == 0 && options_.config.target.kinds == USC_TARGET_PID) return nobody_traced();
  if (auto done = write_settings(); !done) return done;
  // What its threads wait in is looked at now, too: so the sets of calls that return later are known.
  if (!options_.look_once)
    if (auto done = collector_->waits().begin(USC_RESOURCE_AT_ATTACH); !done) return done;
  for (const auto& [pid, why] : options_.without_probes) {
    if (auto done = collector_->count_without_probes(pid); !done) return done;
    source_news_.push_back(why);
  }
  if (options_.probes.sample_hz != 0) cpu_times_.begin(collector_->tasks().living());
  found_.threads = *tasks;
  client_.on_attached(found_);
  return {};
}

Result<void> Recording::begin() {
  start_ns_ = monotonic_ns();
  offsets_ = clock_offsets();
  if (observer_ != nullptr) observer_->on_start(start_ns_);
  // The raw trace was begun before the programs were loaded, which may take a second.
  if (auto done = sink_->append_meta("start_ns", std::to_string(start_ns_)); !done) return done;
  if (!command_) return adopt();
  collector_->set_command(command_->pid());
  if (auto released = command_->go(); !released) return released;
  return await_exec(kExecWaitMs);
}

Result<void> Recording::await_exec(int timeout_ms) {
  const auto over = command_->await_exec(timeout_ms);
  outcome_.exec_errno = command_->exec_errno();
  if (!over) return over.error();
  executing_ = !*over;
  if (*over) collector_->command_started();
  return {};
}

}  // namespace uscope::tracer

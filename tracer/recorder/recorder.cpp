// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/recorder/recorder.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "support/end_signals.h"
#include "support/process/child_process.h"
#include "support/process/inherited.h"
#include "support/process/priority.h"
#include "support/text.h"
#include "support/unique_fd.h"
#include "symbolizer/reader/reader_processes.h"
#include "trace/raw_writer.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/ring_limits.h"
#include "tracer/collect/collector.h"
#include "tracer/collect/observer.h"
#include "tracer/files/file_table.h"
#include "tracer/host/host.h"
#include "tracer/probes/plan_kinds.h"
#include "tracer/process/cpu_times.h"
#include "tracer/process/process_list.h"
#include "tracer/recorder/clock_offsets.h"
#include "tracer/recorder/descriptor_limit.h"
#include "tracer/recorder/signal_rule.h"
#include "tracer/recorder/signal_watch.h"
#include "tracer/recorder/stall_watch.h"
#include "tracer/scouts/process_looks.h"
#include "tracer/scouts/scouts.h"
#include "tracer/walk/attached_calls.h"
#include "uscope/trace_map.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kOpenAfterNs = kSecond;
constexpr std::uint64_t kStatusEveryNs = kSecond / 4;
constexpr int kLongestWaitMs = 10;
// Where nothing comes: the end of a command ends a wait. What may come meanwhile must have room: a CPU that records as
// fast as it can fills some 200 MiB a second.
constexpr int kLongestIdleWaitMs = 40;
constexpr std::uint32_t kRoomForIdleWait = 8u << 20;
constexpr int kPendingWaitMs = 1;
constexpr int kExecWaitMs = 100;  // how long the rings are left alone for the command's exec
// What a signal that ends the recording ended as well may have ended so long before the signal is seen here.
constexpr std::uint64_t kSignalSlackNs = kSecond / 10;
constexpr std::size_t kMostSourceNews = 50;  // that are kept in the trace
constexpr int kCollectorNice = -20;
constexpr int kReaderNice = -10;  // as for the threads of RowBuildQueue, which wait for them

// The longest wait for a file that is slow to read, after the user has ended tracing by a signal; and, however tracing
// ended, for memory that does not answer.
constexpr std::uint64_t kLongestEndNs = kSecond * 7 / 10;
constexpr std::uint64_t kLongestLookNs = kSecond * 5;

Error interrupted() {
  return {"interrupted before tracing began", ""};
}

usc_raw_header make_header(std::uint32_t cpus) {
  usc_raw_header header{};
  header.start_ns = monotonic_ns();
  header.utc_offset_ns = clock_offsets().real;
  header.cpus = cpus;
  return header;
}

// One line for each sentence.
Result<void> write_source_news(trace::RecordSink& sink, const std::vector<std::string>& news) {
  std::string text;
  for (const std::string& sentence : news) text += (text.empty() ? "" : "\n") + trace_text(sentence);
  return text.empty() ? Result<void>() : sink.append_meta("source_news", text);
}

}  // namespace

// The state of one recording between its start and its end.
class Recording {
 public:
  Recording(const RecordOptions& options, const RecordHooks& hooks)
      : options_(options), hooks_(hooks), stalls_(options.stall_ns != 0 ? hooks.stall : nullptr, options.stall_ns) {}
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
  [[nodiscard]] bool launches() const { return (options_.config.target.kinds & USC_TARGET_LAUNCH) != 0; }
  Result<void> open_sink();
  Result<void> prepare_target();
  Result<void> begin();
  Result<void> await_exec(int timeout_ms);
  Result<void> adopt();
  [[nodiscard]] Error nobody_traced() const;
  [[nodiscard]] bool is_over(bool idle) const;
  Result<void> loop();
  Result<void> empty_rings(bool all);
  Result<void> scan_waits();
  Result<void> look_at_waits();
  Result<void> finish_look(std::uint64_t longest_ns);
  Result<void> look_when_quiet();
  [[nodiscard]] bool is_urgent();
  Result<void> tell_sums();
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
  const RecordHooks& hooks_;
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
  files_ = std::make_unique<FileTable>(*backend_, *maker_, options_.modules, scouts_.get());
  collector_ = std::make_unique<Collector>(*backend_, *files_, *maker_, *sink_, config_, hooks_.observer,
                                           hooks_.compare_observer, scouts_.get());
  if (options_.stall_ns != 0) collector_->keep_open_calls(stalls_.calls());
  collector_->set_string_filter(trace::StringFilter(Redactor(options_.redact), config_.string_bytes != 0));
  for (const auto& [key, value] : options_.meta)
    if (auto done = sink_->append_meta(key, value); !done) return done;
  if (auto done = sink_->append_meta("backend", backend_->name()); !done) return done;
  const auto told = [this](const usc_kind& kind) {
    if (hooks_.observer != nullptr) hooks_.observer->on_kind(kind);
  };
  if (auto done = write_kinds(*sink_, options_.probes, monotonic_ns(), told); !done) return done;
  if (auto done = files_->publish_vdso(); !done) return done;
  if (auto done = prepare_target(); !done) return done;
  // A file met for the first time must be opened before a short-lived process has ended.
  raise_priority(kCollectorNice);
  if (auto done = backend_->attach(); !done) return done;
  collector_->watch_probed_files(options_.file_targets.get());
  if (hooks_.ready) hooks_.ready();
  return {};
}

Result<void> Recording::open_sink() {
  sink_ = options_.sink;
  if (sink_ != nullptr) return {};
  auto raw = options_.raw.begin ? options_.raw.begin() : Result<UniqueFd>(UniqueFd());
  if (!raw) return raw.error();
  auto writer = trace::RawWriter::create(std::move(*raw), options_.raw.name, make_header(config_.cpus));
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
  // What its threads wait in is looked at now, too: so the sets of calls that return later are known.
  if (!options_.look_once)
    if (auto done = collector_->waits().begin(USC_RESOURCE_AT_ATTACH); !done) return done;
  for (const auto& [pid, why] : options_.without_probes) {
    if (auto done = collector_->count_without_probes(pid); !done) return done;
    source_news_.push_back(why);
  }
  if (options_.probes.sample_hz != 0) cpu_times_.begin(collector_->tasks().living());
  found_.threads = *tasks;
  if (hooks_.attached) hooks_.attached(found_);
  return {};
}

// Whether nothing is traced any more, and nothing can follow.
bool Recording::is_over(bool idle) const {
  if (command_) return idle && outcome_.command;
  return idle && options_.config.target.kinds == USC_TARGET_PID;
}

// Whether a process, by its pid as uscope sees it, is one that the recording traces.
bool Recording::is_traced(std::uint32_t pid) const {
  if (command_ && is_own_process(pid)) return true;
  const bool by_host = in_initial_pid_namespace(this_host());
  const auto tasks = collector_->tasks().alive();  // or ended a short time ago
  return std::any_of(tasks.begin(), tasks.end(),
                     [&](const auto& task) { return (by_host ? task.second->pid : task.second->ns_pid) == pid; });
}

// The records of a signal's sender have come before the signal: signals are taken first, then the rings are read, and
// then the signals are looked at.
void Recording::on_signals() {
  std::map<std::uint32_t, bool> senders;
  for (const signalfd_siginfo& info : std::exchange(came_, {})) {
    const bool is_sent = info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE || info.ssi_code == SI_TKILL;
    CameSignal came{static_cast<int>(info.ssi_signo), !is_sent};
    if (is_sent) {
      const auto [sender, is_new] = senders.try_emplace(info.ssi_pid, false);
      if (is_new) sender->second = is_traced(info.ssi_pid);
      came.from_traced = sender->second;
    }
    on_signal(came);
  }
}

void Recording::on_signal(const CameSignal& came) {
  const SignalEffect effect = effect_of(came, command_.has_value());
  if (effect == SignalEffect::kNone) return;
  if (effect == SignalEffect::kPassOn) return command_->send_signal(came.number);
  if (finishing_) {
    asked_again_ = true;
    return;
  }
  if (effect == SignalEffect::kEnd || interrupted_once_) {
    outcome_.end_signal = came.number;
    return stop(StopReason::kInterrupted);
  }
  interrupted_once_ = true;
  hung_at_interrupt_ = is_quiet_;
  interrupted_ns_ = monotonic_ns();
  if (effect == SignalEffect::kPassOnAndAsk) command_->send_signal(came.number);
}

// While the recording ends: whether the user asks for that once more.
bool Recording::is_asked_again() {
  came_ = signals_.take();
  on_signals();
  return asked_again_;
}

void Recording::check_limits(std::uint64_t now) {
  if (options_.look_once || now >= limit_ns()) stop(StopReason::kDuration);
  if (options_.max_bytes != 0 && sink_->bytes() >= options_.max_bytes) stop(StopReason::kMaxSize);
}

// Writes open calls and losses; returns true when nothing is traced any more.
Result<bool> Recording::each_second(std::uint64_t now) {
  const auto tasks = collector_->write_open_calls(now - std::min(now, kOpenAfterNs));
  if (!tasks) return tasks.error();
  if (auto done = collector_->futexes().scan_new(); !done) return done.error();
  if (auto done = stalls_.check(collector_->futexes(), collector_->waits(), now, *tasks); !done) return done.error();
  if (auto done = look_when_quiet(); !done) return done.error();
  if (auto done = collector_->write_losses(); !done) return done.error();
  if (auto done = sink_->flush(); !done) return done.error();
  return *tasks == 0;
}

// Rings are read in large, infrequent batches: a reader that runs next to the writers takes the rings' cache lines from
// them with every record. The wait is such that a ring would fill to an eighth at the present rate; an urgent record
// ends it early. Each round that saw nothing (`seen`: records), or asks a question, doubles the longest wait. No wait
// goes beyond a moment at which something is due: what a question sums in the kernel leaves no records, so that a round
// sees nothing.
int Recording::next_wait(std::uint64_t now, std::size_t seen) {
  const std::uint64_t bytes = sink_->bytes();
  const double rate = now > round_before_ns_
                          ? static_cast<double>(bytes - bytes_before_) / static_cast<double>(now - round_before_ns_)
                          : 0;
  bytes_before_ = bytes;
  round_before_ns_ = now;
  const std::uint32_t ring_bytes = bounded_ring_bytes(options_.sizes.ring_bytes, config_.cpus);
  // A question leaves few records, and nobody waits for one of them.
  const bool is_busy = seen > 0 && config_.query.length == 0;
  idle_wait_ms_ = is_busy || executing_ || ring_bytes < kRoomForIdleWait
                      ? kLongestWaitMs
                      : std::min(idle_wait_ms_ * 2, kLongestIdleWaitMs);
  if (collector_->is_behind()) return 0;
  if (collector_->has_pending()) return kPendingWaitMs;
  const double until_eighth_ns = rate > 0 ? ring_bytes / 8.0 / rate : 1e9;
  const std::uint64_t due_ns = std::min(limit_ns(), hooks_.due_ns ? hooks_.due_ns() : ~std::uint64_t{0});
  const double until_due_ns = due_ns > now ? static_cast<double>(due_ns - now) : 0;
  // What is over already waits for a record or an answer: that does not come faster than rounds do.
  const double wait_ns = until_due_ns > 0 ? std::min(until_eighth_ns, until_due_ns) : until_eighth_ns;
  return std::clamp(static_cast<int>(std::min(wait_ns, 1e9) / 1e6), 1,
                    until_due_ns > 0 ? idle_wait_ms_ : kLongestWaitMs);
}

Result<void> Recording::loop() {
  std::uint64_t next_second = start_ns_ + kSecond;
  std::uint64_t next_status = start_ns_ + kStatusEveryNs;
  while (!stopping_) {
    if (std::exchange(signals_wait_, false)) came_ = signals_.take();
    const auto seen = collector_->round();
    if (!seen) return seen.error();
    const std::uint64_t now = monotonic_ns();
    if (!came_.empty()) on_signals();
    check_limits(now);
    const auto stalled = stalls_.work(collector_->futexes(), collector_->waits(), *sink_, now);
    if (!stalled) return stalled.error();
    if (*stalled) stop(StopReason::kStalled);
    if (executing_)
      if (auto done = await_exec(0); !done) return done;
    if (command_ && !executing_ && !outcome_.command) {
      outcome_.command = command_->poll_exit();
      if (outcome_.command) next_second = command_ended_ns_ = now;  // usually everything is over: check at once
    }
    tell_left_over(now);
    if (now >= next_second) {
      const auto idle = each_second(now);
      if (!idle) return idle.error();
      if (is_over(*idle)) {
        // What it did last may have come into the rings since they were read.
        if (const auto rest = collector_->round(); !rest) return rest.error();
        if (const TraceFigures seen_now = collector_->figures();
            !command_ || seen_now.events > 0 || seen_now.program_starts > 0)
          return {};
        return Error{"the command ran, but the trace has nothing of it",
                     "this is a fault of uscope: please report it with `uscope doctor`"};
      }
      next_second = now + (outcome_.command ? kSecond / 20 : kSecond);
    }
    if (hooks_.status && now >= next_status) {
      TraceFigures figures = collector_->figures();
      figures.stopped = collector_->stopped();
      hooks_.status(figures, static_cast<double>(now - start_ns_) / 1e9);
      next_status = now + kStatusEveryNs;
    }
    tell_source_news();
    if (hooks_.each_round) hooks_.each_round();
    if (hooks_.wants_sums && hooks_.wants_sums())
      if (auto told = tell_sums(); !told) return told;
    if (hooks_.wants_stacks && hooks_.wants_stacks()) {
      const auto first = backend_->resend_stacks();
      if (!first) return first.error();
      hooks_.stacks_from(*first);
    }
    if (hooks_.wants_losses && hooks_.wants_losses())
      if (auto done = collector_->write_losses(); !done) return done;
    if (hooks_.wants_end && hooks_.wants_end()) stop(StopReason::kInterrupted);
    if (stopping_) break;
    wait(next_wait(now, *seen));
  }
  return {};
}

void Recording::wait(int milliseconds) {
  constexpr std::ptrdiff_t kOwn = 3;
  // poll() leaves out what is -1.
  std::vector<pollfd> fds{
      {backend_->wait_fd(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}, {backend_->sources_fd(), POLLIN, 0}};
  fds.insert(fds.end(), hooks_.watched.begin(), hooks_.watched.end());
  for (pollfd& one : fds) one.revents = 0;
  (void)poll(fds.data(), fds.size(), milliseconds);
  if ((fds[0].revents & POLLIN) != 0) backend_->wait(0);
  signals_wait_ = fds[1].revents != 0;
  std::copy(fds.begin() + kOwn, fds.end(), hooks_.watched.begin());
}

void Recording::tell_left_over(std::uint64_t now) {
  if (!outcome_.command || left_over_is_told_ || now - command_ended_ns_ < kSecond) return;
  std::set<std::uint32_t> living = collector_->tasks().living();
  living.erase(static_cast<std::uint32_t>(command_->pid()));  // nobody may have waited for it yet
  if (living.empty()) return;
  left_over_is_told_ = true;
  if (hooks_.left_over) hooks_.left_over({living.begin(), living.end()});
}

void Recording::tell_source_news() {
  for (std::string& news : collector_->take_source_news()) {
    if (hooks_.source_news) hooks_.source_news(news);
    if (source_news_.size() < kMostSourceNews) source_news_.push_back(std::move(news));
  }
}

Result<void> Recording::tell_sums() {
  if (auto taken = collector_->take_sums(); !taken) return taken;
  if (hooks_.sums_are_told) hooks_.sums_are_told();
  collector_->go_on_with_sums();
  return {};
}

// Whether the user waits for the end: another signal has come, or the first one came a while ago.
bool Recording::is_urgent() {
  return is_asked_again() || (outcome_.reason == StopReason::kInterrupted && monotonic_ns() - stop_ns_ > kLongestEndNs);
}

// Takes one snapshot of all futex waits. Memory that does not answer takes some of this time.
Result<void> Recording::scan_waits() {
  FutexWatch& futexes = collector_->futexes();
  if (auto done = futexes.scan_all(); !done) return done;
  const std::uint64_t began_ns = monotonic_ns();
  while (futexes.is_scanning()) {
    if (auto seen = collector_->round(); !seen) return seen.error();
    const std::uint64_t took_ns = monotonic_ns() - began_ns;
    if (is_asked_again() || took_ns > kLongestLookNs || (futexes.is_hanging() && is_urgent())) futexes.give_up();
    poll(nullptr, 0, kPendingWaitMs);
  }
  return {};
}

// Looks at what all threads wait in. When a command was interrupted and is gone, the look that was taken while it hung
// stays; when everything has ended by itself, no earlier look may.
Result<void> Recording::look_at_waits() {
  WaitWatch& waits = collector_->waits();
  if (outcome_.reason == StopReason::kFinished) {
    const bool stays = interrupted_once_ && hung_at_interrupt_;
    if (!waits.has_looked()) return {};
    if (!stays) return waits.write_empty();
    return sink_->append_meta("hung_until_ns", std::to_string(interrupted_ns_ - kSignalSlackNs));
  }
  // One that is under way may be the one of the attachment.
  if (auto done = finish_look(kLongestLookNs / 4); !done) return done;
  if (auto done = waits.begin(); !done) return done;
  return finish_look(kLongestLookNs);
}

// Waits for the look that is under way, if there is one; gives it up after this time.
Result<void> Recording::finish_look(std::uint64_t longest_ns) {
  WaitWatch& waits = collector_->waits();
  const std::uint64_t began_ns = monotonic_ns();
  while (waits.is_looking()) {
    if (auto seen = collector_->round(); !seen) return seen.error();
    if (is_asked_again() || monotonic_ns() - began_ns > longest_ns) waits.give_up();
    poll(nullptr, 0, kPendingWaitMs);
  }
  return {};
}

// When nothing has happened for a second, one look is taken: a command that hangs may be ended by the signal that ends
// the recording.
Result<void> Recording::look_when_quiet() {
  const std::uint64_t events = collector_->figures().events;
  const bool is_quiet = events == events_before_;
  is_quiet_ = is_quiet;
  events_before_ = events;
  if (!is_quiet || !command_ || looked_at_events_ == events) return {};
  looked_at_events_ = events;
  return collector_->waits().begin();
}

// Runs until nothing waits any more; with `all`, until nothing arrives any more either.
Result<void> Recording::empty_rings(bool all) {
  while (true) {
    if (is_urgent()) collector_->give_up_rows();
    const auto seen = collector_->round();
    if (!seen) return seen.error();
    const bool come = *seen != 0;
    if (!collector_->has_pending() && !(all && come)) return {};
    if (!come && !collector_->is_behind()) poll(nullptr, 0, kPendingWaitMs);
  }
}

// For how long traced processes ran, by the kernel's account: at least so long, since not all of them are asked.
std::uint64_t Recording::ran_ns() const {
  if (!command_) return cpu_times_.ran_ns();
  // Some of what the command has waited for may not have been traced.
  if (options_.config.target.follow != USC_FOLLOW_TREE) return 0;
  return outcome_.command ? outcome_.command->ran_ns
                          : CpuTimes::of_command(static_cast<std::uint32_t>(command_->pid()));
}

// No new call is recorded; calls in progress are listed before the last hooks are removed, so that a return in between
// completes them, and walks that wait for a mapping can still ask for it; then the rings are emptied.
Result<void> Recording::finish() {
  finishing_ = true;
  while (hooks_.ending && !hooks_.ending()) {
    if (auto seen = collector_->round(); !seen) return seen.error();
    poll(nullptr, 0, kPendingWaitMs);
  }
  const std::uint64_t closed_ns = monotonic_ns();
  if (options_.probes.sample_hz != 0)
    if (auto done = sink_->append_meta("ran_ns", std::to_string(ran_ns())); !done) return done;
  backend_->close_entries();
  if (!sink_->failed()) {
    if (auto tasks = collector_->write_open_calls(~std::uint64_t{0}); !tasks) return tasks.error();
    if (auto done = collector_->write_open_hits(); !done) return done;
    if (auto done = scan_waits(); !done) return done;
    if (auto done = look_at_waits(); !done) return done;
  }
  collector_->close();
  // The second round processes what was in the rings.
  if (auto seen = collector_->round(); !seen) return seen.error();
  if (auto done = empty_rings(false); !done) return done;
  backend_->detach();
  if (auto done = empty_rings(true); !done) return done;
  if (hooks_.wants_sums)
    if (auto told = tell_sums(); !told) return told;
  collector_->end_observation();
  tell_source_news();
  if (auto done = write_source_news(*sink_, source_news_); !done) return done;
  if (auto done = collector_->write_losses(); !done) return done;
  if (auto done = sink_->append_meta("duration_ns", std::to_string(monotonic_ns() - start_ns_)); !done) return done;
  if (auto done = sink_->append_meta("calls_until_ns", std::to_string(closed_ns)); !done) return done;
  const ClockOffsets now = clock_offsets();
  for (const auto& [key, value] : {std::pair("clock_set_ns", now.real - offsets_.real - (now.boot - offsets_.boot)),
                                   std::pair("suspended_ns", now.boot - offsets_.boot)})
    if (auto done = sink_->append_meta(key, std::to_string(value)); !done) return done;
  if (auto done = collector_->write_totals(); !done) return done;
  return sink_->flush();
}

Result<void> Recording::begin() {
  start_ns_ = monotonic_ns();
  offsets_ = clock_offsets();
  if (hooks_.observer != nullptr) hooks_.observer->on_start(start_ns_);
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

Result<void> Recording::run() {
  if (auto begun = begin(); !begun) {
    discard();
    return begun;
  }
  Result<void> result = loop();
  if (result) result = finish();
  if (!result) {
    if (!sink_->failed()) return result;
    outcome_.reason = StopReason::kWriteFailed;
    outcome_.trouble = result.error().what + (result.error().remedy.empty() ? "" : "; " + result.error().remedy);
    backend_->detach();
  }
  give_priority_back();
  if (command_ && !outcome_.command) outcome_.command = command_->poll_exit();
  for (const std::uint32_t pid : collector_->tasks().living()) outcome_.left.push_back(pid);
  outcome_.figures = collector_->figures();
  outcome_.duration_ns = monotonic_ns() - start_ns_;
  return {};
}

Result<RecordOutcome> record(const RecordOptions& options, const RecordHooks& hooks,
                             std::vector<std::unique_ptr<File>>* files_out) {
  Recording recording(options, hooks);
  if (auto ready = recording.prepare(); !ready) {
    recording.discard();
    if (recording.outcome().exec_errno == 0) return ready.error();
    recording.outcome().trouble = ready.error().what;
    return std::move(recording.outcome());
  }
  if (auto done = recording.run(); !done) {
    if (recording.outcome().exec_errno == 0) return done.error();
    recording.discard();
    recording.outcome().trouble = done.error().what;
  }
  if (files_out != nullptr) *files_out = recording.files().take_all();
  return std::move(recording.outcome());
}

}  // namespace uscope::tracer

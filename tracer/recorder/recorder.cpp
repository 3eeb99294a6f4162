// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/recorder/recorder.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "support/process/child_process.h"
#include "support/process/priority.h"
#include "tracer/backend/ring_limits.h"
#include "tracer/collect/observer.h"
#include "tracer/host/host.h"
#include "tracer/process/process_list.h"
#include "tracer/recorder/recording.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kOpenAfterNs = kSecond;
constexpr std::uint64_t kStatusEveryNs = kSecond / 4;
// Where nothing comes: the end of a command ends a wait. What may come meanwhile must have room: a CPU that records as
// fast as it can fills some 200 MiB a second.
constexpr int kLongestIdleWaitMs = 40;
constexpr std::uint32_t kRoomForIdleWait = 8u << 20;
constexpr std::size_t kMostSourceNews = 50;  // that are kept in the trace

}  // namespace

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
  const std::uint64_t due_ns = std::min(limit_ns(), requests_.wake_ns);
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
    if (now >= next_status) {
      TraceFigures figures = collector_->figures();
      figures.stopped = collector_->stopped();
      client_.on_status(figures, static_cast<double>(now - start_ns_) / 1e9);
      next_status = now + kStatusEveryNs;
    }
    tell_source_news();
    if (auto done = serve_client(); !done) return done;
    if (stopping_) break;
    wait(next_wait(now, *seen));
  }
  return {};
}

// Asks the client what it wants after this round, and does it.
Result<void> Recording::serve_client() {
  requests_ = client_.after_round();
  if (requests_.send_sums)
    if (auto sent = send_sums(); !sent) return sent;
  if (requests_.resend_stacks) {
    const auto first = backend_->resend_stacks();
    if (!first) return first.error();
    client_.on_stacks_resent(*first);
  }
  if (requests_.record_losses) {
    if (auto done = collector_->write_losses(); !done) return done;
    client_.on_losses_recorded();
  }
  if (requests_.end) stop(StopReason::kInterrupted);
  return {};
}

void Recording::wait(int milliseconds) {
  constexpr std::ptrdiff_t kOwn = 3;
  // poll() leaves out what is -1.
  std::vector<pollfd> fds{
      {backend_->wait_fd(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}, {backend_->sources_fd(), POLLIN, 0}};
  fds.insert(fds.end(), requests_.watched.begin(), requests_.watched.end());
  for (pollfd& one : fds) one.revents = 0;
  (void)poll(fds.data(), fds.size(), milliseconds);
  if ((fds[0].revents & POLLIN) != 0) backend_->wait(0);
  signals_wait_ = fds[1].revents != 0;
  std::copy(fds.begin() + kOwn, fds.end(), requests_.watched.begin());
}

void Recording::tell_left_over(std::uint64_t now) {
  if (!outcome_.command || left_over_is_told_ || now - command_ended_ns_ < kSecond) return;
  std::set<std::uint32_t> living = collector_->tasks().living();
  living.erase(static_cast<std::uint32_t>(command_->pid()));  // nobody may have waited for it yet
  if (living.empty()) return;
  left_over_is_told_ = true;
  client_.on_left_over({living.begin(), living.end()});
}

void Recording::tell_source_news() {
  for (std::string& news : collector_->take_source_news()) {
    client_.on_source_news(news);
    if (source_news_.size() < kMostSourceNews) source_news_.push_back(std::move(news));
  }
}

Result<void> Recording::send_sums() {
  if (auto taken = collector_->take_sums(); !taken) return taken;
  client_.on_sums_sent();
  collector_->go_on_with_sums();
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

Result<RecordOutcome> record(const RecordOptions& options, RecordingClient& client,
                             std::vector<std::unique_ptr<File>>* files_out) {
  Recording recording(options, client);
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

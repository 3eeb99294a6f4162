// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/collector.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>

#include "support/clock.h"
#include "support/end_signals.h"
#include "trace/record_type.h"
#include "tracer/collect/totals.h"
#include "tracer/files/file_records.h"
#include "tracer/jit/jit_records.h"
#include "tracer/probes/plan_kinds.h"
#include "tracer/waits/thread_status.h"
#include "tracer/walk/attached_walks.h"

namespace uscope::tracer {
namespace {

constexpr int kRowsPollMs = 2;
constexpr std::chrono::seconds kLastReadings{40};  // of files, begun when no call is recorded any more

}  // namespace

// What is done with the records of each type: one line for a type. A type that has none is passed on to the trace.
struct Collector::Handlers {
  // Whether the record itself is written after its handler; else the handler writes what becomes of it.
  enum class Then : std::uint8_t { kPassOn, kNothing };

  struct Handler {
    std::uint16_t type = 0;
    Then then = Then::kPassOn;
    void (*handle)(Collector& collector, const usc_record& record) = nullptr;
  };

  template <typename Record, void (Collector::*kMethod)(const Record&)>
  static constexpr Handler on(Then then) {
    return {trace::kTypeOf<Record>, then, [](Collector& collector, const usc_record& record) {
              (collector.*kMethod)(trace::record_as<Record>(record));
            }};
  }

  static Handler of(std::uint16_t type) {
    static constexpr std::array kAll{
        on<usc_event, &Collector::on_event>(Then::kPassOn),
        on<usc_stack, &Collector::on_stack>(Then::kPassOn),
        on<usc_task, &Collector::on_task>(Then::kPassOn),
        on<usc_exec, &Collector::on_exec>(Then::kNothing),
        on<usc_task_exit, &Collector::on_task_exit>(Then::kPassOn),
        on<usc_task_name, &Collector::on_task_name>(Then::kPassOn),
        on<usc_map, &Collector::on_map>(Then::kPassOn),
        on<usc_blind_map, &Collector::on_blind_map>(Then::kPassOn),
        on<usc_code_doubt, &Collector::on_code_doubt>(Then::kPassOn),
        on<usc_unmap, &Collector::on_unmap>(Then::kPassOn),
        on<usc_file, &Collector::on_file>(Then::kPassOn),
        on<usc_string, &Collector::on_string>(Then::kNothing),
        on<usc_sample, &Collector::on_sample>(Then::kNothing),
        on<usc_signal, &Collector::on_signal>(Then::kNothing),
        on<usc_hit, &Collector::on_hit>(Then::kNothing),
        on<usc_partial, &Collector::on_partial>(Then::kPassOn),
    };
    static constexpr auto kByType = [] {
      std::array<Handler, trace::kTypeNumbers> by_type{};
      for (const Handler& handler : kAll) by_type[handler.type] = handler;
      return by_type;
    }();
    return type < kByType.size() ? kByType[type] : Handler();
  }
};

Collector::Collector(Backend& backend, FileTable& files, RowBuildQueue& maker, trace::RecordSink& sink,
                     const usc_config& config, RecordObserver* observer, CompareObserver* compare_observer,
                     Scouts* scouts)
    : backend_(backend),
      files_(files),
      maker_(maker),
      rows_(files, maker),
      sink_(sink),
      observer_(observer),
      scouts_(scouts),
      inputs_{mappings_, files_, rows_, tasks_, config.scope, &jit_code_},
      walks_(
          backend, sink, inputs_, [this](const usc_stack& stack) { on_stack(stack); }, config.verify_every != 0,
          compare_observer),
      losses_(backend, sink) {
  if (config.argument_bytes != 0) arrivals_.set_argument_bytes(config.argument_bytes);
  files_.set_mapped_files([this] { return mappings_.files_of(tasks_.spaces_in_use()); });
}

// The first failure of writing or publishing ends the trace; what follows it says no more.
void Collector::record_error(const Result<void>& result) {
  if (!result && trouble_) trouble_ = result;
}

Result<std::size_t> Collector::round() {
  // The round before emptied the rings, so all records of this round were sent after that one had begun.
  last_round_ns_ = std::exchange(round_ns_, monotonic_ns());
  walks_.begin_round();
  Result<std::size_t> count = backend_.drain([this](const usc_record& record) { on_record(record); });
  for (const std::uint32_t pid : arrivals_.take_adopted()) unknown_mappings_.add(pid);
  record_error(unknown_mappings_.ask(monotonic_ns()));
  take_rows();
  write_file_news();
  record_error(walks_.work());
  write_jit_news();
  record_error(futexes_.work());
  record_error(waits_.work());
  record_error(signals_.work());
  if (observer_ != nullptr) observer_->on_round(last_round_ns_, tasks_);
  tend_sources();
  forget_the_dead();
  release_files();
  if (!trouble_) return trouble_.error();
  return count;
}

void Collector::on_record(const usc_record& record) {
  const trace::RecordType* const type = trace::record_type(record.type);
  if (record.size < (type == nullptr ? sizeof(usc_record) : type->fixed_bytes)) return;
  const Handlers::Handler handler = Handlers::of(record.type);
  if (handler.handle != nullptr) handler.handle(*this, record);
  if (handler.then == Handlers::Then::kPassOn) record_error(sink_.append(record));
}

void Collector::on_event(const usc_event& event) {
  if ((event.flags & USC_EVENT_FOLLOWED) != 0) return;  // it is for the loader alone
  events_++;
  futexes_.observe(event);
  if (open_calls_ != nullptr) open_calls_->observe(event);
  if (observer_ != nullptr) observer_->on_event(event, tasks_.find(trace::TaskId(event.head.task)));
}

void Collector::on_stack(const usc_stack& stack) {
  if (observer_ != nullptr) observer_->on_stack(stack);
  jit_names_.observe(stack);
  walks_.observe(stack);
}

void Collector::on_task(const usc_task& task) {
  if (observer_ != nullptr) observer_->on_task(task);
  tasks_.start(task);
  mappings_.fork(trace::MmId(task.mm), trace::MmId(task.parent_mm), task.head.time);
  if ((task.flags & USC_TASK_UNMAPPED) != 0) unknown_mappings_.add(task.pid);
  record_error(arrivals_.start(task));
}

void Collector::on_exec(const usc_exec& exec) {
  const auto written = [this](const usc_exec& image) {
    if (observer_ != nullptr) observer_->on_image(image);
  };
  record_error(arrivals_.write_image(exec, tasks_.find(trace::TaskId(exec.head.task)).pid, written));
  if (exec.old_tid == 0) return;  // the image of a process that ran before
  program_starts_++;
  jit_names_.leave(exec);
  tasks_.exec(exec);
}

void Collector::on_task_exit(const usc_task_exit& exit) {
  if ((exit.flags & USC_EXIT_GROUP_DEAD) != 0) jit_names_.read_map_soon(tasks_.find(trace::TaskId(exit.head.task)).mm);
  tasks_.exit(exit);
}

void Collector::on_string(const usc_string& string) {
  const usc_record& filtered = strings_.filter(string.head);
  if (observer_ != nullptr) observer_->on_string(trace::record_as<usc_string>(filtered));
  record_error(sink_.append(filtered));
}

void Collector::on_signal(const usc_signal& signal) {
  events_++;
  if (observer_ != nullptr) observer_->on_signal(signal);
  record_error(signals_.add(signal));
}

void Collector::on_hit(const usc_hit& hit) {
  events_++;
  if (observer_ != nullptr) observer_->on_hit(hit);
  record_error(hits_.write(hit, false));
}

void Collector::on_partial(const usc_partial& partial) {
  if (observer_ == nullptr) return;
  if (partial.turn == sums_turn_)
    observer_->on_sums(partial.row, nullptr);
  else
    early_sums_.push_back(partial.row);
}

// The tables first: what gave way to others before the turn is in the rings when the turn is over.
Result<void> Collector::take_sums() {
  const auto taken = backend_.take_sums([this](const usc_query_row& row, const usc_query_steps* steps) {
    if (observer_ != nullptr) observer_->on_sums(row, steps);
  });
  if (!taken) return taken.error();
  if (auto seen = round(); !seen) return seen.error();
  return {};
}

void Collector::go_on_with_sums() {
  sums_turn_ ^= 1;
  for (const usc_query_row& row : std::exchange(early_sums_, {})) observer_->on_sums(row, nullptr);
}

void Collector::set_command(int pid) {
  jit_names_.set_command(static_cast<std::uint32_t>(pid));
  arrivals_.set_command(static_cast<std::uint32_t>(pid));
}

void Collector::take_rows() {
  record_error(files_.open_more());
  record_error(maker_.hand_over());
  record_error(files_.keep_more(round_ns_));
  for (const auto& [serial, rows] : rows_.take_wanted()) {
    const Result<bool> published = files_.publish_again(serial, rows);
    if (!published) record_error(published.error());
    if (published && *published) rows_.drop(serial);
  }
  for (auto& [serial, rows] : files_.take_withdrawn()) rows_.keep(serial, std::move(rows));
  for (const trace::FileId serial : maker_.take_settled()) walks_.rows_came(serial);
}

void Collector::end_observation() {
  if (observer_ != nullptr) observer_->on_round(~std::uint64_t{0}, tasks_);
}

void Collector::close() {
  closing_ = true;
  walks_.close();
  files_.end_opening();
  if (unprobed_) unprobed_->close(round_ns_);
  maker_.end_by(std::chrono::steady_clock::now() + kLastReadings);
}

void Collector::give_up_rows() {
  if (std::exchange(rows_given_up_, true)) return;
  walks_.stop_waiting();
  record_error(files_.give_up_rows());
}

void Collector::tell_source_loss(trace::ProcessId process, const SourceLoss& loss) {
  if (loss.count != 0) record_error(losses_.record(loss.cause, process, loss.from_ns, loss.count));
  if (!loss.what.empty()) source_news_.push_back(loss.what);
  if (unprobed_ && loss.cause == USC_LOSS_PROBE_REMOVED) unprobed_->forget(loss.path, loss.from_ns, loss.for_good);
}

Result<void> Collector::count_without_probes(std::uint32_t pid) {
  if (unprobed_ && unprobed_->has_counted(tasks_.process_of(pid))) return {};
  return losses_.record(USC_LOSS_PROBE_NOT_THERE, tasks_.process_of(pid), monotonic_ns());
}

void Collector::tend_sources() {
  record_error(backend_.tend_sources(round_ns_, [this](const SourceLoss& loss) { tell_source_loss({}, loss); }));
  if (!unprobed_) return;
  const auto tell = [this](trace::ProcessId process, const SourceLoss& loss) { tell_source_loss(process, loss); };
  if (!closing_) code_watch_->work(round_ns_, tell);
  record_error(unprobed_->work(round_ns_, tell, [this](const std::vector<Probe>& probes) {
    ProbePlan plan;
    plan.probes = probes;
    record_error(write_kinds(sink_, plan, round_ns_, [this](const usc_kind& kind) {
      if (observer_ != nullptr) observer_->on_kind(kind);
    }));
  }));
}

// Forgets tasks and mappings to which no later record, and no walk that waits, can refer.
void Collector::forget_the_dead() {
  const std::uint64_t asked_from = std::min(last_round_ns_, walks_.held_since_ns());
  mappings_.settle(asked_from);
  for (const trace::MmId mm : tasks_.reap(asked_from)) {
    mappings_.forget(mm);
    jit_names_.forget(mm);
  }
}

void Collector::release_files() {
  record_error(files_.release_idle(round_ns_, std::min(last_round_ns_, walks_.held_since_ns())));
  for (const trace::FileId serial : files_.take_released()) rows_.drop(serial);
}

// The rings are emptied while a walk waits for rows. Returns false if none will come.
bool Collector::wait_for_rows() {
  if ((!maker_.is_busy() && !files_.is_opening()) || end_is_asked_for() || !round()) return false;
  poll(nullptr, 0, kRowsPollMs);
  return true;
}

Result<void> Collector::write_attached_calls(const std::vector<AttachedCall>& calls, std::uint64_t end_ns) {
  AttachedWalks walks(
      backend_, inputs_, [this] { return wait_for_rows(); }, end_ns);
  for (const AttachedCall& call : calls) {
    auto walked = walks.finish(call);
    if (!walked) return walked.error();
    const usc_stack& stack = walked->stack.record();
    if (walked->given_up) walks_.count_given_up(trace::TaskId(stack.head.task));
    on_stack(stack);
    usc_event event = call.event;
    event.stack = stack.stack;
    record_error(sink_.append_own(std::move(walked->stack)));
    on_event(event);
    record_error(sink_.append_own(event));
  }
  return trouble_;
}

void Collector::write_file_news() {
  for (const trace::FileId serial : files_.take_changed()) {
    const File& file = *files_.find(serial);
    if (observer_ != nullptr) observer_->on_file(serial, file);
    record_error(write_file(sink_, serial, file));
    if (file.state == USC_FILE_USER_ONLY) record_error(losses_.record(USC_LOSS_ROWS_MEMORY, {}, losses_.from_ns()));
  }
}

void Collector::write_jit_news() {
  const std::uint64_t now = monotonic_ns();
  const JitNews news = jit_names_.work(now, closing_);
  for (const JitNews::Name& name : news.names) {
    if (observer_ != nullptr) observer_->on_jit_name(name.mm, name.entry);
    record_error(write_jit_name(sink_, name, now));
  }
  for (const auto& [cause, process] : news.troubles) record_error(losses_.record(cause, process, now));
}

Result<std::uint64_t> Collector::write_open_calls(std::uint64_t before_ns) {
  Result<std::uint64_t> tasks = backend_.list_open_calls(before_ns, [this](const usc_record& record) {
    const auto event = trace::record_as<usc_event>(record);
    record_error(sink_.append_own(event));
    if ((event.flags & USC_EVENT_FOLLOWED) != 0) return;
    futexes_.observe(event);
    if (open_calls_ != nullptr) open_calls_->observe(event);
    if (observer_ != nullptr) observer_->on_open_call(event);
  });
  if (!trouble_) return trouble_.error();
  return tasks;
}

Result<void> Collector::write_open_hits() {
  auto listed = backend_.list_open_hits([this](const usc_record& record) {
    if (observer_ != nullptr) observer_->on_hit(trace::record_as<usc_hit>(record));
    record_error(hits_.write(trace::record_as<usc_hit>(record), true));
  });
  if (!listed) return listed;
  return trouble_;
}

// Processes that did not answer a question in time.
void Collector::record_unresponsive() {
  if (scouts_ == nullptr) return;
  std::map<trace::ProcessId, std::uint64_t> counts;
  for (const std::uint32_t pid : scouts_->take_unresponsive()) counts[tasks_.process_of(pid)]++;
  for (const auto& [process, count] : counts)
    record_error(losses_.record(USC_LOSS_NO_ANSWER, process, monotonic_ns(), count));
}

Result<void> Collector::write_losses() {
  record_unresponsive();
  record_error(losses_.record_counted(walks_.take_given_up()));
  return trouble_;
}

Result<void> Collector::write_totals() {
  record_error(tracer::write_totals(backend_, sink_));
  return trouble_;
}

std::uint64_t Collector::stopped() const {
  constexpr std::size_t kMostAsked = 64;
  const std::set<std::uint32_t> pids = tasks_.living();
  if (pids.size() > kMostAsked) return 0;
  return static_cast<std::uint64_t>(std::count_if(pids.begin(), pids.end(), [](std::uint32_t pid) {
    const auto status = status_of(pid, pid);
    return status && (status->state == 'T' || status->state == 't');
  }));
}

TraceFigures Collector::figures() const {
  TraceFigures now;
  now.events = events_;
  now.program_starts = program_starts_;
  now.lost = losses_.events();
  now.processes = tasks_.processes();
  now.deferred = walks_.figures().finished;
  now.verified = walks_.figures().verified;
  now.differing = walks_.figures().differing;
  now.raw_bytes = sink_.bytes();
  return now;
}

}  // namespace uscope::tracer

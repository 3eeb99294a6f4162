// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/collector.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "support/clock.h"
#include "tracer/walk/user_walk.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kSliceNs = 2'000'000;         // of walking between two passes over the rings
constexpr std::uint64_t kAttachedNs = 5'000'000'000;  // that stacks found on attaching wait for rows, altogether
constexpr int kAttachedPollMs = 2;
constexpr std::chrono::seconds kLastReadings{40};  // of files, begun when no call is recorded any more

template <typename Record>
const Record& as(const usc_record& record) {
  return reinterpret_cast<const Record&>(record);
}

std::size_t least_size(std::uint16_t type) {
  switch (type) {
#define USC_X(name, number, text, type) \
  case number:                          \
    return sizeof(type);
#include "uscope/lists/record_type.def"
#undef USC_X
    default:
      return sizeof(usc_record);
  }
}

}  // namespace

Collector::Collector(Backend& backend, FileTable& files, RowBuildQueue& maker, trace::RawWriter& writer,
                     const usc_config& config, RecordObserver* observer, CompareObserver* compare_observer,
                     Scouts* scouts)
    : backend_(backend),
      files_(files),
      maker_(maker),
      rows_(files, maker),
      writer_(writer),
      config_(config),
      observer_(observer),
      scouts_(scouts),
      futexes_(tasks_, writer, scouts),
      walks_(backend, samples_, mappings_, files, rows_, tasks_, config_.scope),
      losses_(backend, writer) {
  if (config.verify_every != 0)
    verifier_ = std::make_unique<Verifier>(mappings_, files_, config.scope, compare_observer);
}

// The first failure of writing or publishing ends the trace; what follows it says no more.
void Collector::record_error(const Result<void>& result) {
  if (!result && trouble_) trouble_ = result;
}

Result<std::size_t> Collector::round() {
  // What this round brings was sent after the one before had begun: that one emptied the rings.
  last_round_ns_ = std::exchange(round_ns_, monotonic_ns());
  samples_.begin_round();
  Result<std::size_t> count = backend_.drain([this](const usc_record& record) { on_record(record); });
  for (const std::uint32_t pid : std::exchange(adopted_, {})) record_error(backend_.announce_mappings(pid));
  take_rows();
  write_file_news();
  process_samples();
  write_jit_news();
  record_error(futexes_.work());
  // What is drained from now on, and what waits, is of a time after this.
  const std::uint64_t asked_from = std::min(last_round_ns_, samples_.held_since_ns());
  mappings_.settle(asked_from);
  for (const trace::MmId mm : tasks_.reap(asked_from)) {
    mappings_.forget(mm);
    jit_names_.forget(mm);
  }
  if (!trouble_) return trouble_.error();
  return count;
}

void Collector::on_record(const usc_record& record) {
  if (record.size < least_size(record.type)) return;
  switch (record.type) {
    case USC_RECORD_EVENT:
      figures_.events++;
      futexes_.observe(as<usc_event>(record));
      if (observer_ != nullptr) observer_->on_event(as<usc_event>(record), tasks_.find(trace::TaskId(record.task)));
      break;
    case USC_RECORD_STACK:
      on_stack(as<usc_stack>(record));
      break;
    case USC_RECORD_TASK:
      tasks_.start(as<usc_task>(record));
      mappings_.fork(trace::MmId(as<usc_task>(record).mm), trace::MmId(as<usc_task>(record).parent_mm), record.time);
      if ((as<usc_task>(record).flags & USC_TASK_LAUNCHED) != 0)
        write_descriptors(trace::ProcessId(as<usc_task>(record).process), record.time, record.time,
                          std::exchange(command_descriptors_, {}));
      else if ((as<usc_task>(record).flags & (USC_TASK_FORKED | USC_TASK_PROCESS)) == USC_TASK_PROCESS)
        unread_descriptors_.insert(trace::ProcessId(as<usc_task>(record).process));
      break;
    case USC_RECORD_EXEC:
      on_exec(as<usc_exec>(record));
      return;
    case USC_RECORD_TASK_EXIT:
      if ((as<usc_task_exit>(record).flags & USC_EXIT_GROUP_DEAD) != 0)
        jit_names_.read_map_soon(tasks_.find(trace::TaskId(record.task)).mm);
      tasks_.exit(as<usc_task_exit>(record));
      break;
    case USC_RECORD_TASK_NAME:
      tasks_.rename(as<usc_task_name>(record));
      break;
    case USC_RECORD_MAP:
      mappings_.add(as<usc_map>(record));
      break;
    case USC_RECORD_UNMAP:
      mappings_.remove(as<usc_unmap>(record));
      break;
    case USC_RECORD_FILE:
      record_error(files_.add_announced(as<usc_file>(record)));
      break;
    case USC_RECORD_STRING:
      on_string(record);
      return;
    case USC_RECORD_SAMPLE:
      if (!samples_.add(as<usc_sample>(record), last_round_ns_)) lose_sample(as<usc_sample>(record));
      return;
    default:
      break;
  }
  pass_on(record);
}

// The kernel side sends the image of a process that ran before without its name; /proc has it. Path and arguments that
// are too long are cut, as the kernel side cuts them.
void Collector::on_exec(const usc_exec& exec) {
  if (observer_ != nullptr) observer_->on_image(exec);
  const std::uint32_t pid = tasks_.find(trace::TaskId(exec.head.task)).pid;
  const trace::ProcessId process(exec.process);
  const bool unread = unread_descriptors_.erase(process) != 0;
  if (exec.old_tid != 0) {
    if (unread) read_descriptors(process, pid);
    jit_names_.leave(exec);
    tasks_.exec(exec);
    pass_on(strings_.filter(exec.head));
    return;
  }
  auto answer = looks_.portrait_of(pid, unread && strings_.takes_strings());
  if (!answer || answer->has_io_uring) {
    usc_io_uring user{};
    user.head.task = exec.head.task;
    user.head.time = monotonic_ns();
    user.process = exec.process;
    user.not_known = answer ? 0 : 1;
    record_error(writer_.append_own(user, USC_RECORD_IO_URING));
  }
  ProcessPortrait portrait = std::move(answer).value_or(ProcessPortrait());
  write_descriptors(process, portrait.descriptors_ns, monotonic_ns(), portrait.descriptors);
  std::string path = std::move(portrait.path);
  std::string arguments = std::move(portrait.arguments);
  // It has gone, is something else by now, or does not answer: then its name is all there is.
  const std::string name(exec.name, strnlen(exec.name, sizeof(exec.name)));
  if (path.empty() || portrait.name != name) {
    path = name;
    arguments.clear();
  }
  path.resize(std::min<std::size_t>(path.size(), USC_PATH_BYTES));
  usc_exec whole{};
  std::memcpy(&whole, &exec, sizeof(whole));
  whole.path_bytes = static_cast<__u16>(path.size());
  whole.argv_total = static_cast<__u32>(arguments.size());
  arguments.resize(std::min<std::size_t>(arguments.size(), USC_ARGV_BYTES));
  whole.argv_bytes = static_cast<__u16>(arguments.size());
  std::vector<char> bytes((sizeof(whole) + path.size() + arguments.size() + 7) & ~std::size_t{7});
  whole.head.size = static_cast<__u32>(bytes.size());
  std::memcpy(bytes.data(), &whole, sizeof(whole));
  std::copy(path.begin(), path.end(), bytes.begin() + sizeof(whole));
  std::copy(arguments.begin(), arguments.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(sizeof(whole) + path.size()));
  pass_on(strings_.filter(reinterpret_cast<const usc_exec*>(bytes.data())->head));
  adopted_.push_back(pid);
}

void Collector::set_command(int pid) {
  jit_names_.set_command(static_cast<std::uint32_t>(pid));
  if (strings_.takes_strings()) command_descriptors_ = looks_.descriptors_of(static_cast<std::uint32_t>(pid));
}

void Collector::on_string(const usc_record& record) {
  const usc_record& filtered = strings_.filter(record);
  if (observer_ != nullptr) observer_->on_string(as<usc_string>(filtered));
  pass_on(filtered);
}

// Of a process that has come into the trace in the middle of its life.
void Collector::read_descriptors(trace::ProcessId process, std::uint32_t pid) {
  if (!strings_.takes_strings()) return;
  const std::uint64_t from = monotonic_ns();
  const std::vector<OpenDescriptor> descriptors = looks_.descriptors_of(pid);
  write_descriptors(process, from, monotonic_ns(), descriptors);
}

void Collector::write_descriptors(trace::ProcessId process, std::uint64_t time, std::uint64_t until,
                                  const std::vector<OpenDescriptor>& descriptors) {
  for (const OpenDescriptor& descriptor : descriptors) {
    const std::string target = strings_.filter_text(descriptor.target);
    usc_fd fd{};
    fd.head.time = time;
    fd.process = process.value();
    fd.fd = descriptor.fd;
    fd.flags = descriptor.flags;
    fd.target_bytes = static_cast<__u16>(target.size());
    record_error(writer_.append_own(fd, USC_RECORD_FD, target));
  }
  if (descriptors.empty()) return;
  usc_fd end{};
  end.head.time = until;
  end.process = process.value();
  end.fd = USC_FD_END;
  record_error(writer_.append_own(end, USC_RECORD_FD));
}

// A sample's number is explained once (loss.def): by the loss where that is numbered, else by a record in its place.
void Collector::lose_sample(const usc_sample& sample) {
  usc_loss loss{};
  loss.head = sample.head;
  loss.head.type = USC_RECORD_LOSS;
  loss.head.size = sizeof(loss);
  loss.from_ns = sample.head.time;
  loss.count = 1;
  loss.cause = sample.verify != 0 ? USC_LOSS_VERIFY_SKIPPED : USC_LOSS_DEFERRED_GIVEN_UP;
  loss.process = tasks_.find(trace::TaskId(sample.head.task)).process.value();
  if (usc_loss_is_numbered(loss.cause) != 0)
    record_error(writer_.append_own(loss, USC_RECORD_LOSS));
  else
    pass_on(loss.head);
}

void Collector::on_stack(const usc_stack& stack) {
  if (observer_ != nullptr) observer_->on_stack(stack);
  jit_names_.observe(stack);
  if (verifier_) verifier_->remember(stack);
}

void Collector::take_rows() {
  record_error(files_.open_more());
  record_error(maker_.hand_over());
  for (const trace::FileId serial : maker_.take_settled()) samples_.rows_came(serial);
}

// Not for long: thousands of walks may have waited for one file, and meanwhile the rings fill.
void Collector::process_samples() {
  const std::uint64_t until = monotonic_ns() + kSliceNs;
  while (monotonic_ns() < until) {
    auto held = samples_.take();
    if (!held) return;
    if (held->head().verify != 0)
      verify(std::move(*held));
    else
      finish_walk(std::move(*held));
  }
}

void Collector::finish_walk(HeldSample held) {
  const trace::TaskId task(held.head().head.task);
  const auto done = walks_.finish(std::move(held));
  if (!done) return record_error(done.error());
  if (!*done) return;
  if ((*done)->given_up) given_up_[tasks_.find(task).process]++;
  const auto& stack = *reinterpret_cast<const usc_stack*>((*done)->stack.data());
  on_stack(stack);
  pass_on(stack.head);
  figures_.deferred++;
}

void Collector::close() {
  closing_ = true;
  walks_.close();
  files_.end_opening();
  maker_.end_by(std::chrono::steady_clock::now() + kLastReadings);
}

void Collector::give_up_rows() {
  if (std::exchange(rows_given_up_, true)) return;
  samples_.stop_waiting();
  record_error(files_.give_up_rows());
}

UserStack Collector::walk_attached(const AttachedCall& call, const usc_sample& sample, std::uint64_t until_ns) {
  UserStack walked;
  walked.ended = static_cast<std::uint8_t>(USC_ENDED_BROKEN + int{USC_BROKEN_COMPAT});
  if (call.event.abi == USC_ABI_I386) return walked;
  walked = walk_sample(sample, mappings_, files_, rows_, config_.scope);
  // The rings are emptied meanwhile.
  while (walked.waits_for && (maker_.is_busy() || files_.is_opening()) && monotonic_ns() < until_ns &&
         !end_is_asked_for()) {
    if (auto seen = round(); !seen) break;
    poll(nullptr, 0, kAttachedPollMs);
    walked = walk_sample(sample, mappings_, files_, rows_, config_.scope);
  }
  if (walked.waits_for) given_up_[tasks_.find(trace::TaskId(sample.head.task)).process]++;
  return walked;
}

Result<void> Collector::write_attached_calls(const std::vector<AttachedCall>& calls, std::uint64_t end_ns) {
  const std::uint64_t until = std::min(monotonic_ns() + kAttachedNs, end_ns);
  for (const AttachedCall& call : calls) {
    auto id = backend_.reserve_stack();
    if (!id) return id.error();
    std::vector<char> copy = call.sample;
    auto& sample = *reinterpret_cast<usc_sample*>(copy.data());
    const UserStack walked = walk_attached(call, sample, until);
    sample.stack = id->value();
    const std::vector<char> bytes = define_stack(sample, walked);
    on_stack(*reinterpret_cast<const usc_stack*>(bytes.data()));
    usc_stack head{};
    std::memcpy(&head, bytes.data(), sizeof(head));
    record_error(writer_.append_own(head, USC_RECORD_STACK, std::span<const char>(bytes).subspan(sizeof(head))));
    usc_event event = call.event;
    event.stack = id->value();
    figures_.events++;
    futexes_.observe(event);
    if (observer_ != nullptr) observer_->on_event(event, tasks_.find(trace::TaskId(event.head.task)));
    record_error(writer_.append_own(event, USC_RECORD_EVENT));
  }
  return trouble_;
}

void Collector::verify(HeldSample held) {
  if (const auto serial = samples_.who_waits(trace::StackId(held.head().stack))) {
    samples_.let_wait(std::move(held), *serial);
    return;
  }
  const std::vector<char> whole = held.whole();
  const auto& sample = *reinterpret_cast<const usc_sample*>(whole.data());
  std::optional<usc_verify> outcome = verifier_ ? verifier_->check(sample) : std::nullopt;
  // What is written takes the sample's place: its processor and sequence number.
  if (!outcome) return lose_sample(sample);
  figures_.verified++;
  if (outcome->first_difference >= 0) figures_.differing++;
  outcome->head = sample.head;
  outcome->head.type = USC_RECORD_VERIFY;
  outcome->head.size = sizeof(usc_verify);
  outcome->entry_ns = sample.entry_ns;
  pass_on(outcome->head);
}

void Collector::write_file_news() {
  for (const trace::FileId serial : files_.take_changed()) {
    const File& file = *files_.find(serial);
    if (observer_ != nullptr) observer_->on_file(serial, file);
    if (!file.announced) {
      usc_file known{};
      known.head.time = monotonic_ns();
      known.file = serial.value();
      known.key = file.key;
      known.links = 1;
      record_error(writer_.append_own(known, USC_RECORD_FILE));
    }
    usc_file_info info{};
    info.head.time = monotonic_ns();
    info.file = serial.value();
    info.classes = file.classes;
    info.rows = file.figures.rows;
    info.rules = file.figures.rules;
    info.row_bytes = static_cast<__u32>(std::min<std::size_t>(file.figures.bytes, UINT32_MAX));
    info.segments = static_cast<__u16>(std::min<std::size_t>(file.facts.exec_segments.size(), 64));
    info.build_id_bytes = static_cast<__u16>(std::min<std::size_t>(file.facts.build_id.size(), 64));
    info.path_bytes = static_cast<__u16>(std::min<std::size_t>(file.path.size(), 8192));
    info.error = static_cast<__u16>(file.open_error);
    info.trouble_bytes = static_cast<__u16>(std::min<std::size_t>(file.trouble.size(), 1024));
    info.state = static_cast<__u8>(file.state);
    std::vector<char> tail;
    for (std::size_t i = 0; i < info.segments; i++) {
      const symbolizer::Segment& from = file.facts.exec_segments[i];
      const usc_segment segment = {from.offset, from.size, from.address};
      const auto* bytes = reinterpret_cast<const char*>(&segment);
      tail.insert(tail.end(), bytes, bytes + sizeof(segment));
    }
    tail.insert(tail.end(), file.facts.build_id.begin(), file.facts.build_id.begin() + info.build_id_bytes);
    tail.insert(tail.end(), file.path.begin(), file.path.begin() + info.path_bytes);
    tail.insert(tail.end(), file.trouble.begin(), file.trouble.begin() + info.trouble_bytes);
    record_error(writer_.append_own(info, USC_RECORD_FILE_INFO, tail));
    if (file.state == USC_FILE_USER_ONLY) record_error(losses_.record(USC_LOSS_ROWS_MEMORY, {}, losses_.from_ns()));
  }
}

void Collector::write_jit_news() {
  const std::uint64_t now = monotonic_ns();
  const JitNews news = jit_names_.work(now, closing_);
  for (const auto& [mm, entry] : news.names) {
    if (observer_ != nullptr) observer_->on_jit_name(mm, entry);
    usc_jit_name name{};
    name.head.time = now;
    name.mm = mm.value();
    name.name_bytes = static_cast<__u16>(entry.name.size());
    name.address = entry.address;
    name.start = entry.start;
    name.size = entry.size;
    record_error(writer_.append_own(name, USC_RECORD_JIT_NAME, entry.name));
  }
  for (const auto& [cause, process] : news.troubles) record_error(losses_.record(cause, process, now));
}

Result<std::uint64_t> Collector::write_open_calls(std::uint64_t before_ns) {
  Result<std::uint64_t> tasks = backend_.list_open_calls(before_ns, [this](const usc_record& record) {
    usc_event event = as<usc_event>(record);
    futexes_.observe(event);
    record_error(writer_.append_own(event, USC_RECORD_EVENT));
  });
  if (!trouble_) return trouble_.error();
  return tasks;
}

// What was asked of processes, and not answered in time.
void Collector::record_unresponsive() {
  if (scouts_ == nullptr) return;
  for (const std::uint32_t pid : scouts_->take_unresponsive())
    record_error(losses_.record(USC_LOSS_NO_ANSWER, tasks_.process_of(pid), monotonic_ns()));
}

Result<void> Collector::write_losses() {
  record_unresponsive();
  record_error(losses_.record_counted(std::exchange(given_up_, {})));
  figures_.lost = losses_.events();
  return trouble_;
}

Result<void> Collector::write_totals() {
  const auto sequences = backend_.sequence_numbers();
  if (!sequences) return sequences.error();
  for (std::size_t cpu = 0; cpu < sequences->size(); cpu++) {
    usc_cpu_total total{};
    total.head.size = sizeof(total);
    total.head.type = USC_RECORD_CPU_TOTAL;
    total.head.cpu = static_cast<__u16>(cpu);
    total.head.seq = (*sequences)[cpu];
    total.head.time = monotonic_ns();
    total.records = (*sequences)[cpu];
    pass_on(total.head);
  }
  const auto stats = backend_.stats();
  if (!stats) return stats.error();
  const auto sum = [&](auto member) {
    return std::accumulate(stats->begin(), stats->end(), std::uint64_t{0},
                           [&](std::uint64_t total, const usc_stats& cpu) { return total + member(cpu); });
  };
  const auto meta = [&](const char* key, std::uint64_t value) {
    record_error(writer_.append_meta(key, std::to_string(value)));
  };
  meta("walks", sum([](const usc_stats& s) { return s.walks; }));
  meta("frames_walked", sum([](const usc_stats& s) { return s.frames_walked; }));
  meta("frames_kept", sum([](const usc_stats& s) { return s.frames_kept; }));
  meta("walks_stopped_early", sum([](const usc_stats& s) { return s.walks_stopped_early; }));
  meta("memo_hits", sum([](const usc_stats& s) { return s.memo_hits; }));
  meta("mapping_lookups", sum([](const usc_stats& s) { return s.mapping_lookups; }));
  meta("stacks_sent", sum([](const usc_stats& s) { return s.stacks_sent; }));
  meta("walked_twice", sum([](const usc_stats& s) { return s.walked_twice; }));
  meta("deferred_no_table", sum([](const usc_stats& s) { return s.deferred[USC_DEFER_NO_TABLE]; }));
  meta("deferred_lock", sum([](const usc_stats& s) { return s.deferred[USC_DEFER_LOCK]; }));
  meta("deferred_register", sum([](const usc_stats& s) { return s.deferred[USC_DEFER_REGISTER]; }));
  meta("deferred_copied", sum([](const usc_stats& s) { return s.deferred[USC_DEFER_COPIED]; }));
  meta("deferred_mappings", sum([](const usc_stats& s) { return s.deferred[USC_DEFER_MAPPINGS]; }));
  return trouble_;
}

TraceFigures Collector::figures() const {
  TraceFigures now = figures_;
  now.processes = tasks_.processes();
  now.raw_bytes = writer_.bytes();
  return now;
}

}  // namespace uscope::tracer

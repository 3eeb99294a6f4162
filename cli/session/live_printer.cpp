// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/live_printer.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "analyzer/read/catalog.h"
#include "cli/render/events_render.h"
#include "cli/render/units.h"
#include "support/text.h"
#include "syscalls/errno_names.h"
#include "syscalls/signal_names.h"
#include "syscalls/syscall_table.h"
#include "trace/content.h"
#include "trace/how.h"
#include "trace/names.h"
#include "trace/ordered_string.h"
#include "trace/passed_file.h"
#include "trace/raw_record.h"
#include "trace/record_type.h"
#include "trace/signal_info.h"
#include "trace/string_kind.h"
#include "tracer/model/task_table.h"

namespace uscope::cli {
namespace {

constexpr std::uint64_t kPatienceNs = 1'000'000'000;  // for the start of a task, which may have been lost
constexpr std::size_t kMostImages = 16;               // of one task, that wait for their exec's event
constexpr std::size_t kMostNested = 256;              // functions and calls of one task that strings are kept of
constexpr std::size_t kFewTasks = 1024;               // not worth looking for those that have ended

// The row that analyzer::for_each_event reads of this event from a store.
analyzer::EventRow row_of(const trace::Event& event, const tracer::TaskInfo& task, std::uint64_t start_ns,
                          const trace::KindTable& kinds) {
  analyzer::EventRow row;
  row.ts_ns = static_cast<std::int64_t>(event.entry_ns - start_ns);
  row.how = trace::how_name(usc_event_how(&event));
  row.pid = task.pid;
  row.tid = task.tid;
  row.thread = trace_text(task.name);
  row.source = trace::source_name(event.source);
  row.nr = event.kind;
  if (event.source == USC_SOURCE_SYSCALL) {
    row.abi = trace::abi_name(event.abi);
    row.call = syscalls::syscall_name(static_cast<usc_abi>(event.abi), event.kind);
  } else if (event.source == USC_SOURCE_SIGNAL) {
    row.call = syscalls::signal_kind_name(event.kind);
  } else if (const trace::KindText* kind = kinds.find(event.source, event.kind)) {
    row.call = kind->name;
    row.arguments = kind->arguments;
    row.result_type = kind->result_type;
  } else {
    row.call = trace::unnamed_kind(event.source, event.kind);
  }
  if (usc_event_has_result(&event) != 0) row.result = event.result;
  if (event.how == USC_HOW_RETURNED) row.dur_ns = static_cast<std::int64_t>(usc_event_took(&event));
  if (row.result && event.source == USC_SOURCE_SYSCALL && syscalls::is_error(*row.result))
    row.error = analyzer::error_name(-*row.result);
  for (std::size_t i = 0; i < row.args.size(); i++)
    if (event.is_read(i)) row.args[i] = static_cast<std::int64_t>(event.args[i]);
  return row;
}

// As analyzer::for_each_event reads it, without the name of a handler.
analyzer::EventSignal signal_of(const usc_signal& signal) {
  const auto name = [](const char* text) { return trace_text(trace::fixed_text(text, USC_SIGNAL_NAME_BYTES)); };
  analyzer::EventSignal out;
  out.number = signal.number;
  out.code = signal.code;
  out.info = trace::signal_info(signal);
  out.delivered = (signal.flags & USC_SIGNAL_DELIVERED) != 0;
  out.result = trace::signal_result_name(signal.result);
  out.blocked = (signal.flags & USC_SIGNAL_BLOCKED) != 0;
  if (signal.sender_pid != 0) out.sender_pid = signal.sender_pid;
  out.sender_tid = signal.sender_tid;
  out.sender = name(signal.sender);
  out.receiver_pid = signal.receiver_pid;
  if ((signal.flags & USC_SIGNAL_TO_GROUP) == 0) out.receiver_tid = signal.receiver_tid;
  out.receiver = name(signal.receiver);
  out.handler = static_cast<std::int64_t>(signal.handler);
  return out;
}

// The argument that is the path of an exec that succeeded; npos: the event is none.
std::size_t path_of_exec(const usc_event& event) {
  if (event.source != USC_SOURCE_SYSCALL || event.how != USC_HOW_RETURNED || event.result != 0)
    return std::string_view::npos;
  return syscalls::syscall_arguments(static_cast<usc_abi>(event.abi), event.kind).value_or("").find('x');
}

void add_contents(const usc_string& string, std::vector<analyzer::EventContent>& contents) {
  using Holds = analyzer::EventContent::Holds;
  const trace::ContentParts parts = trace::content_parts(string, {string.text, string.bytes});
  const auto add = [&](Holds holds, std::optional<std::string_view> bytes) {
    contents.push_back({string.arg, holds,
                        trace::is_from_kernel(string.kind) ? analyzer::EventString::Source::kKernel
                                                           : analyzer::EventString::Source::kProgram,
                        bytes ? std::optional<std::string>(*bytes) : std::nullopt,
                        (string.flags & USC_STRING_LATE) != 0, (string.flags & USC_STRING_TRUNCATED) != 0});
  };
  if (parts.structure) add(Holds::kStructure, parts.structure);
  if (parts.data || parts.redacted) add(Holds::kData, parts.data);
}

}  // namespace

// If events of a task were lost, its strings and its open call stay here when it ends. This removes them, each time
// that the number of tasks has doubled.
void LivePrinter::forget_ended(const tracer::TaskTable& tasks) {
  if (tasks_.size() < std::max(kFewTasks, 2 * looked_at_)) return;
  std::erase_if(tasks_, [&](const auto& entry) {
    const auto& [serial, task] = entry;
    std::uint64_t entered = task.call.event() ? task.call.event()->entry_ns : 0;
    if (!task.strings.empty()) entered = std::max(entered, task.strings.back().entry_ns);
    return tasks.find(serial).pid == 0 && entered + kPatienceNs < seen_ns_;
  });
  looked_at_ = tasks_.size();
}

std::size_t LivePrinter::kept_calls() const {
  return std::accumulate(tasks_.begin(), tasks_.end(), std::size_t{0},
                         [](std::size_t sum, const auto& entry) { return sum + entry.second.strings.size(); });
}

void LivePrinter::on_string(const usc_string& string) {
  const trace::StringHolds holds = trace::string_holds(string.kind);
  if (holds == trace::StringHolds::NUMBERS || holds == trace::StringHolds::OPENED) return;
  std::deque<Strings>& calls = task(trace::TaskId(string.head.task)).strings;
  // A call is over when the next one begins. If that was long ago, its event has been printed, or was lost. A function
  // is not: it may last while any number of calls come and go.
  if (hits_have_strings_) {
    while (calls.size() >= kMostNested) calls.pop_front();
  } else {
    while (calls.size() > 1 && calls[1].entry_ns + kPatienceNs < seen_ns_) calls.pop_front();
  }
  // A thread that changes its processor may be heard of in another order than that of its calls.
  auto call = std::lower_bound(calls.begin(), calls.end(), string.entry_ns,
                               [](const Strings& s, std::uint64_t entry_ns) { return s.entry_ns < entry_ns; });
  if (call == calls.end() || call->entry_ns != string.entry_ns)
    call = calls.insert(call, {string.entry_ns, {}, {}, {}});
  if (holds == trace::StringHolds::DESCRIPTOR) {
    const trace::PassedFile file = trace::passed_file({string.text, string.bytes});
    analyzer::EventDescriptor one{
        string.arg, file.fd, file.is_pidfd ? "pidfd" : "passed", {}, (string.flags & USC_STRING_LATE) != 0};
    if (!file.name.empty()) one.name = trace_text(file.name);
    call->descriptors.push_back(std::move(one));
    return;
  }
  if (trace::is_content(string.kind)) return add_contents(string, call->contents);
  call->list.push_back({string.arg, trace::string_text(string, {string.text, string.bytes}),
                        (string.flags & USC_STRING_LATE) != 0, analyzer::EventString::Source::kProgram});
}

void LivePrinter::on_image(const usc_exec& exec) {
  const auto bytes = std::span(reinterpret_cast<const std::byte*>(&exec), exec.head.size);
  const store::ImageFacts image = store::image_facts({exec.head, bytes, 0});
  programs_.define(trace::ImageId(exec.image), image.names("").name());
  // The exec that starts the launched command counts as a call of that command.
  programs_.inherit(trace::ProcessId(exec.process), trace::ImageId(exec.image));
  if (programs_.is_full() && !std::exchange(told_of_names_, true)) {
    status_.clear();
    std::fputs("uscope: too many different programs for --print: further ones have ? for their name\n", stderr);
  }
  if (!takes_strings_ || exec.old_tid == 0) return;
  std::deque<store::ImageFacts>& images = task(trace::TaskId(exec.head.task)).images;
  if (images.size() >= kMostImages) images.pop_front();  // the calls that made them are not recorded
  images.push_back(image);
}

void LivePrinter::on_open_call(const usc_event& event) {
  task(trace::TaskId(event.head.task)).call.add(trace::Event(event));
}

void LivePrinter::on_event(const usc_event& event, const tracer::TaskInfo& /*task*/) {
  if (trace::is_unfinished(event.how)) return on_open_call(event);
  waiting_.emplace_back(event);
}

void LivePrinter::on_signal(const usc_signal& signal) {
  usc_event event = trace::event_of_signal(signal);
  event.args[0] = ++last_signal_;
  signals_.emplace(last_signal_, signal);
  waiting_.emplace_back(event);
}

// The records of one event in the order in which they come: it is open until it is told of as over.
void LivePrinter::on_hit(const usc_hit& hit) {
  const trace::Event event = trace::event_of_hit(hit);
  const EventKey key{trace::TaskId(event.head.task), event.entry_ns, event.source};
  if (trace::is_unfinished(event.how)) {
    open_hits_.insert_or_assign(key, event);
    return;
  }
  if (event.how == USC_HOW_RETURNED || event.how == USC_HOW_LEFT) open_hits_.erase(key);
  waiting_.emplace_back(event);
}

void LivePrinter::on_kind(const usc_kind& kind) {
  kinds_.add(kind, trace::tail_of(kind).substr(0, kind.text_bytes));
  const trace::KindText* const told = kinds_.find(kind.source, kind.kind);
  if (told == nullptr) return;
  hits_have_strings_ = hits_have_strings_ ||
                       std::any_of(told->arguments.begin(), told->arguments.end(), [](const trace::KindArgument& one) {
                         return one.type.find("char") != std::string::npos;
                       });
}

bool LivePrinter::awaits_image(const usc_event& event, const tracer::TaskInfo& task) const {
  if (path_of_exec(event) == std::string_view::npos) return false;
  if (!programs_.knows(trace::ImageId(event.image), task.process) && !programs_.is_full()) return true;
  if (!takes_strings_) return false;
  const auto at = tasks_.find(trace::TaskId(event.head.task));
  return at == tasks_.end() || std::none_of(at->second.images.begin(), at->second.images.end(), [&](const auto& image) {
           return image.time >= event.entry_ns && image.time <= event.head.time;
         });
}

// A processor's records come in their order, but those of other processors may come a round later: a task's start, and
// strings that it has sent from there.
void LivePrinter::on_round(std::uint64_t before_ns, const tracer::TaskTable& tasks) {
  const auto is_due = [&](const usc_event& event) {
    if (event.head.time >= before_ns) return false;
    if (before_ns - event.head.time > kPatienceNs) return true;
    const tracer::TaskInfo& task = tasks.find(trace::TaskId(event.head.task));
    return task.pid != 0 && !awaits_image(event, task);
  };
  const auto due = std::stable_partition(waiting_.begin(), waiting_.end(), is_due);
  std::stable_sort(waiting_.begin(), due,
                   [](const usc_event& a, const usc_event& b) { return a.head.time < b.head.time; });
  for (auto event = waiting_.begin(); event != due; ++event) print(*event, tasks);
  waiting_.erase(waiting_.begin(), due);
  if (before_ns != ~std::uint64_t{0}) {
    seen_ns_ = before_ns;
    forget_ended(tasks);
    return;
  }
  std::vector<trace::Event> open;
  for (const auto& [serial, task] : tasks_)
    if (task.call.event()) open.push_back(*task.call.event());
  for (const auto& [key, event] : open_hits_) open.push_back(event);
  std::sort(open.begin(), open.end(), [](const usc_event& a, const usc_event& b) { return a.entry_ns < b.entry_ns; });
  for (const trace::Event& event : open) print(event, tasks);
}

void LivePrinter::on_task(const usc_task& task) {
  programs_.inherit(trace::ProcessId(task.process), trace::ImageId(task.image));
}

void LivePrinter::print(const trace::Event& record, const tracer::TaskTable& tasks) {
  const trace::TaskId serial(record.head.task);
  const auto at = tasks_.find(serial);
  const bool ends_call = record.source == USC_SOURCE_SYSCALL && !trace::is_unfinished(record.how);
  const trace::Event event = ends_call && at != tasks_.end() ? at->second.call.end(record) : record;
  analyzer::EventRow row = row_of(event, tasks.find(serial), start_ns_, kinds_);
  row.process = programs_.of(trace::ImageId(event.image), tasks.find(serial).process);
  if (event.source == USC_SOURCE_SIGNAL) {
    row.signal = signal_of(signals_.extract(event.args[0]).mapped());
    status_.clear();
    std::fputs(event_text(row, seconds(row.ts_ns), paint_).c_str(), stderr);
    return;
  }
  if (at != tasks_.end()) {
    Task& task = at->second;
    take_strings(event, task, row);
    if (event.source == USC_SOURCE_SYSCALL) add_image(event, task, row);
    if (task.strings.empty() && !task.call.event() && task.images.empty()) tasks_.erase(at);
  }
  status_.clear();
  std::fputs(event_text(row, seconds(row.ts_ns), paint_).c_str(), stderr);
}

// With those of earlier calls, whose events were lost.
void LivePrinter::take_strings(const usc_event& event, Task& task, analyzer::EventRow& row) const {
  std::deque<Strings>& calls = task.strings;
  const auto last = std::upper_bound(calls.begin(), calls.end(), event.entry_ns,
                                     [](std::uint64_t entry_ns, const Strings& s) { return entry_ns < s.entry_ns; });
  const bool found = last != calls.begin() && std::prev(last)->entry_ns == event.entry_ns;
  if (found) {
    row.strings = std::move(std::prev(last)->list);
    row.contents = std::move(std::prev(last)->contents);
    row.descriptors = std::move(std::prev(last)->descriptors);
  }
  if (!hits_have_strings_ && event.source == USC_SOURCE_SYSCALL) calls.erase(calls.begin(), last);
  if (hits_have_strings_ && found) calls.erase(std::prev(last));
}

// Of an exec that has succeeded, path and arguments are those of the image that it made.
void LivePrinter::add_image(const usc_event& event, Task& task, analyzer::EventRow& row) {
  while (!task.images.empty() && task.images.front().time < event.entry_ns) task.images.pop_front();
  if (task.images.empty() || task.images.front().time > event.head.time) return;
  const store::ImageFacts image = std::move(task.images.front());
  task.images.pop_front();
  const std::size_t path = path_of_exec(event);
  if (path == std::string_view::npos) return;
  const std::string argv = image.argv_json();
  for (const auto& [arg, text] : {std::pair(path, &image.path), std::pair(path + 1, &argv)})
    if (!text->empty() && std::none_of(row.strings.begin(), row.strings.end(),
                                       [arg = arg](const auto& one) { return one.arg == static_cast<int>(arg); }))
      row.strings.push_back({static_cast<int>(arg), *text, false, analyzer::EventString::Source::kProgram});
}

}  // namespace uscope::cli

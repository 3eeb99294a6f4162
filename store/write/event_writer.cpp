// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A raw trace may hold any number. Times beyond the range of the store's signed ones are brought to its end, and the
// sum of all durations stays within it, so that no reader's sum overflows. Kinds and tasks without a definition take
// memory each: if a damaged or hostile trace has very many of them, the rest is counted under one name.
#include "store/write/event_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "syscalls/call_traits.h"
#include "syscalls/errno_names.h"
#include "syscalls/signal_names.h"
#include "syscalls/syscall_table.h"
#include "trace/call_join.h"
#include "trace/hit.h"
#include "trace/how.h"
#include "trace/loss_class.h"
#include "trace/names.h"

namespace uscope::store {
namespace {

constexpr std::size_t kMostKinds = 2048;  // but for probes; Linux has fewer than 500 calls in each ABI
constexpr std::size_t kMostUndefined = std::size_t{1} << 17;
constexpr ThreadRowId kOtherTask(std::int64_t{1} << 32);  // above every serial

// Of a JSON array.
std::vector<std::string> texts_of(const std::string& json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  std::vector<std::string> texts;
  for (std::size_t i = 0; parsed.is_array() && i < parsed.size(); i++)
    if (parsed[i].is_string()) texts.push_back(parsed[i].get<std::string>());
  return texts;
}

LossTimes losses_of(const Definitions& definitions) {
  LossTimes losses;
  if (definitions.records_missing) losses.set_always();
  for (const LossFacts& loss : definitions.losses)
    losses.add(trace::loss_class(loss.cause), loss.count, loss.process, loss.from_ns, loss.until_ns);
  losses.finish();
  return losses;
}

std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

EventWriter::EventWriter(DatabaseWriter& database, const Definitions& definitions, const FrameWriter& frames,
                         StringTable& strings, std::int64_t utc_offset_ns)
    : database_(database),
      definitions_(definitions),
      frames_(frames),
      strings_(database, definitions, strings),
      objects_(database, strings),
      sets_(database, definitions, strings),
      futexes_(database, utc_offset_ns),
      signals_(database, frames),
      counter_(database.tables(), losses_of(definitions)) {}

Result<void> EventWriter::prepare() {
  auto events = database_.rows(
      "event(ts_ns, dur_ns, how, thread_id, image_id, kind_id, result, stack_id, a0, a1, a2, a3, a4, a5, object_id)",
      15);
  if (!events) return events.error();
  event_rows_ = std::move(*events);
  auto kinds = database_.rows("kind", 5);
  if (!kinds) return kinds.error();
  kind_rows_ = std::move(*kinds);
  auto arguments = database_.rows("kind_argument", 4);
  if (!arguments) return arguments.error();
  argument_rows_ = std::move(*arguments);
  auto results = database_.rows("kind_result", 2);
  if (!results) return results.error();
  result_rows_ = std::move(*results);
  auto verifies = database_.rows("verify", 5);
  if (!verifies) return verifies.error();
  verify_rows_ = std::move(*verifies);
  for (const auto& [serial, image] : definitions_.images) images_.insert(serial, 1);
  if (auto done = futexes_.prepare(); !done) return done;
  if (auto done = signals_.prepare(); !done) return done;
  if (auto done = counter_.prepare(); !done) return done;
  if (auto done = objects_.prepare(); !done) return done;
  if (const auto paths = definitions_.meta.find("paths"); paths != definitions_.meta.end())
    objects_.want_only(texts_of(paths->second));
  if (auto done = strings_.prepare(); !done) return done;
  return sets_.prepare();
}

Result<void> EventWriter::write(const trace::OrderedCall& call) {
  EventRowId id;
  trace::CallJoin join;
  for (const trace::OrderedEvent& event : call.events) join.add(event);
  for (const trace::OrderedEvent& event : call.events) {
    if (!join.is_event(event)) continue;
    std::optional<trace::OrderedEvent> changed;  // few events are
    if (join.has_more_than(event)) {
      changed = event;
      join.complete(*changed);
    }
    const trace::OrderedEvent& whole = changed ? *changed : event;
    if (StringWriter::is_followed(whole)) {
      followed_any_ = true;
      if (auto done = strings_.follow(whole, call.strings); !done) return done;
      continue;
    }
    if (whole.source == USC_SOURCE_SYSCALL) {
      if (auto done = strings_.observe(whole, call.strings); !done) return done;
      if (!objects_.wants_all()) {
        auto wanted = objects_.is_wanted(whole, strings_.object());
        if (!wanted) return wanted.error();
        if (!*wanted) return {};
      }
    }
    CountedEvent& counted = counter_.next();
    id = EventRowId(static_cast<std::int64_t>(++events_));
    auto object = write_details(whole, call, id, counted);
    if (!object) return object.error();
    if (auto done = write_event(whole, id, *object, counted); !done) return done;
    if (auto done = counter_.add_next(); !done) return done;
  }
  for (const usc_verify& verify : call.verifies)
    if (auto done = write_verify(verify, id); !done) return done;
  return {};
}

// What was recorded of an event beside its row; returns what it is about.
Result<ObjectRowId> EventWriter::write_details(const trace::OrderedEvent& event, const trace::OrderedCall& call,
                                               EventRowId id, CountedEvent& counted) {
  if (event.source == USC_SOURCE_SIGNAL)
    if (auto done = signals_.write(id, event); !done) return done.error();
  if (trace::is_of_probes(event.source))
    if (auto done = strings_.write_texts(id, call.strings); !done) return done.error();
  if (event.source != USC_SOURCE_SYSCALL) return ObjectRowId();
  if (auto done = strings_.write(id); !done) return done.error();
  counted.object = strings_.object();
  if (auto done = sets_.write(id, event); !done) return done.error();
  if (auto done = sets_.write_passed(id, strings_.passed()); !done) return done.error();
  if (!call.futexes.empty())
    if (auto done = futexes_.write(id, event, call.futexes); !done) return done.error();
  return objects_.row_of(event, counted.object);
}

Result<void> EventWriter::write_event(const trace::OrderedEvent& event, EventRowId id, ObjectRowId object,
                                      CountedEvent& counted) {
  auto kind = kind_of(event);
  if (!kind) return kind.error();
  Task& task = task_of(trace::TaskId(event.head.task));
  if (!task.defined) lose(USC_LOSS_TASK_UNDEFINED, task.process, event.entry_ns);
  const auto [stack, user_stack, undefined] = stacks_of(event);
  if (undefined) lose(USC_LOSS_STACK_UNDEFINED, task.process, event.entry_ns);
  const bool returned = event.how == USC_HOW_RETURNED;
  const bool has_result = usc_event_has_result(&event) != 0;
  std::uint64_t duration = usc_event_took(&event);
  if (returned) {
    duration = std::min(duration, duration_left_ - 1);
    duration_left_ -= duration;
  }
  const trace::ImageId image = image_of(event, task);
  last_ns_ = std::max<std::uint64_t>({last_ns_, event.entry_ns, event.head.time});

  const auto argument = [&event](std::size_t i) {
    return event.is_read(i) ? std::optional(event.args[i]) : std::nullopt;
  };
  if (auto done = event_rows_->add(
          stored_time(event.entry_ns), returned ? std::optional(as_signed(duration)) : std::nullopt,
          LastingText{trace::how_name(usc_event_how(&event))}, task.row, maybe_id(image), *kind,
          has_result ? std::optional(std::int64_t{event.result}) : std::nullopt, maybe_id(stack), argument(0),
          argument(1), argument(2), argument(3), argument(4), argument(5), maybe_id(object));
      !done)
    return done.error();

  const FrameRowId trigger = stack ? frames_.trigger(stack) : FrameRowId();
  const KindTraits& traits = traits_[kind->value() - 1];
  const bool failed = traits.is_call && has_result && syscalls::is_error(event.result);
  const bool transfers = traits.counts_bytes && has_result && event.result > 0;
  counted.facts = {.event = id,
                   .kind = *kind,
                   .process = task.process,
                   .image = image,
                   .trigger = trigger,
                   .runtime_trigger = stack ? frames_.runtime_trigger(stack) : FrameRowId(),
                   .duration = returned ? duration : 0,
                   .bytes = transfers ? static_cast<std::uint64_t>(event.result) : 0,
                   .error = failed ? -event.result : 0};
  counted.stack = stack;
  counted.thread = task.counted;
  counted.entry_ns = event.entry_ns;
  counted.end_ns = std::max<std::uint64_t>(event.entry_ns, event.head.time);
  counted.returned = returned;
  counted.unfinished = trace::is_unfinished(event.how);
  counted.is_over = returned || event.how == USC_HOW_NO_ENTRY;
  counted.attached = (event.flags & USC_EVENT_ATTACHED) != 0;
  counted.is_syscall = event.source == USC_SOURCE_SYSCALL;
  counted.is_call = traits.is_call;
  counted.waits = traits.waits;
  if (user_stack) {
    const StoredStack& known = definitions_.stacks.stack(user_stack);
    counted.stack_ended = frames_.ended(user_stack);
    counted.stack_guessed = known.guessed;
  }
  return {};
}

// What no call has ended; also of threads without any call.
void EventWriter::end_gaps(std::optional<std::uint64_t> recorded_until) {
  for (const auto& [serial, thread] : definitions_.threads) {
    if (!thread.came_ns) continue;
    std::optional<std::uint64_t> end = thread.end_ns ? thread.end_ns : thread.left_ns;
    if (!end) end = recorded_until;
    if (!end) continue;
    GapEdge until = thread.left_ns ? GapEdge::kLeft : GapEdge::kTracing;
    if (thread.end_ns) until = GapEdge::kThread;
    counter_.end_gap(task_of(serial).counted, *end, until);
  }
}

EventWriter::EventStack EventWriter::stacks_of(const trace::OrderedEvent& event) const {
  if (event.kernel_stack) {
    const LoggedStack& logged = definitions_.logged_stacks.stack(event.kernel_stack);
    return {frames_.row_of(event.kernel_stack), logged.user, logged.user_undefined};
  }
  const trace::StackId raw(event.stack);
  const StackNumber stack = raw ? definitions_.stacks.find(raw) : StackNumber();
  return {FrameWriter::row_of(stack), stack, raw && !stack};
}

std::string EventWriter::kind_name(const usc_event& event) const {
  if (event.source == USC_SOURCE_SYSCALL && !trace::abi_name(event.abi).empty())
    return syscalls::syscall_name(static_cast<usc_abi>(event.abi), event.kind);
  if (event.source == USC_SOURCE_SIGNAL) return syscalls::signal_kind_name(event.kind);
  if (const trace::KindText* told = definitions_.kinds.find(event.source, event.kind)) return told->name;
  const auto named = definitions_.kind_names.find({event.source, event.kind});
  return named != definitions_.kind_names.end() ? named->second : trace::unnamed_kind(event.source, event.kind);
}

// A kind is known by its source and number; a system call's by its ABI, too.
Result<KindRowId> EventWriter::kind_of(const usc_event& event) {
  const KindKey key{std::uint32_t{event.source} << 8 | event.abi, event.kind};
  if (const auto known = kinds_.find(key); known != kinds_.end()) return known->second;
  const bool of_probe = trace::is_of_probes(event.source);
  if (of_probe ? probe_kinds_ >= trace::KindTable::kMost : kinds_.size() - probe_kinds_ >= kMostKinds)
    return other_kind(event.source);
  std::string abi = "none";
  if (event.source == USC_SOURCE_SYSCALL) {
    abi = trace::abi_name(event.abi);
    if (abi.empty()) abi = fmt::format("abi_{}", event.abi);
  }
  auto id = add_kind(kind_name(event), event.source, abi, event.kind);
  if (!id) return id;
  if (auto done = write_types(*id, event); !done) return done.error();
  probe_kinds_ += of_probe;
  kinds_.emplace(key, *id);
  return id;
}

Result<KindRowId> EventWriter::kind_of_call(std::uint8_t abi, std::uint32_t nr) {
  usc_event event{};
  event.source = USC_SOURCE_SYSCALL;
  event.abi = abi;
  event.kind = nr;
  return kind_of(event);
}

// One of each source of probes, and one of all other sources.
Result<KindRowId> EventWriter::other_kind(std::uint8_t source) {
  const bool of_probe = trace::is_of_probes(source);
  KindRowId& other = other_kinds_.at(of_probe ? source : 0);
  if (other) return other;
  const std::string name = of_probe ? fmt::format("{}_other", trace::source_name(source)) : "syscall_other";
  auto id = add_kind(name, of_probe ? source : std::uint8_t{USC_SOURCE_SYSCALL}, of_probe ? "none" : "other", -1);
  if (id) other = *id;
  return id;
}

Result<KindRowId> EventWriter::add_kind(std::string_view name, std::uint8_t source, std::string_view abi,
                                        std::int64_t number) {
  const KindRowId id(static_cast<std::uint32_t>(traits_.size() + 1));
  if (auto done = kind_rows_->add(id, name, LastingText{trace::source_name(source)}, abi, number); !done)
    return done.error();
  const bool is_call = source == USC_SOURCE_SYSCALL;
  traits_.push_back({.is_call = is_call,
                     .waits = is_call && syscalls::waits(name),
                     .counts_bytes = is_call && syscalls::transfer_of(name).counts_bytes});
  return id;
}

Result<void> EventWriter::write_types(KindRowId kind, const usc_event& event) {
  const trace::KindText* const told = definitions_.kinds.find(event.source, event.kind);
  if (told == nullptr) return {};
  for (std::size_t i = 0; i < told->arguments.size(); i++) {
    const trace::KindArgument& argument = told->arguments[i];
    if (auto done = argument_rows_->add(kind, i, std::string_view(argument.name), std::string_view(argument.type));
        !done)
      return done;
  }
  if (told->result_type.empty()) return {};
  return result_rows_->add(kind, std::string_view(told->result_type));
}

EventWriter::Task& EventWriter::task_of(trace::TaskId serial) {
  std::uint32_t place = task_places_.find(serial);
  if (place == 0) {
    const auto thread = definitions_.threads.find(serial);
    const bool unknown = thread == definitions_.threads.end();
    if (!serial || (unknown && undefined_tasks_.size() >= kMostUndefined)) {
      if (other_task_ == 0) {
        tasks_.push_back({.row = kOtherTask, .counted = counter_.add_thread({.row = kOtherTask, .is_many = true})});
        undefined_tasks_.push_back(kOtherTask);
        other_task_ = static_cast<std::uint32_t>(tasks_.size());
      }
      return tasks_[other_task_ - 1];
    }
    Task task{.row = ThreadRowId(serial.value()), .process = definitions_.process_of_task(serial)};
    task.defined = thread != definitions_.threads.end() && thread->second.defined;
    EventCounter::Thread counted{.row = task.row, .process = task.process};
    if (!unknown && thread->second.came_ns) {
      counted.outside_ns = thread->second.came_ns;
      counted.outside_since = thread->second.made_here ? GapEdge::kThread : GapEdge::kTracing;
    }
    task.counted = counter_.add_thread(counted);
    const auto process = definitions_.processes.find(task.process);
    // The launched command inherits none: the exec that starts it is already its own.
    if (process != definitions_.processes.end())
      task.inherited_image = process->second.image ? process->second.image : process->second.first_exec;
    if (unknown) undefined_tasks_.push_back(task.row);
    tasks_.push_back(task);
    place = task_places_.insert(serial, static_cast<std::uint32_t>(tasks_.size()));
  }
  return tasks_[place - 1];
}

// None where the trace does not tell of the image.
trace::ImageId EventWriter::image_of(const usc_event& event, const Task& task) const {
  const trace::ImageId image = event.image ? trace::ImageId(event.image) : task.inherited_image;
  return images_.find(image) ? image : trace::ImageId();
}

void EventWriter::lose(std::uint32_t cause, trace::ProcessId process, std::uint64_t time) {
  LossFacts& loss = losses_[{cause, process}];
  if (loss.count == 0) loss = {time, time, 0, cause, process};
  loss.from_ns = std::min(loss.from_ns, time);
  loss.until_ns = std::max(loss.until_ns, time);
  loss.count++;
}

Result<void> EventWriter::write_verify(const usc_verify& verify, EventRowId event_id) {
  const bool equal = verify.first_difference < 0;
  return verify_rows_->add(maybe_id(event_id), equal, verify.uscope_depth, verify.oracle_depth,
                           equal ? std::nullopt : std::optional(std::int64_t{verify.first_difference}));
}

Result<void> EventWriter::finish(std::optional<std::uint64_t> recorded_until) {
  if (auto done = counter_.settle(); !done) return done;
  end_gaps(recorded_until);
  if (auto done = database_.inserter().settle(); !done) return done;
  // A task that only events name gets a row of `thread` with nothing but its id.
  auto thread = database_.prepare("INSERT INTO thread(id) VALUES(?1)");
  if (!thread) return thread.error();
  for (const ThreadRowId row : undefined_tasks_)
    if (auto done = thread->run(row); !done) return done;
  if (auto done = strings_.finish(); !done) return done;
  StackEnds stacks{};
  for (std::uint32_t number = 1; number <= definitions_.stacks.size(); number++)
    stacks[frames_.ended(StackNumber(number))]++;
  return counter_.write(stacks);
}

}  // namespace uscope::store

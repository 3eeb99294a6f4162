// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/look_writer.h"

#include <array>
#include <string>
#include <utility>

#include "store/write/wants_name.h"
#include "support/text.h"

namespace uscope::store {
namespace {

using Number = std::optional<std::int64_t>;

constexpr std::array<std::string_view, USC_THREAD_STATES> kStates{"unknown", "running", "asleep", "uninterruptible",
                                                                  "stopped", "traced",  "frozen", "ended"};
constexpr std::array<std::string_view, USC_RESOURCE_TYPES> kTypes{
    "other",   "pipe",    "fifo",   "unix", "inet", "eventfd", "pidfd", "epoll", "signalfd",
    "timerfd", "inotify", "mqueue", "tty",  "file", "device",  "ptmx",  "mount"};
constexpr std::array<std::string_view, 4> kAccess{"", "r", "w", "rw"};
constexpr std::array<std::string_view, USC_LOCK_KINDS> kLocks{"flock", "posix", "ofd", "lease", "sem", "msg", "mqueue"};
constexpr std::array<std::string_view, USC_MONITOR_KINDS> kMonitors{"enter", "wait", "park", "lock"};

Number number_if(bool is_known, std::uint64_t number) {
  return is_known ? Number(static_cast<std::int64_t>(number)) : std::nullopt;
}

// A text column that is NULL where there is no text.
template <typename Row>
std::optional<std::string> text_if(const Row& text) {
  return text.empty() ? std::nullopt : std::optional(trace_text(text));
}

}  // namespace

Result<void> LookWriter::prepare() {
  const std::array<std::pair<std::unique_ptr<TableRows>*, std::pair<std::string_view, std::size_t>>, 7> tables{{
      {&threads_, {"thread_look", 18}},
      {&descriptors_, {"waited_descriptor", 6}},
      {&processes_, {"waited_process", 4}},
      {&resources_, {"resource", 16}},
      {&locks_, {"held_lock", 11}},
      {&monitors_, {"monitor_wait", 6}},
      {&troubles_, {"look_trouble", 2}},
  }};
  for (const auto& [rows, table] : tables) {
    auto made = database_.rows(table.first, table.second, OnConflict::kIgnore);
    if (!made) return made.error();
    *rows = std::move(*made);
  }
  return {};
}

bool LookWriter::has_thread(std::uint32_t task) const {
  return definitions_.threads.count(trace::TaskId(task)) != 0;
}

std::optional<std::int64_t> LookWriter::process_row(std::uint32_t process) const {
  const bool known = process != 0 && definitions_.processes.count(trace::ProcessId(process)) != 0;
  return number_if(known, process);
}

Result<void> LookWriter::write(const KindOfCall& kind_of_call) {
  if (auto done = write_threads(kind_of_call); !done) return done;
  for (const auto step : {&LookWriter::write_waits, &LookWriter::write_locks, &LookWriter::write_monitors})
    if (auto done = (this->*step)(); !done) return done;
  const Looks& looks = definitions_.looks;
  if (auto done = write_resources(looks.last()); !done) return done;
  // Of the look that was taken at the attachment, what processes held then is kept.
  const auto& first = looks.first().resources;
  if (looks.first().number != looks.last().number && !first.empty() && first[0].record.at == USC_RESOURCE_AT_ATTACH)
    if (auto done = write_resources(looks.first()); !done) return done;
  for (const auto& [text, trouble] : definitions_.looks.last().troubles)
    if (auto done = troubles_->add(process_row(trouble.process), std::string_view(trace_text(text))); !done)
      return done;
  return {};
}

Result<void> LookWriter::write_threads(const KindOfCall& kind_of_call) {
  for (const usc_thread_look& thread : definitions_.looks.last().threads) {
    if (!has_thread(thread.head.task)) continue;
    std::optional<std::int64_t> kind;
    if (thread.in_call != 0) {
      auto row = kind_of_call(thread.abi, thread.nr);
      if (!row) return row.error();
      kind = row->value();
    }
    std::array<Number, 6> args;
    for (std::size_t i = 0; i < args.size(); i++) args.at(i) = number_if(thread.in_call != 0, thread.args[i]);
    const auto tracer = text_if(trace::fixed_text(thread.tracer, sizeof(thread.tracer)));
    auto done = threads_->add(
        thread.head.task, thread.head.time, LastingText{kStates.at(thread.state)}, thread.asleep != 0 ? 1 : 0,
        number_if(thread.stop_signal != 0, thread.stop_signal), number_if(thread.tracer_pid != 0, thread.tracer_pid),
        tracer ? std::optional(std::string_view(*tracer)) : std::nullopt, kind, args[0], args[1], args[2], args[3],
        args[4], args[5], number_if(thread.in_call != 0 && thread.timed != USC_TIMED_UNKNOWN, thread.timed),
        number_if(thread.has_caught != 0, thread.caught), number_if(thread.has_caught != 0, thread.by_timer),
        number_if(thread.parent != 0, thread.parent == USC_PARENT_OUTSIDE ? 0 : thread.parent));
    if (!done) return done;
  }
  return {};
}

Result<void> LookWriter::write_waits() {
  for (const usc_waited& waited : definitions_.looks.last().waits) {
    if (!has_thread(waited.head.task)) continue;
    Result<void> done;
    if (waited.what == USC_WAITED_DESCRIPTOR) {
      done = descriptors_->add(waited.head.task, waited.fd,
                               waited.via_fd == USC_WAITED_NO_FD ? std::nullopt : Number(std::int64_t{waited.via_fd}),
                               LastingText{wants_name(waited.wants)}, number_if(waited.pid != 0, waited.pid),
                               number_if(waited.pgid != 0, waited.pgid));
    } else {
      const std::string_view what = waited.what == USC_WAITED_CHILD   ? "child"
                                    : waited.what == USC_WAITED_VFORK ? "vfork"
                                    : waited.what == USC_WAITED_OWNER ? "owner"
                                                                      : "pidfd";
      done = processes_->add(waited.head.task, number_if(waited.pid != 0, waited.pid),
                             number_if(waited.pgid != 0, waited.pgid), LastingText{what});
    }
    if (!done) return done;
  }
  return {};
}

Result<void> LookWriter::write_resources(const LookFacts& look) {
  for (const auto& [name, resource] : look.resources) {
    const auto has = [flags = resource.flags](unsigned flag) { return (flags & flag) != 0; };
    const auto comm = text_if(trace::fixed_text(resource.comm, sizeof(resource.comm)));
    const std::string text = trace_text(name);
    auto done = resources_->add(
        process_row(resource.process), resource.pid, comm ? std::optional(std::string_view(*comm)) : std::nullopt,
        resource.fd, LastingText{kTypes.at(resource.type)}, LastingText{kAccess.at(resource.access)},
        number_if(has(USC_RESOURCE_HAS_OBJECT), resource.dev), number_if(has(USC_RESOURCE_HAS_OBJECT), resource.ino),
        number_if(has(USC_RESOURCE_HAS_PEER), resource.peer), number_if(has(USC_RESOURCE_HAS_QUEUED), resource.queued),
        number_if(has(USC_RESOURCE_HAS_ROOM), resource.room),
        number_if(has(USC_RESOURCE_LISTENING_KNOWN), has(USC_RESOURCE_LISTENS) ? 1 : 0),
        has(USC_RESOURCE_NONBLOCKING) ? 1 : 0, std::string_view(text), resource.head.time,
        LastingText{resource.at == USC_RESOURCE_AT_ATTACH ? "attach" : "look"});
    if (!done) return done;
  }
  return {};
}

Result<void> LookWriter::write_locks() {
  for (const usc_held_lock& lock : definitions_.looks.last().locks) {
    const auto has = [&lock](unsigned flag) { return (lock.flags & flag) != 0; };
    auto done = locks_->add(
        lock.id, LastingText{kLocks.at(lock.kind)}, LastingText{lock.mode == USC_LOCK_WRITE ? "write" : "read"},
        number_if(has(USC_LOCK_HAS_OBJECT), lock.dev), number_if(has(USC_LOCK_HAS_OBJECT), lock.ino),
        number_if(has(USC_LOCK_HAS_RANGE), lock.first),
        number_if(has(USC_LOCK_HAS_RANGE) && !has(USC_LOCK_TO_END), lock.last),
        has(USC_LOCK_HAS_PID) ? Number(std::int64_t{lock.pid}) : std::nullopt, process_row(lock.process),
        has(USC_LOCK_WAITS) ? 1 : 0, number_if(has(USC_LOCK_GONE_KNOWN), has(USC_LOCK_GONE) ? 1 : 0));
    if (!done) return done;
  }
  return {};
}

Result<void> LookWriter::write_monitors() {
  for (const auto& [text, monitor] : definitions_.looks.last().monitors) {
    if (!has_thread(monitor.head.task)) continue;
    const auto of_class = text_if(std::string_view(text).substr(0, monitor.class_bytes));
    const auto thread = text_if(std::string_view(text).substr(std::min<std::size_t>(monitor.class_bytes, text.size())));
    auto done = monitors_->add(monitor.head.task, LastingText{kMonitors.at(monitor.what)}, monitor.object,
                               of_class ? std::optional(std::string_view(*of_class)) : std::nullopt,
                               number_if(monitor.owner_tid != 0, monitor.owner_tid),
                               thread ? std::optional(std::string_view(*thread)) : std::nullopt);
    if (!done) return done;
  }
  return {};
}

}  // namespace uscope::store

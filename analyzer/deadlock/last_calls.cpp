// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A thread's last call is found through the index of events by thread and time, so the number of events does not
// matter.
#include "analyzer/deadlock/last_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "analyzer/deadlock/as_of.h"
#include "analyzer/deadlock/stack_lines.h"
#include "analyzer/read/catalog.h"
#include "analyzer/read/query.h"
#include "support/clock.h"
#include "support/text.h"
#include "syscalls/call_traits.h"
#include "syscalls/syscall_table.h"
#include "trace/loss_class.h"
#include "trace/names.h"
#include "trace/object_name.h"
#include "uscope/futex.h"
#include "uscope/record.h"

namespace uscope::analyzer {
namespace {

constexpr std::int64_t kDescriptorSource = 2;     // event_string.source
constexpr std::int64_t kDeadlock = -35;           // EDEADLK
constexpr std::int64_t kDeathSlack = 10'000'000;  // a thread's last wakes come shortly before its end is recorded

struct Call {
  EventRowId id;
  std::int64_t ts_ns = 0;
  std::optional<std::int64_t> end_ns;
  std::string how;
  std::string kind;
  std::string abi;
  std::optional<StackRowId> stack_id;
  std::optional<ImageRowId> image_id;
  std::uint64_t a0 = 0;
  std::uint64_t a1 = 0;
  std::optional<std::int64_t> result;
};

struct ThreadRow {
  ThreadRowId id;
  ProcessRowId process_id;
  std::optional<std::int64_t> tid;
  std::int64_t ns_tid = 0;
  std::string name;
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> end_ns;
  std::optional<std::int64_t> left_ns;
  std::vector<Call> calls;  // the last two calls, newest first
};

class Reader {
 public:
  Reader(const Catalog& catalog, store::Statement calls, store::Statement waits, StackLineReader stacks,
         store::Statement texts)
      : catalog_(catalog),
        waits_seen_ns_(catalog.meta_number("waits_seen_ns").value_or(std::numeric_limits<std::int64_t>::max())),
        hung_until_ns_(catalog.meta_number("hung_until_ns").value_or(std::numeric_limits<std::int64_t>::max())),
        calls_(std::move(calls)),
        waits_(std::move(waits)),
        stacks_(std::move(stacks)),
        texts_(std::move(texts)) {}

  static Result<Reader> prepare(const store::Database& database, const Catalog& catalog);

  void add_processes(LastCalls& out) const;
  void inherit_rings(LastCalls& out) const;
  void find_spaces(LastCalls& out) const;
  Result<void> read_calls(ThreadRow& row, const LastCalls& out);
  Result<void> add(const ThreadRow& row, LastCalls& out);

 private:
  Result<std::vector<Call>> last_of(ThreadRowId thread_id, std::int64_t count);
  Result<std::optional<std::int64_t>> read_wait(EventRowId event_id, LastCall& into);
  Result<CallObject> object_of(const Call& call);
  Result<void> stand(const std::vector<Call>& calls, const LastProcess& process, LastCall& thread);
  Result<void> refused(const std::vector<Call>& calls, LastCall& thread);
  Result<void> find_tries(const ThreadRow& row, const LastProcess& process, LastCall& thread);
  [[nodiscard]] std::int64_t without_call(const ThreadRow& row, const LastProcess& process) const;
  [[nodiscard]] bool is_gone(const ThreadRow& row, const LastProcess& process) const;
  [[nodiscard]] bool killed_in(const Call& call, const LastProcess& process) const;

  const Catalog& catalog_;
  std::int64_t waits_seen_ns_;
  std::int64_t hung_until_ns_;  // what came later came of the signal that ended a command which hung
  store::Statement calls_;
  store::Statement waits_;
  StackLineReader stacks_;
  store::Statement texts_;
  std::map<ProcessRowId, std::int64_t> killed_from_;  // when the first of its threads was killed in a call
};

Result<Reader> Reader::prepare(const store::Database& database, const Catalog& catalog) {
  auto calls = database.prepare(
      "SELECT event.id, ts_ns, dur_ns, how, kind.name, kind.abi, stack_id, image_id, a0, a1, result "
      "FROM event CROSS JOIN kind ON kind.id = event.kind_id WHERE thread_id = ?1 AND ts_ns <= ?2 AND kind.class = "
      "'syscall' "
      "ORDER BY ts_ns DESC, event.id DESC LIMIT ?3");
  if (!calls) return calls.error();
  auto waits = database.prepare(
      "SELECT address, op, expected, timeout_ns, key, words, words_from, words_at_stop, words_at_stop_from, asleep, "
      "strangers, futexes, handlers, open_to_others FROM futex_wait WHERE event_id = ?1");
  if (!waits) return waits.error();
  auto stacks = StackLineReader::create(database);
  if (!stacks) return stacks.error();
  auto texts = database.prepare(
      "SELECT arg, value, late, source FROM event_string JOIN string ON string.id = string_id WHERE event_id = ?1");
  if (!texts) return texts.error();
  return Reader(catalog, std::move(*calls), std::move(*waits), std::move(*stacks), std::move(*texts));
}

void Reader::add_processes(LastCalls& out) const {
  for (const Process& process : catalog_.processes) {
    LastProcess last;
    last.id = process.id;
    last.pid = process.pid;
    last.ns_pid = process.ns_pid;
    last.parent_id = process.parent_id;
    if (const Image* image = catalog_.last_image(process)) last.program = image->name;
    last.ended = process.end_ns.has_value();
    last.until_ns = process.end_ns.value_or(catalog_.end_ns);
    last.start_ns = process.start_ns.value_or(0);
    last.origin = process.origin;
    last.attached = !process.start_ns || *process.start_ns < catalog_.start_ns;
    last.io_uring = process.may_use_io_uring;
    out.processes.push_back(std::move(last));
  }
  inherit_rings(out);
  find_spaces(out);
}

// A process forked from one with io_uring keeps its rings unless it has executed a program since.
void Reader::inherit_rings(LastCalls& out) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (LastProcess& process : out.processes) {
      const Process& known = *catalog_.processes.find(process.id);
      const Process* parent = catalog_.processes.find(known.parent_id);
      if (process.io_uring || !known.images.empty() || !parent) continue;
      if (!out.processes[catalog_.processes.index_of(*parent)].io_uring) continue;
      process.io_uring = true;
      changed = true;
    }
  }
}

void Reader::find_spaces(LastCalls& out) const {
  std::map<SpaceId, std::size_t> first;
  for (std::size_t i = 0; i < out.processes.size(); i++) {
    const SpaceId id = catalog_.processes.find(out.processes[i].id)->space;
    out.processes[i].space = id ? first.emplace(id, i).first->second : i;
    out.spaces[out.processes[i].space].push_back(i);
  }
}

// Not what was logged within them, nor signals, of which a thread that sleeps may get any number.
Result<std::vector<Call>> Reader::last_of(ThreadRowId thread_id, std::int64_t count) {
  std::vector<Call> found;
  calls_.bind(1, thread_id);
  calls_.bind(2, hung_until_ns_);
  calls_.bind(3, count);
  auto done = each(calls_, [&](const SqlRow& row) {
    std::optional<std::int64_t> end_ns;
    if (const auto duration = row.maybe_integer(2)) end_ns = difference(row.integer(1), difference(0, *duration));
    found.push_back({EventRowId(row.integer(0)), row.integer(1), end_ns, text(row, 3), text(row, 4), text(row, 5),
                     maybe_id<StackRowId>(row, 6), maybe_id<ImageRowId>(row, 7),
                     static_cast<std::uint64_t>(row.integer(8)), static_cast<std::uint64_t>(row.integer(9)),
                     row.maybe_integer(10)});
  });
  if (!done) return done.error();
  return found;
}

// The value of `asleep`; nullopt if nothing is known of the wait.
Result<std::optional<std::int64_t>> Reader::read_wait(EventRowId event_id, LastCall& into) {
  std::optional<std::int64_t> asleep;
  waits_.bind(1, event_id);
  auto done = each(waits_, [&](const SqlRow& row) {
    FutexWait wait;
    wait.address = static_cast<std::uint64_t>(row.integer(0));
    wait.op = static_cast<std::uint32_t>(row.integer(1));
    wait.expected = static_cast<std::uint32_t>(row.integer(2));
    wait.timed = !row.is_null(3);
    wait.key = text(row, 4);
    const int words = row.is_null(7) ? 5 : 7;
    wait.fresh = words == 7;
    wait.words = text(row, words);
    wait.words_from = static_cast<std::uint64_t>(row.integer(words + 1));
    asleep = row.is_null(9) ? 0 : std::min<std::int64_t>(row.integer(9), 1);
    wait.woken_later = row.maybe_integer(9) == kWokenLater;
    wait.untraced_sharers = row.maybe_integer(10);
    wait.futexes = row.integer(11);
    wait.handlers = row.is_null(12) || row.integer(12) != 0;
    wait.open_to_others = row.is_null(13) || row.integer(13) != 0;
    into.wait = std::move(wait);
  });
  if (!done) return done.error();
  return asleep;
}

Result<CallObject> Reader::object_of(const Call& call) {
  struct Text {
    std::string value;
    bool late = false;
  };
  std::map<int, Text> texts;
  texts_.bind(1, call.id);
  auto done = each(texts_, [&](const SqlRow& row) {
    const bool is_descriptor = row.integer(3) == kDescriptorSource;
    texts[static_cast<int>(row.integer(0))] = {text(row, 1), is_descriptor && row.integer(2) != 0};
  });
  if (!done) return done.error();
  CallObject object;
  if (call.kind == "wait4" && static_cast<std::int32_t>(call.a0) > 0)
    object.name = fmt::format("process {}", static_cast<std::int32_t>(call.a0));
  const auto abi = trace::abi_of_name(call.abi);
  const auto nr = abi ? syscalls::syscall_number(*abi, call.kind) : std::nullopt;
  if (!nr) return object;
  const syscalls::ObjectArgs args = syscalls::object_args(*abi, *nr);
  const auto text_of = [&](int arg) {
    const auto at = texts.find(arg);
    return at == texts.end() ? std::nullopt : std::optional(at->second.value);
  };
  for (const int arg : {args.path, args.address, args.source, args.descriptor}) {
    const auto at = texts.find(arg);
    if (at == texts.end()) continue;
    const bool is_relative = arg == args.path && !at->second.value.starts_with('/');
    const auto name = trace::object_name(trace::address_relation(call.kind),
                                         is_relative ? text_of(args.folder) : std::nullopt, at->second.value);
    object.name = name.value_or("");
    object.doubtful = at->second.late;
    break;
  }
  if (args.descriptor == 0 && args.source < 0) object.number = static_cast<int>(call.a0);
  return object;
}

// If a PI mutex would close a cycle, the kernel refuses it with EDEADLK, and glibc's pthread_mutex_lock then waits for
// ever on a word of its own. The lock that it really waits for is that of the call before.
Result<void> Reader::refused(const std::vector<Call>& calls, LastCall& thread) {
  if (thread.wait->command() != kFutexWaitBitset || thread.wait->expected != 0 || calls.size() < 2) return {};
  const Call& before = calls[1];
  const auto command = static_cast<std::uint32_t>(before.a1) & kFutexCommand;
  if (before.kind != "futex" || before.result != kDeadlock) return {};
  if (command != kFutexLockPi && command != kFutexLockPi2) return {};
  LastCall earlier;
  auto known = read_wait(before.id, earlier);
  if (!known) return known.error();
  if (!*known || before.a0 != earlier.wait->address) return {};
  thread.wait = std::move(earlier.wait);
  thread.wait->timed = false;
  thread.refused = true;
  return {};
}

bool is_wait_op(const FutexWait& wait) {
  constexpr std::array<std::uint32_t, 4> kKnown{kFutexWait, kFutexWaitBitset, kFutexLockPi, kFutexLockPi2};
  return std::find(kKnown.begin(), kKnown.end(), wait.command()) != kKnown.end();
}

// Whether the thread was killed in the call, or just after the kernel let it continue because another thread of the
// process was killed first: this is how a join (shared, in glibc) ends, and a PI lock whose owner was killed passes on.
bool Reader::killed_in(const Call& call, const LastProcess& process) const {
  if (!process.ended) return false;
  if (call.how == "killed") return true;
  const auto op = static_cast<std::uint32_t>(call.a1);
  const bool lets_go =
      (op & kFutexPrivate) == 0 || (op & kFutexCommand) == kFutexLockPi || (op & kFutexCommand) == kFutexLockPi2;
  const auto from = killed_from_.find(process.id);
  return call.kind == "futex" && lets_go && call.how == "returned" && call.end_ns && from != killed_from_.end() &&
         difference(*call.end_ns, from->second) >= -kDeathSlack;
}

Result<void> Reader::stand(const std::vector<Call>& calls, const LastProcess& process, LastCall& thread) {
  const bool hung = !calls.empty() && calls[0].end_ns.value_or(0) > hung_until_ns_;
  if (!calls.empty())
    thread.last_ns = hung || calls[0].how == "killed" ? calls[0].ts_ns : calls[0].end_ns.value_or(calls[0].ts_ns);
  if (calls.empty() || calls[0].how == "noreturn" || calls[0].how == "no_entry") return {};
  const Call& call = calls[0];
  const bool killed = killed_in(call, process);
  if (!killed && !hung && (call.end_ns || call.how == "killed")) return {};
  thread.standing = Standing::kElsewhere;
  thread.call = call.kind;
  thread.a0 = call.a0;
  thread.event_id = call.id;
  thread.since_ns = call.ts_ns;
  thread.waited_ns = std::max<std::int64_t>(0, difference(call.end_ns.value_or(process.until_ns), call.ts_ns));
  thread.attached = call.how == "attached";
  thread.killed = killed;
  thread.known_layout = trace::is_native_abi(call.abi);
  auto lines = stacks_.lines(call.stack_id);
  if (!lines) return lines.error();
  thread.stack = std::move(*lines);
  auto asleep = read_wait(call.id, thread);
  if (!asleep) return asleep.error();
  if (!*asleep) {
    auto object = object_of(call);
    if (!object) return object.error();
    thread.object = std::move(*object);
    return {};
  }
  if (thread.wait->timed) {
    thread.standing = Standing::kTimed;
    return {};
  }
  const bool held = killed ? thread.waited_ns >= kSecondNs : **asleep == 1;
  const bool understood = thread.wait->futexes == 1 && is_wait_op(*thread.wait);
  thread.standing = held && understood ? Standing::kHeld : Standing::kUncertain;
  thread.hung = hung && understood;
  return refused(calls, thread);
}

// What a thread does that waits by repeated short limits.
enum class Try { kNone, kWait, kSleep, kWake };

// Of one call. Waking nobody is part of it: so glibc leaves a condition variable and its mutex. A wait that was ended
// otherwise than by its limit is none.
Try try_of(const Call& call) {
  constexpr std::int64_t kTimedOut = -110;  // ETIMEDOUT
  const bool goes_on = !call.end_ns && call.how != "noreturn" && call.how != "no_entry" && call.how != "killed";
  if (call.kind == "nanosleep" || call.kind == "clock_nanosleep")
    return goes_on || call.result == 0 ? Try::kSleep : Try::kNone;
  if (call.kind != "futex") return Try::kNone;
  switch (static_cast<std::uint32_t>(call.a1) & kFutexCommand) {
    case kFutexWait:
    case kFutexWaitBitset:
      return goes_on || call.result == kTimedOut ? Try::kWait : Try::kNone;
    case kFutexWake:
    case kFutexWakeBitset:
      return call.result == 0 ? Try::kWake : Try::kNone;
    default:
      return Try::kNone;
  }
}

// Whether the thread has done nothing else than to try since the trace began, or for a second: see LastCall::tries. The
// two words at which a condition variable's waiters sleep lie in one of 64 bits.
Result<void> Reader::find_tries(const ThreadRow& row, const LastProcess& process, LastCall& thread) {
  constexpr std::int64_t kMost = 64;
  constexpr unsigned kPair = 3;
  constexpr std::int64_t kNextTry = 100'000'000;
  if (thread.standing != Standing::kTimed && thread.standing != Standing::kRuns &&
      thread.standing != Standing::kElsewhere)
    return {};
  if (row.calls.empty() || try_of(row.calls[0]) == Try::kNone) return {};
  // One that sleeps no more, or has made no call for longer than it takes to try again, has got what it tried to get.
  if (thread.standing == Standing::kRuns &&
      (try_of(row.calls[0]) == Try::kSleep || without_call(row, process) > kNextTry))
    return {};
  auto calls = last_of(row.id, kMost);
  if (!calls) return calls.error();
  const Call* last = nullptr;
  const Call* first = nullptr;
  bool did_else = false;
  for (const Call& call : *calls) {
    const Try kind = try_of(call);
    const bool same =
        !last || (try_of(*last) == kind && (kind == Try::kSleep || last->a0 >> kPair == call.a0 >> kPair));
    did_else = kind == Try::kNone || (kind != Try::kWake && !same);
    if (did_else) break;
    if (kind == Try::kWake) continue;
    if (!last) last = &call;
    first = &call;
  }
  if (!last) return {};
  const std::int64_t tried_ns = difference(process.until_ns, first->ts_ns);
  if (did_else && tried_ns < kSecondNs) return {};
  thread.tries = true;
  thread.tried_ns = std::max<std::int64_t>(0, tried_ns);
  if (thread.standing != Standing::kRuns) return {};
  thread.call = last->kind;
  thread.a0 = last->a0;
  thread.event_id = last->id;
  thread.since_ns = last->ts_ns;
  thread.waited_ns = std::max<std::int64_t>(0, difference(process.until_ns, last->ts_ns));
  thread.known_layout = trace::is_native_abi(last->abi);
  auto lines = stacks_.lines(last->stack_id);
  if (!lines) return lines.error();
  thread.stack = std::move(*lines);
  auto known = read_wait(last->id, thread);
  if (!known) return known.error();
  thread.standing = thread.wait ? Standing::kTimed : Standing::kElsewhere;
  return {};
}

// Whether the thread had ended when all waits were looked at: one that ended later was there, and may have released
// what others wait for, or was killed with them. For a process that has ended: whether the thread ended before it, by
// itself or by an exec.
bool Reader::is_gone(const ThreadRow& row, const LastProcess& process) const {
  const std::vector<Call>& calls = row.calls;
  if (process.ended && process.until_ns > hung_until_ns_) return row.end_ns && *row.end_ns < hung_until_ns_;
  if (!process.ended) return row.end_ns && *row.end_ns < waits_seen_ns_;
  if (row.end_ns && difference(process.until_ns, *row.end_ns) > kSecondNs) return true;
  if (calls.empty()) return false;
  if (calls[0].how == "noreturn" && calls[0].kind == "exit") return true;
  const Process& known = *catalog_.processes.find(process.id);
  return !known.images.empty() && calls[0].image_id && calls[0].image_id != known.images.back();
}

// How long a thread that is in no call has made none: until the trace ended, or its process shortly before.
std::int64_t Reader::without_call(const ThreadRow& row, const LastProcess& process) const {
  if (row.left_ns || (process.ended && !ended_together(process.until_ns, catalog_.end_ns))) return 0;
  std::int64_t until_ns = process.until_ns;
  if (!process.ended) until_ns = catalog_.meta_number("calls_until_ns").value_or(until_ns);
  if (row.end_ns) until_ns = std::min(until_ns, *row.end_ns);
  std::optional<std::int64_t> since_ns;
  if (row.calls.empty()) {
    since_ns = std::max(catalog_.start_ns, row.start_ns.value_or(catalog_.start_ns));
    const Process& known = *catalog_.processes.find(process.id);
    // A process may come into the trace with a program, long after it began.
    if (!known.images.empty())
      since_ns = std::max(*since_ns, catalog_.images.find(known.images.back())->ts_ns.value_or(*since_ns));
  } else {
    since_ns = row.calls[0].how == "no_entry" ? row.calls[0].ts_ns : row.calls[0].end_ns;
  }
  return since_ns ? std::max<std::int64_t>(0, difference(until_ns, *since_ns)) : 0;
}

Result<void> Reader::read_calls(ThreadRow& row, const LastCalls& out) {
  auto calls = last_of(row.id, 2);
  if (!calls) return calls.error();
  row.calls = std::move(*calls);
  const Process* process = catalog_.processes.find(row.process_id);
  if (!process || row.calls.empty() || row.calls[0].how != "killed" || !row.end_ns) return {};
  // The thread ended with the process, and not by an exec of another thread.
  const LastProcess& last = out.processes[catalog_.processes.index_of(*process)];
  if (!last.ended || difference(last.until_ns, *row.end_ns) > kSecondNs) return {};
  const auto [first, added] = killed_from_.emplace(row.process_id, *row.end_ns);
  if (!added) first->second = std::min(first->second, *row.end_ns);
  return {};
}

Result<void> Reader::add(const ThreadRow& row, LastCalls& out) {
  const Process* process = catalog_.processes.find(row.process_id);
  if (!process || !row.tid) {
    out.tasks_missing = true;
    return {};
  }
  LastProcess& last = out.processes[catalog_.processes.index_of(*process)];
  LastCall thread;
  thread.thread_id = row.id;
  thread.process = catalog_.processes.index_of(*process);
  thread.tid = *row.tid;
  thread.ns_tid = row.ns_tid;
  thread.name = row.name;
  if (is_gone(row, last)) {
    last.gone[row.ns_tid] = *row.tid;
    return {};
  }
  if (auto done = stand(row.calls, last, thread); !done) return done;
  if (auto done = find_tries(row, last, thread); !done) return done;
  if (thread.standing == Standing::kRuns) thread.idle_ns = without_call(row, last);
  // Signal handlers are not recorded for a thread that had just continued when its process was killed; for threads that
  // stayed in the call they are.
  if (thread.wait && thread.wait->handlers && row.calls[0].how != "returned") last.handlers = true;
  out.threads.push_back(std::move(thread));
  return {};
}

// Tasks that nothing is known of may be missing.
bool lose_tasks(trace::LossClass missing) {
  return missing == trace::LossClass::TASKS || missing == trace::LossClass::DEFINITIONS ||
         missing == trace::LossClass::RECORDS || missing == trace::LossClass::END;
}

Result<void> read_losses(const store::Database& database, const Catalog& catalog, bool under_way, LastCalls& out) {
  auto done = each_row(
      database, "SELECT DISTINCT cause FROM loss WHERE count > 0 OR cause = 'cut_off'", [&](const SqlRow& row) {
        const trace::LossClass missing = trace::loss_class(row.text(0));
        if (under_way && missing == trace::LossClass::END) return;
        if (lose_tasks(missing)) out.tasks_missing = true;
        if (missing == trace::LossClass::EVENTS) out.events_missing = true;
        if (row.text(0) == "no_answer")
          out.warnings.emplace_back(
              "memory or files of a process did not answer (userfaultfd, FUSE): waits there accuse nobody");
      });
  if (!done) return done;
  if (out.tasks_missing || out.events_missing)
    out.warnings.emplace_back(
        "the trace has losses (`uscope report` tells which): what may have been lost accuses nobody");
  const auto complete = catalog.meta_number("complete");
  if (complete && *complete == 0 && !under_way) {
    out.tasks_missing = true;
    out.warnings.emplace_back("tracing did not end in order, so it is not known which waits went on to the end");
  }
  return {};
}

// Whether futex calls were recorded at all.
Result<void> check_calls(const store::Database& database, const Catalog& catalog, LastCalls& out) {
  const auto calls = catalog.meta.find("calls");
  if (calls == catalog.meta.end() || calls->second.empty() || calls->second == "all") return {};
  auto set = syscalls::parse_syscall_set(calls->second);
  if (set && !set->contains(USC_ABI_NATIVE, USC_FUTEX_NATIVE))
    return Error{database.path().string() + " has no futex calls: it was recorded with -e " + calls->second,
                 "record again with futex among the calls, best with all of them"};
  out.calls_left_out = true;
  out.warnings.push_back("only some calls were recorded (-e " + calls->second +
                         "): a thread in another one counts as running");
  return {};
}

}  // namespace

bool ended_together(std::int64_t a_ns, std::int64_t b_ns) {
  const std::int64_t apart = difference(a_ns, b_ns);
  return apart <= kSecondNs && apart >= -kSecondNs;
}

bool ended_together(const LastProcess& a, const LastProcess& b) {
  return ended_together(a.until_ns, b.until_ns);
}

Result<LastCalls> read_last_calls(const store::Database& database, bool under_way) {
  auto catalog = read_catalog(database);
  if (!catalog) return catalog.error();
  LastCalls out;
  if (auto done = check_calls(database, *catalog, out); !done) return done.error();
  auto reader = Reader::prepare(database, *catalog);
  if (!reader) return reader.error();
  reader->add_processes(out);
  std::vector<ThreadRow> rows;
  auto done =
      each_row(database, "SELECT id, process_id, tid, ns_tid, name, start_ns, end_ns, left_ns FROM thread ORDER BY id",
               [&](const SqlRow& row) {
                 rows.push_back({ThreadRowId(row.integer(0)),
                                 ProcessRowId(row.integer(1)),
                                 row.maybe_integer(2),
                                 row.integer(3),
                                 text(row, 4),
                                 row.maybe_integer(5),
                                 row.maybe_integer(6),
                                 row.maybe_integer(7),
                                 {}});
               });
  if (!done) return done.error();
  for (ThreadRow& row : rows)
    if (auto read = reader->read_calls(row, out); !read) return read.error();
  for (const ThreadRow& row : rows)
    if (auto added = reader->add(row, out); !added) return added.error();
  if (std::any_of(out.threads.begin(), out.threads.end(),
                  [](const LastCall& thread) { return thread.wait && !thread.known_layout; }))
    out.warnings.emplace_back(
        "threads of 32-bit programs wait for futexes: their stacks are not walked and their locks not known, so no "
        "owner is named");
  if (done = read_losses(database, *catalog, under_way, out); !done) return done.error();
  return out;
}

}  // namespace uscope::analyzer

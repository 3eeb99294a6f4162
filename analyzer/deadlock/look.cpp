// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/look.h"

#include <algorithm>

#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

Result<void> read_threads(const store::Database& database, Look& out) {
  return each_row(
      database,
      "SELECT thread_id, state, asleep, stop_signal, tracer_pid, tracer, kind.name, a0, a1, a2, a3, a4, a5, "
      "timed, ts_ns, caught, by_timer, parent_pid FROM thread_look LEFT JOIN kind ON kind.id = kind_id",
      [&](const SqlRow& row) {
        LookedThread& thread = out.threads[ThreadRowId(row.integer(0))];
        thread.state = text(row, 1);
        thread.asleep = row.integer(2) != 0;
        thread.stop_signal = row.maybe_integer(3);
        thread.tracer_pid = row.maybe_integer(4);
        thread.tracer = text(row, 5);
        thread.call = text(row, 6);
        constexpr int kFirstArg = 7;
        for (int i = 0; i < 6; i++)
          thread.args.at(static_cast<std::size_t>(i)) = static_cast<std::uint64_t>(row.integer(kFirstArg + i));
        if (const auto timed = row.maybe_integer(13)) thread.timed = *timed != 0;
        thread.ts_ns = row.integer(14);
        if (const auto caught = row.maybe_integer(15)) thread.caught = static_cast<std::uint64_t>(*caught);
        thread.by_timer = row.maybe_integer(16).value_or(0) != 0;
        thread.parent_pid = row.maybe_integer(17);
      });
}

Result<void> read_waits(const store::Database& database, Look& out) {
  auto done = each_row(database, "SELECT thread_id, fd, via_fd, wants, bytes, parts FROM waited_descriptor ORDER BY fd",
                       [&](const SqlRow& row) {
                         const auto thread = out.threads.find(ThreadRowId(row.integer(0)));
                         if (thread == out.threads.end()) return;
                         thread->second.descriptors.push_back({row.integer(1), row.maybe_integer(2), text(row, 3),
                                                               row.maybe_integer(4), row.maybe_integer(5)});
                       });
  if (!done) return done;
  done = each_row(database, "SELECT thread_id, pid, pgid, what FROM waited_process", [&](const SqlRow& row) {
    const auto thread = out.threads.find(ThreadRowId(row.integer(0)));
    if (thread == out.threads.end()) return;
    if (row.text(3) == "owner")
      thread->second.strangers.emplace(row.integer(2), row.integer(1));
    else
      thread->second.processes.push_back({row.maybe_integer(1), row.maybe_integer(2), text(row, 3)});
  });
  if (!done) return done;
  return each_row(database, "SELECT thread_id, what, object, class, owner_tid, java_thread FROM monitor_wait",
                  [&](const SqlRow& row) {
                    const auto thread = out.threads.find(ThreadRowId(row.integer(0)));
                    if (thread == out.threads.end()) return;
                    thread->second.monitors.push_back({text(row, 1), static_cast<std::uint64_t>(row.integer(2)),
                                                       text(row, 3), row.maybe_integer(4), text(row, 5)});
                  });
}

Result<void> read_objects(const store::Database& database, Look& out) {
  auto done = each_row(database,
                       "SELECT process_id, pid, process, fd, type, access, dev, ino, peer, queued, listening, "
                       "nonblocking, name FROM resource WHERE at = 'look'",
                       [&](const SqlRow& row) {
                         Resource held;
                         held.process_id = maybe_id<ProcessRowId>(row, 0).value_or(ProcessRowId());
                         held.pid = row.integer(1);
                         held.process = text(row, 2);
                         held.fd = row.integer(3);
                         held.type = text(row, 4);
                         held.access = text(row, 5);
                         held.dev = row.integer(6);
                         held.ino = row.integer(7);
                         held.peer = row.maybe_integer(8);
                         held.queued = row.maybe_integer(9);
                         held.listening = row.integer(10) != 0;
                         held.nonblocking = row.integer(11) != 0;
                         held.name = text(row, 12);
                         out.resources.push_back(std::move(held));
                       });
  if (!done) return done;
  return each_row(database, "SELECT id, class, mode, dev, ino, pid, process_id, waiting, gone FROM held_lock",
                  [&](const SqlRow& row) {
                    HeldLock lock;
                    lock.id = row.integer(0);
                    lock.lock_class = text(row, 1);
                    lock.writing = row.text(2) == "write";
                    lock.dev = row.integer(3);
                    lock.ino = row.integer(4);
                    lock.pid = row.maybe_integer(5);
                    lock.process_id = maybe_id<ProcessRowId>(row, 6).value_or(ProcessRowId());
                    lock.waiting = row.integer(7) != 0;
                    lock.gone = row.integer(8) != 0;
                    out.locks.push_back(std::move(lock));
                  });
}

// SO_RCVTIMEO and SO_SNDTIMEO at SOL_SOCKET, by both numbers that they have; TCP_USER_TIMEOUT. i386 has one call more
// (14 is SYS_SETSOCKOPT), whose arguments lie in memory.
Result<void> read_limits(const store::Database& database, Look& out) {
  return each_row(database,
                  "SELECT ifnull(max(ts_ns), 0) FROM event JOIN kind ON kind.id = kind_id WHERE kind.class = 'syscall' "
                  "AND (kind.name = 'setsockopt' AND (a1 = 1 AND a2 IN (20, 21, 66, 67) OR a1 = 6 AND a2 = 18) OR "
                  "kind.name = 'socketcall' AND a0 = 14)",
                  [&](const SqlRow& row) { out.limits_changed_ns = row.integer(0); });
}

// By asynchronous input and output, or by a control group (version 1); what drivers are asked for, their descriptors
// tell.
Result<void> read_kernel_signals(const store::Database& database, Look& out) {
  const bool eventfds = std::any_of(out.resources.begin(), out.resources.end(),
                                    [](const Resource& held) { return held.type == "eventfd"; });
  if (!eventfds) return {};
  return each_row(database,
                  "SELECT EXISTS (SELECT 1 FROM event JOIN kind ON kind.id = kind_id WHERE kind.class = 'syscall' AND "
                  "kind.name = 'io_setup') OR EXISTS (SELECT 1 FROM string WHERE value LIKE '%cgroup.event_control')",
                  [&](const SqlRow& row) { out.kernel_signals = row.integer(0) != 0; });
}

Result<void> read_private_objects(const store::Database& database, Look& out) {
  const bool any = std::any_of(out.locks.begin(), out.locks.end(), [](const HeldLock& lock) {
    return lock.lock_class == "sem" || lock.lock_class == "msg";
  });
  if (!any) return {};
  return each_row(
      database,
      "SELECT DISTINCT kind.name, result FROM event JOIN kind ON kind.id = kind_id WHERE kind.class = "
      "'syscall' AND kind.name IN ('semget', 'msgget') AND a0 = 0 AND result >= 0",
      [&](const SqlRow& row) { out.made_private.emplace(row.text(0) == "semget" ? "sem" : "msg", row.integer(1)); });
}

// Not those of faults, nor libc's own. A handler of SIGALRM (14) goes with a timer.
Result<void> read_signals(const store::Database& database, Look& out) {
  return each_row(database,
                  "SELECT DISTINCT process_id, kind.name, a0 = 14 FROM event JOIN kind ON kind.id = kind_id "
                  "JOIN thread ON thread.id = thread_id WHERE kind.class = 'syscall' AND "
                  "(kind.name IN ('alarm', 'setitimer', 'timer_create') OR "
                  "(kind.name = 'rt_sigaction' AND a1 != 0 AND a0 NOT IN (4, 5, 7, 8, 11, 31, 32, 33)))",
                  [&](const SqlRow& row) {
                    const auto process = maybe_id<ProcessRowId>(row, 0);
                    const bool is_action = row.text(1) == "rt_sigaction";
                    auto& asking = !is_action            ? out.ask_for_timers
                                   : row.integer(2) != 0 ? out.ask_for_alarms
                                                         : out.ask_for_handlers;
                    if (process) asking.insert(*process);
                  });
}

}  // namespace

const char* system_v_class(std::string_view call) {
  if (call == "semop" || call == "semtimedop") return "sem";
  return call == "msgsnd" || call == "msgrcv" ? "msg" : nullptr;
}

Result<Look> read_look(const store::Database& database) {
  Look out;
  const auto columns = one_number(database.prepare("SELECT count(*) FROM pragma_table_info('thread_look')"));
  if (!columns) return columns.error();
  if (*columns == 0) return out;
  if (auto done = read_threads(database, out); !done) return done.error();
  if (auto done = read_waits(database, out); !done) return done.error();
  if (auto done = read_objects(database, out); !done) return done.error();
  if (out.threads.empty()) return out;
  if (auto done = read_signals(database, out); !done) return done.error();
  if (auto done = read_limits(database, out); !done) return done.error();
  if (auto done = read_kernel_signals(database, out); !done) return done.error();
  if (auto done = read_private_objects(database, out); !done) return done.error();
  auto done = each_row(database, "SELECT process_id, what FROM look_trouble", [&](const SqlRow& row) {
    out.troubles.push_back({maybe_id<ProcessRowId>(row, 0).value_or(ProcessRowId()), text(row, 1)});
  });
  if (!done) return done.error();
  return out;
}

}  // namespace uscope::analyzer

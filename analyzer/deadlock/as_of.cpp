// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Views in front of the tables that a diagnosis reads.
//
// A thread that was in a wait at the moment had been asleep in it since it began, or woken by nobody who is known. If
// somebody woke it later, it was not blocked for good (asleep: 2). The word of its
// lock, as it was when the wait began, still told the owner at the moment if nobody had woken anyone in between at one
// of the lock's words: to pass a lock on for which others wait, its owner must wake one of them, in a read-write lock
// (56 bytes) maybe at another word. Of a futex that other processes share, whose addresses differ, no wake may have
// come in between at any shared one.
#include "analyzer/deadlock/as_of.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/read/shadow.h"

namespace uscope::analyzer {
namespace {

// {0}: the table of the file, {1}: the moment, {2}: the file's threads, {3}: its events, {4}: when tracing began, {5}:
// the file's processes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kViews{{
    {"event",
     "SELECT id, ts_ns, iif(ts_ns + dur_ns > {1}, NULL, dur_ns) AS dur_ns, CASE "
     "WHEN how = 'returned' AND ts_ns + dur_ns > {1} THEN 'open' "
     "WHEN how = 'killed' AND coalesce((SELECT t.end_ns FROM {2} t WHERE t.id = thread_id) > {1}, 0) THEN 'open' "
     "ELSE how END AS how, thread_id, image_id, kind_id, iif(ts_ns + dur_ns > {1}, NULL, result) AS result, stack_id, "
     "a0, a1, a2, a3, a4, a5, object_id FROM {0} WHERE ts_ns <= {1}"},
    {"thread",
     "SELECT id, process_id, tid, ns_tid, coalesce((SELECT n.name FROM thread_name n WHERE n.thread_id = t.id AND "
     "n.ts_ns <= {1} ORDER BY n.ts_ns DESC LIMIT 1), t.name) AS name, start_ns, iif(end_ns > {1}, NULL, end_ns) AS "
     "end_ns, iif(left_ns > {1}, NULL, left_ns) AS left_ns FROM {0} t WHERE coalesce(start_ns, 0) <= {1}"},
    {"process",
     "SELECT id, pid, ns_pid, parent_id, start_ns, iif(end_ns > {1}, NULL, end_ns) AS end_ns, iif(end_ns > {1}, NULL, "
     "exit_code) AS exit_code, iif(end_ns > {1}, NULL, exit_signal) AS exit_signal, uses_io_uring, space, origin FROM "
     "{0} WHERE coalesce(start_ns, 0) <= {1}"},
    {"image", "SELECT * FROM {0} WHERE ts_ns <= {1}"},
    {"loss", "SELECT * FROM {0} WHERE ts_ns <= {1}"},
    {"futex_wait",
     "SELECT w.event_id, w.address, w.op, w.expected, w.timeout_ns, w.words, iif(e.ts_ns + e.dur_ns <= {1} OR EXISTS "
     "(SELECT 1 FROM {3} o CROSS JOIN kind k ON k.id = o.kind_id CROSS JOIN {2} ot ON ot.id = o.thread_id CROSS JOIN "
     "{5} op ON op.id = ot.process_id WHERE o.ts_ns BETWEEN e.ts_ns AND {1} AND o.kind_id IN (SELECT id FROM kind "
     "WHERE "
     "class = 'syscall' AND name IN ('futex', 'futex_wake')) AND (k.name = 'futex_wake' AND o.result > 0 OR o.result > "
     "0 AND (o.a1 & 127) IN (1, 3, 4, 5, 10) OR o.result = 0 AND (o.a1 & 127) = 7) AND ((op.id = t.process_id OR "
     "op.space = p.space) AND o.a0 BETWEEN w.address - 56 AND w.address + 56 OR (w.op & 128) = 0 AND (o.a1 & 128) = "
     "0)), NULL, w.words) AS words_at_stop, w.key, w.words_from, w.words_from AS words_at_stop_from, CASE WHEN e.ts_ns "
     "+ e.dur_ns <= {1} THEN w.asleep WHEN e.how = 'returned' AND e.result = 0 THEN 2 WHEN w.asleep IS NULL AND "
     "e.dur_ns "
     "IS NULL AND NOT (e.how = 'killed' AND t.end_ns > {1}) THEN NULL ELSE 1 END AS asleep, w.strangers, w.futexes, "
     "w.handlers, w.open_to_others FROM {0} w JOIN {3} e ON e.id = w.event_id JOIN {2} t ON t.id = e.thread_id JOIN "
     "{5} "
     "p ON p.id = t.process_id WHERE e.ts_ns <= {1}"},
    {"meta",
     "SELECT key, CASE key WHEN 'duration_ns' THEN CAST({1} - {4} AS TEXT) WHEN 'calls_until_ns' THEN '{1}' WHEN "
     "'complete' THEN '1' ELSE value END AS value FROM {0} WHERE key NOT IN ('waits_seen_ns', 'hung_until_ns')"},
    {"resource", "SELECT * FROM {0} WHERE at = 'attach' AND ts_ns <= {1}"},
    {"thread_look", "SELECT * FROM {0} WHERE 0"},
    {"waited_descriptor", "SELECT * FROM {0} WHERE 0"},
    {"waited_process", "SELECT * FROM {0} WHERE 0"},
    {"held_lock", "SELECT * FROM {0} WHERE 0"},
    {"monitor_wait", "SELECT * FROM {0} WHERE 0"},
    {"look_trouble", "SELECT * FROM {0} WHERE 0"},
}};

}  // namespace

Result<void> stand_at(const store::Database& database, const Catalog& catalog, std::int64_t ts_ns) {
  for (const auto& [name, query] : kViews) {
    const std::string text = fmt::format(fmt::runtime(query), database.table(name), ts_ns, database.table("thread"),
                                         database.table("event"), catalog.start_ns, database.table("process"));
    if (auto done = shadow(database, Shadow::kView, name, " AS " + text); !done) return done;
  }
  return {};
}

}  // namespace uscope::analyzer

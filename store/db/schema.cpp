// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/schema.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "store/db/statement.h"
#include "syscalls/errno_names.h"
#include "syscalls/syscall_table.h"

namespace uscope::store {
namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE process(
  id INTEGER PRIMARY KEY, pid INTEGER, ns_pid INTEGER, parent_id INTEGER REFERENCES process(id),
  start_ns INTEGER, end_ns INTEGER, exit_code INTEGER, exit_signal INTEGER, uses_io_uring INTEGER,
  space INTEGER, origin TEXT CHECK (origin IN ('exec', 'fork', 'clone')),
  cgroup_id INTEGER, cgroup TEXT, container TEXT);
CREATE TABLE image(
  id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process(id), ts_ns INTEGER NOT NULL,
  path TEXT NOT NULL, argv TEXT NOT NULL, name TEXT NOT NULL, names TEXT NOT NULL);
CREATE TABLE thread(
  id INTEGER PRIMARY KEY, process_id INTEGER REFERENCES process(id), tid INTEGER, ns_tid INTEGER, name TEXT,
  start_ns INTEGER, end_ns INTEGER, left_ns INTEGER);
CREATE TABLE thread_name(
  thread_id INTEGER NOT NULL REFERENCES thread(id), ts_ns INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (thread_id, ts_ns)) WITHOUT ROWID;
CREATE TABLE thread_user(
  thread_id INTEGER NOT NULL REFERENCES thread(id), ts_ns INTEGER NOT NULL, uid INTEGER NOT NULL,
  PRIMARY KEY (thread_id, ts_ns)) WITHOUT ROWID;
CREATE TABLE module(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT,
  class TEXT NOT NULL CHECK (class IN ('app', 'library', 'vdso', 'kernel', 'jit', 'unknown')));
CREATE TABLE frame(
  id INTEGER PRIMARY KEY, module_id INTEGER NOT NULL REFERENCES module(id), rel_pc INTEGER NOT NULL,
  function TEXT NOT NULL, function_offset INTEGER, file TEXT, line INTEGER, inlined INTEGER NOT NULL,
  origin TEXT NOT NULL DEFAULT 'own' CHECK (origin IN ('own', 'package', 'runtime', 'part')));
CREATE TABLE frame_lock(
  frame_id INTEGER NOT NULL REFERENCES frame(id), address INTEGER NOT NULL,
  PRIMARY KEY (frame_id, address)) WITHOUT ROWID;
CREATE TABLE stack(
  id INTEGER PRIMARY KEY, depth INTEGER NOT NULL, ended TEXT NOT NULL, trigger_frame_id INTEGER REFERENCES frame(id),
  trigger_fallback INTEGER NOT NULL, folded TEXT NOT NULL, managed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE stack_frame(
  stack_id INTEGER NOT NULL REFERENCES stack(id), position INTEGER NOT NULL, inline_depth INTEGER NOT NULL,
  frame_id INTEGER NOT NULL REFERENCES frame(id), space TEXT NOT NULL CHECK (space IN ('user', 'kernel')),
  PRIMARY KEY (stack_id, position, inline_depth)) WITHOUT ROWID;
CREATE TABLE kind(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, class TEXT NOT NULL, abi TEXT NOT NULL, nr INTEGER NOT NULL,
  UNIQUE (class, abi, nr));
CREATE TABLE kind_argument(
  kind_id INTEGER NOT NULL REFERENCES kind(id), arg INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
  PRIMARY KEY (kind_id, arg)) WITHOUT ROWID;
CREATE TABLE kind_result(kind_id INTEGER PRIMARY KEY REFERENCES kind(id), type TEXT NOT NULL);
CREATE TABLE event(
  id INTEGER PRIMARY KEY, ts_ns INTEGER NOT NULL, dur_ns INTEGER, how TEXT NOT NULL,
  thread_id INTEGER NOT NULL REFERENCES thread(id), image_id INTEGER REFERENCES image(id),
  kind_id INTEGER NOT NULL REFERENCES kind(id), result INTEGER, stack_id INTEGER REFERENCES stack(id),
  a0 INTEGER, a1 INTEGER, a2 INTEGER, a3 INTEGER, a4 INTEGER, a5 INTEGER,
  object_id INTEGER REFERENCES object(id));
CREATE TABLE string(id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE event_string(
  event_id INTEGER NOT NULL REFERENCES event(id), arg INTEGER NOT NULL,
  string_id INTEGER NOT NULL REFERENCES string(id), late INTEGER NOT NULL,
  source INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (event_id, arg)) WITHOUT ROWID;
CREATE TABLE content(id INTEGER PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE event_content(
  event_id INTEGER NOT NULL REFERENCES event(id), arg INTEGER NOT NULL, holds INTEGER NOT NULL,
  source INTEGER NOT NULL, content_id INTEGER REFERENCES content(id), late INTEGER NOT NULL, cut INTEGER NOT NULL,
  PRIMARY KEY (event_id, arg, holds, source)) WITHOUT ROWID;
CREATE TABLE event_descriptor(
  event_id INTEGER NOT NULL REFERENCES event(id), arg INTEGER NOT NULL, place INTEGER NOT NULL, fd INTEGER NOT NULL,
  wants TEXT NOT NULL CHECK (wants IN ('read', 'write', 'read or write', 'other', 'passed', 'pidfd')),
  string_id INTEGER REFERENCES string(id), late INTEGER NOT NULL, PRIMARY KEY (event_id, arg, place)) WITHOUT ROWID;
CREATE TABLE held_descriptor(
  process_id INTEGER NOT NULL REFERENCES process(id), fd INTEGER NOT NULL, string_id INTEGER REFERENCES string(id),
  event_id INTEGER REFERENCES event(id), until_ns INTEGER,
  until TEXT NOT NULL CHECK (until IN ('close', 'exec', 'exit', 'left', 'tracing')));
CREATE TABLE event_buffers(
  event_id INTEGER PRIMARY KEY REFERENCES event(id), arg INTEGER NOT NULL, parts INTEGER NOT NULL,
  bytes INTEGER NOT NULL);
CREATE TABLE futex_wait(
  event_id INTEGER PRIMARY KEY REFERENCES event(id), address INTEGER NOT NULL, op INTEGER NOT NULL,
  expected INTEGER, timeout_ns INTEGER, words BLOB, words_at_stop BLOB, key TEXT, words_from INTEGER,
  words_at_stop_from INTEGER, asleep INTEGER, strangers INTEGER, futexes INTEGER NOT NULL DEFAULT 1,
  handlers INTEGER, open_to_others INTEGER);
CREATE TABLE futex_wake(
  event_id INTEGER PRIMARY KEY REFERENCES event(id), address INTEGER NOT NULL, count INTEGER NOT NULL, key TEXT);
CREATE TABLE signal(
  event_id INTEGER PRIMARY KEY REFERENCES event(id), number INTEGER NOT NULL, code INTEGER NOT NULL, result TEXT,
  blocked INTEGER, sender_pid INTEGER, sender_tid INTEGER, sender TEXT, receiver_pid INTEGER NOT NULL,
  receiver_tid INTEGER, receiver TEXT, info_pid INTEGER, info_uid INTEGER, info_status INTEGER, info_value INTEGER,
  info_address INTEGER, info_band INTEGER, info_fd INTEGER, info_timer INTEGER, info_overrun INTEGER,
  info_syscall INTEGER, handler INTEGER, handler_frame_id INTEGER REFERENCES frame(id));
CREATE TABLE cell(
  kind_id INTEGER NOT NULL REFERENCES kind(id), trigger_frame_id INTEGER REFERENCES frame(id),
  events INTEGER NOT NULL, errors INTEGER NOT NULL, total_ns INTEGER NOT NULL, open INTEGER NOT NULL,
  first_event_id INTEGER NOT NULL REFERENCES event(id), UNIQUE (kind_id, trigger_frame_id));
CREATE TABLE latency(
  kind_id INTEGER NOT NULL REFERENCES kind(id), up_to_ns INTEGER NOT NULL, events INTEGER NOT NULL,
  PRIMARY KEY (kind_id, up_to_ns)) WITHOUT ROWID;
CREATE TABLE error_cell(
  kind_id INTEGER NOT NULL REFERENCES kind(id), errno INTEGER NOT NULL, trigger_frame_id INTEGER REFERENCES frame(id),
  events INTEGER NOT NULL, first_event_id INTEGER NOT NULL REFERENCES event(id),
  UNIQUE (kind_id, errno, trigger_frame_id));
CREATE TABLE cell_latency(
  kind_id INTEGER NOT NULL REFERENCES kind(id), trigger_frame_id INTEGER REFERENCES frame(id),
  up_to_ns INTEGER NOT NULL, events INTEGER NOT NULL, UNIQUE (kind_id, trigger_frame_id, up_to_ns));
CREATE TABLE thread_total(
  thread_id INTEGER PRIMARY KEY REFERENCES thread(id), events INTEGER NOT NULL, errors INTEGER NOT NULL,
  total_ns INTEGER NOT NULL, wait_ns INTEGER NOT NULL, gaps INTEGER NOT NULL, gap_ns INTEGER NOT NULL);
CREATE TABLE object(id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL);
CREATE TABLE program_total(
  thread_id INTEGER NOT NULL REFERENCES thread(id), image_id INTEGER REFERENCES image(id), events INTEGER NOT NULL,
  errors INTEGER NOT NULL, total_ns INTEGER NOT NULL, wait_ns INTEGER NOT NULL, UNIQUE (thread_id, image_id));
CREATE TABLE object_total(
  kind_id INTEGER NOT NULL REFERENCES kind(id), process_id INTEGER REFERENCES process(id),
  image_id INTEGER REFERENCES image(id), trigger_frame_id INTEGER REFERENCES frame(id),
  folder_id INTEGER REFERENCES string(id), string_id INTEGER REFERENCES string(id),
  part TEXT NOT NULL CHECK (part IN ('call', 'source', 'target')), errno INTEGER,
  events INTEGER NOT NULL, total_ns INTEGER NOT NULL, bytes INTEGER NOT NULL, changes INTEGER NOT NULL,
  last_event_id INTEGER NOT NULL REFERENCES event(id), space INTEGER, runtime_frame_id INTEGER REFERENCES frame(id));
CREATE TABLE gap(
  thread_id INTEGER NOT NULL REFERENCES thread(id), ts_ns INTEGER NOT NULL, dur_ns INTEGER NOT NULL,
  since TEXT NOT NULL CHECK (since IN ('call', 'tracing', 'thread')),
  until TEXT NOT NULL CHECK (until IN ('call', 'tracing', 'left', 'thread')),
  before_event_id INTEGER REFERENCES event(id), after_event_id INTEGER REFERENCES event(id), doubtful INTEGER NOT NULL);
CREATE TABLE gap_total(
  since TEXT NOT NULL CHECK (since IN ('call', 'tracing', 'thread')),
  until TEXT NOT NULL CHECK (until IN ('call', 'tracing', 'left', 'thread')), before_kind_id INTEGER REFERENCES kind(id),
  before_stack_id INTEGER REFERENCES stack(id), after_kind_id INTEGER REFERENCES kind(id),
  after_stack_id INTEGER REFERENCES stack(id), gaps INTEGER NOT NULL, total_ns INTEGER NOT NULL,
  longest_ns INTEGER NOT NULL, ts_ns INTEGER NOT NULL, thread_id INTEGER NOT NULL REFERENCES thread(id),
  before_event_id INTEGER REFERENCES event(id), after_event_id INTEGER REFERENCES event(id));
CREATE TABLE stack_end(ended TEXT PRIMARY KEY NOT NULL, stacks INTEGER NOT NULL, events INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE guessed_stack(stack_id INTEGER PRIMARY KEY REFERENCES stack(id), events INTEGER NOT NULL);
CREATE TABLE notable_event(
  list TEXT NOT NULL CHECK (list IN ('slowest', 'wait', 'open')), event_id INTEGER NOT NULL REFERENCES event(id),
  PRIMARY KEY (list, event_id)) WITHOUT ROWID;
CREATE TABLE trigger_of_stack(stack_id INTEGER REFERENCES stack(id), frame_id INTEGER REFERENCES frame(id));
CREATE TABLE verify(
  event_id INTEGER REFERENCES event(id), equal INTEGER NOT NULL, uscope_depth INTEGER NOT NULL,
  oracle_depth INTEGER NOT NULL, first_difference INTEGER);
CREATE TABLE loss(
  ts_ns INTEGER NOT NULL, until_ns INTEGER NOT NULL, cause TEXT NOT NULL, process_id INTEGER REFERENCES process(id),
  count INTEGER NOT NULL);
CREATE TABLE unwind_table(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT, state TEXT NOT NULL, rows INTEGER NOT NULL,
  rules INTEGER NOT NULL, bytes INTEGER NOT NULL, trouble TEXT);
CREATE TABLE thread_look(
  thread_id INTEGER PRIMARY KEY REFERENCES thread(id), ts_ns INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN
    ('running', 'asleep', 'uninterruptible', 'stopped', 'traced', 'frozen', 'ended', 'unknown')),
  asleep INTEGER NOT NULL, stop_signal INTEGER, tracer_pid INTEGER, tracer TEXT,
  kind_id INTEGER REFERENCES kind(id), a0 INTEGER, a1 INTEGER, a2 INTEGER, a3 INTEGER, a4 INTEGER, a5 INTEGER,
  timed INTEGER, caught INTEGER, by_timer INTEGER, parent_pid INTEGER);
CREATE TABLE waited_descriptor(
  thread_id INTEGER NOT NULL REFERENCES thread(id), fd INTEGER NOT NULL, via_fd INTEGER,
  wants TEXT NOT NULL CHECK (wants IN ('read', 'write', 'read or write', 'lock', 'connect', 'accept', 'other')),
  bytes INTEGER, parts INTEGER);
CREATE TABLE waited_process(
  thread_id INTEGER NOT NULL REFERENCES thread(id), pid INTEGER, pgid INTEGER,
  what TEXT NOT NULL CHECK (what IN ('child', 'vfork', 'pidfd', 'owner')));
CREATE TABLE resource(
  process_id INTEGER REFERENCES process(id), pid INTEGER NOT NULL, process TEXT, fd INTEGER NOT NULL,
  type TEXT NOT NULL, access TEXT NOT NULL CHECK (access IN ('r', 'w', 'rw')), dev INTEGER, ino INTEGER, peer INTEGER,
  queued INTEGER, room INTEGER, listening INTEGER, nonblocking INTEGER NOT NULL, name TEXT NOT NULL,
  ts_ns INTEGER NOT NULL, at TEXT NOT NULL CHECK (at IN ('attach', 'look')));
CREATE TABLE held_lock(
  id INTEGER NOT NULL, class TEXT NOT NULL CHECK (class IN ('flock', 'posix', 'ofd', 'lease', 'sem', 'msg', 'mqueue')),
  mode TEXT NOT NULL CHECK (mode IN ('read', 'write')), dev INTEGER, ino INTEGER, first INTEGER, last INTEGER,
  pid INTEGER, process_id INTEGER REFERENCES process(id), waiting INTEGER NOT NULL, gone INTEGER);
CREATE TABLE monitor_wait(
  thread_id INTEGER NOT NULL REFERENCES thread(id), what TEXT NOT NULL CHECK (what IN ('enter', 'wait', 'park', 'lock')),
  object INTEGER NOT NULL, class TEXT, owner_tid INTEGER, java_thread TEXT);
CREATE TABLE look_trouble(process_id INTEGER REFERENCES process(id), what TEXT NOT NULL);
CREATE TABLE errno_name(number INTEGER PRIMARY KEY, name TEXT NOT NULL);
)sql";

// v_event uses inner joins for everything that each event has, so that SQLite can
// start with any of these tables: with a call, a process, or with a trigger, through trigger_of_stack, which also has a
// row for "no stack".
constexpr const char* kViews = R"sql(
CREATE VIEW v_event AS
SELECT event.id AS id, event.ts_ns AS ts_ns, event.dur_ns AS dur_ns, event.how AS how, process.pid AS pid,
  thread.tid AS tid, CAST((SELECT thread_user.uid FROM thread_user WHERE thread_user.thread_id = event.thread_id
      AND thread_user.ts_ns <= event.ts_ns ORDER BY thread_user.ts_ns DESC LIMIT 1) AS INTEGER) AS uid,
  image.name AS process, CAST(coalesce(
    (SELECT thread_name.name FROM thread_name WHERE thread_name.thread_id = event.thread_id
      AND thread_name.ts_ns <= event.ts_ns ORDER BY thread_name.ts_ns DESC LIMIT 1), thread.name) AS TEXT) AS thread,
  kind.name AS kind, kind.class AS class, event.result AS result, errno_name.name AS errno,
  event.a0 AS a0, event.a1 AS a1, event.a2 AS a2, event.a3 AS a3, event.a4 AS a4, event.a5 AS a5,
  object.name AS object, object.kind AS object_kind, event.stack_id AS stack_id, stack.depth AS depth, stack.ended AS ended, frame.function AS "trigger",
  module.path AS trigger_module, stack.folded AS folded,
  process.cgroup AS cgroup, process.container AS container
FROM event
  JOIN kind ON kind.id = event.kind_id
  JOIN thread ON thread.id = event.thread_id
  JOIN trigger_of_stack ON trigger_of_stack.stack_id IS event.stack_id
  LEFT JOIN frame ON frame.id = trigger_of_stack.frame_id
  LEFT JOIN process ON process.id = thread.process_id
  LEFT JOIN module ON module.id = frame.module_id
  LEFT JOIN image ON image.id = event.image_id
  LEFT JOIN errno_name ON errno_name.number = -event.result AND kind.class = 'syscall'
  LEFT JOIN stack ON stack.id = event.stack_id
  LEFT JOIN object ON object.id = event.object_id;
CREATE VIEW v_argument AS
SELECT event.id AS event_id, kind_argument.arg AS arg, kind_argument.name AS name, kind_argument.type AS type,
  CASE kind_argument.arg WHEN 0 THEN event.a0 WHEN 1 THEN event.a1 WHEN 2 THEN event.a2 WHEN 3 THEN event.a3
    WHEN 4 THEN event.a4 WHEN 5 THEN event.a5 END AS value, string.value AS text
FROM event
  JOIN kind_argument ON kind_argument.kind_id = event.kind_id
  LEFT JOIN event_string ON event_string.event_id = event.id AND event_string.arg = kind_argument.arg
  LEFT JOIN string ON string.id = event_string.string_id;
CREATE VIEW dual_space AS
SELECT kind.name AS kind, kind.class AS class, frame.function AS function, module.path AS module,
  sum(cell.events) AS events, sum(cell.errors) AS errors, sum(cell.total_ns) AS total_ns, sum(cell.open) AS open
FROM cell
  JOIN kind ON kind.id = cell.kind_id
  LEFT JOIN frame ON frame.id = cell.trigger_frame_id
  LEFT JOIN module ON module.id = frame.module_id
GROUP BY kind.name, kind.class, frame.function, frame.module_id;
)sql";

constexpr const char* kIndices = R"sql(
CREATE INDEX event_thread_ts ON event(thread_id, ts_ns);
CREATE INDEX event_stack ON event(stack_id);
CREATE INDEX event_kind_a0 ON event(kind_id, a0);
CREATE INDEX stack_frame_frame ON stack_frame(frame_id);
CREATE INDEX stack_trigger ON stack(trigger_frame_id);
CREATE INDEX frame_function ON frame(function);
CREATE INDEX thread_process ON thread(process_id);
CREATE INDEX thread_tid ON thread(tid);
CREATE INDEX image_process ON image(process_id);
CREATE INDEX process_pid ON process(pid);
CREATE INDEX verify_event ON verify(event_id);
CREATE INDEX kind_name ON kind(name);
CREATE INDEX trigger_of_stack_frame ON trigger_of_stack(frame_id, stack_id);
)sql";

constexpr std::array kTriggers{
    "INSERT INTO trigger_of_stack SELECT id, trigger_frame_id FROM stack ORDER BY trigger_frame_id",
    "INSERT INTO trigger_of_stack VALUES(NULL, NULL)"};

constexpr const char* kTriggerIndex = R"sql(
CREATE UNIQUE INDEX trigger_of_stack_stack ON trigger_of_stack(stack_id, frame_id);
)sql";

// Fixed statistics for SQLite's planner, whatever the trace: there are many events, and many of one call; few of one
// stack. (ANALYZE would read everything, and its results on a small trace mislead the planner.)
constexpr const char* kStatistics = R"sql(
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES
  ('event', 'event_kind_a0', '1048576 20000 100'), ('kind', 'kind_name', '1048576 1');
)sql";

// The same, so that a question begins with the events, of which nothing is found by an index. This connection is to
// know them, too.
constexpr const char* kReusedStatistics = R"sql(
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES ('event', NULL, '1048576'), ('kind', NULL, '100'), ('thread', NULL, '100');
ANALYZE sqlite_schema;
)sql";

Result<void> fill_errno_names(sqlite3* database) {
  auto insert = Statement::prepare(database, "INSERT INTO errno_name VALUES(?1, ?2)");
  if (!insert) return insert.error();
  for (int number = 1; number <= syscalls::kLastErrno; number++) {
    const std::string name(syscalls::errno_name(number));
    if (name.empty()) continue;
    if (auto done = insert->run(number, std::string_view(name)); !done) return done;
  }
  return {};
}

Result<std::vector<SchemaObject>> objects_of(sqlite3* database) {
  auto query = Statement::prepare(database, "SELECT type, name, tbl_name, sql FROM sqlite_schema");
  if (!query) return query.error();
  std::vector<SchemaObject> objects;
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) return objects;
    objects.push_back({std::string(query->text(0)), std::string(query->text(1)), std::string(query->text(2)),
                       std::string(query->text(3))});
  }
}

// A database in memory with the present schema, and what it holds.
struct OwnSchema {
  SqliteHandle memory;
  std::vector<SchemaObject> objects;
};

Result<OwnSchema> make_own_schema() {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  OwnSchema own{SqliteHandle(raw), {}};
  if (code != SQLITE_OK) return Error{std::string("cannot open a database in memory: ") + sqlite3_errstr(code), ""};
  for (const char* sql : {kTables, kViews, kTriggerIndex, kIndices, kStatistics})
    if (auto done = execute(raw, sql); !done) return done.error();
  auto objects = objects_of(raw);
  if (!objects) return objects.error();
  own.objects = std::move(*objects);
  return own;
}

// Limits while the schema of a possibly hostile file is read: SQLite compiles every text in it. The genuine texts are
// below 2 KiB each, and below 100; reading them takes fewer than ten steps of SQLite's machine each.
class SchemaBounds {
 public:
  explicit SchemaBounds(sqlite3* database) : database_(database) {
    constexpr int kLongestText = 16 << 10;
    constexpr int kSteps = 5'000;
    length_before_ = sqlite3_limit(database_, SQLITE_LIMIT_SQL_LENGTH, kLongestText);
    sqlite3_progress_handler(
        database_, kSteps, [](void*) { return 1; }, nullptr);
  }
  SchemaBounds(const SchemaBounds&) = delete;
  SchemaBounds& operator=(const SchemaBounds&) = delete;
  ~SchemaBounds() {
    sqlite3_progress_handler(database_, 0, nullptr, nullptr);
    sqlite3_limit(database_, SQLITE_LIMIT_SQL_LENGTH, length_before_);
  }

 private:
  sqlite3* database_;
  int length_before_;
};

}  // namespace

namespace {

constexpr const char* kNotOurs =
    "load the trace again from its raw file; to read it as it is, use sqlite3, if you trust who made it";

// What differs from the present schema, where an older version of uscope can have made it.
struct SchemaDifference {
  SchemaChanges changes;
  std::vector<SchemaObject> changed;  // with the present text
  std::vector<SchemaObject> missing;
};

Result<SchemaDifference> compare(const std::vector<SchemaObject>& found, const std::vector<SchemaObject>& own,
                                 const std::string& name) {
  SchemaDifference out;
  std::vector<const SchemaObject*> known;
  for (const SchemaObject& object : found) {
    const auto now = std::find_if(own.begin(), own.end(), [&](const SchemaObject& one) {
      return one.type == object.type && one.name == object.name && one.table == object.table;
    });
    const auto changes = now == own.end() ? std::nullopt : changes_since(*now, object.text);
    if (!changes || std::find(known.begin(), known.end(), &*now) != known.end())
      return Error{name + " holds what uscope does not make: the " + object.type + " " + object.name, kNotOurs};
    known.push_back(&*now);
    if (changes->empty()) continue;
    out.changes.insert(out.changes.end(), changes->begin(), changes->end());
    out.changed.push_back(*now);
  }
  for (const SchemaObject& object : own) {
    if (std::find(known.begin(), known.end(), &object) != known.end()) continue;
    const SchemaChange* change = new_object(object);
    if (change == nullptr) return Error{name + " lacks the " + object.type + " " + object.name, kNotOurs};
    if (change->object == object.name) out.changes.push_back(change);
    out.missing.push_back(object);
  }
  std::sort(out.changes.begin(), out.changes.end());  // as the history has them
  return out;
}

}  // namespace

Result<OlderSchema> check_schema(sqlite3* database, const std::string& name) {
  static const Result<OwnSchema> own = make_own_schema();
  if (!own) return own.error();
  const SchemaBounds bounds(database);
  const auto found = objects_of(database);
  if (!found && (sqlite3_errcode(database) & 0xff) == SQLITE_INTERRUPT)
    return Error{name + " holds far more tables and views than uscope makes", kNotOurs};
  if (!found) return found.error().in(name);
  const auto difference = compare(*found, own->objects, name);
  if (!difference) return difference.error();
  auto tables = supply_missing(database, own->memory.get(), difference->changed, difference->missing);
  if (!tables) return tables.error().in(name);
  return OlderSchema{difference->changes, std::move(*tables)};
}

Result<void> create_schema(sqlite3* database) {
  const std::string versions =
      fmt::format("PRAGMA user_version={};PRAGMA application_id={}", kSchemaVersion, kApplicationId);
  for (const std::string& sql : {std::string(kTables), std::string(kViews), versions})
    if (auto done = execute(database, sql); !done) return done;
  return fill_errno_names(database);
}

Result<void> create_indices(sqlite3* database) {
  for (const char* sql : {kTriggers[0], kTriggers[1], kTriggerIndex, kIndices, kStatistics})
    if (auto done = execute(database, sql); !done) return done;
  return {};
}

Result<void> create_reused_schema(sqlite3* database) {
  if (auto done = create_schema(database); !done) return done;
  if (auto done = execute(database, kTriggerIndex); !done) return done;
  return execute(database, kReusedStatistics);
}

Result<void> fill_derived_tables(Statements& statements) {
  for (const char* sql : kTriggers) {
    auto statement = statements.prepare(sql);
    if (!statement) return statement.error();
    if (auto done = statement->execute(); !done) return done;
  }
  return {};
}

}  // namespace uscope::store

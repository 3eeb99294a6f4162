// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A small trace that holds one of everything, written with the store's own schema: the tests of analyzer/ and cli/ know
// every number in it. Times count from kStart.
//
//   pid 100  bash → make   threads 100 (main) and 110 (worker); exit 0
//     pid 101  gcc         exit 1
//       pid 103  a hostile name, io_uring, still running
//     pid 102  make, forked without exec; killed by SIGKILL
//   pid 104  its parent is missing
//   pid 105 and 106  each other's parent
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "store/db/database.h"
#include "store/db/statement.h"
#include "tests/support/temporary_folder.h"

namespace uscope::test {

constexpr std::int64_t kStart = 1'000'000'000'000;

// ESC, newline, a byte that is not UTF-8, `;` and markup: "\x1b[31mred\n\xff;</script>".
constexpr const char* kHostileHex = "1b5b33316d7265640aff3b3c2f7363726970743e";
constexpr std::string_view kHostile = "\x1b[31mred\n\xff;</script>";

constexpr const char* kSampleRows = R"sql(
INSERT INTO meta VALUES('command', '["make","-j2"]'), ('mode', '4'), ('frames', '64'), ('backend', 'bpf'),
  ('host', 'testhost'), ('kernel', '6.1.0-test'), ('start_ns', '1000000000000'), ('duration_ns', '2000000000'),
  ('utc_offset_ns', '1700000000000000000'), ('uscope_version', '0.1.0'),
  ('target', 'make'), ('calls', 'all'), ('verify_every', '100'), ('walks', '12'), ('deferred_lock', '2'), ('deferred_no_table', '1'), ('walks_stopped_early', '4'),
  ('debug_troubles', '[{"path":"/usr/bin/gcc","why":"it is damaged"},{"path":"/tmp/<x>","why":"its functions are split off"},7]');

INSERT INTO process(id, pid, ns_pid, parent_id, start_ns, end_ns, exit_code, exit_signal, uses_io_uring) VALUES
  (1, 100, 1, NULL, 1000000000000, 1002000000000, 0, NULL, 0),
  (2, 101, 2, 1,    1000200000000, 1000900000000, 1, NULL, 0),
  (3, 102, 3, 1,    1000300000000, 1001500000000, NULL, 9, 0),
  (4, 103, 4, 2,    1000400000000, NULL, NULL, NULL, 1),
  (5, 104, 5, 99,   1000500000000, 1000600000000, 0, NULL, 0),
  (6, 105, 6, 7,    1000700000000, 1000800000000, 0, NULL, 0),
  (7, 106, 7, 6,    1000710000000, 1000800000000, 0, NULL, 0);
INSERT INTO image VALUES
  (1, 1, 1000000000000, '/usr/bin/bash', '["bash","-c","make -j2"]', 'bash', '["bash"]'),
  (2, 1, 1000100000000, '/usr/bin/make', '["make","-j2"]', 'make', '["make"]'),
  (3, 2, 1000210000000, '/usr/bin/gcc', '["gcc","-c","a.c"]', 'gcc', '["gcc","x86_64-linux-gnu-gcc-12"]'),
  (4, 4, 1000410000000, CAST(x'2f746d702f' || x'HOSTILE' AS TEXT), CAST(x'HOSTILE' AS TEXT),
   'script>', CAST(x'HOSTILE' AS TEXT)),
  (5, 5, 1000510000000, '/usr/bin/true', '["true"]', 'true', '["true"]');
INSERT INTO thread VALUES
  (1, 1, 100, 1, 'make', 1000000000000, NULL, NULL), (2, 1, 110, 11, 'worker', 1000150000000, NULL, NULL),
  (3, 2, 101, 2, 'gcc', 1000200000000, NULL, NULL), (4, 3, 102, 3, 'make', 1000300000000, NULL, NULL),
  (5, 4, 103, 4, CAST(x'HOSTILE' AS TEXT), 1000400000000, NULL, NULL), (6, 5, 104, 5, 'true', 1000500000000, NULL, NULL);

INSERT INTO module VALUES
  (1, '/usr/bin/make', 'aa', 'app'), (2, '/usr/lib/x86_64-linux-gnu/libc.so.6', 'bb', 'library'),
  (3, '/usr/bin/gcc', 'cc', 'app');
INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES
  (1, 2, 4112, 'read', 16, NULL, NULL, 0),
  (2, 1, 8240, 'run_job', 48, '/src/job.c', 42, 0),
  (3, 1, 8240, 'helper', 48, '/src/job.h', 7, 1),
  (4, 1, 12288, 'main', 256, '/src/main.c', 10, 0),
  (5, 2, 20480, '__libc_start_main', 128, NULL, NULL, 0),
  (6, 2, 24576, 'openat', 20, NULL, NULL, 0),
  (7, 3, 28672, 'compile', 5, NULL, NULL, 0),
  (8, 1, 32768, CAST(x'HOSTILE' AS TEXT), 0, NULL, NULL, 0);
INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES
  (1, 4, 'root', 2, 0, '__libc_start_main;main;run_job;helper;read'),
  (2, 2, 'broken:no_rows', 7, 0, 'compile;openat'),
  (3, 1, 'budget', 1, 1, 'read'),
  (4, 1, 'root', 8, 0, CAST(x'HOSTILE' AS TEXT));
INSERT INTO stack_frame VALUES
  (1, 0, 0, 1, 'user'), (1, 1, 0, 3, 'user'), (1, 1, 1, 2, 'user'), (1, 2, 0, 4, 'user'), (1, 3, 0, 5, 'user'),
  (2, 0, 0, 6, 'user'), (2, 1, 0, 7, 'user'), (3, 0, 0, 1, 'user'), (4, 0, 0, 8, 'user');

INSERT INTO kind VALUES
  (1, 'read', 'syscall', 'x86_64', 0), (2, 'openat', 'syscall', 'x86_64', 257), (3, 'futex', 'syscall', 'x86_64', 202),
  (4, 'exit_group', 'syscall', 'x86_64', 231), (5, 'nanosleep', 'syscall', 'x86_64', 35),
  (6, 'getpid', 'syscall', 'i386', 20);
INSERT INTO event VALUES
  (1, 1000010000000, 1000, 'returned', 1, 1, 1, 5, 1, 3, 140000000000000, 100, 0, 0, 0, NULL),
  (2, 1000220000000, 2000, 'returned', 3, 3, 2, -2, 2, -100, 140000000001000, 0, 0, 0, 0, NULL),
  (3, 1000120000000, 3000, 'returned', 1, 2, 1, 7, 1, 3, 140000000000000, 100, 0, 0, 0, NULL),
  (4, 1000130000000, 4000, 'returned', 1, 2, 1, -11, 1, 3, 140000000000000, 100, 0, 0, 0, NULL),
  (5, 1000230000000, 2500, 'returned', 3, 3, 2, 4, 2, -100, 140000000002000, 0, 0, 0, 0, NULL),
  (6, 1000240000000, 1500, 'returned', 3, 3, 2, -2, 2, -100, 140000000003000, 0, 0, 0, 0, NULL),
  (7, 1000310000000, NULL, 'killed', 4, 2, 5, NULL, 1, 0, 0, 0, 0, 0, 0, NULL),
  (8, 1000160000000, NULL, 'open', 2, 2, 3, NULL, 1, 94000000000000, 128, 2, 0, 0, 0, NULL),
  (9, 1000420000000, 500, 'returned', 5, 4, 1, 0, 4, 4, 140000000000000, 8, 0, 0, 0, NULL),
  (10, 1000890000000, NULL, 'noreturn', 3, 3, 4, NULL, 2, 1, 0, 0, 0, 0, 0, NULL),
  (11, 1000140000000, 600000000, 'returned', 1, 2, 5, -516, 3, 140000000004000, 0, 0, 0, 0, 0, NULL),
  (12, 1000000000001, NULL, 'attached', 1, NULL, 3, NULL, NULL, 94000000000000, 128, 2, 0, 0, 0, NULL),
  (13, 1000520000000, NULL, 'no_entry', 6, 5, 2, -1, NULL, 0, 0, 0, 0, 0, 0, NULL),
  (14, 1000530000000, 90, 'returned', 6, 5, 6, 5, 3, 0, 0, 0, 0, 0, 0, NULL);
INSERT INTO string VALUES(1, '/etc/passwd'), (2, CAST(x'HOSTILE' AS TEXT)), (3, '/tmp/c');
INSERT INTO event_string VALUES(2, 1, 1, 0, 0), (5, 1, 2, 1, 0), (6, 1, 3, 0, 0);
INSERT INTO content VALUES(1, x'HOSTILE');
INSERT INTO event_content VALUES(1, 1, 0, 1, 1, 0, 1), (9, 1, 0, 1, NULL, 0, 0), (9, 1, 1, 0, 1, 1, 0);
INSERT INTO verify VALUES(1, 1, 4, 4, NULL), (3, 1, 4, 4, NULL), (4, 0, 4, 5, 2);
INSERT INTO unwind_table VALUES
  (2, '/usr/bin/make', 'aa', 'kernel', 3000, 20, 24000, NULL), (3, '/usr/lib/x86_64-linux-gnu/libc.so.6', 'bb', 'user', 28000, 5, 240000, NULL),
  (4, '/tmp/refused', NULL, 'none', 0, 0, 0, '/tmp/refused is not an ELF file'),
  (5, CAST(x'HOSTILE' AS TEXT), NULL, 'unreachable', 0, 0, 0, 'No such file or directory'), (6, '/memfd:code', NULL, 'jit', 0, 0, 0, NULL);
INSERT INTO loss VALUES
  (1000100000000, 1000200000000, 'ring_full_event', 2, 10), (1000200000000, 1000300000000, 'ring_full_event', NULL, 2),
  (1000200000000, 1000300000000, 'ring_full_event', 2, 5), (1000200000000, 1000300000000, 'verify_skipped', NULL, 100),
  (1000200000000, 1000300000000, 'recursion', NULL, 0);
-- What no two calls bound: thread 3 before its first call, thread 6 from its last call to its end.
CREATE TEMP TABLE open_gap(thread_id, ts_ns, dur_ns, since, until, before, after);
INSERT INTO open_gap VALUES(3, 1000200000000, 20000000, 'thread', 'call', NULL, 2),
  (6, 1000530000090, 69999910, 'call', 'thread', 14, NULL);
)sql";

// What the loader counts while it loads, by SQL: to be run when events and stacks are there.
constexpr const char* kCountEvents = R"sql(
CREATE TEMP VIEW counted AS SELECT event.*, stack.ended, stack.trigger_frame_id,
  coalesce(result BETWEEN -4095 AND -1 AND result NOT BETWEEN -516 AND -512, 0) AS failed,
  how = 'open' OR (how = 'attached' AND dur_ns IS NULL) AS waits
  FROM event LEFT JOIN stack ON stack.id = stack_id;
INSERT INTO cell SELECT kind_id, trigger_frame_id, count(*), sum(failed), coalesce(sum(dur_ns), 0), sum(waits), min(id)
  FROM counted GROUP BY kind_id, trigger_frame_id;
INSERT INTO latency SELECT kind_id, dur_ns, count(*) FROM event WHERE dur_ns IS NOT NULL GROUP BY kind_id, dur_ns;
INSERT INTO error_cell SELECT kind_id, -result, trigger_frame_id, count(*), min(id) FROM counted WHERE failed
  GROUP BY kind_id, result, trigger_frame_id;
CREATE TEMP TABLE step AS WITH RECURSIVE octave(bit) AS (SELECT 4 UNION ALL SELECT bit * 2 FROM octave
  WHERE bit < 1 << 62) SELECT bit + (part + 1) * (bit / 4) - 1 AS top FROM octave,
  (SELECT 0 AS part UNION SELECT 1 UNION SELECT 2 UNION SELECT 3) UNION SELECT 0 UNION SELECT 1 UNION SELECT 2
  UNION SELECT 3;
INSERT INTO cell_latency SELECT kind_id, trigger_frame_id, (SELECT min(top) FROM step WHERE top >= dur_ns) AS up_to,
  count(*) FROM counted WHERE dur_ns IS NOT NULL GROUP BY kind_id, trigger_frame_id, up_to;
DROP TABLE step;
CREATE TEMP TABLE IF NOT EXISTS open_gap(thread_id, ts_ns, dur_ns, since, until, before, after);
CREATE TEMP TABLE waiting AS SELECT id FROM kind WHERE name IN ('futex', 'nanosleep', 'epoll_wait', 'accept4', 'poll');
CREATE TEMP TABLE time_apart AS SELECT thread_id, ended AS ts_ns, ts_ns - ended AS dur_ns, 'call' AS since,
  'call' AS until, before, id AS after FROM (SELECT id, thread_id, ts_ns, lag(id) OVER turn AS before,
  lag(CASE WHEN how = 'no_entry' THEN ts_ns ELSE ts_ns + dur_ns END) OVER turn AS ended
  FROM event WINDOW turn AS (PARTITION BY thread_id ORDER BY ts_ns, id)) WHERE ts_ns > ended;
INSERT INTO time_apart SELECT * FROM open_gap;
INSERT INTO gap SELECT *, 0 FROM time_apart WHERE true ORDER BY dur_ns DESC, ts_ns, thread_id LIMIT 1000;
INSERT INTO gap_total SELECT since, until, bk, bs, ak, ass, count(*), sum(dur_ns), max(dur_ns), max(ts_ns)
  FILTER (WHERE place = 1), max(thread_id) FILTER (WHERE place = 1), max(before) FILTER (WHERE place = 1),
  max(after) FILTER (WHERE place = 1) FROM (SELECT *, row_number() OVER (PARTITION BY since, until, bk, bs, ak, ass
  ORDER BY dur_ns DESC, ts_ns, thread_id) AS place FROM (SELECT t.*, b.kind_id AS bk, b.stack_id AS bs,
  a.kind_id AS ak, a.stack_id AS ass FROM time_apart t LEFT JOIN event b ON b.id = before
  LEFT JOIN event a ON a.id = after)) GROUP BY since, until, bk, bs, ak, ass;
INSERT INTO thread_total SELECT c.thread_id, count(*), sum(failed), coalesce(sum(dur_ns), 0),
  coalesce(sum(dur_ns) FILTER (WHERE kind_id IN (SELECT id FROM waiting)), 0),
  (SELECT count(*) FROM time_apart b WHERE b.thread_id = c.thread_id),
  (SELECT coalesce(sum(dur_ns), 0) FROM time_apart b WHERE b.thread_id = c.thread_id) FROM counted c GROUP BY c.thread_id;
INSERT INTO program_total SELECT c.thread_id, c.image_id, count(*), sum(failed), coalesce(sum(dur_ns), 0),
  coalesce(sum(dur_ns) FILTER (WHERE kind_id IN (SELECT id FROM waiting)), 0) FROM counted c GROUP BY c.thread_id, c.image_id;
DROP TABLE time_apart;
DROP TABLE open_gap;
INSERT INTO stack_end SELECT stack.ended, count(DISTINCT stack.id), count(event.id)
  FROM stack LEFT JOIN event ON event.stack_id = stack.id GROUP BY stack.ended;
INSERT INTO notable_event SELECT 'open', id FROM counted WHERE waits;
INSERT INTO notable_event SELECT 'slowest', id FROM (SELECT id FROM event WHERE dur_ns IS NOT NULL
  AND kind_id NOT IN (SELECT id FROM waiting) ORDER BY dur_ns DESC, id LIMIT 1000);
INSERT INTO notable_event SELECT 'wait', id FROM (SELECT id FROM event WHERE dur_ns IS NOT NULL
  AND kind_id IN (SELECT id FROM waiting) ORDER BY dur_ns DESC, id LIMIT 1000);
DROP TABLE waiting;
INSERT INTO object_total(kind_id, process_id, image_id, trigger_frame_id, folder_id, string_id, part, errno, events, total_ns, bytes, changes, last_event_id) SELECT c.kind_id,
  (SELECT process_id FROM thread WHERE thread.id = c.thread_id) AS process, c.image_id,
  c.trigger_frame_id,
  CASE k.name WHEN 'openat' THEN (SELECT string_id FROM event_string s WHERE s.event_id = c.id AND arg = 0) END,
  (SELECT string_id FROM event_string s WHERE s.event_id = c.id AND arg = (k.name = 'openat')) AS object, 'call',
  iif(failed, -result, NULL) AS error, count(*), coalesce(sum(dur_ns), 0),
  coalesce(sum(result) FILTER (WHERE result > 0 AND k.name IN ('read', 'write')), 0),
  count(*) FILTER (WHERE k.name = 'write' AND NOT failed), max(c.id)
  FROM counted c JOIN kind k ON k.id = c.kind_id WHERE k.name IN ('read', 'write', 'openat', 'close')
  GROUP BY 1, 2, 3, 4, 5, 6, 8;
DROP VIEW counted;
)sql";

// Writes a store whose rows are those of `sql`.
inline void write_store(const std::filesystem::path& path, std::string sql) {
  for (std::size_t at = 0; (at = sql.find("HOSTILE", at)) != std::string::npos;) sql.replace(at, 7, kHostileHex);
  auto writer = store::DatabaseWriter::create(path);
  ASSERT_TRUE(writer) << writer.error().what;
  auto done = store::execute(writer->handle(), sql);
  ASSERT_TRUE(done) << done.error().what;
  done = writer->commit();
  ASSERT_TRUE(done) << done.error().what;
}

inline store::Database open_store(const std::filesystem::path& path) {
  auto database = store::Database::open(path);
  if (!database) {
    ADD_FAILURE() << database.error().what;
    std::abort();
  }
  return std::move(*database);
}

// The sample as an open store.
class SampleTrace : public testing::Test {
 protected:
  SampleTrace() { write_store(path(), std::string(kSampleRows) + kCountEvents); }
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "sample.db"; }
  [[nodiscard]] store::Database open() const { return open_store(path()); }

  TemporaryFolder folder_;
};

}  // namespace uscope::test

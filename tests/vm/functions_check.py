#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Is what functions-guest brought back true? What uscope counted is what ftrace wrote down of the same run; arguments, texts and stacks are
those of the fixture, whose work is known (tests/fixtures/kernel_work.c)."""

import collections
import fnmatch
import json
import re
import sqlite3
import sys
import unittest
from pathlib import Path

RESULTS = Path(sys.argv.pop(1))
BY_MODULE = (RESULTS / "backend").read_text().strip() == "kmod"
# "kernel_work-123  [001] d..1.    12.345678: vfs_read <-ksys_read"
LINE = re.compile(r"^\s*.*?-(\d+)\s+\[\d+\]\s+\S+\s+\d+\.\d+: (\w[\w.]*)(?: <-|: |\()(.*)$")


def text(name):
    return (RESULTS / name).read_text(errors="replace").strip()


class Functions(unittest.TestCase):
    def database(self, name):
        self.assertEqual(text(f"{name}.status"), "0", text(f"{name}.err"))
        database = sqlite3.connect(f"file:{RESULTS / name}.db?mode=ro", uri=True)
        self.addCleanup(database.close)
        self.assertEqual(database.execute("SELECT cause, sum(count) FROM loss WHERE cause <> 'verify_skipped' GROUP BY cause").fetchall(), [])
        return database

    def by_ftrace(self, name, pid):
        """Calls of a process from its last execve on, which is where the trace begins, and those behind its end. When it ends, the kernel closes its files, and
        uscope looks no more."""
        counts, behind, ended = collections.Counter(), collections.Counter(), False
        for line in text(f"{name}.ftrace").splitlines():
            found = LINE.match(line)
            if not found or found[1] != str(pid):
                continue
            if ended:
                behind[found[2]] += 1
            elif found[2] == "sys_execve":
                counts.clear()
            elif found[2] == "sched_process_exit":
                ended = True
            else:
                counts[found[2]] += 1
        self.assertTrue(ended)
        return counts, behind

    def assert_counts_equal(self, name):
        """To the call, but for those that came in an interrupt of the programs' own work: each of these is counted."""
        database = self.database_with_losses(name)
        losses = dict(database.execute("SELECT cause, sum(count) FROM loss WHERE cause <> 'verify_skipped' GROUP BY cause"))
        missed = losses.pop("probe_missed", 0)
        self.assertEqual(losses, {})
        pids = [pid for pid, in database.execute("SELECT DISTINCT pid FROM v_event")]
        self.assertEqual(len(pids), 1)
        counts = collections.Counter(dict(database.execute("SELECT kind, count(*) FROM v_event GROUP BY kind")))
        told, behind = self.by_ftrace(name, pids[0])
        # Both learn of the end at one tracepoint, ftrace first: an interrupt may come in between.
        self.assertEqual(counts - told - behind, {})
        self.assertLessEqual(sum((told - counts).values()), missed, (told - counts, missed))
        return database, counts

    def test_what_can_be_traced_is_what_ftrace_can_stop(self):
        self.assertRegex(text("list.out"), r"(?m)^kfunction:vfs_read  struct file \*file, char \*buf, size_t count, loff_t \*pos$")
        self.assertNotIn("cannot", text("list.out"))
        self.assertRegex(text("classes.out"), r"kfunction +[\d,]+ +kfunction:FUNCTION +functions of the kernel")
        traceable, available = int(text("traceable")), int(text("available"))
        self.assertGreater(available, 30000)
        # The others are the tracer's own calls and locks, and have no symbol.
        self.assertGreater(traceable, 0.93 * available)
        self.assertLessEqual(traceable, available)

    def test_some_are_refused_with_the_reason(self):
        refused = [("ktime_get_mono_fast_ns", "ftrace has no place in it")]
        if not BY_MODULE:  # whose hooks wait for no lock
            refused.append(("_raw_spin_unlock_irqrestore", "could wait there for themselves"))
        for name, reason in refused:
            self.assertEqual(text(f"refused-{name}.status"), "125")
            self.assertIn(f"kfunction:{name} cannot be traced: ", text(f"refused-{name}.err"))
            self.assertIn(reason, text(f"refused-{name}.err"))

    def test_counts_are_those_of_ftrace(self):
        _, counts = self.assert_counts_equal("work")
        self.assertGreaterEqual(counts["vfs_read"], 25)
        self.assertEqual(counts["vfs_write"], 7)
        self.assertGreaterEqual(counts["handle_mm_fault"], 33)
        self.assertEqual(counts["hrtimer_nanosleep"], 4)

    def test_all_of_a_subsystem(self):
        _, counts = self.assert_counts_equal("tcp")
        self.assertEqual(counts["tcp_v4_connect"], 1)
        self.assertEqual(counts["tcp_sendmsg"], 5)
        self.assertGreater(len(counts), 40)
        self.assertEqual(text("tcp.received").split(), list("12345"))

    def test_arguments_are_those_of_the_calls(self):
        database = self.database("work")
        rows = database.execute("SELECT \"trigger\", v.kind, e.a2, count(*) FROM v_event v JOIN event e ON e.id = v.id WHERE v.kind IN ('vfs_read', 'vfs_write') "
                                "AND \"trigger\" IN ('small', 'large', 'stores') GROUP BY 1, 2, 3 ORDER BY 1").fetchall()
        self.assertEqual(rows, [("large", "vfs_read", 65536, 5), ("small", "vfs_read", 100, 20), ("stores", "vfs_write", 4096, 7)])
        names = [row[0] for row in database.execute("SELECT value FROM string s JOIN event_string e ON e.string_id = s.id JOIN v_event v ON v.id = e.event_id "
                                                    "WHERE v.kind = 'do_sys_openat2' AND \"trigger\" = 'opens'")]
        self.assertEqual(names, ["/tmp/data"] * 3)
        # The same of a text in the kernel's memory.
        kernel = self.database("results")
        self.assertIn(("ramfs",), kernel.execute("SELECT value FROM string").fetchall())

    def test_functions_of_a_module_have_the_types_of_its_own(self):
        arguments = r"struct file \*file, const char \*buf(?:fer)?, size_t count, loff_t \*ppos"
        for name in ("bm_register_write", "bm_status_write"):
            self.assertRegex(text("list-module.out"), rf"(?m)^kfunction:{name}  {arguments}$")
        self.assertEqual(set(text("module.formats").split()), {"one", "second", "register", "status"})
        database, counts = self.assert_counts_equal("module")
        self.assertEqual(counts, {"bm_register_write": 2, "bm_status_write": 2})
        written = [":one:M::ONE::/bin/true:\n", ":second:M::SECOND::/bin/true:\n", "0\n", "1\n"]
        rows = database.execute("SELECT v.name, v.type, v.value, v.text FROM v_argument v JOIN v_event e ON e.id = v.event_id ORDER BY e.ts_ns, arg").fetchall()
        self.assertEqual([name for name, *_ in rows], ["file", rows[1][0], "count", "ppos"] * 4)
        self.assertEqual([kind for _, kind, *_ in rows], ["struct file *", "const char *", "size_t", "loff_t *"] * 4)
        self.assertEqual([value for name, _, value, _ in rows if name == "count"], [len(line) for line in written])
        for line, (_, _, _, found) in zip(written, rows[1::4]):
            self.assertTrue(found.startswith(line), found)

    def test_stacks_are_whole(self):
        database = self.database("work")
        self.assertEqual(database.execute("SELECT DISTINCT ended FROM v_event WHERE \"trigger\" IN ('small', 'large', 'stores', 'naps', 'touches')").fetchall(), [("root",)])
        stacks = [folded for folded, in database.execute("SELECT DISTINCT folded FROM v_event WHERE kind = 'vfs_read' AND \"trigger\" = 'small'")]
        self.assertEqual(len(stacks), 1, stacks)
        frames = stacks[0].split(";")
        self.assertEqual([name for name in frames if name in ("main", "small")], ["main", "small"])
        kernel = [name for name in frames if name.endswith("_[k]")]
        self.assertEqual(frames[-len(kernel):], kernel)
        self.assertRegex(kernel[0], "entry_SYSCALL_64")
        self.assertEqual(kernel[-1], "vfs_read_[k]")
        self.assertIn("ksys_read_[k]", kernel)
        verified = self.database("verify")
        walks = dict(verified.execute("SELECT equal, count(*) FROM verify GROUP BY equal"))
        self.assertEqual(list(walks), [1])
        self.assertGreater(walks[1], 20)

    def test_entries_and_returns_are_paired(self):
        database = self.database("returns")
        rows = database.execute("SELECT \"trigger\", how, result, count(*), min(dur_ns) > 0 FROM v_event WHERE kind = 'vfs_read' AND \"trigger\" IN ('small', 'large') "
                                "GROUP BY 1, 2, 3").fetchall()
        # 7 writes of 4096 bytes lie there: read once in pieces of 100, and once more as a whole by each of five.
        self.assertEqual(rows, [("large", "returned", 28672, 5, 1), ("small", "returned", 100, 20, 1)])
        naps = [duration for duration, in database.execute("SELECT dur_ns FROM v_event WHERE kind = 'hrtimer_nanosleep' AND how = 'returned'")]
        self.assertEqual(len(naps), 4)
        self.assertGreaterEqual(min(naps), 30_000_000)
        # A function that another one calls lies within that one's time, and belongs to it.
        inner = database.execute("SELECT count(*) FROM v_event i JOIN v_event o ON o.kind = 'ksys_read' AND o.tid = i.tid AND o.ts_ns <= i.ts_ns "
                                 "AND o.ts_ns + o.dur_ns >= i.ts_ns + i.dur_ns WHERE i.kind = 'vfs_read' AND i.\"trigger\" = 'small'").fetchone()
        self.assertEqual(inner, (20,))
        # The user's stack and the kernel's are those of the entry.
        stacks = {folded.split(";")[-1] for folded, in database.execute("SELECT DISTINCT folded FROM v_event WHERE kind = 'vfs_read'")}
        self.assertEqual(stacks, {"vfs_read_[k]"})

    def test_results_have_types(self):
        database = self.database("results")
        types = dict(database.execute("SELECT name, type FROM kind JOIN kind_result ON kind_id = id WHERE class = 'kfunction'"))
        self.assertEqual(types, {"do_filp_open": "struct file *", "vfs_read": "ssize_t"})
        lines = text("results.events").splitlines()
        self.assertTrue(any(re.search(r"do_filp_open\(.* = -2 ENOENT <", line) for line in lines), lines[:9])
        self.assertTrue(any(re.search(r"do_filp_open\(.* = 0xff[0-9a-f]{14} <", line) for line in lines), lines[:9])
        self.assertTrue(any(re.search(r"vfs_read\(.* = [1-9]\d* <", line) for line in lines), lines[-9:])

    def test_functions_of_interrupts(self):
        """They end, and so does the program. Walks of so many are more than the ring has room for."""
        database = self.database_with_losses("interrupts")
        counts = dict(database.execute("SELECT kind, count(*) FROM v_event GROUP BY kind"))
        self.assertGreater(counts.get("irq_exit_rcu", 0), 0, counts)

    def answer(self, name):
        """The rows of the one answer to a live question, of which nothing is missing."""
        self.assertEqual(text(f"{name}.status"), "0", text(f"{name}.err"))
        [answer] = [json.loads(line) for line in text(f"{name}.out").splitlines() if line.startswith("{")]
        self.assertEqual(answer["lost"], 0, answer)
        return answer["rows"]

    def test_a_question_counts_what_ftrace_does(self):
        rows = self.answer("asked")
        pids = {pid for pid, *_ in rows}
        self.assertEqual(len(pids), 1, rows)
        counts = collections.Counter()
        for _, kind, _, number, _ in rows:
            counts[kind] += number
        self.assertEqual(counts, self.by_ftrace("asked", *pids)[0])
        known = sorted(tuple(row[1:]) for row in rows if row[2] in ("small", "large", "stores"))
        self.assertEqual(known, [("vfs_read", "large", 5, 5 * 65536), ("vfs_read", "small", 20, 20 * 100), ("vfs_write", "stores", 7, 7 * 4096)])
        # As many as are recorded of another run, and as the program makes.
        recorded = dict(self.database("work").execute("SELECT kind, count(*) FROM v_event GROUP BY kind"))
        for kind in ("vfs_read", "vfs_write", "hrtimer_nanosleep"):
            self.assertEqual(counts[kind], recorded[kind], kind)

    def test_a_question_about_returns_is_asked_when_functions_return(self):
        rows = {(kind, trigger): rest for kind, trigger, *rest in self.answer("asked-returns") if trigger in ("small", "large", "naps")}
        self.assertEqual(set(rows), {("vfs_read", "small"), ("vfs_read", "large"), ("hrtimer_nanosleep", "naps")})
        for (kind, trigger), (how, events, durations, shortest, results) in rows.items():
            self.assertEqual(how, "returned")
            self.assertEqual(durations, events)
            self.assertGreater(shortest, 30_000_000 if trigger == "naps" else 0)
            if kind == "vfs_read":
                self.assertEqual((events, results), {"small": (20, 20 * 100), "large": (5, 5 * 28672)}[trigger])
            else:
                self.assertEqual(events, 4)

    def test_durations_without_hits_are_those_of_the_same_calls(self):
        rows = {kind: rest for kind, how, *rest in self.answer("asked-durations") if how == "returned"}
        recorded = self.database("returns").execute("SELECT kind, count(*), sum(result) FROM v_event WHERE how = 'returned' GROUP BY 1").fetchall()
        self.assertEqual({kind: (rest[0], rest[3]) for kind, rest in rows.items()}, {kind: (number, results) for kind, number, results in recorded})
        for number, durations, longest, _ in rows.values():
            self.assertEqual(number, durations)
            self.assertGreater(longest, 0)
        self.assertGreater(rows["hrtimer_nanosleep"][2], 30_000_000)

    def test_more_threads_in_a_function_than_the_kernel_has_room_for_are_counted(self):
        database = self.database_with_losses("sleepers")
        durations = [duration for duration, in database.execute("SELECT dur_ns FROM v_event WHERE kind = 'hrtimer_nanosleep' AND how = 'returned'")]
        missed = database.execute("SELECT coalesce(sum(count), 0) FROM loss WHERE cause = 'probe_missed'").fetchone()[0]
        self.assertEqual(len(durations) + missed, 8)
        self.assertGreaterEqual(len(durations), 8 if BY_MODULE else 4)
        self.assertGreaterEqual(min(durations), 1_000_000_000)

    def test_a_thousand_are_attached_and_detached_in_seconds(self):
        self.assertEqual(text("limit.status"), "125")
        many = int(re.search(r"that is ([\d,]+) probes", text("limit.err"))[1].replace(",", ""))
        self.assertGreater(many, 1000)
        database = self.database_with_losses("many")
        self.assertGreater(database.execute("SELECT count(DISTINCT kind) FROM v_event").fetchone()[0], 20)
        # Emulation is slow, and this is far from the minutes that one by one takes.
        self.assertLess(int(text("many.ms")) - int(text("results.ms")), 60_000)

    @unittest.skipUnless(BY_MODULE, "hooks of the module")
    def test_programs_run_as_without_whatever_is_hooked(self):
        storms = sorted(RESULTS.glob("storm-*.patterns"))
        self.assertEqual(len(storms), 5)
        for path in storms:
            name = path.stem
            with self.subTest(text(path.name)):
                self.assertEqual(text(f"{name}.status"), "0", text(f"{name}.err"))
                self.assertIn(text(f"{name}.out"), ("", text("alone.out")))
                kinds = json.loads(text(f"{name}.kinds"))["results"][0]["rows"]
                losses = json.loads(text(f"{name}.losses"))["results"][0]["rows"][0][0]
                print(f"{text(path.name)}: {sum(count for _, count in kinds)} events, {losses} lost, {text(f'{name}.ms')} ms", file=sys.stderr)
                for pattern in text(path.name).replace("%return", "").split():
                    events = sum(count for kind, count in kinds if fnmatch.fnmatchcase(kind, pattern))
                    self.assertGreaterEqual(events, 0 if pattern == "tcp_*" else 20, pattern)

    def database_with_losses(self, name):
        """Of functions that the tracer itself calls, or that interrupts call, some hits are counted as missed."""
        self.assertEqual(text(f"{name}.status"), "0", text(f"{name}.err"))
        database = sqlite3.connect(f"file:{RESULTS / name}.db?mode=ro", uri=True)
        self.addCleanup(database.close)
        return database


if __name__ == "__main__":
    unittest.main(verbosity=2)

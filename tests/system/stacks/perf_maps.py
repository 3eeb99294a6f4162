#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Names of code without a file: a fixture that makes code of its own (tests/fixtures/jit.c), with perf maps of many kinds, in its own
namespaces, and after its end. Needs root and BPF; usage: perf_maps.py USCOPE FIXTURE"""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from trace_case import TraceCase  # noqa: E402
from traced_command import record  # noqa: E402

FIXTURE = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else "fixture_jit"
USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

OUTER, INNER = "[anon]+0x10000110", "[anon]+0x10000210"  # the return addresses in the code
NAMED = ["main", "run", "jit_outer", "between", "jit_inner", "callback"]


def unnamed(*names):
    return [{"jit_outer": OUTER, "jit_inner": INNER}.get(name, name) if name not in names else name for name in NAMED]


class PerfMaps(TraceCase):
    def record(self, *command):
        done = record(USCOPE, ["-e", "getppid,execve"], command, self.db)
        self.assertEqual(done.returncode, 0, done.stderr)
        for (pid,) in self.rows("SELECT pid FROM process"):
            path = f"/tmp/perf-{pid}.map"
            if os.path.isdir(path) and not os.path.islink(path):
                os.rmdir(path)
            elif os.path.lexists(path):
                os.unlink(path)

    def stacks(self):
        """The distinct stacks of getppid in the order of their first event, from main to the caller of libc's function."""
        folded = [text.split(";") for (text,) in self.rows(
            "SELECT folded FROM v_event WHERE kind = 'getppid' AND ended = 'root' GROUP BY folded ORDER BY min(ts_ns)")]
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE kind = 'getppid' AND ended <> 'root'"), [(0,)])
        return [frames[frames.index("main"):-1] for frames in folded if "run" in frames]

    def losses(self):
        return self.rows("SELECT cause, count FROM loss ORDER BY cause")

    def test_names_from_a_map_written_before(self):
        self.record(FIXTURE, "map")
        self.assertEqual(self.stacks(), [NAMED])
        self.assertEqual(self.rows("SELECT path, class, function, function_offset, rel_pc FROM frame JOIN module m ON m.id = module_id "
                                   "WHERE class = 'jit' ORDER BY function"),
                         [("[jit]", "jit", "jit_inner", 0x10, 0x10000210), ("[jit]", "jit", "jit_outer", 0x10, 0x10000110)])
        self.assertEqual(self.losses(), [])

    def test_code_in_a_memory_file(self):
        for kind in ("memfd", "shm"):
            self.record(FIXTURE, "map", kind)
            self.assertEqual(self.stacks(), [NAMED])
            self.record(FIXTURE, "none", kind)
            self.assertEqual(self.stacks(), [unnamed()])
            self.assertEqual(self.rows("SELECT count(*) FROM unwind_table WHERE state = 'jit' AND trouble IS NULL"), [(1,)])
            self.assertEqual(self.losses(), [])

    def test_a_process_that_ends_at_once(self):
        self.record(FIXTURE, "brief")
        self.assertEqual(self.stacks(), [NAMED])
        self.record("sh", "-c", f"{FIXTURE} brief; true")
        self.assertEqual(self.stacks(), [NAMED])

    def test_another_users_process(self):
        self.record("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", FIXTURE, "map")
        self.assertEqual(self.stacks(), [NAMED])

    def test_names_from_a_map_written_at_the_end(self):
        self.record(FIXTURE, "late")
        self.assertEqual(self.stacks(), [NAMED])

    def test_without_a_map_the_address_stays(self):
        self.record(FIXTURE, "none")
        self.assertEqual(self.stacks(), [unnamed()])
        self.assertEqual(self.losses(), [])

    def test_a_forked_process_has_its_parents_names(self):
        self.record(FIXTURE, "fork")
        self.assertEqual(self.stacks(), [NAMED])

    def test_a_map_of_the_image_before_is_not_the_next_ones(self):
        self.record(FIXTURE, "exec")
        self.assertEqual(self.stacks(), [NAMED, unnamed()])

    def test_the_first_name_stays(self):
        self.record(FIXTURE, "again")
        self.assertEqual(self.stacks(), [NAMED])

    def test_in_namespaces_of_its_own_that_end_with_it(self):
        # The descriptor outlives the new /tmp, in which the program itself may lie.
        inner = 'exec 3<"$0"; mount -t tmpfs none /tmp; mount -t proc none /proc; exec /proc/self/fd/3 map'
        self.record("unshare", "--pid", "--mount", "--fork", "sh", "-c", inner, FIXTURE)
        self.assertEqual(self.stacks(), [NAMED])
        self.assertIn((1,), self.rows("SELECT ns_pid FROM process"))
        self.assertFalse(os.path.exists("/tmp/perf-1.map"))

    def test_maps_that_are_not_read(self):
        for kind in ("fifo", "link", "folder", "owner"):
            with self.subTest(kind):
                self.record(FIXTURE, kind)
                self.assertEqual(self.stacks(), [unnamed()])
                self.assertEqual(self.losses(), [("perf_map_refused", 1)])

    def test_garbage_names_nothing(self):
        self.record(FIXTURE, "garbage")
        self.assertEqual(self.stacks(), [unnamed()])

    def test_of_a_huge_map_the_end_is_read(self):
        self.record(FIXTURE, "sparse")
        self.assertEqual(self.stacks(), [unnamed("jit_inner")])
        self.assertEqual(self.losses(), [("perf_map_size", 1)])

    def test_names_of_control_characters(self):
        self.record(FIXTURE, "control")
        names = [name for (name,) in self.rows("SELECT function FROM frame JOIN module m ON m.id = module_id WHERE path = '[jit]' ORDER BY rel_pc")]
        self.assertEqual(names, ["jit\033[31m_outer;\a\177", "\\xff\\xfe jit_inner"])
        shown = subprocess.run([USCOPE, "events", self.db, "--stack"], capture_output=True, check=True).stdout
        self.assertNotIn(b"\033", shown)
        self.assertIn(b"\\x1b[31m_outer", shown)

    def test_a_long_name_is_cut(self):
        self.record(FIXTURE, "long")
        self.assertEqual(self.stacks(), [["n" * 4096 if name == "jit_outer" else name for name in NAMED]])


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Names belong to the bytes that were mapped: programs and libraries that are written over in place, memory that is filled again,
files that are deleted, code that is nobody's. Needs root and BPF, gcc; usage: changed_files.py USCOPE"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from trace_case import TraceCase  # noqa: E402
from traced_command import record  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs")
FIRST = ["first_top", "first_leaf"]
SECOND = ["second_top", "second_middle", "second_leaf"]
WITHOUT_ID = ["-Wl,--build-id=none"]


def compiled(source, output, *options):
    subprocess.run(["gcc", "-O1", "-g0", "-o", output, *options, os.path.join(PROGRAMS, source)], check=True)
    return output


class Folder(TraceCase):
    def record(self, *command):
        done = record(USCOPE, ["-e", "getppid,execve"], command, self.db)
        self.assertEqual(done.returncode, 0, done.stderr)

    def stacks(self, module):
        """Of each getppid that was made in it, in order: the functions of a module (base name), outermost first; None: no name."""
        found = {}
        for event, function, path in self.rows(
                "SELECT e.id, f.function, m.path FROM v_event e JOIN stack_frame s ON s.stack_id = e.stack_id "
                "JOIN frame f ON f.id = s.frame_id JOIN module m ON m.id = f.module_id "
                "WHERE e.kind = 'getppid' ORDER BY e.ts_ns, s.position DESC"):
            if os.path.basename(path) == module:
                found.setdefault(event, []).append(None if "+0x" in function else function)
        return list(found.values())

    def changed(self):
        return sum(count for (count,) in self.rows("SELECT count FROM loss WHERE cause = 'file_changed'"))


class Programs(Folder):
    def build(self, *options):
        compiled("versions.c", self.path("one"), "-DPROGRAM", *options)
        compiled("versions.c", self.path("two"), "-DPROGRAM", "-DSECOND", *options)

    def named(self, stack):
        """Its names from main on; nothing where none of it has one."""
        names = [name for name in stack if name and name != "_start"]
        return names

    def check_overwritten(self, copy):
        self.record("sh", "-c", f"cd {self.folder.name}; for v in one two one; do {copy}; ./program; done")
        first, second, third = map(self.named, self.stacks("program"))
        self.assertIn(first, ([], ["main", *FIRST]))
        self.assertIn(second, ([], ["main", *SECOND]))
        self.assertEqual(third, ["main", *FIRST])
        self.assertEqual(self.changed(), 2)
        report = subprocess.run([USCOPE, "report", self.db], capture_output=True, text=True, check=True).stdout
        self.assertIn("file_changed", report)

    def test_written_over_in_place(self):
        self.build()
        self.check_overwritten("cp $v program")

    def test_written_over_in_place_without_build_id(self):
        self.build(*WITHOUT_ID)
        self.check_overwritten("cp $v program")

    def test_written_over_with_its_times_set_back(self):
        """The size is the same too, so that only the time of the inode's change tells."""
        self.build(*WITHOUT_ID)
        size = max(os.path.getsize(self.path(name)) for name in ("one", "two"))
        for name in ("one", "two"):
            os.truncate(self.path(name), size)
            os.utime(self.path(name), (1_000_000_000, 1_000_000_000))
        self.check_overwritten("cp --preserve=timestamps $v program")

    def test_replaced_by_renaming_keeps_both_names(self):
        self.build()
        self.record("sh", "-c", f"cd {self.folder.name}; for v in one two; do cp $v new; mv new program; ./program; sleep 0.3; done")
        self.assertEqual(list(map(self.named, self.stacks("program"))), [["main", *FIRST], ["main", *SECOND]])
        self.assertEqual(self.changed(), 0)

    def test_edited_in_place_under_one_build_id(self):
        self.build()
        edit = f"{sys.executable} -c \"f = open('one', 'r+b'); b = f.read(); f.seek(b.rindex(b'first_leaf')); f.write(b'other')\""
        self.record("sh", "-c", f"cd {self.folder.name}; ./one; {edit}; ./one")
        before, after = map(self.named, self.stacks("one"))
        self.assertIn(before, ([], ["main", *FIRST]))
        self.assertEqual(after, ["main", "first_top", "other_leaf"])


class Libraries(Folder):
    def setUp(self):
        super().setUp()
        compiled("refills.c", self.path("refills"))

    def build(self, *options):
        return [compiled("versions.c", self.path(name), "-shared", "-fPIC", *version, *options)
                for name, version in (("one.so", []), ("two.so", ["-DSECOND"]))]

    def test_memory_filled_again(self):
        for options in ([], WITHOUT_ID):
            with self.subTest(options):
                self.record(self.path("refills"), "memory", *self.build(*options), self.path("one.so"))
                self.assertEqual(self.stacks("memfd:plugin (deleted)"),
                                 [["entry", *FIRST], ["entry", *SECOND], ["entry", *FIRST]])
                self.assertEqual(self.rows("SELECT DISTINCT ended FROM v_event WHERE kind = 'getppid'"), [("root",)])
                self.assertEqual(self.rows("SELECT count(*) FROM module WHERE path = '/'"), [(0,)])
                self.assertEqual(self.changed(), 0)

    def test_memory_filled_again_before_anybody_can_look(self):
        self.record(self.path("refills"), "quickly", *self.build())
        stacks = self.stacks("memfd:plugin (deleted)")
        self.assertEqual(len(stacks), 20)
        for number, stack in enumerate(stacks):
            right = ["entry", *(SECOND if number % 2 else FIRST)]
            names = [name for name in stack if name]
            self.assertEqual(names, [name for name in right if name in names], (number, stack))

    def test_written_to_while_it_is_mapped(self):
        for what in ("written", "mapped"):
            with self.subTest(what):
                self.build()
                self.record(self.path("refills"), what, self.path("one.so"))
                self.assertEqual(self.stacks("one.so"), [[None, None, None]])
                self.assertEqual(self.changed(), 1)

    def test_deleted_and_made_anothers_keeps_its_names(self):
        self.build()
        self.record(self.path("refills"), "deleted", self.path("one.so"))
        self.assertEqual(self.stacks("one.so"), [["entry", *FIRST]])
        self.assertEqual(self.changed(), 0)


class Guesses(Folder):
    def test_code_without_a_frame_is_told(self):
        program = compiled("plain_code.c", self.path("plain"), "-fno-omit-frame-pointer")
        self.record(program)
        self.assertEqual(self.rows("SELECT folded LIKE '%caller%', folded LIKE '%main%' FROM v_event WHERE kind = 'getppid'"), [(0, 1)])
        self.assertEqual(self.rows("SELECT events FROM guessed_stack"), [(1,)])
        report = subprocess.run([USCOPE, "report", self.db], capture_output=True, text=True, check=True).stdout
        self.assertIn("go through code without unwind data by a frame pointer it may not keep: callers may be missing", report)
        ends = json.loads(subprocess.run([USCOPE, "report", "--format", "json", self.db], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(sum(end["guessed"] for end in ends["stack_ends"]), 1)
        shown = subprocess.run([USCOPE, "events", self.db, "--stack", "-e", "getppid"], capture_output=True, text=True, check=True).stdout
        self.assertIn("> (callers of code without unwind data may be missing)", shown)

    def test_other_code_is_not(self):
        self.record(compiled("versions.c", self.path("one"), "-DPROGRAM"))
        self.assertEqual(self.rows("SELECT count(*) FROM guessed_stack"), [(0,)])


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Executable mappings of files that are no ELF files, damaged ones, or ones with absurd call frame information: each is refused by
name, and the other stacks of the program stay whole. Needs root and BPF; usage: damaged_files.py USCOPE FIXTURE"""
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
import elf_writer as ew  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

FIXTURE = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else "fixture_damaged_files"
USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

RELAYED = ["getpgid", "callback", "relay", "map_and_call", "main"]  # and libc's start
NO_ROWS = "broken:no_rows"
NO_ELF = "no ELF file of x86-64"  # walked by frame pointers, as generated code is: to the root, or no further than its caller is certain


def with_code(head):
    return head.ljust(ew.TEXT, b"\0") + ew.RELAY


def files():
    """name -> (bytes, how its stack ends, what the report says of the file: part of a text, or None for nothing)"""
    absurd = ew.absurd_frames()
    sound = ew.elf(ew.sound_frames())
    damaged = "is damaged"
    cases = {
        "sound": (sound, "root", None),
        "overlapping": (ew.elf(ew.overlapping_frames()), "root", None),
        "text": (with_code(b"This is a text.\n"), NO_ELF, "not an ELF file"),
        "zeros": (with_code(b""), NO_ELF, "not an ELF file"),
        "header_cut": (with_code(sound[:17]), NO_ELF, "another machine (e_machine 0)"),
        "elf32": (ew.elf(ident=(1, 1)), NO_ELF, "a 32-bit ELF file"),
        "big_endian": (ew.elf(ident=(2, 2)), NO_ELF, "class or byte order"),
        "aarch64": (ew.elf(machine=ew.EM_AARCH64), NO_ELF, "another machine (e_machine 183)"),
        "object": (ew.elf(kind=1), NO_ELF, "neither program nor shared library"),
        "segment_beyond": (ew.elf(ew.sound_frames(), segment_bytes=1 << 40), NO_ROWS,
                           "program header 0 (file offset 0, 1099511627776 bytes) ends behind"),
        "section_beyond": (ew.elf(ew.sound_frames(), frames_size=1 << 30), NO_ROWS, "section .eh_frame: too large"),
        "section_cut": (ew.elf(ew.sound_frames(), frames_size=1 << 20), NO_ROWS, "section .eh_frame: truncated"),
        "no_frames": (ew.elf(), NO_ROWS, "no unwind information"),
        # What holds is the first FDE that is sound.
        "cie_is_an_fde": (ew.elf(absurd["cie_is_an_fde"]), "root", None),
        "saved_by_looping_expression": (ew.elf(absurd["saved_by_looping_expression"]), "root", None),
        "expression_loops": (ew.elf(absurd["expression_loops"]), "broken:bad_rule", None),
        "fde_beyond_the_file": (ew.elf(absurd["fde_beyond_the_file"]), "root", None),
        "advances_for_ever": (ew.elf(absurd["advances_for_ever"]), "root", None),
        "register_beyond": (ew.elf(absurd["register_beyond"]), "broken:bad_rule", None),
        "offset_beyond": (ew.elf(absurd["offset_beyond"]), "broken:loop", None),
    }
    for name in absurd:
        if name not in cases:
            cases[name] = (ew.elf(absurd[name]), NO_ROWS, damaged)
    return cases


class DamagedFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="uscope-damaged-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.cases = files()
        paths = []
        for name, (data, _, _) in cls.cases.items():
            paths.append(os.path.join(cls.folder.name, name + ".bin"))
            pathlib.Path(paths[-1]).write_bytes(data)
        db = os.path.join(cls.folder.name, "trace.db")
        cls.done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", db, "--", FIXTURE, *paths], capture_output=True, text=True,
                                  timeout=60, check=False)
        cls.report = subprocess.run([USCOPE, "report", db], capture_output=True, text=True, timeout=60, check=False).stdout
        cls.db = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
        cls.addClassCleanup(cls.db.close)

    def stacks(self, kind):
        """By the first argument: (how the stack ended, functions innermost first)."""
        rows = self.db.execute("""SELECT e.a0, v.ended, v.folded FROM event e JOIN v_event v ON v.id = e.id
                                  WHERE v.kind = ?""", (kind,))
        return {(1 << 32) - (a0 & 0xFFFFFFFF): (ended, folded.split(";")[::-1]) for a0, ended, folded in rows}

    def test_the_program_ran(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)

    def test_calls_out_of_these_files_end_there_and_are_never_wrong(self):
        stacks = self.stacks("getpgid")
        for number, (name, (_, expected, _)) in enumerate(self.cases.items(), 1):
            with self.subTest(name):
                ended, functions = stacks[number]
                if expected == NO_ELF:
                    self.assertIn(ended, ("root", "broken:frame_pointer"), functions)
                else:
                    self.assertEqual(ended, expected, functions)
                named = [f if not f.startswith(name + ".bin") else "relay" for f in functions]
                self.assertEqual(named[:3], RELAYED[:3])
                if ended == "root":
                    self.assertEqual(named[:5], RELAYED)
                else:
                    self.assertEqual(len(named), 3, functions)

    def test_all_other_stacks_are_whole(self):
        stacks = self.stacks("getsid")
        self.assertEqual(len(stacks), len(self.cases))
        for ended, functions in stacks.values():
            self.assertEqual((ended, functions[:4]), ("root", ["getsid", "untouched", "map_and_call", "main"]))
        broken = self.db.execute("SELECT DISTINCT kind FROM v_event WHERE ended NOT IN ('root', 'scope')").fetchall()
        self.assertEqual(broken, [("getpgid",)])
        plugin = self.db.execute("SELECT ended, folded FROM v_event WHERE kind = 'getppid'").fetchall()
        self.assertEqual(len(plugin), 3)
        for ended, folded in plugin:
            self.assertEqual(ended, "root")
            self.assertTrue(folded.endswith("plugin_compare;plugin_leaf;getppid"), folded)

    def test_nothing_is_lost(self):
        self.assertEqual(self.db.execute("SELECT cause, count FROM loss").fetchall(), [])

    def test_each_file_is_refused_by_name(self):
        troubles = dict(self.db.execute("SELECT path, trouble FROM unwind_table WHERE trouble IS NOT NULL"))
        for name, (_, _, text) in self.cases.items():
            path = os.path.join(self.folder.name, name + ".bin")
            with self.subTest(name):
                if text is not None:
                    self.assertIn(text, troubles.get(path, "no trouble told"))
                else:
                    self.assertNotIn(path, troubles)
        self.assertIn("files without", self.report)


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Samples of a program that meets probes all the time: at a breakpoint, in the kernel's copy of a probed instruction, and in what the kernel does
for either, its stack is that of the probed function. Needs root and BPF; usage: probed_samples.py USCOPE FIXTURE_HOT_PROBES"""
import collections
import contextlib
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402
from uprobe_event import uprobe_event  # noqa: E402

USCOPE, FIXTURE = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]

# Of the program, from main on; `work` may be in none of the others.
CHAINS = {f"main;work{chain}" for chain in ("", ";pushes", ";pushes;leaf", ";lower", ";lower;pushes", ";lower;pushes;leaf", ";reads")}
LEAST = 100


class ProbedSamples(TraceCase):
    def check(self, rounds, target=None, of_others=None):
        """The samples of a run with probes at `target`, or with one of another tracer's, by the functions that they are in."""
        targets = ("-t", "sample:4999", *(("-t", f"ufunction:{FIXTURE}:{target}") if target else ()))
        with uprobe_event(FIXTURE, of_others) if of_others else contextlib.nullcontext():
            subprocess.run((USCOPE, "record", "-q", "-e", "none", *targets, "-o", self.db, "--", FIXTURE, str(rounds)), check=True, timeout=100 * SLOWNESS)
        met, broken = collections.Counter(), []
        for kind, ended, folded, count in self.rows("SELECT kind, ended, folded, count(*) FROM v_event WHERE kind IN ('user', 'kernel') GROUP BY 1, 2, 3"):
            names = [name for name in folded.split(";") if not name.endswith("_[k]")]
            if ended.startswith("broken"):
                broken.append((count, kind, ended, folded))
                continue
            if "work" not in names:
                continue  # it begins, or ends
            chain = ";".join(names[names.index("main"):]) if "main" in names else folded
            self.assertIn(chain, CHAINS, f"{count} samples ({kind}, {ended}) {folded}")
            met[chain] += count
        self.assertGreater(sum(met.values()), LEAST)
        self.assertEqual(broken, [], f"{sum(met.values())} samples are whole")
        return met

    def test_an_instruction_that_is_copied(self):
        self.assertGreater(self.check(20000, "leaf")["main;work;pushes;leaf"], 0)

    def test_one_that_finds_data_by_its_own_place(self):
        self.assertGreater(self.check(40000, "reads")["main;work;reads"], 0)

    # The kernel does itself what the instruction would have done: the stack has moved, and the pc is that of a task at the breakpoint.
    def test_one_of_a_byte_that_moves_the_stack(self):
        met = self.check(100000, "pushes")
        self.assertGreater(met["main;work;pushes"], 0)
        self.assertGreater(met["main;work;lower;pushes"], 0)

    def test_such_a_one_of_another_tracer(self):
        self.assertGreater(self.check(100000, of_others="pushes")["main;work;lower;pushes"], 0)

    # `ret` is a function's last byte, and what is behind it looks like a breakpoint.
    def test_returns(self):
        met = self.check(15000, "*%return")
        self.assertGreater(met["main;work;pushes;leaf"], 0)
        self.assertGreater(met["main;work;lower"], 0)


if __name__ == "__main__":
    unittest.main()

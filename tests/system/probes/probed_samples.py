#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Samples of a program that meets probes all the time: at a breakpoint, in the kernel's copy of a probed instruction, and in what the kernel does
for either, its stack is that of the probed function. Needs root and BPF; usage: probed_samples.py USCOPE FIXTURE_HOT_PROBES"""
import collections
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE, FIXTURE = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]

# Of the program, from main on; `work` may be in none of the others.
CHAINS = {"main;work", "main;work;pushes", "main;work;pushes;leaf", "main;work;reads"}
ROUNDS = "60000"
LEAST = 100


class ProbedSamples(TraceCase):
    def check(self, target, most_broken=0.0):
        """The samples of a run with probes at `target`, by the functions that they are in."""
        subprocess.run((USCOPE, "record", "-q", "-e", "none", "-t", "sample:4999", "-t", f"ufunction:{FIXTURE}:{target}", "-o", self.db, "--", FIXTURE, ROUNDS),
                       check=True, timeout=100 * SLOWNESS)
        met, broken = collections.Counter(), []
        for kind, ended, folded, count in self.rows("SELECT kind, ended, folded, count(*) FROM v_event WHERE kind IN ('user', 'kernel') GROUP BY 1, 2, 3"):
            names = [name for name in folded.split(";") if not name.endswith("_[k]")]
            if ended.startswith("broken"):
                broken += [(kind, ended, folded)] * count
                continue
            if "work" not in names:
                continue  # it begins, or ends
            chain = ";".join(names[names.index("main"):]) if "main" in names else folded
            self.assertIn(chain, CHAINS, f"{target}: {count} samples ({kind}, {ended}) {folded}")
            met[chain] += count
        self.assertGreater(sum(met.values()), LEAST, target)
        self.assertLessEqual(len(broken), most_broken * sum(met.values()), f"{target}: {sum(met.values())} samples are whole, not these: {broken}")
        return met

    def test_an_instruction_that_is_copied(self):
        self.assertGreater(self.check("leaf")["main;work;pushes;leaf"], 0)

    def test_one_that_finds_data_by_its_own_place(self):
        self.assertGreater(self.check("reads")["main;work;reads"], 0)

    # While the kernel does itself what the instruction would have done, the stack has moved and the pc has not, or not for all one can see.
    def test_one_of_a_byte_that_moves_the_stack(self):
        self.assertGreater(self.check("pushes", most_broken=0.05)["main;work;pushes"], 0)

    def test_returns(self):
        met = self.check("*%return", most_broken=0.05)
        self.assertGreater(met["main;work;pushes;leaf"], 0)


if __name__ == "__main__":
    unittest.main()

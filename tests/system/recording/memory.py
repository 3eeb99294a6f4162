#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a recording takes of memory is what docs/bounds.md says ("Memory"): in the kernel by what the kernel itself says of each BPF map,
in user space by the tracer's own pages. Needs root and BPF; usage: memory.py USCOPE"""
import contextlib
import glob
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
MIB = 1 << 20
# As docs/bounds.md has them.
FIXED, OF_A_CPU, RING = 53 * MIB, 7 * MIB, 16 * MIB
ALL_RINGS = 256 * MIB
OWN = 32 * MIB  # the tracer's heap, while it traces a program of some twenty files
WAIT = 60


def possible_cpus():
    with open("/sys/devices/system/cpu/possible", encoding="ascii") as numbers:
        return int(numbers.read().strip().replace("-", ",").split(",")[-1]) + 1


def ring_bytes(asked, cpus):
    while asked > MIB and asked * cpus > ALL_RINGS:
        asked //= 2
    return asked


class Memory(TraceCase):
    def tracer(self, *options):
        tracer = subprocess.Popen([USCOPE, "record", "-q", "--backend", "bpf", *options, "-o", self.db, "--", "sh", "-c", "echo; exec sleep 100"],
                                  stdout=subprocess.PIPE)
        self.addCleanup(tracer.stdout.close)
        self.addCleanup(tracer.wait, WAIT)
        self.addCleanup(tracer.terminate)
        self.assertEqual(tracer.stdout.readline(), b"\n")
        time.sleep(0.5)
        return tracer.pid

    @staticmethod
    def of_maps(pid):
        maps = {}
        for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
            with contextlib.suppress(OSError), open(path, encoding="ascii", errors="replace") as lines:
                fields = dict(line.split(":", 1) for line in lines if ":" in line)
                if "map_id" in fields:
                    maps[int(fields["map_id"])] = int(fields["memlock"])
        return sum(maps.values())

    @staticmethod
    def own(pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:"))

    def check(self, ring, *options):
        pid = self.tracer(*options)
        cpus = possible_cpus()
        most = FIXED + cpus * (OF_A_CPU + ring_bytes(ring, cpus) + MIB // 4)
        taken = self.of_maps(pid)
        self.assertLess(taken, most)
        self.assertGreater(taken, most * 0.9, "docs/bounds.md says more than is true")
        self.assertLess(self.own(pid), OWN)

    def test_as_it_is(self):
        self.check(RING)

    def test_with_contents(self):
        self.check(4 * RING, "--data", "64")


if __name__ == "__main__":
    unittest.main()

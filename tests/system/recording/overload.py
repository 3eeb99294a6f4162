#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""From light load to far too much: what is in the trace and what is counted as lost is together what the kernel's own counter of system
calls says, exactly, by process and in sum. Needs root, a backend and perf; usage: overload.py USCOPE FIXTURES"""
import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

PROGRAM = "fixture_many_stacks"
CALLS = int(150_000 / SLOWNESS)
RINGS = 16 << 20  # bytes a processor, mapped twice
SAMPLES = 64 << 20
CODE = 96 << 20  # the collector itself, with what it knows of files


class Overload(AttachCase):
    def begin(self, calls, stacks, copies=1):
        """perf counts the calls of the program behind its exec, in the same run."""
        self.counted = os.path.join(self.folder.name, "counted")
        loops = f"{FIXTURES}/{PROGRAM} {calls} {stacks}"
        command = ["perf", "stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "-o", self.counted, "--"]
        command += ["sh", "-c", " & ".join([loops] * copies) + " & wait"] if copies > 1 else loops.split()
        return self.start(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", *command, stderr=subprocess.PIPE, text=True)

    def works(self, tracer):
        """Until the loop runs."""
        self.wait_for(lambda: os.path.exists(self.db + ".raw.part") and os.path.getsize(self.db + ".raw.part") > 4 << 20
                      or tracer.poll() is not None, "no event is written")
        self.assertIsNone(tracer.poll(), "the loop was too short for this machine")

    def loop_ends(self):
        self.wait_for(lambda: os.path.exists(self.counted) and os.path.getsize(self.counted) > 0, "the loop does not end")

    @staticmethod
    def schedule(tracer, policy):
        for tid in map(int, os.listdir(f"/proc/{tracer.pid}/task")):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setscheduler(tid, policy, os.sched_param(0))

    def most_memory(self, tracer):
        with open(f"/proc/{tracer.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))

    def ended(self, tracer):
        said = tracer.communicate(timeout=WAIT * 3)[1]
        self.assertEqual(tracer.returncode, 0, said)
        return said

    def report(self):
        return subprocess.run([USCOPE, "report", self.db], capture_output=True, text=True, check=True).stdout

    def check_count(self, images=(PROGRAM,)):
        with open(self.counted, encoding="ascii") as file:
            expected = next(int(line.split(",")[0]) for line in file if "sys_enter" in line)
        names = ",".join(f"'{name}'" for name in images)
        ids = f"SELECT DISTINCT process_id FROM image WHERE path GLOB '*/{PROGRAM}' OR path GLOB '*/dash' OR path GLOB '*/sh'"
        # The exec in which perf begins to count is a call of the image before it.
        events = self.count(f"v_event WHERE process IN ({names})")
        missing = "(" + ", ".join(f"'{cause}'" for cause in self.causes_of_missing_events()) + ")"
        lost = self.rows(f"SELECT coalesce(sum(count), 0) FROM loss WHERE cause IN {missing} AND process_id IN ({ids})")[0][0]
        self.assertEqual(events + lost, expected, self.rows("SELECT cause, process_id, sum(count) FROM loss GROUP BY 1, 2"))
        # None is counted without its process.
        self.assertEqual(self.rows(f"SELECT sum(count) FROM loss WHERE cause IN {missing} AND process_id IS NULL"), [(None,)])
        return lost

    def test_light(self):
        self.ended(self.begin(1000, 10))
        self.assertEqual(self.check_count(), 0)

    def test_all_processors_saturated(self):
        said = self.ended(self.begin(CALLS, 10_000, copies=2 * os.cpu_count()))
        lost = self.check_count((PROGRAM, "dash", "sh"))
        if lost:
            self.assertIn("lost", said)

    def test_collector_stopped(self):
        tracer = self.begin(16 * CALLS, 200)
        self.works(tracer)
        tracer.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        tracer.send_signal(signal.SIGCONT)
        self.loop_ends()
        self.assertLess(self.most_memory(tracer), 2 * RINGS * os.cpu_count() + SAMPLES + CODE)
        said = self.ended(tracer)
        lost = self.check_count()
        self.assertGreater(lost, 0)
        self.assertRegex(said, r"events, [1-9][0-9,]* lost")
        self.assertIn("THIS TRACE IS NOT COMPLETE", self.report().splitlines()[2])
        # What was not lost is whole.
        self.assertEqual(self.count("v_event WHERE kind = 'getppid' AND ended <> 'root'"), 0)

    def test_collector_starved(self):
        tracer = self.begin(4 * CALLS, 200)
        self.works(tracer)  # what it starts is not to be starved with it
        self.schedule(tracer, os.SCHED_IDLE)
        for _ in range(2 * os.cpu_count()):
            self.start("timeout", "5", "sh", "-c", "while :; do :; done")
        self.loop_ends()
        self.schedule(tracer, os.SCHED_OTHER)
        self.ended(tracer)
        self.check_count()

    def test_collector_killed(self):
        """What it had written is there, the rest is said to be missing, and nothing of it stays attached."""
        tracer = self.begin(20 * CALLS, 200)
        self.works(tracer)
        tracer.kill()
        tracer.communicate(timeout=WAIT)
        raw = self.db + ".raw.part"
        done = subprocess.run([USCOPE, "load", raw, "-o", self.db], capture_output=True, text=True, timeout=WAIT * 3, check=True)
        self.assertGreater(self.count("event"), 1000)
        self.assertEqual(self.rows("SELECT sum(count) FROM loss WHERE cause = 'cut_off'"), [(1,)], done.stderr)
        self.assertIn("THIS TRACE IS NOT COMPLETE", self.report())


if __name__ == "__main__":
    unittest.main(verbosity=2)

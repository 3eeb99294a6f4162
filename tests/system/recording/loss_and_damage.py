#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What finds no room is counted once, under its own cause, and what is damaged afterwards is told beside it: a program opens files
while the tracer is stopped, from code that the tracer has not seen yet. Needs root and a backend; usage: loss_and_damage.py USCOPE FIXTURES"""
import os
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

COUNT = int(240_000 / SLOWNESS**0.5)


class LossAndDamage(AttachCase):
    def lost(self):
        return dict(self.rows("SELECT cause, sum(count) FROM loss GROUP BY cause"))

    def test_losses_are_counted_once_and_damage_is_seen_beside_them(self):
        raw, work = (os.path.join(self.folder.name, name) for name in ("raw", "work"))
        os.mkdir(work)
        program = f"{FIXTURES}/fixture_opens"
        shutil.copy(program, work + "/copy")
        tracer = self.start(USCOPE, "record", *BACKEND_OPTIONS, "-e", "openat", "-o", self.db, "--keep-raw", raw, "--", program, work,
                            str(COUNT), stderr=subprocess.DEVNULL)
        self.wait_for(lambda: os.path.exists(work + "/ready"), "the program does not start")
        tracer.send_signal(signal.SIGSTOP)
        os.mkdir(work + "/go")
        self.wait_for(lambda: os.path.exists(work + "/done"), "the program does not end")
        tracer.send_signal(signal.SIGCONT)
        self.assertEqual(tracer.wait(WAIT * 3), 0)
        lost = self.lost()
        missing = sum(lost[cause] for cause in self.causes_of_missing_events())
        self.assertEqual(self.count("event JOIN kind ON kind.id = kind_id WHERE name = 'openat'") + missing, COUNT)
        # A string may be there whose event is not.
        strings = self.count("event_string WHERE source = 0") + lost.get("ring_full_string", 0)
        self.assertLessEqual(strings, COUNT)
        self.assertGreaterEqual(strings, COUNT - missing)
        for cause in ("ring_full_event", "ring_full_string", "deferred_ring"):
            self.assertGreater(lost.get(cause, 0), 0, lost)
        self.assertNotIn("raw_damaged", lost)
        # A piece is taken out, whole records and parts of two.
        with open(raw, "rb") as file:
            whole = file.read()
        self.db = os.path.join(self.folder.name, "damaged.db")
        with open(raw, "wb") as file:
            middle = len(whole) // 2
            file.write(whole[:middle] + whole[middle + 4096:])
        subprocess.run([USCOPE, "load", raw, "-o", self.db], check=True, capture_output=True, timeout=WAIT * 3)
        damaged = self.lost()
        self.assertGreater(damaged.pop("raw_damaged", 0), 4)
        for cause in ("ring_full_event", "ring_full_string", "deferred_ring"):
            self.assertEqual(damaged[cause], lost[cause])


if __name__ == "__main__":
    unittest.main(verbosity=2)

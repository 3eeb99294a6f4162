#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Processes whose threads map and unmap memory all the time are traced as cheaply when they are attached to in the middle of it as if they
had been launched: their walks are not deferred, and their mappings not looked up again and again. Needs root and a backend; usage:
attach_storms.py USCOPE FIXTURES"""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, in_calls, own_copy  # noqa: E402
from backend import KERNEL_ONLY, alike_on_all_kernels  # noqa: E402

STORM = own_copy("mapping_storm")
THREADS = 4
CALLS_A_BYTE = 500  # of getppid(), as mapping_storm.c says
BYTES = 3
ATTACHES = 1 if KERNEL_ONLY else 3  # what goes wrong while the hooks come into place does not go wrong each time


class Storms(AttachCase):
    def storm(self, *options):
        process = self.start(STORM, str(THREADS), *options, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.process = process
        return process

    def stormy_while(self, processes=1):
        """Half a second, and as much longer as a slow machine needs for so many calls that a process of which nothing is cached shows. Each
        process counts by itself: its first byte may come after one call."""
        time.sleep(0.5)
        pipe = self.process.stdout.fileno()
        os.set_blocking(pipe, False)
        while self.process.stdout.read(4096):
            pass
        os.set_blocking(pipe, True)
        self.process.stdout.read(BYTES + processes - 1)

    def check(self):
        """A process of which nothing is cached looks its mappings up some four times in each walk, of which there are ten to thirty thousand a
        second. What is looked up at first, and deferred where the lock of the mappings is not free, are mappings that were forgotten since
        a call that may have changed them was under way while the tracer attached: mostly hundreds of walks, at times two thousand."""
        figures = dict(self.rows("SELECT key, value FROM meta WHERE key IN ('walks', 'mapping_lookups', 'deferred_lock')"))
        walks, looked_up, deferred = (int(figures[key]) for key in ("walks", "mapping_lookups", "deferred_lock"))
        self.assertGreater(walks, (BYTES - 1) * CALLS_A_BYTE, self.what_was_seen() if walks == 0 else figures)
        self.assertLess(looked_up, walks * 0.5 + 800, figures)
        self.assertLess(deferred, walks * 0.2 + 800, figures)
        self.assertEqual(self.count("v_event WHERE kind = 'getppid' AND (ended != 'root' OR folded NOT LIKE '%;map_and_unmap;%')"), 0)

    def what_was_seen(self):
        """A process of which no call was seen: whether it was traced, and which of its threads, and for how long."""
        return "\n".join([self.text(), f"meta {self.rows('SELECT * FROM meta')}", f"processes {self.rows('SELECT * FROM process')}",
                          f"threads {self.rows('SELECT * FROM thread')}", f"calls {self.rows('SELECT kind, how, count(*) FROM v_event GROUP BY 1, 2')}",
                          f"in {in_calls(self.process.pid)}"])

    def attach_to(self, *options):
        return self.attach(*options, "-e", "getppid")

    def test_attached_in_the_middle(self):
        process = self.storm()
        for _ in range(ATTACHES):
            tracer = self.attach_to("--pid", str(process.pid))
            self.stormy_while()
            self.finish(tracer)
            self.check()
            os.remove(self.db)

    def test_forked_while_the_parent_is_attached_to(self):
        children = 3
        process = self.storm(str(children))
        tracer = self.attach_to("--pid", str(process.pid))
        process.stdin.write(b"x")
        process.stdin.flush()
        self.stormy_while(children + 1)
        self.finish(tracer)
        self.check()

    @alike_on_all_kernels("as launched: the hooks are there before it")
    def test_started_while_waited_for(self):
        tracer = self.attach_to("--app", os.path.basename(STORM))
        self.storm()
        self.stormy_while()
        self.finish(tracer)
        self.check()


if __name__ == "__main__":
    unittest.main()

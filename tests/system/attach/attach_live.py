#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What one sees of running applications while they are traced: `uscope top`, limits of a recording, the status line. Needs root and a
backend; usage: attach_live.py USCOPE FIXTURES"""
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT, WAITERS  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

NAME = os.path.basename(WAITERS)


class Live(AttachCase):
    def waiting(self):
        """It sleeps for 100 ms ten times a second; its other threads wait for ever."""
        process = self.start(WAITERS, "600000")
        self.wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 5, "its threads do not run")
        return process

    def top(self, *options):
        done = subprocess.run([USCOPE, "top", *BACKEND_OPTIONS, *options], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_one_picture(self):
        self.waiting()
        said = self.top("--app", NAME, "--once", "--interval", "2s", "--format", "json")
        picture = json.loads(said)
        self.assertEqual(said.count("\n"), 1)
        self.assertEqual((picture["target"], picture["processes"], picture["lost"]), ("app " + NAME, 1, 0))
        (line,) = picture["lines"]
        self.assertEqual((line["call"], line["function"], line["module"], line["fallback"], line["errors"]),
                         ("clock_nanosleep", "sleeps", WAITERS, False, 0))
        # The first one was under way when tracing began: it counts, but has no duration.
        self.assertGreaterEqual(picture["seconds"], 2)
        self.assertTrue(5 <= line["calls"] <= 10 * picture["seconds"] + 1, line)
        self.assertGreaterEqual(line["median_ns"], 100_000_000)
        self.assertGreaterEqual(line["total_ns"], (line["calls"] - 1) * 100_000_000)

    def test_pictures_follow_one_another(self):
        process = self.waiting()
        lines = self.top("--pid", str(process.pid), "--interval", "300ms", "--duration", "2s", "--format", "json").splitlines()
        pictures = [json.loads(line) for line in lines]
        self.assertGreaterEqual(len(pictures), 3)
        self.assertEqual(sorted(picture["at_s"] for picture in pictures), [picture["at_s"] for picture in pictures])
        self.assertTrue(all(picture["seconds"] >= 0.3 for picture in pictures))
        self.assertEqual({line["call"] for picture in pictures for line in picture["lines"]}, {"clock_nanosleep"})
        self.assertLessEqual(sum(picture["calls"] for picture in pictures), 10 * sum(picture["seconds"] for picture in pictures) + 1)
        self.assertIn("sleeps", self.top("--pid", str(process.pid), "--interval", "300ms", "--duration", "2s"))

    def on_a_terminal(self, command, until):
        """A program on a terminal of its own, which gets a Ctrl-C when `until` is so; what it printed before and after."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(command[0], command)
        text = b""
        end = time.monotonic() + WAIT
        typed = False
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    text += os.read(terminal, 65536)
                except OSError:
                    break  # it has ended
            if not typed and until(text):
                os.write(terminal, b"\x03")
                typed = True
        os.close(terminal)
        if time.monotonic() >= end:
            os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode(errors="replace")

    def test_top_by_thread(self):
        process = self.waiting()
        picture = json.loads(self.top("--pid", str(process.pid), "--once", "--interval", "2s", "--by", "thread", "--format", "json"))
        (line,) = picture["lines"]  # the other threads' calls do not end
        self.assertIn(str(line["tid"]), os.listdir(f"/proc/{process.pid}/task"))
        self.assertEqual((line["pid"], line["name"], line["most_frequent_call"], line["errors"]), (process.pid, NAME[:15], "clock_nanosleep", 0))
        # One thread, whose first call was under way when tracing began.
        self.assertGreaterEqual(line["total_ns"], (line["calls"] - 1) * 100_000_000)
        self.assertLessEqual(line["time_per_s_ns"], 1e9)
        self.assertAlmostEqual(line["time_per_s_ns"], line["total_ns"] / picture["seconds"], delta=1)
        text = self.top("--pid", str(process.pid), "--once", "--interval", "2s", "--by", "thread", "--sort", "time", "--filter", "NANO")
        self.assertRegex(text, rf"time/s +pid +tid +name +most often\n.* {process.pid} +{line['tid']} +{NAME[:15]} +clock_nanosleep\n")
        self.assertIn('1 of 1 line match "NANO"', text)

    def test_the_status_line(self):
        process = self.waiting()
        code, text = self.on_a_terminal([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--pid", str(process.pid)],
                                        lambda text: b"/s  0 lost  1 process" in text)
        self.assertEqual(code, 0, text)  # Ctrl-C ended it
        self.assertRegex(text, r"\d+ events  \d+/s  0 lost  1 process")
        self.assertIsNone(process.poll())

    def test_limits(self):
        process = self.start("sh", "-c", "while :; do cat /dev/null; done")
        for options, reason in ((("--duration", f"{0.5 * SLOWNESS}s"), None), (("--max-size", "200K"), "--max-size is reached")):
            with self.subTest(options):
                tracer = self.attach("--pid", str(process.pid), *options)
                self.ends(tracer)
                if reason:
                    self.assertIn(reason, self.text())
                self.assertGreater(self.count("v_event WHERE ended = 'root'"), 20)
                self.assertEqual(self.rows("SELECT DISTINCT how FROM event WHERE how NOT IN ('returned', 'noreturn', 'killed', 'open', 'attached')"), [])
                self.assertIsNone(process.poll())
                self.assertEqual(sorted(os.listdir(self.folder.name)), ["said", "trace.db"])
            os.remove(self.db)

    def test_lines_while_tracing(self):
        process = self.waiting()
        self.ends(self.attach("--pid", str(process.pid), "--print", "--duration", "1s"))
        self.assertRegex(self.text(), rf"{process.pid}/\d+\] [\d.]+ clock_nanosleep\(.*\) = 0 <1\d\d(\.\d+)? ms>")


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`uscope top` on terminals of several sizes, as a user sees it: tmux is the terminal, redis-server under load is what is traced. Needs root,
a backend, tmux and redis; usage: top_screen.py USCOPE FIXTURES"""
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402
from server_setup import free_port  # noqa: E402
from terminal import Terminal  # noqa: E402

SIZES = ((60, 15), (80, 24), (200, 60))
APART = "calls that wait"  # the line above them
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
WAITING = {"clock_nanosleep", "epoll_wait", "poll", "ppoll", "futex", "wait4", "select", "pselect6"}
# It sleeps nearly all the time, and fails a few hundred times a second: last by calls, first by time, first by errors.
HELPER = """import os, time
while True:
    try:
        os.stat("/does/not/exist")
    except OSError:
        pass
    time.sleep(0.003)
"""


def values(lines, title):
    """A column of the table: the numbers under a title that is aligned to the right."""
    end = lines[2].index(title) + len(title)
    found = []
    for line in lines[3:-1]:
        if line.strip() and line != APART:
            cell = re.search(r"(?:^|  )((?:< )?[\d.,]*(?: (?:ns|µs|ms|s))?)$", line[:end])
            number, _, unit = cell.group(1).replace(",", "").replace("< ", "").partition(" ")
            found.append(float(number or 0) * UNITS.get(unit, 1))
    return found


def calls(lines):
    title = re.search(r"\bcall\b", lines[2])
    return [line[title.start():].split()[0] for line in lines[3:-1] if line.strip() and line != APART] if title else []


class TopScreen(AttachCase):
    def setUp(self):
        super().setUp()
        for program in ("tmux", "redis-server", "redis-benchmark"):
            self.assertIsNotNone(shutil.which(program), program + " is not installed: scripts/install-deps.sh test")
        port = str(free_port())
        self.redis = self.start("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", self.folder.name)
        self.wait_for(lambda: subprocess.run(["redis-cli", "-p", port, "ping"], check=False, capture_output=True).stdout == b"PONG\n",
                      "redis-server does not answer")
        self.load = self.start("redis-benchmark", "-p", port, "-c", "5", "-n", "1000000000", "-t", "set,get", "-q")
        self.helper = self.start(sys.executable, self.script("helper.py", HELPER))

    def command(self, *options, interval="250ms"):
        return shlex.join([USCOPE, "top", *BACKEND_OPTIONS, "--pid", str(self.redis.pid), "--pid", str(self.helper.pid),
                           "--interval", interval, *options])

    def top(self, columns, rows, *options):
        terminal = Terminal(self, columns, rows)
        terminal.run(self.command(*options) + "; echo status $?")
        terminal.wait(lambda lines: "calls/s" in lines[2] and any("clock_nan" in line for line in lines), "no table")
        return terminal

    def check_picture(self, terminal, columns, rows):
        lines = terminal.lines()
        self.assertEqual(len(lines), rows)
        self.assertLessEqual(max(map(len, lines)), columns)
        self.assertEqual(len(terminal.wrapped()), rows, "a line wraps")
        pids = f"pid {self.redis.pid}, {self.helper.pid}"
        self.assertRegex(lines[0], rf"^{pids[:8]}.*  [\d,]+ s  2 processes  [\d,]+ calls/s$")
        self.assertRegex(lines[1], r"^LOST (nothing|[\d,]+ events)  ")
        self.assertTrue(lines[-1].startswith("q quit"), lines[-1])

    def paused(self, terminal, *needed):
        """A picture that does not change any more, and has these calls: on a slow machine not every one has."""
        found = []

        def pause():
            terminal.keys("p")
            found[:] = terminal.state("PAUSED")
            if set(needed) <= set(calls(found)):
                return True
            terminal.keys("p")
            terminal.wait(lambda lines: "PAUSED" not in lines[1], "it does not go on")
            return False

        self.wait_for(pause, f"no picture with {needed}")
        return found

    def test_sizes(self):
        for columns, rows in SIZES:
            with self.subTest(f"{columns}x{rows}"):
                terminal = self.top(columns, rows)
                self.check_picture(terminal, columns, rows)
                terminal.keys("?")
                shown = terminal.wait(lambda lines: "any key" in lines[-1], "no help")
                self.assertTrue(any("sort by calls" in line for line in shown), shown)
                self.assertRegex(shown[1], "^LOST ")
                self.assertEqual(len(terminal.wrapped()), rows, "a line wraps")
                terminal.keys("q")
                self.ended(terminal)

    def ended(self, terminal):
        """The shell's screen is back, with what was on it."""
        shown = terminal.wait(lambda lines: "status 0" in lines, "it does not end")
        self.assertTrue(any(line.startswith("shell:") and " top " in line for line in shown + ["".join(shown)]), shown)
        self.assertFalse(terminal.alternate())
        terminal.run("stty -a | grep -c -- -icanon; stty -a | grep -c -- '-echo '; echo asked")
        shown = terminal.wait(lambda lines: "asked" in lines, "no answer")
        self.assertEqual(shown[shown.index("asked") - 2:shown.index("asked")], ["0", "0"], shown)

    def test_keys(self):
        terminal = self.top(80, 24)
        shown = self.paused(terminal, "read", "clock_nanosleep", "newfstatat")
        orders = {}
        for key, name, title in (("c", "calls", "calls/s"), ("t", "time", "time/s"), ("e", "errors", "errors/s")):
            terminal.keys(key)
            shown = terminal.state("functions by " + name)
            column = values(shown, title)
            orders[name] = calls(shown)
            # Calls that wait come behind the others.
            behind = [call in WAITING for call in orders[name]]
            self.assertEqual(behind, sorted(behind), shown)
            wanted = sorted(zip(behind, column), key=lambda each: (each[0], -each[1]))
            self.assertEqual(list(zip(behind, column)), wanted, shown)
            self.assertGreater(column[0], 0, shown)
        self.assertEqual(sorted(orders["calls"]), sorted(orders["time"]))
        self.assertLess(orders["calls"].index("read"), orders["calls"].index("clock_nanosleep"))
        self.assertLess(orders["time"].index("read"), orders["time"].index("clock_nanosleep"))
        self.assertEqual(orders["errors"][0], "newfstatat")
        terminal.keys("c", "r")
        shown = terminal.state("functions by calls, the least first")
        column = [number for number, call in zip(values(shown, "calls/s"), calls(shown)) if call not in WAITING]
        self.assertEqual(column, sorted(column), shown)
        terminal.keys("r", "w")
        shown = terminal.state("without calls that wait")
        self.assertFalse(WAITING & set(calls(shown)), shown)
        terminal.keys("w")
        shown = terminal.state("by calls  calls that wait")
        self.assertLessEqual(set(calls(shown)), WAITING, shown)
        # The stack of the first of them, which is that of redis's event loop or of the helper's sleep.
        terminal.keys("Enter")
        shown = terminal.wait(lambda lines: lines[-1] == "Enter: back to the lines" and
                              any(re.match(r"  (main|_start|epoll_wait|clock_nanosleep)\b.*  [\w.+-]+$", line) for line in lines[3:]), "no stack")
        self.assertRegex(shown[2], r"^stack of \w+ from .*[\d,]+ calls?( \(\d+ distinct stacks\))?$")
        terminal.keys("Escape")
        terminal.wait(lambda lines: "calls/s" in lines[2], "the stack stays")
        terminal.keys("w", "e")
        terminal.wait(lambda lines: re.search(r"functions by errors  \d", lines[1]) and "calls/s" in lines[2], "waits are not apart again")
        # Several pictures would have come.
        before = terminal.lines()
        tracer = subprocess.run([USCOPE, "top", *BACKEND_OPTIONS, "--pid", str(self.redis.pid), "--once", "--interval", "1s"],
                                capture_output=True, timeout=WAIT, check=False)
        self.assertEqual(tracer.returncode, 0, tracer.stderr)
        self.assertEqual(terminal.lines(), before)
        terminal.keys("p")
        terminal.wait(lambda lines: "PAUSED" not in lines[1] and lines[0] != before[0], "it does not go on")
        # The filter works while it is typed: q and t are letters of it.
        terminal.keys("/")
        terminal.wait(lambda lines: lines[-1].startswith("/_"), "nothing can be typed")
        terminal.keys("-l", "NANOSLEEPq")
        terminal.state("  0 of ")
        terminal.keys("BSpace", "Enter")
        shown = terminal.wait(lambda lines: 'with "NANOSLEEP"' in lines[1] and lines[-1].startswith("q quit") and calls(lines), "no filter")
        self.assertEqual(set(calls(shown)), {"clock_nanosleep"}, shown)
        self.assertRegex(shown[0], "2 processes")
        terminal.keys("Escape")
        terminal.wait(lambda lines: "with" not in lines[1] and len(calls(lines)) > 3, "the filter stays")
        # Threads, of which one line is selected.
        terminal.keys("c")
        terminal.keys("v")
        shown = terminal.wait(lambda lines: "threads by calls" in lines[1] and
                              any(re.search(rf"{self.helper.pid} +{self.helper.pid}  python3", line) for line in lines), "no threads")
        self.assertRegex(shown[3], rf"{self.redis.pid} +{self.redis.pid}  redis-server ")
        terminal.keys("Down")
        terminal.wait(lambda lines: lines[-1].startswith(f"{self.redis.pid}/{self.redis.pid} redis-server: "), "nothing is selected")
        terminal.keys("q")
        self.ended(terminal)

    def test_resizing(self):
        terminal = self.top(80, 24)
        self.paused(terminal)  # what is drawn from here on is drawn for the new size
        for columns, rows in ((200, 60), (60, 15), (80, 24)):
            terminal.resize(columns, rows)
            terminal.wait(lambda lines, rows=rows: len(lines) == rows and lines[-1].startswith("q quit") and "PAUSED" in lines[1],
                          "it is not drawn anew")
            self.check_picture(terminal, columns, rows)
        terminal.resize(59, 15)
        terminal.wait(lambda lines: lines[0].startswith("uscope top needs 60 columns and 15 lines"), "it does not say what it needs")
        terminal.resize(60, 15)
        terminal.wait(lambda lines: "PAUSED" in lines[1], "it is not drawn anew")
        terminal.keys("C-c")
        self.ended(terminal)

    def test_options_choose_what_is_shown_first(self):
        terminal = Terminal(self, 80, 24)
        terminal.run(self.command("--sort", "errors", "--by", "thread", "--filter", "PYTHON", "--lines", "1") + "; echo status $?")
        shown = terminal.wait(lambda lines: re.search(r"threads by errors  1 of \d+ lines? with \"PYTHON\"", lines[1]), "not as asked")
        self.assertIn("python3", shown[3])
        # A signal from elsewhere ends it too.
        (uscope,) = (int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if self.is_the_tracer(pid))
        os.kill(uscope, signal.SIGTERM)
        self.ended(terminal)

    def is_the_tracer(self, pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{parent}/comm", encoding="utf-8", errors="replace") as file:
                return words[0] == USCOPE.encode() and str(self.helper.pid).encode() in words and file.read() == "sh\n"
        except OSError:
            return False

    def test_a_reader_that_has_enough_ends_it(self):
        for options, interval in (((), "250ms"), (("--format", "json"), "250ms"), ((), "1h")):
            with self.subTest(options=options, interval=interval):
                tracer = self.start(*shlex.split(self.command(*options, interval=interval)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                if interval != "1h":
                    self.assertIn(b"calls", tracer.stdout.readline())
                tracer.stdout.close()
                self.assertEqual(tracer.wait(WAIT), 0)
                self.assertEqual(tracer.stderr.read(), b"")
                tracer.stderr.close()

    def test_a_terminal_that_cannot_place_text(self):
        terminal = Terminal(self, 80, 24)
        terminal.run("TERM=dumb " + self.command("--lines", "1", "--duration", "2s", interval="1s") + "; echo status $?")
        shown = terminal.wait(lambda lines: "status 0" in lines, "it does not end")
        self.assertTrue(any("cannot place text" in line for line in shown), shown)
        self.assertTrue(any(re.search("calls/s  0 lost$", line) for line in shown), shown)

    def test_a_terminal_that_nothing_is_known_of(self):
        terminal = Terminal(self, 80, 24)
        terminal.run("TERM=nobody-has-it " + self.command("--lines", "1", "--duration", "1s", interval="1s") + "; echo status $?")
        shown = terminal.wait(lambda lines: "status 0" in lines, "it does not end")
        self.assertTrue(any("no description of the terminal `nobody-has-it`" in line for line in shown), shown)


if __name__ == "__main__":
    unittest.main(verbosity=2)

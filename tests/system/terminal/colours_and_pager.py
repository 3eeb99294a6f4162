#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What readers print on a terminal: colours, widths, the pager. The traced program has names that want to write on the terminal
themselves. Needs root, a backend, less and tmux; usage: colours_and_pager.py USCOPE PROGRAM_THAT_DEADLOCKS"""
import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402
from terminal import LIMIT, Terminal  # noqa: E402

DEADLOCKS = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else ""
USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
# It would paint, set the window's title, turn the writing round and end the line.
HOSTILE = "\x1b[32mgreen\x1b]0;title\x07‮\n\x9b31m"
SEQUENCE = re.compile("\x1b\\[[0-9;]*m")
INKS = {"\x1b[1m", "\x1b[1;31m", "\x1b[35m", "\x1b[0m"}  # bold, red, magenta, and back
COLUMNS = 100
# Whatever the terminal of the tests is.
PLAIN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "PAGER", "USCOPE_PAGER", "LESS")} | {"TERM": "xterm"}


def on_terminal(*words, rows=50, **environment):
    """Runs uscope on a pseudo-terminal of its own. Returns what is written there, and the exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))
    process = subprocess.Popen([USCOPE, *words], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env=PLAIN | environment)
    os.close(theirs)
    written = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # the last one that had the terminal open has gone
            break
        if not some:
            break
        written += some
    os.close(ours)
    return written.decode("utf-8").replace("\r\n", "\n"), process.wait(LIMIT)


def in_pipe(*words, **environment):
    done = subprocess.run([USCOPE, *words], capture_output=True, timeout=LIMIT, check=False, env=PLAIN | environment)
    return done.stdout.decode("utf-8")


class OnATerminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="uscope-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        for program in ("less", "tmux"):
            assert shutil.which(program), program + " is not installed: scripts/install-deps.sh test"
        cls.db = os.path.join(cls.folder.name, "trace.db")
        cls.hung = os.path.join(cls.folder.name, "hung.db")
        program = os.path.join(cls.folder.name, HOSTILE.replace("/", ""))
        shutil.copy("/bin/cat", program)
        script = '"$0" /nowhere/"$1" 2>/dev/null; "$0" /etc/passwd >/dev/null; kill -KILL $$'
        cls.record("-o", cls.db, "-t", "sample:99", "-t", "offcpu", "--", "sh", "-c", script, program, HOSTILE)
        cls.record("-o", cls.hung, "--duration", "500ms", "--", DEADLOCKS, "abba")

    @classmethod
    def record(cls, *words):
        process = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, *words], stderr=subprocess.PIPE, start_new_session=True)
        summary = process.stderr.readline()
        process.wait(LIMIT)
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what goes on untraced
        except ProcessLookupError:
            pass
        process.stderr.close()
        assert b" lost" in summary, summary

    def readers(self):
        yield ("report", self.db)
        yield ("events", self.db, "--stack")
        yield ("tree", self.db)
        yield ("time", self.db)
        yield ("files", self.db, "--callers")
        yield ("diff", "--normal", self.db, "--abnormal", self.hung)
        yield ("deadlock", self.hung)
        yield ("sql", self.db, "SELECT id, path FROM module ORDER BY id")

    def wait_for(self, condition, what):
        end = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def script(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text + "\n")
        os.chmod(path, 0o755)
        return path

    def test_colours_say_what_the_text_says(self):
        for words in self.readers():
            with self.subTest(words[0]):
                coloured, code = on_terminal(*words, "--no-pager")
                plain, plain_code = on_terminal(*words, "--no-pager", "--color", "never")
                self.assertEqual(code, plain_code)
                self.assertNotIn("\x1b", plain)
                self.assertEqual(SEQUENCE.sub("", coloured), plain, "laid out as without colours")
                self.assertLessEqual(set(SEQUENCE.findall(coloured)), INKS)
                self.assertIn("\x1b[", coloured)
                if words[0] in ("report", "tree", "time", "files"):  # tables; commands to be copied are not cut
                    longest = max((line for line in plain.split("\n") if not line.startswith("More: ")), key=len)
                    self.assertLessEqual(len(longest), COLUMNS, longest)
                for text in (coloured, plain):
                    self.assertFalse(set(SEQUENCE.sub("", text)) & {"\x1b", "\x07", "\x9b", "‮", "\r"}, "a name reaches the terminal")
                for line in coloured.split("\n"):  # less -R begins each line without colour
                    self.assertTrue("\x1b" not in line or line.rindex("\x1b[0m") == line.rindex("\x1b["), line)

    def test_what_stands_out(self):
        report = on_terminal("report", self.db, "--no-pager")[0]
        self.assertRegex(report, "(?m)^\x1b\\[(1mLOST\x1b\\[0m +nothing|35mLOST\x1b\\[0m +no event; but:)")
        self.assertRegex(report, "(?m)^\x1b\\[1mERRORS\x1b\\[0m ")
        self.assertRegex(report, "\x1b\\[1;31mENOENT\x1b\\[0m")
        self.assertRegex(report, "\x1b\\[1;31mSIGKILL.*?\x1b\\[0m")
        events = on_terminal("events", self.db, "--no-pager")[0]
        self.assertRegex(events, "\x1b\\[1mopenat\x1b\\[0m\\(.*nowhere.*\\) = \x1b\\[1;31m-1 ENOENT\x1b\\[0m \\(No such file or directory\\) <")
        hung = on_terminal("events", self.hung, "--no-pager", "--how", "open")[0]
        self.assertRegex(hung, "\x1b\\[1mfutex\x1b\\[0m\\(.*\\) = \x1b\\[35m\\? \\(has not returned\\)\x1b\\[0m")
        self.assertRegex(on_terminal("deadlock", self.hung, "--no-pager")[0], "(?m)^\x1b\\[1;31mDEADLOCK\x1b\\[0m")
        self.assertRegex(on_terminal("report", "/nowhere.db")[0], "^\x1b\\[1;31muscope:\x1b\\[0m ")

    def test_when(self):
        for asked, environment, terminal, expected in (
                ("auto", {}, True, True), ("auto", {}, False, False), ("auto", {"NO_COLOR": "1"}, True, False), ("auto", {"NO_COLOR": ""}, True, True),
                ("auto", {"TERM": "dumb"}, True, False), ("always", {}, False, True), ("always", {"NO_COLOR": "1"}, False, True),
                ("never", {}, True, False)):
            with self.subTest(f"--color {asked}, {environment}, {terminal}"):
                words = ("tree", self.db, "--color", asked)
                text = on_terminal(*words, "--no-pager", **environment)[0] if terminal else in_pipe(*words, **environment)
                self.assertEqual("\x1b" in text, expected)
        self.assertNotIn("\x1b", in_pipe("tree", self.db, "--color", "always", "--format", "json"))
        self.assertNotIn("\x1b", on_terminal("report", "/nowhere.db", "--color", "never")[0])

    def test_which_pager(self):
        seen = os.path.join(self.folder.name, "seen")
        first = self.script("first-pager", f'cat >"{seen}"; echo "first, LESS=$LESS"')
        second = self.script("second-pager", "cat >/dev/null; echo second")
        tree = on_terminal("tree", self.db, "--no-pager")[0]
        for environment, words, expected in (
                ({"USCOPE_PAGER": first, "PAGER": second}, (), "first, LESS=FRX\n"), ({"PAGER": second}, (), "second\n"),
                ({"PAGER": f"'{first}'", "LESS": "-i"}, (), "first, LESS=-R -i\n"), ({"USCOPE_PAGER": "", "PAGER": second}, (), tree),
                ({"PAGER": "cat"}, (), tree), ({"PAGER": second}, ("--no-pager",), tree), ({"PAGER": second, "TERM": "dumb"}, (), SEQUENCE.sub("", tree)),
                ({"PAGER": "/nowhere/pager -x"}, (), "uscope: there is no pager /nowhere/pager\n" + tree)):
            with self.subTest(str(environment)):
                self.assertEqual(on_terminal("tree", self.db, *words, **environment), (expected, 0))
        for locale in ({}, {"LC_ALL": "C"}):
            with self.subTest(str(locale)):
                self.assertIn(tree, on_terminal("tree", self.db, **locale)[0].replace("\r", "").replace("\x1b[m", ""), "less ends by itself where all fits")
        with open(seen, encoding="utf-8") as file:
            self.assertEqual(file.read(), tree, "in colours, as wide as the terminal")
        self.assertEqual(in_pipe("tree", self.db, PAGER=second), in_pipe("tree", self.db))

    def test_a_verb_ends_as_without_a_pager(self):
        self.assertEqual(on_terminal("deadlock", self.hung, PAGER="cat >/dev/null; true"), ("", 1))
        self.assertEqual(on_terminal("deadlock", self.hung, PAGER="head -c 1"), ("\x1b", 1))
        shown, code = on_terminal("events", self.db, "--stack", "--color", "never", PAGER="head -n 1")
        self.assertEqual((shown.count("\n"), code), (1, 0), shown)
        # A verb that fails starts none; a note on stderr stands in the pager.
        wrong = on_terminal("report", "/nowhere.db", PAGER="tr a-z A-Z")
        self.assertEqual(wrong, on_terminal("report", "/nowhere.db", "--no-pager"))
        self.assertEqual(wrong[1], 2)
        self.assertIn("UNKNOWN BY MISTAKE", on_terminal("events", self.db, "--process", "unknown by mistake", PAGER="tr a-z A-Z")[0])

    def test_less(self):
        terminal = Terminal(self, COLUMNS, 20, f"LESS= TERM=screen PS1=shell: PATH={os.path.dirname(USCOPE)}:$PATH exec sh")
        terminal.run(f"unset LESS PAGER USCOPE_PAGER; clear; uscope events {self.db}; echo status $?")
        shown = terminal.wait(lambda lines: lines[-1].startswith(":") and lines[0] != "", "less does not show it")
        self.assertFalse(any("ESC[" in line for line in shown), shown)
        terminal.keys("q")
        terminal.wait(lambda lines: "status 0" in lines, "q does not end it")
        # Ctrl-C is less's: the shell gets the terminal when less has ended, and not before.
        terminal.run("clear; uscope events " + self.db)
        terminal.wait(lambda lines: lines[-1].startswith(":") and lines[0] != "", "less does not show it")
        terminal.keys("C-c")
        terminal.press_until("q", lambda lines: any(line.startswith("shell:") for line in lines[1:]), "no shell")
        terminal.run("clear; echo asked")
        terminal.wait(lambda lines: "asked" in lines, "the shell does not read keys")


if __name__ == "__main__":
    unittest.main()

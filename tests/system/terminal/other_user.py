#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`record -u USER`: the command has a session, a terminal, a keyring and an environment of its own, and works as ever for whoever sits at
the terminal. Needs root, a backend and tmux; usage: other_user.py USCOPE"""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from terminal import Terminal  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
WAIT = 20 * SLOWNESS

# Types a line for the shell whose terminal this is, as far as it can be reached.
TYPES = """
import fcntl, os, sys, termios
ttys = [fd for fd in range(64) if os.path.exists(f"/proc/self/fd/{fd}") and os.isatty(fd)]
try:
    ttys.append(os.open("/dev/tty", os.O_RDWR))
except OSError:
    pass
for tty in ttys:
    for byte in sys.argv[1].encode():
        try:
            fcntl.ioctl(tty, termios.TIOCSTI, bytes([byte]))
        except OSError as error:
            print("refused", error.errno)
            break
print("typed", len(ttys))
"""

# A session keyring with a key, as a login has it; then this command, or what is found of the key.
KEYS = """
import ctypes, os, sys
call = ctypes.CDLL(None, use_errno=True).syscall
session, join, search = -3, 1, 10
if sys.argv[1:]:
    assert call(250, join, b"login", 0, 0, 0) > 0
    assert call(248, b"user", b"secret", b"hunter2", 7, session) > 0
    os.execvp(sys.argv[1], sys.argv[1:])
print("key", call(250, search, session, b"user", b"secret", 0) > 0)
"""


class OtherUser(TraceCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder.name, 0o755)
        self.record = " ".join([USCOPE, "record", *BACKEND_OPTIONS, "-q", "--force", "-o", self.db, "-u", "nobody"])

    def wait_for(self, condition, what):
        end = time.monotonic() + WAIT
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def script(self, name, text):
        path = self.path(name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return f"/usr/bin/python3 {path}"  # which every user can execute

    def terminal(self):
        terminal = Terminal(self, 100, 30, shell="PS1='root> ' exec bash --norc --noprofile", ready="root>")
        self.type(terminal, f"stty -g > {self.path('before')}; clear", "root>")
        return terminal

    def type(self, terminal, line, shown):
        """Types a line; waits until a line of the screen begins so."""
        terminal.keys(line, "Enter")
        terminal.wait(lambda lines: any(text.startswith(shown) for text in lines), f"'{shown}' does not come")

    def check_modes(self, terminal):
        self.type(terminal, f"clear; stty -g | cmp - {self.path('before')} && echo same", "same")

    def output(self, *words, wrapper=(), **options):
        done = subprocess.run([*wrapper, *self.record.split(), *words], check=False, capture_output=True, text=True, timeout=WAIT, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_shell(self):
        terminal = self.terminal()
        self.type(terminal, f"{self.record} -- env PS1='nobody> ' bash --norc --noprofile", "nobody>")
        self.type(terminal, "clear; echo $(stty size) $(id -un)", "30 100 nobody")
        terminal.tmux("resize-window", "-x", "90", "-y", "20")
        self.type(terminal, "clear; stty size", "20 90")
        self.type(terminal, "clear; echo sleeps; sleep 1000", "sleeps")
        terminal.press_until("C-c", lambda lines: any(line.startswith("nobody>") for line in lines), "Ctrl-C does not end sleep")
        self.type(terminal, "clear; echo sleeps; sleep 1001", "sleeps")
        terminal.press_until("C-z", lambda lines: any("Stopped" in line for line in lines), "Ctrl-Z does not stop sleep")
        self.type(terminal, "clear; kill -KILL %1; sleep 0.3; exit 7", "root>")
        self.type(terminal, "echo status $?", "status 7")
        self.check_modes(terminal)

    def test_ctrl_z_and_ctrl_c(self):
        """As a job of the shell: it stops, goes on in the background and in the foreground, and ends."""
        terminal = self.terminal()
        self.type(terminal, f"clear; {self.record} -- sh -c 'echo begun; sleep 1000'", "begun")
        terminal.press_until("C-z", lambda lines: any("Stopped" in line for line in lines), "Ctrl-Z does not stop it")
        self.type(terminal, f"clear; jobs | grep -c Stopped; stty -g | cmp - {self.path('before')} && echo same", "same")
        self.type(terminal, "clear; bg; jobs | grep -c Running", "1")
        self.type(terminal, "clear; fg", USCOPE)
        terminal.press_until("C-c", lambda lines: any(line.startswith("root>") for line in lines), "Ctrl-C does not end it")
        self.type(terminal, "echo status $?", "status 130")
        self.check_modes(terminal)

    def test_a_job_that_begins_in_the_background(self):
        """What is typed once it is in the foreground is for the command, and not for the shell."""
        terminal = self.terminal()
        self.type(terminal, f"clear; {self.record} -- sh -c 'echo; echo begun; exec cat' &", "begun")
        self.type(terminal, "clear; fg", USCOPE)
        terminal.press_until("x", lambda lines: any(line.startswith("x") for line in lines), "nothing is shown")
        terminal.keys("Enter")
        self.type(terminal, "hello", "hello")
        terminal.wait(lambda lines: lines.count("hello") > 1, "the command does not get what is typed")
        terminal.press_until("C-d", lambda lines: any(line.startswith("root>") for line in lines), "Ctrl-D does not end it")
        self.check_modes(terminal)

    def test_what_is_printed_last_comes_first(self):
        terminal = self.terminal()
        self.type(terminal, f"clear; {self.record} -- seq 1 30000; echo end", "end")
        lines = [line for line in terminal.lines() if line]
        self.assertEqual(lines[lines.index("end") - 3:lines.index("end")], ["29998", "29999", "30000"])

    def test_a_tracer_that_is_killed(self):
        terminal = self.terminal()
        gate = self.path("gate")
        self.type(terminal, f"clear; {self.record} -- sh -c 'echo begun $PPID; while ! [ -e {gate} ]; do sleep 0.1; done; echo late'", "begun")
        tracer = next(int(line.split()[1]) for line in terminal.lines() if line.startswith("begun"))
        os.kill(tracer, 9)
        terminal.wait(lambda lines: any(line.startswith("root>") for line in lines), "no shell")
        self.check_modes(terminal)
        with open(gate, "w", encoding="ascii"):
            pass
        terminal.wait(lambda lines: any("late" in line for line in lines), "what the command prints later does not come")

    def test_nothing_is_typed_for_the_caller(self):
        types = self.script("types.py", TYPES)
        terminal = self.terminal()
        for where in ("", "< /dev/null", "> /dev/null"):
            proof = self.path("proof")
            self.type(terminal, f"clear; {self.record} -- {types} '{'touch ' + proof}\n' {where}; echo end", "end")
            self.type(terminal, "clear; echo next", "next")
            self.assertFalse(os.path.exists(proof), where)
        self.type(terminal, f"clear; {self.record} -- {types} '' < /dev/null | cat; echo end", "end")
        # Standard error is a terminal all the same: the command's own.
        self.assertIn("typed 2", terminal.lines())

    def test_without_a_terminal_there_is_none(self):
        types = self.script("types.py", TYPES)
        self.assertEqual(self.output("--", *types.split(), "x", stdin=subprocess.DEVNULL), "typed 0\n")

    def test_keys_descriptors_and_environment_stay(self):
        keys = self.script("keys.py", KEYS).split()
        self.assertEqual(subprocess.run([*keys, *keys], check=True, capture_output=True, text=True).stdout, "key True\n")
        self.assertEqual(self.output("--", *keys, wrapper=keys), "key False\n")
        secret = {**os.environ, "SECRET": "hunter2", "TERM": "dumb", "LC_TIME": "C", "HOME": "/root"}
        kept = dict(line.split("=", 1) for line in self.output("--", "env", env=secret).splitlines())
        self.assertEqual((kept["USER"], kept["LOGNAME"], kept["TERM"], kept["LC_TIME"]), ("nobody", "nobody", "dumb", "C"))
        self.assertLessEqual(set(kept) - {name for name in kept if name.startswith("LC_")},
                             {"HOME", "SHELL", "USER", "LOGNAME", "PATH", "TERM", "COLORTERM", "NO_COLOR", "LANG", "LANGUAGE"})
        self.assertNotEqual(kept["HOME"], "/root")
        self.assertIn("SECRET=hunter2\n", self.output("--preserve-env", "--", "env", env=secret))
        with open("/etc/shadow", "rb") as shadow:
            seen = self.output("--", "sh", "-c", "for f in /proc/$$/fd/*; do [ -e $f ] && echo ${f##*/}; done; true", pass_fds=[shadow.fileno()])
        self.assertEqual(seen.split(), ["0", "1", "2"])


if __name__ == "__main__":
    unittest.main(verbosity=2)

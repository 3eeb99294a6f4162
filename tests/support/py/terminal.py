# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A terminal as a user sees it: tmux."""
import os
import subprocess
import time

from backend import PATIENCE

LIMIT = 30 * PATIENCE


class Terminal:
    """A tmux server of its own, with one window in which a shell runs. `case` has `folder` and wait_for()."""

    def __init__(self, case, columns, rows, shell="PS1=shell: exec sh", ready="shell:"):
        self.case = case
        self.socket = os.path.join(case.folder.name, f"tmux-{columns}x{rows}")
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), shell)
        case.addCleanup(lambda: subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, capture_output=True))
        self.wait(lambda lines: any(line.startswith(ready) for line in lines), "no shell")

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *words], check=False, timeout=LIMIT, capture_output=True, text=True)
        self.case.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def lines(self):
        return self.tmux("capture-pane", "-p").split("\n")[:-1]

    def wrapped(self):
        """The lines as the program wrote them: those that the terminal has wrapped are one line here."""
        return self.tmux("capture-pane", "-p", "-J").rstrip("\n").split("\n")

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def wait(self, condition, what):
        """Until the terminal shows what is asked for; returns it."""
        seen = []

        def shown():
            seen[:] = self.lines()
            return condition(seen)

        try:
            self.case.wait_for(shown, what)
        except AssertionError as failure:
            raise AssertionError(f"{what}; the terminal shows:\n" + "\n".join(seen)) from failure
        return seen

    def press_until(self, key, condition, what):
        """Presses the key, and again where nothing has come of it: a program that Ctrl-C has just interrupted may drop what is typed meanwhile."""
        for _ in range(5):
            self.keys(key)
            end = time.monotonic() + 3
            while time.monotonic() < end:
                if condition(self.lines()):
                    return
                time.sleep(0.02)
        self.wait(condition, what)

    def state(self, text):
        """Until the second line says so, and the same picture is there for the second time: the terminal may show one that is half drawn."""
        before = []

        def said(lines):
            again = lines == before
            before[:] = lines
            return again and len(lines) > 1 and text in lines[1]

        return self.wait(said, f"no `{text}` in the second line")

    def run(self, command):
        self.keys("-l", command)
        self.keys("Enter")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def alternate(self):
        return self.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

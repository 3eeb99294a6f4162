#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What bash, zsh and fish complete, each as a user has it: keys are typed, and the line is looked at. Needs the shells and tmux;
usage: completions.py USCOPE"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from terminal import LIMIT, Terminal  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

# What is typed before Tab, and the line then.
LINES = (("rep", "report"), ("tree --im", "tree --images"), ("report --format j", "report --format json"),
         ("report --format=j", "report --format=json"), ("report sam", "report sample.db"), ("export sample.db --weight t", "export sample.db --weight time"),
         ("diff --normal sample.db --abnormal sam", "diff --normal sample.db --abnormal sample.db"), ("raw notes", "raw notes.raw"),
         ("record -o sample.db -- printe", "record -o sample.db -- printenv"), ("record --follow im", "record --follow image"))


class Completions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="uscope-test-")
        self.addCleanup(self.folder.cleanup)
        for program in ("bash", "zsh", "fish", "tmux"):
            self.assertIsNotNone(shutil.which(program), program + " is not installed: scripts/install-deps.sh test")
        for name in ("sample.db", "sample.txt", "notes.raw"):
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8"):
                pass

    def wait_for(self, condition, what):
        end = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def script(self, shell):
        done = subprocess.run([USCOPE, "completion", shell], capture_output=True, text=True, check=True, timeout=LIMIT)
        return done.stdout

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def shell(self, command, rows=12):
        start = f"cd {self.folder.name}; HOME={self.folder.name} PATH={os.path.dirname(USCOPE)}:/usr/bin:/bin; export HOME PATH; exec {command}"
        return Terminal(self, 100, rows, start, "shell:")

    def check_lines(self, terminal):
        for typed, expected in LINES:
            terminal.keys("-l", "uscope " + typed)
            terminal.keys("Tab")
            terminal.wait(lambda lines: any(line.rstrip() == "shell: uscope " + expected for line in lines), f"`{typed}` does not become `{expected}`")
            terminal.keys("C-e", "C-u", "C-l")
            terminal.wait(lambda lines: lines[0].rstrip() == "shell:" and not any(lines[1:]), "the line is not empty again")

    def test_bash(self):
        self.write("rc", "PS1='shell: '\nsource <(uscope completion bash)\n")
        terminal = self.shell("bash --noprofile --rcfile rc -i")
        self.check_lines(terminal)

    def test_zsh(self):
        """As a file of a folder in fpath, and as what .zshrc reads."""
        self.write("functions/_uscope", self.script("zsh"))
        start = "PS1='shell: '; autoload -Uz compinit; {0}compinit -u -D; {1}\n"
        for text in (start.format(f"fpath=({self.folder.name}/functions $fpath); ", ":"), start.format("", "source <(uscope completion zsh)")):
            self.write("zsh/.zshrc", text)
            terminal = self.shell("env ZDOTDIR=zsh zsh -d -i", rows=12 if "fpath" in text else 13)
            self.check_lines(terminal)
        terminal.keys("-l", "uscope report --")
        terminal.keys("Tab")
        terminal.wait(lambda lines: any("--top" in line and "lines of each list" in line for line in lines), "options are not explained")

    def test_fish(self):
        self.write(".config/fish/completions/uscope.fish", self.script("fish"))
        for line, expected in LINES:
            done = subprocess.run(["fish", "-c", "complete -C " + repr("uscope " + line)], capture_output=True, text=True, check=True, timeout=LIMIT,
                                  cwd=self.folder.name, env=os.environ | {"HOME": self.folder.name, "PATH": os.path.dirname(USCOPE) + ":/usr/bin:/bin"})
            offered = [word.split("\t")[0] for word in done.stdout.splitlines()]
            self.assertEqual(offered[:1], expected.split(" ")[-1:], f"{line}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""within.py ends all that came of its command. usage: within_test.py SCRIPTS"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTS = os.path.abspath(sys.argv.pop(1))
# A session of its own, one that no parent is left of, one that ignores SIGTERM, one that is stopped, one without the mark whose parent has it, and ctest's tests
# with what runs beside them.
STARTS = """
setsid sleep 7100 &
(setsid setsid sleep 7101 & disown)
(trap '' TERM; exec setsid sleep 7102) &
sleep 7103 &
until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done
kill -STOP $!
(env -i sleep 7104; :) &
"$1/run-tests.py" "$2" --beside "sleep 7105 & sleep 7106" >/dev/null &
touch "$2/started"
"""


def sleeping():
    found = set()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0] == b"sleep" and words[1].startswith(b"71"):
            found.add(words[1].decode())
    return found


class WithinTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = folder.name
        with open(os.path.join(self.build, "CTestTestfile.cmake"), "w", encoding="ascii") as file:
            file.write('add_test(long "setsid" "sleep" "7107")\n')

    def start(self, behind):
        process = subprocess.Popen([f"{SCRIPTS}/within.py", "bash", "-c", STARTS + behind, "bash", SCRIPTS, self.build])
        self.addCleanup(process.terminate)
        return process

    def wait_for(self, condition, seconds=30):
        limit = time.monotonic() + seconds
        while not condition() and time.monotonic() < limit:
            time.sleep(0.05)

    def test_signals_end_all(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                process = self.start("wait")
                self.wait_for(lambda: len(sleeping()) == 8)
                self.assertEqual(sleeping(), {f"710{n}" for n in range(8)})
                process.send_signal(number)
                self.assertEqual(process.wait(30), 128 + number)
                self.assertEqual(sleeping(), set())
                self.assertFalse(os.path.exists(f"{self.build}/limits.cmake"))

    def test_the_commands_end_ends_all_and_is_the_status(self):
        process = self.start("exit 3")
        self.assertEqual(process.wait(30), 3)
        self.assertEqual(sleeping(), set())
        self.assertEqual(subprocess.run([f"{SCRIPTS}/within.py", "bash", "-c", "kill -9 $$"], check=False).returncode, 137)
        missing = subprocess.run([f"{SCRIPTS}/within.py", "no-such-command"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(missing.stderr, "cannot run no-such-command: No such file or directory\n")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Names from separate debug files and from debuginfod servers, in whole recordings, against addr2line on the file that was not
split. Servers listen on the loopback and end with the test. Needs root and BPF; usage: debug_files.py USCOPE SOURCE"""
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from trace_case import TraceCase  # noqa: E402

USCOPE, SOURCE = (os.path.abspath(argument) for argument in (sys.argv.pop(1), sys.argv.pop(1)))


class DebugFiles(TraceCase):
    def setUp(self):
        super().setUp()
        self.whole, self.program, self.raw = (self.path(name) for name in ("whole", "program", "trace.raw"))
        self.run_tool("cc", "-O2", "-g", "-Wl,--build-id", "-o", self.whole, SOURCE)
        self.debug = self.path("program.debug")
        self.run_tool("objcopy", "--only-keep-debug", self.whole, self.debug)
        self.run_tool("objcopy", "--strip-all", self.whole, self.program)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD")}
        self.environment["DEBUGINFOD_CACHE_PATH"] = self.path("cache")

    @staticmethod
    def run_tool(*command):
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout

    def uscope(self, *words, **environment):
        return subprocess.run([USCOPE, *words], capture_output=True, text=True, timeout=120, check=False,
                              env={**self.environment, **environment})

    def record(self, *options, **environment):
        """Records the program; returns what the command said, and how long it took."""
        begin = time.monotonic()
        done = self.uscope("record", "-o", self.db, "--keep-raw", self.raw, *options, "--", self.program, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr, time.monotonic() - begin

    def chains(self):
        """Of each address of the program in a getppid's stack: what the trace says."""
        chains = {}
        for rel_pc, function, file, line in self.rows(
                "SELECT DISTINCT rel_pc, function, file, line FROM event JOIN kind ON kind.id = kind_id AND kind.name = 'getppid' "
                "JOIN stack_frame USING (stack_id) JOIN frame ON frame.id = frame_id JOIN module ON module.id = module_id "
                "WHERE module.path = ? ORDER BY rel_pc, frame.id", self.program):
            chains.setdefault(rel_pc, []).append(f"{function} {file}:{line}")
        self.assertGreaterEqual(len(chains), 3)  # innermost in hidden, main, _start
        return chains

    def assert_named(self):
        inlined = 0
        for rel_pc, chain in self.chains().items():
            told = self.run_tool("addr2line", "-f", "-i", "-e", self.whole, hex(rel_pc - 1)).splitlines()
            places = [place.split(" (disc")[0] for place in told[1::2]]
            expected = [f"{name} {place}".replace("??:?", "None:None").replace("??:0", "None:None")
                        for name, place in zip(told[::2], places)]
            self.assertEqual(chain, expected)
            inlined += chain[0].startswith("innermost ") and chain[1].startswith("middle ") and chain[2].startswith("hidden ")
        self.assertEqual(inlined, 1)

    def assert_unnamed(self):
        for rel_pc, chain in self.chains().items():
            self.assertEqual(len(chain), 1)
            self.assertRegex(chain[0], r"^(program\+0x[0-9a-f]+|main|_start) None:None$", hex(rel_pc))

    def listening(self):
        """A socket that nobody accepts from: who connects is connected, and never answered."""
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        server.setblocking(False)
        return server, f"http://127.0.0.1:{server.getsockname()[1]}"

    def dead(self):
        server, url = self.listening()
        server.close()
        return url

    def test_by_link(self):
        os.mkdir(self.path(".debug"))
        self.run_tool("objcopy", "--strip-all", f"--add-gnu-debuglink={self.debug}", self.whole, self.program)
        shutil.move(self.debug, self.path(".debug"))
        self.record()
        self.assert_named()
        # A file of that name that is another program's, as in another mount namespace.
        self.run_tool("cc", "-O1", "-g", "-o", self.path(".debug/program.debug"), SOURCE)
        self.assertEqual(self.uscope("load", self.raw, "-o", self.db).returncode, 0)
        self.assert_unnamed()

    def test_by_a_server_and_by_load(self):
        served = self.path("served")
        os.mkdir(served)
        shutil.move(self.debug, served)
        url = self.dead()
        server = subprocess.Popen(["timeout", "60", "debuginfod", "-d", ":memory:", "-t", "3600", "-p", url.split(":")[-1], "-F", served],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.record()
        self.assert_unnamed()
        # The server reads its folder in the background.
        deadline = time.monotonic() + 20
        found = 0
        while found == 0 and time.monotonic() < deadline:
            shutil.rmtree(self.path("cache"), ignore_errors=True)
            done = self.uscope("load", self.raw, "-o", self.db, "--format", "json", "--debuginfod", DEBUGINFOD_URLS=url)
            self.assertEqual(done.returncode, 0, done.stderr)
            figures = json.loads(done.stdout)["debuginfod"]
            found = figures["found"]
        self.assertEqual(found, 1)
        self.assertEqual(figures["asked"], 1 + figures["unknown"], figures)
        self.assert_named()
        said, _ = self.record(f"--debuginfod={url}")
        self.assertRegex(said, r"debuginfod: 1 of \d+ debug files? found(, \d+ not known to the servers)?\n")
        self.assert_named()

    def test_the_variable_alone_asks_nobody(self):
        server, url = self.listening()
        self.record("--verify", "1", DEBUGINFOD_URLS=url)
        self.assert_unnamed()
        self.assertEqual(self.uscope("load", self.raw, "-o", self.db, DEBUGINFOD_URLS=url).returncode, 0)
        for reader in ("report", "events", "tree"):
            self.assertEqual(self.uscope(reader, self.db, DEBUGINFOD_URLS=url).returncode, 0)
        with self.assertRaises(BlockingIOError):
            server.accept()
        # The same socket sees who does ask.
        self.uscope("load", self.raw, "-o", self.db, "--debuginfod", "--debuginfod-timeout=100ms", DEBUGINFOD_URLS=url)
        server.accept()[0].close()

    def test_slow_servers_cost_two_time_limits(self):
        _, url = self.listening()
        self.record()
        begin = time.monotonic()
        done = self.uscope("load", self.raw, "-o", self.db, "--debuginfod", "--debuginfod-timeout=500ms", DEBUGINFOD_URLS=url)
        self.assertLess(time.monotonic() - begin, 2 * (0.5 + 2) + 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"debuginfod: 0 of \d+ debug files? found, [12] without an answer in time")
        self.assert_unnamed()

    def test_dead_servers_cost_nothing(self):
        said, took = self.record(f"--debuginfod={self.dead()} {self.dead()}")
        self.assertLess(took, 8)
        self.assertRegex(said, r"debuginfod: 0 of (\d+) debug files? found, \1 failed \(.+\)")
        self.assert_unnamed()

    def test_without_a_server_the_command_does_not_start(self):
        marker = self.path("started")
        done = self.uscope("record", "-o", self.db, "--debuginfod", "--", "touch", marker)
        self.assertEqual(done.returncode, 125)
        self.assertIn("no debuginfod server is known", done.stderr)
        self.assertIn("DEBUGINFOD_URLS", done.stderr)
        self.assertFalse(os.path.exists(marker))


if __name__ == "__main__":
    unittest.main()

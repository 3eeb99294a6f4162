#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""How a recording begins and ends: exit statuses, signals, users, two tracers at once, a tracer that is killed, calls that have not
returned, limits, output that cannot be written. Needs root and BPF; usage: recording.py USCOPE"""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import BACKEND, OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"


def in_the_kernel():
    """What tracers hold there: the module's users, or the ids of the loaded BPF programs that have uscope's names. Other BPF tracers
    may come and go meanwhile."""
    if BACKEND == "kmod":
        with open("/proc/modules", encoding="ascii") as modules:
            return {f"user {i}" for line in modules if line.startswith("uscope ") for i in range(int(line.split()[2]))}
    listing = subprocess.run(["/usr/sbin/bpftool", "--json", "prog", "show"], check=True, capture_output=True, text=True).stdout
    return {p["id"] for p in json.loads(listing) if p.get("name", "").startswith(("on_sys_enter", "on_sys_exit"))}


class Recording(TraceCase):
    def record(self, *command, options=(), **kwargs):
        return subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, *options, "--", *command],
                              capture_output=True, text=True, timeout=60 * SLOWNESS, check=False, **kwargs)

    def test_ends_with_the_commands_exit_code(self):
        self.assertEqual(self.record("sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.rows("SELECT exit_code FROM process"), [(7,)])

    def test_its_life_begins_with_its_first_exec(self):
        """uscope forks it before it loads its programs, which takes longer."""
        self.assertEqual(self.record("sh", "-c", "exit 0").returncode, 0)
        self.assertEqual(self.rows("SELECT p.start_ns BETWEEN CAST(m.value AS INTEGER) AND (SELECT min(ts_ns) FROM event), "
                                   "p.start_ns = t.start_ns FROM process p, thread t, meta m WHERE m.key = 'start_ns'"), [(1, 1)])

    def test_a_command_that_makes_none_of_the_calls_asked_for_is_no_failure(self):
        done = self.record("true", options=["-e", "getppid"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows("SELECT (SELECT count(*) FROM event), count(*) FROM image"), [(0, 1)])

    def test_raises_the_signal_that_ended_the_command(self):
        self.assertEqual(self.record("sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)
        self.assertEqual(self.rows("SELECT exit_signal FROM process"), [(signal.SIGTERM,)])

    def test_all_that_is_traced_happens_between_its_beginning_and_its_end(self):
        self.assertEqual(self.record("sleep", "0.2").returncode, 0)
        [(first, last, duration)] = self.rows(
            "SELECT min(ts_ns) - start, max(ts_ns) - start, duration FROM event, "
            "(SELECT max(iif(key = 'start_ns', value, 0)) + 0 AS start, max(iif(key = 'duration_ns', value, 0)) + 0 AS duration FROM meta)")
        self.assertGreaterEqual(first, 0)
        self.assertGreater(last, 200_000_000)
        self.assertLessEqual(last, duration)

    def test_command_not_found_and_not_executable(self):
        missing = self.record("no-such-program-here")
        self.assertEqual(missing.returncode, 127)
        self.assertIn("command not found: no-such-program-here", missing.stderr)
        self.assertEqual(self.record("/etc/passwd").returncode, 126)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_unknown_call_name_offers_the_nearest(self):
        done = self.record("true", options=["-e", "opanat"])
        self.assertEqual(done.returncode, 125)
        self.assertIn("openat", done.stderr)

    def test_output_folder_missing_is_said_before_the_command_starts(self):
        marker = os.path.join(self.folder.name, "started")
        done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.folder.name + "/none/x.db", "--", "touch",
                               marker], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 125)
        self.assertIn("no such folder", done.stderr)
        self.assertFalse(os.path.exists(marker))

    def test_output_is_private_and_the_raw_trace_is_gone(self):
        self.assertEqual(self.record("true").returncode, 0)
        self.assertEqual(os.stat(self.db).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(self.folder.name), ["trace.db"])

    def test_a_kept_raw_trace_loads_to_the_same_events(self):
        raw = os.path.join(self.folder.name, "kept.raw")
        self.assertEqual(self.record("ls", "/proc/self", options=["--keep-raw", raw]).returncode, 0)
        first = self.rows("SELECT ts_ns, kind, result, folded FROM v_event ORDER BY ts_ns")
        again = os.path.join(self.folder.name, "again.db")
        subprocess.run([USCOPE, "load", raw, "-o", again], check=True, capture_output=True)
        self.db = again
        self.assertEqual(self.rows("SELECT ts_ns, kind, result, folded FROM v_event ORDER BY ts_ns"), first)
        self.assertGreater(len(first), 50)

    def test_verify_compares_all_of_each_stack(self):
        # Not only the frames of what was mapped when the first of them was taken.
        self.record("ls", "/proc/self", options=["--verify", "1"])
        rows = self.rows("SELECT equal, oracle_depth = uscope_depth, count(*) FROM verify GROUP BY 1, 2")
        self.assertEqual([row[:2] for row in rows], [(1, 1)])
        self.assertGreater(rows[0][2], 50)

    def test_runs_as_another_user(self):
        done = self.record("sh", "-c", "id -un; echo $HOME; grep CapEff /proc/self/status", options=["-u", "nobody"])
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.split("\n")
        self.assertEqual(lines[0], "nobody")
        self.assertEqual(lines[2].split()[1], "0" * 16)

    def test_leaks_no_descriptor(self):
        done = self.record("sh", "-c", "for f in /proc/$$/fd/*; do [ ${f##*/} -gt 2 ] && [ -e $f ] && exit 1; done; exit 0",
                           close_fds=True)
        self.assertEqual(done.returncode, 0)

    def test_only_the_calls_asked_for(self):
        self.record("cat", "/etc/hostname", options=["-e", "%network,openat"])
        self.assertEqual({kind for (kind,) in self.rows("SELECT DISTINCT kind FROM v_event")}, {"openat"})

    @unittest.skipUnless(BACKEND == "kmod", "BPF tracers may be many")
    def test_a_second_tracer_is_told_who_holds_the_module(self):
        first = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", "sleep", "5"], stderr=subprocess.DEVNULL)
        for _ in range(100):
            if in_the_kernel():
                break
            time.sleep(0.1)
        marker = os.path.join(self.folder.name, "started")
        second = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db + ".2", "--", "touch", marker],
                                capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)
        self.assertEqual(second.returncode, 125)
        self.assertIn(str(first.pid), second.stderr)
        self.assertFalse(os.path.exists(marker))
        self.assertEqual(first.wait(60), 0)
        self.assertEqual(self.rows("SELECT how FROM v_event WHERE kind = 'clock_nanosleep'"), [("returned",)])

    @unittest.skipIf(BACKEND == "kmod", "the module has one tracer at a time")
    def test_two_tracers_at_once_see_each_their_own(self):
        commands = [("sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done"), ("sh", "-c", "for i in 1 2 3; do /bin/false; done; true")]
        alone = []
        for command in commands:
            self.record(*command)
            alone.append(self.rows("SELECT kind, count(*) FROM v_event GROUP BY 1 ORDER BY 1"))
        paths = [os.path.join(self.folder.name, f"{i}.db") for i in range(2)]
        running = [subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", path, "--", *command], stderr=subprocess.DEVNULL)
                   for path, command in zip(paths, commands)]
        self.assertEqual([process.wait(60) for process in running], [0, 0])
        for path, expected in zip(paths, alone):
            self.db = path
            self.assertEqual(self.rows("SELECT kind, count(*) FROM v_event GROUP BY 1 ORDER BY 1"), expected)

    def test_a_killed_tracer_leaves_nothing_and_its_raw_trace_shows_the_hang(self):
        before = in_the_kernel()
        tracer = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", "sleep", "30"], stderr=subprocess.DEVNULL)
        raw = self.db + ".raw.part"
        for _ in range(300):  # the open call is written after one second, whenever tracing has begun
            if os.path.exists(raw) and os.path.getsize(raw) > 0:
                break
            time.sleep(0.1)
        time.sleep(2.0)  # by the second look the call is more than a second old
        child = int(subprocess.run(["pgrep", "-P", str(tracer.pid), "-x", "sleep"], capture_output=True, text=True, check=True).stdout.split()[0])
        self.addCleanup(lambda: os.kill(child, signal.SIGKILL))
        ours = in_the_kernel() - before
        self.assertGreaterEqual(len(ours), 1 if BACKEND == "kmod" else 2)
        tracer.kill()
        tracer.wait()
        for _ in range(200):
            if not ours & in_the_kernel():
                break
            time.sleep(0.1)
        self.assertEqual(ours & in_the_kernel(), set())
        os.kill(child, 0)  # the command goes on
        subprocess.run([USCOPE, "load", raw, "-o", self.db], check=True, capture_output=True)
        self.assertEqual(self.rows("SELECT kind, how FROM v_event WHERE how = 'open'"), [("clock_nanosleep", "open")])

    def test_a_call_under_way_at_the_end_is_open_and_one_that_returns_later_is_whole(self):
        done = self.record("sh", "-c", "sleep 1.5; sleep 30", options=["--duration", "3s"])
        self.addCleanup(lambda: subprocess.run(["pkill", "-f", "^sleep 30$"], check=False))
        self.assertEqual(done.returncode, 0)
        self.assertIn("--duration has passed", done.stderr)
        rows = self.rows("SELECT how, dur_ns >= 1500000000 FROM v_event WHERE kind = 'clock_nanosleep' ORDER BY ts_ns")
        self.assertEqual(rows, [("returned", 1), ("open", None)])

    def test_max_size_stops_cleanly_and_says_so(self):
        done = self.record("sh", "-c", "i=0; while [ $i -lt 600 ]; do /bin/true; i=$((i+1)); done", options=["--max-size", "1M"])
        self.assertEqual(done.returncode, 0)
        self.assertIn("--max-size is reached", done.stderr)
        self.assertGreater(self.rows("SELECT count(*) FROM event")[0][0], 1000)

    def test_prints_while_tracing(self):
        done = self.record("cat", "/etc/hostname", options=["--print"])
        self.assertRegex(done.stderr, r"cat\[\d+/\d+\] [0-9.]+ execve\(")
        self.assertIn("exit_group(0", done.stderr)

    def test_an_interrupt_goes_to_the_command_first(self):
        tracer = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", "sh", "-c",
                                   "trap 'exit 9' INT; while :; do sleep 0.1; done"], stderr=subprocess.DEVNULL)
        for _ in range(300):  # until the command itself runs
            time.sleep(0.1)
            children = subprocess.run(["pgrep", "-P", str(tracer.pid), "-x", "sh"], capture_output=True, text=True, check=False)
            if children.stdout.split():
                break
        time.sleep(0.5)
        tracer.send_signal(signal.SIGINT)
        self.assertEqual(tracer.wait(30), 9)

    def in_its_exec(self, folder):
        """A tracer whose command's file cannot be opened before the lease is given back: (tracer, file with the lease)."""
        program = os.path.join(folder, "program")
        shutil.copy("/bin/true", program)
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        file = open(program, "r+b")  # pylint: disable=consider-using-with
        self.addCleanup(file.close)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        tracer = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", program], stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (tracer.kill(), tracer.wait()))
        for _ in range(int(300 * SLOWNESS)):
            time.sleep(0.1)
            with open(f"/proc/{tracer.pid}/task/{tracer.pid}/children", encoding="ascii") as children:
                for child in children.read().split():
                    with open(f"/proc/{child}/syscall", encoding="ascii") as call:
                        if call.read().startswith("59 "):  # execve
                            return tracer, file
        self.fail("the command's exec did not begin")

    def test_an_exec_that_does_not_end_is_interrupted(self):
        """By the first signal where the command can be killed there; by the second one in any case."""
        tracer, _ = self.in_its_exec(self.folder.name)
        began = time.monotonic()
        for _ in range(2):
            time.sleep(0.5)
            tracer.send_signal(signal.SIGINT)
        _, said = tracer.communicate(timeout=60 * SLOWNESS)
        self.assertLess(time.monotonic() - began, 8 * SLOWNESS)
        self.assertEqual(tracer.returncode, -signal.SIGINT, said)
        self.assertEqual(self.rows("SELECT kind, how FROM v_event"), [("execve", "killed")])

    def test_an_exec_that_takes_long_is_traced(self):
        tracer, file = self.in_its_exec(self.folder.name)
        time.sleep(1.5)  # the call is told of while it lasts
        file.close()
        _, said = tracer.communicate(timeout=60 * SLOWNESS)
        self.assertEqual(tracer.returncode, 0, said)
        [(kind, how, took)] = self.rows("SELECT kind, how, dur_ns FROM v_event ORDER BY ts_ns LIMIT 1")
        self.assertEqual((kind, how), ("execve", "returned"))
        self.assertGreater(took, 1_500_000_000)
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE kind = 'exit_group'"), [(1,)])

    def test_the_first_calls_after_each_exec_have_whole_stacks(self):
        self.record("sh", "-c", "/bin/true; /bin/ls /proc/self >/dev/null")
        bad = self.rows("SELECT kind, ended, depth FROM v_event WHERE ended NOT IN ('root', 'scope')")
        self.assertEqual(bad, [])
        first = self.rows("""SELECT process, kind, ended FROM v_event e WHERE ts_ns = (SELECT min(ts_ns) FROM v_event f
                             WHERE f.pid = e.pid AND f.process = e.process) AND process IN ('true', 'ls')""")
        self.assertEqual(sorted(first), [("ls", "brk", "root"), ("true", "brk", "root")])


if __name__ == "__main__":
    unittest.main(verbosity=2)

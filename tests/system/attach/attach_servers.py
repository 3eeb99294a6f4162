#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Servers that are traced while they serve, are restarted, and are large; that they do not feel it. Needs root, a backend, apache2 and
ab; usage: attach_servers.py USCOPE FIXTURES"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, children_of, in_calls, LINEAGE, sleeping, USCOPE, WAIT, WAITERS  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from server_setup import apache_conf, free_port, written  # noqa: E402

APACHE = shutil.which("apache2", path="/usr/sbin:/usr/bin")
AB = shutil.which("ab")
LINES = """StartServers 2
ThreadsPerChild 8
MaxRequestWorkers 32
MinSpareThreads 8
MaxSpareThreads 32
"""


class Apache:
    """A server as distributions run it: a daemon, found by nothing but its name."""

    def __init__(self, case):
        self.folder = case.folder.name
        self.port = free_port()
        self.case = case
        os.chmod(self.folder, 0o755)
        apache_conf(self.folder, self.port, LINES, pages=self.folder)
        written(self.folder, "page", "x" * 1000)
        self.start()
        case.addCleanup(self.kill)

    def control(self, *options):
        subprocess.run([APACHE, "-f", os.path.join(self.folder, "apache.conf"), *options], check=True, timeout=WAIT,
                       stdout=subprocess.DEVNULL)

    def start(self):
        self.control("-k", "start")
        self.case.wait_for(self.serves, "apache2 does not serve")

    def serves(self):
        try:
            return self.ask() == 1000
        except OSError:
            return False

    def ask(self):
        with urllib.request.urlopen(self.url(), timeout=WAIT) as answer:
            return len(answer.read())

    def url(self):
        return f"http://127.0.0.1:{self.port}/page"

    def pids(self):
        try:
            with open(os.path.join(self.folder, "pid"), encoding="ascii") as file:
                main = int(file.read())
            os.kill(main, 0)
            return [main, *children_of(main)]
        except (OSError, ValueError):
            return []

    def kill(self):
        pids = self.pids()
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        # Until they are gone, or only wait to be reaped: before that the port is not free again.
        self.case.wait_for(lambda: all(has_ended(pid) for pid in pids), "apache2 goes on")
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self.folder, "pid"))


def has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"Z" and len(os.listdir(f"/proc/{pid}/task")) == 1
    except OSError:
        return True


@unittest.skipUnless(APACHE and AB, "apache2 and ab are not installed")
class Servers(AttachCase):
    REQUESTS = "v_event WHERE kind IN ('accept4', 'accept') AND result >= 0"

    def test_restarts_while_it_is_traced(self):
        server = Apache(self)
        tracer = self.attach("--app", "apache2")
        first = server.pids()
        for _ in range(10):
            self.assertEqual(server.ask(), 1000)
        server.control("-k", "graceful")
        self.wait_for(lambda: len(server.pids()) == 3 and not set(first[1:]) & set(server.pids()), "no new workers")
        second = server.pids()
        self.assertEqual(first[0], second[0])
        for _ in range(10):
            self.assertEqual(server.ask(), 1000)
        server.kill()
        server.start()
        third = server.pids()
        self.assertFalse(set(second) & set(third))
        for _ in range(10):
            self.assertEqual(server.ask(), 1000)
        self.finish(tracer)
        for group in (first, second, third):
            workers = ",".join(map(str, group[1:]))
            # start() asked once more of the third ones, after it had been refused or not.
            self.assertGreaterEqual(self.count(f"{self.REQUESTS} AND pid IN ({workers})"), 10, group)
            self.assertEqual(self.count(f"process WHERE pid IN ({workers})"), len(group) - 1)
        self.assertEqual(self.rows(f"SELECT exit_code FROM process WHERE pid IN ({','.join(map(str, first[1:]))})"), [(0,), (0,)])
        self.assertEqual(self.rows(f"SELECT DISTINCT exit_signal FROM process WHERE pid IN ({','.join(map(str, second))})"), [(9,)])
        # Workers that were there from the beginning have their parent, too.
        self.assertEqual(self.rows(f"SELECT p.pid FROM process c JOIN process p ON p.id = c.parent_id WHERE c.pid = {first[1]}"), [(first[0],)])
        self.assertEqual(self.rows("SELECT ended, count(*) FROM v_event WHERE ended <> 'root' GROUP BY 1"), [])

    def test_tracing_begins_and_ends_ten_times_under_load(self):
        server = Apache(self)
        load = self.start(AB, "-q", "-k", "-c", "4", "-t", str(int(100 * SLOWNESS)), "-n", "10000000", server.url(),
                          stdout=subprocess.PIPE, text=True)
        for i in range(10):
            db = f"{self.db}.{i}"
            done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", db, "--app", "apache2", "--duration", "200ms", "-e",
                                   "accept4,read,writev,futex,epoll_wait,pselect6"],
                                  capture_output=True, text=True, timeout=WAIT, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.db, before = db, self.db
            self.assertEqual(self.rows("SELECT cause, count FROM loss"), [], done.stderr)
            self.assertGreater(self.count("v_event WHERE kind = 'writev' AND how = 'returned' AND result > 1000"), 0)
            self.assertEqual(self.count("v_event WHERE ended <> 'root'"), 0)
            # The first threads of all three processes wait; what others were in is over before they are seen.
            self.assertGreaterEqual(self.count("v_event WHERE how = 'attached'"), 3)
            os.unlink(db)
            self.db = before
        self.assertIsNone(load.poll())
        load.send_signal(signal.SIGINT)  # ab then prints what it has
        said = load.communicate(timeout=WAIT)[0]
        self.assertEqual(re.findall(r"Failed requests: +(\d+)", said), ["0"], said)
        self.assertNotIn("Non-2xx", said)
        self.assertGreater(int(re.findall(r"Complete requests: +(\d+)", said)[0]), 1000)


class Many(AttachCase):
    def ready(self, *command):
        process = self.start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_a_thousand_processes(self):
        self.many("processes", 1000, "wait4")

    def test_five_thousand_threads(self):
        self.many("threads", 5000, "futex")

    def many(self, what, number, first_waits_in):
        process = self.ready(LINEAGE, what, str(number))
        tracer = self.attach("--app", os.path.basename(LINEAGE))
        self.assertIn(f"{number + 1:,} threads run already", self.text())
        process.stdin.close()
        self.assertEqual(process.wait(WAIT), 0)
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT how, kind, result, ended, count(*) FROM v_event WHERE how = 'attached' AND kind = 'read' "
                                   "AND folded LIKE '%;waits_for_the_end;%' GROUP BY 1, 2, 3, 4"), [("attached", "read", 0, "root", number)])
        self.assertEqual(self.rows("SELECT kind FROM v_event WHERE how = 'attached' AND kind <> 'read'"), [(first_waits_in,)])
        # Stacks that are freed are known not to be code, so that mappings need not be looked up again and again.
        [(lookups,)] = self.rows("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'mapping_lookups'")
        if what == "threads":
            self.assertLess(lookups, 500)
        self.assertEqual(self.rows("SELECT count(*), count(DISTINCT tid) FROM v_event WHERE kind = 'getppid' AND folded LIKE '%;marks;%'"),
                         [(number, number)])
        self.assertEqual(self.count("process"), number + 1 if what == "processes" else 1)
        self.assertEqual(self.count("process WHERE exit_code IS NOT 0"), 0)
        self.assertEqual(self.count("v_event WHERE ended <> 'root'"), 0)


class Hung(AttachCase):
    def test_a_hung_process_shows_its_stacks_and_stays_as_it_is(self):
        hung = self.start(WAITERS, "60000")
        self.wait_until_asleep(hung.pid, 5)
        before = in_calls(hung.pid)
        tracer = self.attach("--pid", str(hung.pid), "--duration", "300ms")
        self.ends(tracer)
        self.assertIsNone(hung.poll())  # a call that is interrupted ends it
        self.wait_for(lambda: sleeping(hung.pid), "its threads do not wait")
        calls = in_calls(hung.pid)
        # The same threads in the same calls with the same arguments; one sleeps again and again, and may be found awake.
        self.assertEqual(calls, before)
        names = {0: ("read", "reads_a_pipe"), 202: ("futex", "waits_for_a_lock"), 230: ("clock_nanosleep", "sleeps"), 232: ("epoll_wait", "waits_for_events")}
        expected = {tid: names[call[0]] for tid, call in before.items()}
        found = {tid: (kind, next(name for name in folded.split(";") if name in dict(names.values()).values()))
                 for tid, kind, folded in self.rows("SELECT tid, kind, folded FROM v_event WHERE how = 'attached'")}
        (again,) = (tid for tid, call in expected.items() if call == names[230] and tid != hung.pid)
        self.assertEqual({again: expected[again], **found}, expected)
        # Arguments as the kernel itself tells them.
        for kind, tid, *arguments in self.rows("SELECT kind.name, tid, a0, a1, a2, a3, a4, a5 FROM event JOIN kind ON kind.id = kind_id "
                                               "JOIN thread ON thread.id = thread_id WHERE how = 'attached' AND kind.name IN ('read', 'futex', 'epoll_wait')"):
            self.assertEqual([word % 2**64 for word in arguments], before[tid][1:7], kind)


if __name__ == "__main__":
    unittest.main(verbosity=2)

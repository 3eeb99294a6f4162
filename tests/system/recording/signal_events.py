#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Signals as events: who sends them to whom and from where, what becomes of them, what they come with, and where they meet their
receivers. tests/fixtures/signal_moments.c sends one of each kind; strace says of a second run of it what arrived. Needs root, a backend,
and strace; usage: signal_events.py USCOPE FIXTURE"""
import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import KERNEL_ONLY, alike_on_all_kernels, OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

USCOPE, FIXTURE = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
TIMEOUT = 120 * SLOWNESS
of_readers = unittest.skipIf(KERNEL_ONLY or SLOWNESS > 1, "what readers show of a trace does not depend on the kernel: under emulation, half a minute")
of_options = alike_on_all_kernels("options of the tracer")
NAME = os.path.basename(FIXTURE)[:15]
EVENTS = ("SELECT how, replace(replace(kind, ' sent', ''), ' delivered', '') AS name, tid, folded, v_event.ended AS ended, signal.*, "
          "frame.function AS handler_function FROM v_event JOIN signal ON event_id = v_event.id "
          "LEFT JOIN frame ON frame.id = handler_frame_id ORDER BY v_event.id")


def command(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT, check=True, **options)


def open_trace(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    return database


class Recorded(unittest.TestCase):
    """One trace of all that the fixture does."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="uscope-signals-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = os.path.join(cls.folder.name, "trace.db")
        done = command(USCOPE, "record", *BACKEND_OPTIONS, "--signals", "--print", "-o", cls.path, "--", FIXTURE)
        cls.printed = [line for line in done.stderr.splitlines() if " --- SIG" in line]
        cls.database = open_trace(cls.path)
        cls.addClassCleanup(cls.database.close)
        cls.rows = cls.database.execute(EVENTS).fetchall()

    def find(self, how, name, **wanted):
        found = [row for row in self.rows if row["how"] == how and row["name"] == name
                 and all(row[column] == value for column, value in wanted.items())]
        self.assertTrue(found, f"no {name} {how} with {wanted}")
        return found[0]

    def functions(self, row):
        return row["folded"].split(";")

    def test_nothing_is_lost(self):
        self.assertEqual([tuple(row) for row in self.database.execute("SELECT cause, count FROM loss")], [])

    def test_a_thread_that_signals_itself(self):
        sent = self.find("sent", "SIGUSR1")
        self.assertEqual((sent["result"], sent["blocked"], sent["sender"], sent["sender_pid"]), ("queued", 0, NAME, sent["receiver_pid"]))
        self.assertEqual((sent["receiver_tid"], sent["code"]), (sent["receiver_pid"], -6))
        self.assertIn("send_itself", self.functions(sent))
        delivered = self.find("delivered", "SIGUSR1")
        self.assertEqual((delivered["handler_function"], delivered["info_pid"]), ("on_signal", sent["sender_pid"]))
        # Of the code that is interrupted, not of the handler.
        self.assertEqual(self.functions(delivered), self.functions(sent))
        self.assertEqual((delivered["ended"], sent["ended"]), ("root", "root"))

    def test_a_blocked_signal_waits_and_a_second_one_makes_no_difference(self):
        results = [(row["result"], row["blocked"]) for row in self.rows if row["name"] == "SIGUSR2" and row["how"] == "sent"]
        self.assertEqual(results, [("queued", 1), ("pending", 1)])
        sent = self.find("sent", "SIGUSR2")
        self.assertIsNone(sent["receiver_tid"])
        self.assertIn("send_blocked", self.functions(sent))
        delivered = [row for row in self.rows if row["name"] == "SIGUSR2" and row["how"] == "delivered"]
        self.assertEqual(len(delivered), 1)
        self.assertIn("unblock", self.functions(delivered[0]))

    def test_what_a_queued_signal_carries(self):
        for how in ("sent", "delivered"):
            row = self.find(how, "SIGRT_2")
            self.assertEqual((row["code"], row["info_value"] & 0xffffffff, row["info_uid"]), (-1, 42, os.getuid()))
        self.assertEqual(self.find("delivered", "SIGRT_2")["handler_function"], "on_queued")

    def test_a_fault(self):
        sent, delivered = self.find("sent", "SIGSEGV"), self.find("delivered", "SIGSEGV")
        self.assertIsNone(sent["sender_pid"])
        self.assertEqual((delivered["code"], delivered["info_address"], delivered["handler_function"]), (1, 0x10, "on_fault"))
        self.assertEqual(self.functions(delivered)[-1], "touch_nothing")

    def test_a_pipe_without_a_reader(self):
        sent = [row for row in self.rows if row["name"] == "SIGPIPE" and row["how"] == "sent"]
        self.assertEqual([(row["result"], row["sender_pid"]) for row in sent], [("queued", None), ("ignored", None)])
        for row in sent:
            self.assertIn("write_to_nobody", self.functions(row))
        delivered = [row for row in self.rows if row["name"] == "SIGPIPE" and row["how"] == "delivered"]
        self.assertEqual(len(delivered), 1)
        self.assertEqual(self.functions(delivered[0]), self.functions(sent[0]))

    def test_the_end_of_children(self):
        sent = [row for row in self.rows if row["name"] == "SIGCHLD" and row["how"] == "sent"]
        self.assertEqual([(row["result"], row["code"], row["info_status"], row["sender_pid"]) for row in sent],
                         [("queued", 1, 3, None), ("ignored", 1, 0, None), ("ignored", 2, 9, None)])
        delivered = self.find("delivered", "SIGCHLD")
        self.assertEqual((delivered["info_status"], delivered["info_pid"]), (3, sent[0]["info_pid"]))
        self.assertIn("end_child", self.functions(delivered))

    def test_one_process_ends_another(self):
        sent = self.find("sent", "SIGTERM")
        self.assertIn("end_other", self.functions(sent))
        self.assertNotEqual(sent["sender_pid"], sent["receiver_pid"])
        delivered = self.find("delivered", "SIGTERM", receiver_pid=sent["receiver_pid"])
        self.assertEqual((delivered["handler_function"], delivered["info_pid"]), ("on_term", sent["sender_pid"]))
        killed = self.find("delivered", "SIGKILL")
        self.assertEqual((killed["handler"], killed["receiver_pid"]), (0, self.find("sent", "SIGKILL")["receiver_pid"]))
        self.assertIn("end_other", self.functions(killed))
        self.assertIsNone(killed["handler_function"])
        # The kernel also ends the threads of a process by a SIGKILL that nobody has sent.
        self.assertEqual([row["how"] for row in self.rows if row["name"] == "SIGKILL"], ["sent", "delivered"])

    def test_a_timer_is_the_kernels(self):
        sent = self.find("sent", "SIGALRM")
        self.assertEqual((sent["sender_pid"], sent["sender"], sent["code"], sent["folded"]), (None, None, 0x80, None))
        self.assertIn("await_timer", self.functions(self.find("delivered", "SIGALRM")))

    @of_readers
    def test_printing_says_what_events_says(self):
        done = command(USCOPE, "events", self.path, "--how", "sent", "--how", "delivered")
        lines = [re.sub(r"(handler 0x[0-9a-f]+)<[^>]*>", r"\1", line) for line in done.stdout.splitlines()]
        self.assertEqual(len(lines), len(self.rows))
        self.assertEqual(self.printed, lines)

    @of_readers
    def test_lines_and_filters(self):
        lines = command(USCOPE, "events", self.path, "-e", "SIGTERM,SIGSEGV").stdout.splitlines()
        self.assertEqual(len(lines), 4, lines)
        self.assertRegex(lines[0], r" --- SIGSEGV \{si_code=SEGV_MAPERR, si_addr=0x10\} sent by the kernel to \S+\[\d+/\d+\] ---$")
        self.assertRegex(lines[1], r" --- SIGSEGV \{si_code=SEGV_MAPERR, si_addr=0x10\} handler 0x[0-9a-f]+<on_fault> ---$")
        # The child may not have come to its sigsuspend yet.
        self.assertRegex(lines[2], r" --- SIGTERM \{si_code=SI_USER, si_pid=(\d+), si_uid=0\} sent by \S+\[\1/\1\] to \S+\[\d+\](, blocked)? ---$")
        self.assertRegex(lines[3], r" handler 0x[0-9a-f]+<on_term> ---$")
        mixed = command(USCOPE, "events", self.path, "-e", "kill,SIGKILL").stdout
        self.assertEqual(mixed.count(" kill("), 4)
        self.assertEqual(mixed.count("--- SIGKILL"), 2)

    @of_readers
    def test_readers_take_them(self):
        report = json.loads(command(USCOPE, "report", self.path, "--format", "json").stdout)
        lines = {line["name"]: line for line in report["signals"]["lines"]}
        usr2 = lines["SIGUSR2"]
        self.assertEqual((usr2["sent"], usr2["ignored"], usr2["delivered"]), (2, 0, 1))
        self.assertEqual([place["function"] for place in usr2["sent_from"]], ["send_blocked"])
        self.assertEqual([place["function"] for place in usr2["delivered_in"]], ["unblock"])
        self.assertEqual([by["pid"] for by in lines["SIGCHLD"]["senders"]], [None])
        self.assertFalse([line for part in ("calls", "waits", "triggers") for line in report[part]["lines"] if "SIG" in line["call"]])
        text = command(USCOPE, "report", self.path).stdout
        self.assertRegex(text, r"\nSIGNALS .*\n +signal +sent")
        self.assertRegex(text, r"\n +SIGCHLD +3 +2 +1 +the kernel +\S+\[\d+\] +end_child")
        for words in (("tree", self.path), ("files", self.path), ("diff", "--normal", self.path, "--abnormal", self.path),
                      ("deadlock", self.path)):
            command(USCOPE, *words)
        folded = command(USCOPE, "export", self.path, "-e", "SIGTERM", "--with-call").stdout.splitlines()
        self.assertTrue(any(line.endswith(";SIGTERM sent 1") for line in folded), folded)

    def test_what_arrives_is_what_strace_says(self):
        log = os.path.join(self.folder.name, "strace")
        command("strace", "-f", "-e", "trace=none", "-o", log, FIXTURE)
        with open(log, encoding="utf-8") as file:
            said = [re.search(r"--- (\S+) \{si_signo=\1, si_code=(\w+)", line) for line in file]
        said = sorted(match.groups() for match in said if match)
        # A tracer by ptrace is shown ignored signals, too, and SIGKILL is not shown to it.
        lines = command(USCOPE, "events", self.path, "--how", "sent", "--how", "delivered").stdout.splitlines()
        seen = [line for line in lines if " sent by " not in line or line.endswith(", ignored ---")]
        ours = sorted(re.search(r"--- (\S+) \{si_code=(\w+)", line).groups() for line in seen if "--- SIGKILL" not in line)
        self.assertEqual(ours, said)


class Others(unittest.TestCase):
    """Senders and receivers that are not traced."""
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="uscope-signals-")
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "trace.db")

    def rows(self):
        database = open_trace(self.path)
        self.addCleanup(database.close)
        return [row for row in database.execute(EVENTS) if row["name"] == "SIGTERM"]

    def test_the_sender_is_outside(self):
        with subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "--signals", "-q", "-o", self.path, "--", FIXTURE, "wait"],
                              stdout=subprocess.PIPE, text=True) as recording:
            pid = int(recording.stdout.readline())
            command(sys.executable, "-S", "-c", f"import os; os.kill({pid}, 15)")
            self.assertEqual(recording.wait(TIMEOUT), 0)
        sent, delivered = self.rows()
        self.assertEqual((sent["how"], sent["receiver_pid"], sent["tid"], sent["folded"]), ("sent", pid, pid, None))
        self.assertNotIn(sent["sender_pid"], (None, pid))
        self.assertTrue(sent["sender"].startswith("python3"), sent["sender"])
        self.assertEqual((delivered["how"], delivered["info_pid"], delivered["handler_function"]), ("delivered", sent["sender_pid"], "on_term"))

    def test_the_receiver_is_outside(self):
        for options in ((),) if KERNEL_ONLY else ((), ("-e", "getppid")):  # with and without the call that sends it
            with self.subTest(options), subprocess.Popen(["sleep", "1000"]) as sleeper:
                command(USCOPE, "record", *BACKEND_OPTIONS, "--signals", "--force", "-q", *options, "-o", self.path, "--", FIXTURE, "kill",
                        str(sleeper.pid))
                sleeper.wait(TIMEOUT)
                [sent] = self.rows()
                self.assertEqual((sent["receiver_pid"], sent["receiver"], sent["result"]), (sleeper.pid, "sleep", "queued"))
                self.assertEqual((sent["sender_pid"], sent["ended"]), (sent["tid"], "root"))
                self.assertIn("main", sent["folded"].split(";"))

    @of_options
    def test_all_signals_by_one_word(self):
        command(USCOPE, "record", *BACKEND_OPTIONS, "-q", "-e", "signal", "-o", self.path, "--", FIXTURE)
        database = open_trace(self.path)
        self.addCleanup(database.close)
        [(signals, others)] = database.execute("SELECT sum(class = 'signal'), sum(class != 'signal') FROM v_event")
        self.assertGreater(signals, 10)
        self.assertEqual(others, 0)
        for verb in (("events",), ("export", "--with-call")):
            lines = command(USCOPE, verb[0], self.path, *verb[1:], "-e", "signal").stdout
            self.assertIn("SIGTERM", lines)
        self.assertEqual(len(command(USCOPE, "events", self.path, "-e", "signal").stdout.splitlines()), signals)

    @of_options
    def test_only_when_asked_for(self):
        command(USCOPE, "record", *BACKEND_OPTIONS, "-q", "-o", self.path, "--", FIXTURE)
        database = open_trace(self.path)
        self.addCleanup(database.close)
        self.assertEqual(database.execute("SELECT count(*) FROM signal").fetchone()[0], 0)
        self.assertEqual(database.execute("SELECT count(*) FROM kind WHERE class = 'signal'").fetchone()[0], 0)


# Waits with so many other threads; exits with 3 if a handler has seen SIGTERM.
WAITER = """
import os, signal, sys, threading, time
for _ in range(int(sys.argv[1])):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
if sys.argv[2] == "handler":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(3))
print(os.getpid(), flush=True)
while True:
    time.sleep(1)
"""


class Ends(unittest.TestCase):
    """How a signal that ends a process is told: launched and attached, with and without other threads, by default and by a handler."""
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="uscope-signals-")
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "trace.db")

    def end(self, prefix, threads, action, number):
        """Starts the waiter, and sends it the signal as soon as it is there."""
        with subprocess.Popen([*prefix, sys.executable, "-S", "-c", WAITER, str(threads), action], stdout=subprocess.PIPE, text=True) as process:
            pid = int(process.stdout.readline())
            os.kill(pid, number)
            process.wait(TIMEOUT)
        return pid

    def attach_and_end(self, threads, action, number):
        with subprocess.Popen([sys.executable, "-S", "-c", WAITER, str(threads), action], stdout=subprocess.PIPE, text=True) as process:
            pid = int(process.stdout.readline())
            with subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "--signals", "--print", "-o", self.path, "--pid", str(pid)],
                                  stderr=subprocess.PIPE, text=True) as recording:
                for line in recording.stderr:
                    if "clock_nanosleep" in line:  # it is traced
                        break
                os.kill(pid, number)
                recording.communicate(timeout=TIMEOUT)
            process.wait(TIMEOUT)
        return pid

    def strace_says(self, *how):
        log = os.path.join(self.folder.name, "strace")
        self.end(("strace", "-f", "-e", "trace=none", "-o", log), *how)
        with open(log, encoding="utf-8") as file:
            said = file.read()
        return re.findall(r"--- (SIG\w+) ", said), set(re.findall(r"\+\+\+ killed by (\w+)", said))

    def check(self, pid, number, how):
        name = signal.Signals(number).name
        with contextlib.closing(open_trace(self.path)) as database:
            rows = [row for row in database.execute(EVENTS) if row["receiver_pid"] == pid]
            [ended] = [row["exit_signal"] for row in database.execute("SELECT exit_signal FROM process WHERE pid = ?", (pid,))]
        self.assertEqual([(row["how"], row["name"]) for row in rows], [("sent", name), ("delivered", name)])
        self.assertEqual(rows[0]["sender_pid"], os.getpid())
        delivered, killed = self.strace_says(*how)
        # A tracer by ptrace is not shown a SIGKILL.
        self.assertEqual(delivered, [] if number == signal.SIGKILL else [name])
        self.assertEqual(killed, {signal.Signals(ended).name} if ended else set())
        if KERNEL_ONLY:
            return
        text = command(USCOPE, "events", self.path, "-e", "signal", "-k").stdout
        self.assertIn(" > (no stack: the sender is not traced)\n", text)
        self.assertEqual(f"--- {name} ends the process ---\n" in text, bool(ended), text)
        report = {line["name"]: line for line in json.loads(command(USCOPE, "report", self.path, "--format", "json").stdout)["signals"]["lines"]}
        self.assertEqual((report[name]["sent"], report[name]["delivered"], list(report)), (1, 1, [name]))

    def test_all(self):
        hows = ((0, "default", signal.SIGTERM), (3, "default", signal.SIGTERM), (0, "handler", signal.SIGTERM),
                (3, "handler", signal.SIGTERM), (3, "default", signal.SIGKILL))
        for i, how in enumerate(hows):
            if KERNEL_ONLY and i in (1, 2):
                continue  # what each kernel does of them, the other three show, each only launched or attached
            if not KERNEL_ONLY or i != 3:
                with self.subTest("launched", how=how):
                    self.check(self.end((USCOPE, "record", *BACKEND_OPTIONS, "--signals", "-q", "-o", self.path, "--"), *how), how[2], how)
            if not KERNEL_ONLY or i == 3:
                with self.subTest("attached", how=how):
                    self.check(self.attach_and_end(*how), how[2], how)

    def test_threads_that_end_with_their_process_get_no_signal(self):
        for last in ("os._exit(3)", "os.execv('/bin/true', ['true'])"):
            program = ("import os, threading, time\nfor _ in range(3):\n    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n" + last)
            subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "--signals", "-q", "-o", self.path, "--", sys.executable, "-S", "-c", program],
                           timeout=TIMEOUT, check=False)
            with contextlib.closing(open_trace(self.path)) as database:
                self.assertEqual(database.execute("SELECT count(*) FROM signal").fetchone()[0], 0, last)
                self.assertEqual(database.execute("SELECT count(*) FROM thread").fetchone()[0] >= 4, True)

    def test_a_core_dump_is_told_once(self):
        program = "import os, threading, time\nfor _ in range(3):\n    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\nos.abort()"
        subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "--signals", "-q", "-o", self.path, "--", sys.executable, "-S", "-c", program],
                       timeout=TIMEOUT, check=False)
        with contextlib.closing(open_trace(self.path)) as database:
            rows = [(row["how"], row["name"]) for row in database.execute(EVENTS)]
        self.assertEqual(rows, [("sent", "SIGABRT"), ("delivered", "SIGABRT")])


if __name__ == "__main__":
    unittest.main()

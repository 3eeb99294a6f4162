#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The same question gives the same answer while a program runs and of a recording of it: of programs that do the same each time, to the
event. Needs root and a backend; usage: live_equals_stored.py USCOPE FIXTURES"""
import concurrent.futures
import csv
import io
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT  # noqa: E402
from backend import BACKEND, OPTIONS as BACKEND_OPTIONS  # noqa: E402

# What each program does alike in every run: all it does, or these calls.
PROGRAMS = {
    "fork_tree": "1",
    "threads": "kind IN ('getppid', 'clone3', 'openat', 'read')",
    "exits": "kind IN ('exit', 'exit_group', 'pause', 'openat')",
    "killed": "kind IN ('read', 'kill', 'openat')",
    "signals": "kind IN ('getppid', 'getpgid', 'getsid', 'pause', 'rt_sigreturn')",
    "interrupted": "kind IN ('poll', 'pause', 'restart_syscall')",
    "spawn": "kind IN ('execve', 'openat')",
    "seccomp_denied": "1",
}
STATIC = """#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline)) void read_config(void) { char b; int f = open("/dev/zero", O_RDONLY); read(f, &b, 1); close(f); __asm__ volatile(""); }
int main(void) { for (int n = 0; n < 3; n++) read_config(); return 0; }
"""
# Threads that rename themselves and each other, before and after a fork and an exec; one is renamed in the middle of a call.
RENAMED = """#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static sem_t begun, named;
static int ends[2];
static void mark(int n) { for (int i = 0; i <= n % 7; i++) syscall(SYS_getpriority, 0, n); }
static void name(const char* text, int n) { char to[16]; snprintf(to, sizeof to, "%s-%d", text, n); prctl(PR_SET_NAME, to); }
static void* job(void* what) { for (int n = 0; n < 40; n++) { mark(n); name(what, n % 3); mark(n); } return 0; }
static void* by_another(void* what) { char byte; mark(50); sem_post(&begun); read(ends[0], &byte, 1); mark(51); return what; }
int main(int argc, char** argv) {
  if (argc > 1) { mark(60); name("again", 1); mark(61); return 0; }
  pthread_t thread;
  sem_init(&begun, 0, 0); sem_init(&named, 0, 0);
  mark(1);
  for (int n = 0; n < 3; n++) { pthread_create(&thread, 0, job, n % 2 ? "odd" : "even"); pthread_join(thread, 0); }
  pipe(ends);
  pthread_create(&thread, 0, by_another, 0);
  sem_wait(&begun);
  usleep(50000);
  pthread_setname_np(thread, "by-another");
  write(ends[1], "x", 1);
  pthread_join(thread, 0);
  name("main", 1);
  mark(2);
  if (fork() == 0) { mark(3); name("child", 1); mark(4); _exit(0); }
  wait(0);
  mark(5);
  execl(argv[0], "other-name", "again", (char*)0);
}
"""
# Threads and processes that change their users by each call that does, and by a set-user-ID copy of the program beside it.
USERS = """#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void mark(int n) { for (int i = 0; i <= n % 7; i++) syscall(SYS_getpriority, 0, n); }
static void user(int uid) { syscall(SYS_setresuid, -1, uid, -1); }
static long narrow(long nr, long uid) { long out; __asm__ volatile("int $0x80" : "=a"(out) : "a"(nr), "b"(uid) : "memory", "r8", "r9", "r10", "r11"); return out; }
static void* job(void* what) { for (int n = 0; n < 40; n++) { mark(n % 7); user(n % 3 ? (long)what + n % 3 : 0); mark(n % 5); } return 0; }
int main(int argc, char** argv) {
  pthread_t thread;
  if (argc > 1) { mark(60); syscall(SYS_setreuid, -1, 0); mark(61); return 0; }
  mark(1);
  for (int n = 0; n < 2; n++) { pthread_create(&thread, 0, job, (void*)(n ? 1000L : 2000L)); pthread_join(thread, 0); mark(2); }
  user(1000);
  syscall(SYS_setfsuid, 5);
  mark(50);
  syscall(SYS_setreuid, -1, 7);  // refused
  mark(51);
  if (fork() == 0) { mark(52); user(0); syscall(SYS_setuid, 34); mark(53); _exit(0); }
  wait(0);
  user(0);
  if (fork() == 0) { narrow(213, 35); mark(54); _exit(0); }
  wait(0);
  if (fork() == 0) { narrow(23, 36); mark(55); _exit(0); }
  wait(0);
  mark(56);
  char copy[4096];
  snprintf(copy, sizeof copy, "%s.copy", argv[0]);
  execl(copy, "copy", "again", (char*)0);
}
"""
SESSIONS = 3  # at a time
SUMMED = "summed at each event"
BY_EVENT = "asked event by event"
# (how it is answered, the question; {0} is the program's condition)
QUESTIONS = (
    (SUMMED, "SELECT kind, count(*) FROM v_event WHERE {0} GROUP BY kind"),
    (SUMMED, 'SELECT kind, "trigger", trigger_module, count(*) FROM v_event WHERE {0} GROUP BY 1, 2, 3'),
    (SUMMED, "SELECT kind, errno, count(*) AS n FROM v_event WHERE {0} GROUP BY kind, errno"),
    (SUMMED, "SELECT process, thread, count(*) FROM v_event WHERE {0} GROUP BY process, thread"),
    (SUMMED, "SELECT how, count(*), count(result), count(dur_ns), sum(dur_ns IS NULL), sum(result IS NULL) FROM v_event WHERE {0} GROUP BY how"),
    (SUMMED, "SELECT result / 16 AS step, count(*), min(result), max(result), avg(result) FROM v_event WHERE ({0}) AND kind = 'read' GROUP BY step"),
    (SUMMED, "SELECT class, depth, ended, count(*) FROM v_event WHERE {0} GROUP BY 1, 2, 3"),
    (SUMMED, "SELECT count(DISTINCT kind), count(DISTINCT \"trigger\"), count(DISTINCT pid), count(DISTINCT tid) FROM v_event WHERE {0}"),
    (SUMMED, "SELECT kind, count(*) FILTER (WHERE result < 0) AS failed FROM v_event WHERE {0} GROUP BY kind HAVING count(*) > 1"),
    (SUMMED, "SELECT kind, quantile(result, 0.5), hist(result) FROM v_event WHERE ({0}) AND kind IN ('openat', 'read') GROUP BY kind"),
    (SUMMED, "SELECT kind, typeof(sum(result * 4611686018427387904)), max(result * 4611686018427387904) FROM v_event "
             "WHERE ({0}) AND kind = 'openat' GROUP BY kind"),
    (SUMMED, "SELECT count(*), sum(result), max(dur_ns) FROM v_event WHERE kind = 'no such call'"),
    (BY_EVENT, "SELECT kind, how, errno, \"trigger\", folded, depth FROM v_event WHERE {0}"),
    (BY_EVENT, "SELECT kind, n FROM (SELECT kind, count(*) AS n FROM v_event WHERE {0} GROUP BY kind) WHERE n > 1"),
    (BY_EVENT, "SELECT kind, group_concat(DISTINCT errno) FROM v_event WHERE {0} GROUP BY kind"),
)


def rows_of(text):
    return sorted(csv.reader(io.StringIO(text)))


class LiveEqualsStored(AttachCase):
    def said_by(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)
        return done

    def query(self, *words):
        done = self.said_by(USCOPE, "query", *words)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        self.assertNotIn("LOST", done.stderr)
        return done.stdout

    def live(self, question, program):
        """The program writes elsewhere."""
        return self.query(*BACKEND_OPTIONS, "--once", "--format", "csv", question, "--", "sh", "-c", f'exec "{program}" >/dev/null 2>&1')

    def answers(self, db, path, text):
        """How it is answered, of the recording, and live."""
        return self.query("--explain", text), self.query(db, "--format", "csv", text), self.live(text, path)

    def test_a_call_that_goes_on_after_a_stop(self):
        """It is no restart_syscall, though a question that asks for nothing of its end is asked when it begins."""
        question = "SELECT kind, count(*) FROM v_event WHERE kind IN ('clock_nanosleep', 'restart_syscall') GROUP BY kind"
        self.assertEqual(rows_of(self.live(question, os.path.join(FIXTURES, "fixture_restarted")))[0][:2], ["clock_nanosleep", "4"])

    def test_triggers_within_one_file(self):
        """Functions of libc in a static program are no triggers, live as in a recording."""
        program = self.path("static")
        subprocess.run(["cc", "-O1", "-static", "-o", program, "-x", "c", "-"], input=STATIC, text=True, check=True)
        question = """SELECT kind, "trigger", trigger_module, count(*) FROM v_event WHERE kind IN ('openat', 'read', 'close', 'brk') GROUP BY 1, 2, 3"""
        db = self.path("static.db")
        self.said_by(USCOPE, "record", *BACKEND_OPTIONS, "-o", db, "--", "sh", "-c", f'exec "{program}" >/dev/null 2>&1')
        stored = rows_of(self.query(db, "--format", "csv", question))
        self.assertIn(["openat", "read_config", program, "3"], stored)
        self.assertEqual(rows_of(self.live(question, program)), stored)

    def test_names_of_threads(self):
        """Each event has the name that its thread had when it began, also where the kernel sums, and where it counts by fields."""
        program = self.path("renamed")
        subprocess.run(["cc", "-O1", "-pthread", "-o", program, "-x", "c", "-"], input=RENAMED, text=True, check=True)
        db = self.path("renamed.db")
        self.said_by(USCOPE, "record", *BACKEND_OPTIONS, "-o", db, "--", "sh", "-c", f'exec "{program}" >/dev/null 2>&1')
        calls = "kind IN ('getpriority', 'prctl', 'read', 'execve')"
        for way, question in (
                (SUMMED, f"SELECT thread, count(*) FROM v_event WHERE {calls} GROUP BY 1"),
                (SUMMED, f"SELECT process, thread, kind, count(*), min(result), max(result) FROM v_event WHERE {calls} GROUP BY 1, 2, 3"),
                (SUMMED, f"SELECT thread, kind, errno, quantile(result, 0.5), count(*) FROM v_event WHERE {calls} GROUP BY 1, 2, 3"),
                (SUMMED, "SELECT kind, count(*) FROM v_event WHERE thread GLOB 'odd-*' AND kind = 'getpriority' GROUP BY kind"),
                (BY_EVENT, f"SELECT thread, kind, result FROM v_event WHERE {calls}")):
            with self.subTest(question=question):
                explained, stored, live = self.answers(db, program, question)
                self.assertTrue(explained.startswith(way))
                self.assertEqual(rows_of(live), rows_of(stored))
        named = "SELECT thread, count(*) FROM v_event WHERE kind = 'getpriority' AND a1 >= 50 GROUP BY 1 ORDER BY 1"
        self.assertEqual(rows_of(self.query(db, "--format", "csv", named))[:3], [["again-1", "6"], ["by-another", "3"], ["renamed", "7"]])

    def test_users_of_threads(self):
        """Likewise its effective user."""
        program = self.path("users")
        subprocess.run(["cc", "-O1", "-pthread", "-o", program, "-x", "c", "-"], input=USERS, text=True, check=True)
        shutil.copy(program, program + ".copy")
        os.chown(program + ".copy", 33, 33)
        os.chmod(program + ".copy", 0o4755)
        db = self.path("users.db")
        self.said_by(USCOPE, "record", *BACKEND_OPTIONS, "-o", db, "--", "sh", "-c", f'exec "{program}" >/dev/null 2>&1')
        calls = "kind IN ('getpriority', 'setresuid', 'setreuid', 'setuid', 'setuid32', 'execve')"
        for way, question in (
                (SUMMED, f"SELECT uid, count(*) FROM v_event WHERE {calls} GROUP BY 1"),
                (SUMMED, f"SELECT process, uid, kind, count(*), min(result), max(result) FROM v_event WHERE {calls} GROUP BY 1, 2, 3"),
                (SUMMED, f"SELECT uid, thread, errno, quantile(result, 0.5), count(*) FROM v_event WHERE {calls} GROUP BY 1, 2, 3"),
                (SUMMED, "SELECT kind, count(*) FROM v_event WHERE uid > 1000 AND kind = 'getpriority' GROUP BY kind"),
                (BY_EVENT, f"SELECT uid, kind, result FROM v_event WHERE {calls}")):
            with self.subTest(question=question):
                explained, stored, live = self.answers(db, program, question)
                self.assertTrue(explained.startswith(way))
                self.assertEqual(rows_of(live), rows_of(stored))
        marked = "SELECT a1, uid, count(*) FROM v_event WHERE kind = 'getpriority' AND a1 >= 50 GROUP BY 1, 2 ORDER BY 1"
        users = {50: 1000, 51: 1000, 52: 1000, 53: 34, 54: 35, 55: 36, 56: 0, 60: 33, 61: 0}
        self.assertEqual(rows_of(self.query(db, "--format", "csv", marked))[:len(users)], [[str(n), str(uid), str(n % 7 + 1)] for n, uid in users.items()])

    def test_each_question_of_each_program(self):
        for program, condition in PROGRAMS.items():
            path = os.path.join(FIXTURES, "fixture_" + program)
            self.assertTrue(os.path.exists(path), path)
            db = self.path(program + ".db")
            self.said_by(USCOPE, "record", *BACKEND_OPTIONS, "-o", db, "--", "sh", "-c", f'exec "{path}" >/dev/null 2>&1')
            asked = [(way, question.format(condition)) for way, question in QUESTIONS]
            # Most of a session is waiting for the kernel: some of them side by side. The module has one tracer at a time.
            with concurrent.futures.ThreadPoolExecutor(1 if BACKEND == "kmod" else SESSIONS) as pool:
                sessions = [pool.submit(self.answers, db, path, text) for _, text in asked]
                for (way, text), session in zip(asked, sessions):
                    with self.subTest(program=program, question=text):
                        explained, stored, live = session.result()
                        self.assertTrue(explained.startswith(way))
                        self.assertEqual(rows_of(live), rows_of(stored))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`record -t` and `-e none`, as a user gives them. Needs root and BPF; usage: record_targets.py USCOPE"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

# Calls work() 100 times, with 0 to 99, and comes as often by a probe of its own.
PROGRAM = """
#include <sys/sdt.h>
#include <unistd.h>
__attribute__((noinline)) int work(int count, const char* name) {
  STAP_PROBE2(shop, sold, count, 7);
  return count + *name + getppid();
}
int main(int argc, char** argv) {
  int sum = 0;
  for (int i = 0; i < 100; i++) sum += work(i, "a name");
  return sum == 0;
}
"""


# Three threads that compute, with few calls, and one that waits for them.
THREADS = """
import threading, time
def compute():
    began = time.thread_time()
    while time.thread_time() < began + 0.1:
        sum(range(20000))
threads = [threading.Thread(target=compute) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
time.sleep(0.05)
"""


# Maps a library, makes its path lead to something else, and calls a function of the library until it is ended.
CALLER = """
import ctypes, os, sys, time
path, other = sys.argv[1:]
library = ctypes.CDLL(path)
os.unlink(path)
os.symlink(other, path)
os.symlink(other, path + " (deleted)")
print(flush=True)
while True:
    library.zlibVersion()
    time.sleep(0.01)
"""


# Bytes that are no code among the code: constants that belong to no function, and behind a jump and a return in
# functions. Each decodes as instructions, a return among them. The program prints what it makes of them.
CONSTANTS = """
#include <stdio.h>
unsigned long behind_jump(unsigned long x), behind_return(unsigned long x), summed(unsigned long x), *where(void);
__asm__(".text\\n"
        ".globl table\\n.balign 8\\ntable: .quad 0x90c39090c3909090, 0x9090909090c39090\\n"
        ".globl behind_jump\\n.type behind_jump,@function\\nbehind_jump: .cfi_startproc\\n"
        "  mov 1f(%rip), %rax\\n  add %rdi, %rax\\n  jmp 2f\\n1: .quad 0x90909090c3909090\\n2: ret\\n"
        ".cfi_endproc\\n.size behind_jump,.-behind_jump\\n"
        ".globl behind_return\\n.type behind_return,@function\\nbehind_return: .cfi_startproc\\n"
        "  mov 1f(%rip), %rax\\n  xor %rdi, %rax\\n  ret\\n1: .quad 0x9090c390c390c390\\n"
        ".cfi_endproc\\n.size behind_return,.-behind_return\\n"
        ".globl summed\\n.type summed,@function\\nsummed: .cfi_startproc\\n"
        "  lea table(%rip), %rax\\n  mov (%rax), %rcx\\n  add 8(%rax), %rcx\\n  lea (%rcx,%rdi), %rax\\n  ret\\n"
        ".cfi_endproc\\n.size summed,.-summed\\n");
int main(void) {
  unsigned long sum = 0;
  for (int i = 0; i < 10; i++) sum = sum * 31 + behind_jump(i) + behind_return(i) + summed(i) + *where();
  return printf("%lx\\n", sum) < 0;
}
"""
# A library whose code is changed when it is loaded.
RELOCATED = """
unsigned long values[2] = {7, 8};
unsigned long* where(void);
int plain(int x) { return x + 1; }
__asm__(".text\\n.globl where\\n.type where,@function\\nwhere: .cfi_startproc\\n  movabs $values, %rax\\n  ret\\n"
        ".cfi_endproc\\n.size where,.-where\\n");
"""


def lines_of(text):
    """The lines of events, without what descriptors stand for, which is not known while tracing."""
    return sorted(re.sub(r"(?<=[0-9D])<[^<>]*>", "", line) for line in text.splitlines() if re.match(r".+\[\d+/\d+\] -?\d+\.\d{6} ", line))


class Recordings(TraceCase):
    def record(self, *options, command=("sh", "-c", "sh -c 'kill -CHLD $$'; true")):
        return subprocess.run([USCOPE, "record", "-o", self.db, *options, "--", *command], check=False, capture_output=True, text=True,
                              timeout=120)

    def meta(self, key):
        return [value for (value,) in self.rows("SELECT value FROM meta WHERE key = ?", key)]

    def test_without_calls_there_are_processes(self):
        done = self.record("-e", "none", "--signals")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE class = 'syscall'"), [(0,)])
        self.assertGreater(self.rows("SELECT count(*) FROM v_event WHERE class = 'signal'")[0][0], 0)
        self.assertEqual(self.rows("SELECT count(*) FROM process"), [(2,)])
        self.assertEqual(self.rows("SELECT count(*) FROM process AS child JOIN process ON child.parent_id = process.id"), [(1,)])
        self.assertEqual(self.meta("targets"), [])

    def test_of_a_command_the_first_programs_files_are_searched(self):
        """Which is said where nothing is found, with what to do."""
        program = self.path("prog")
        subprocess.run(["gcc", "-O1", "-x", "c", "-o", program, "-"], input=PROGRAM, text=True, check=True)
        for first in (("timeout", "9"), ("env",), ("nice",), ("sh", "-c")):
            for target in ("ufunction:prog:work", "usdt:prog:shop:*", "ufunction:*:work"):
                done = self.record("-t", target, command=(*first, program))
                self.assertEqual(done.returncode, 125)
                self.assertIn(f"only its first program, /usr/bin/{first[0]}, and that one's libraries were searched; name the file of a program "
                              f"that it starts: -t {target.partition(':')[0]}:./PROGRAM:NAME", " ".join(done.stderr.split()))
        question = "SELECT count(*) FROM v_event WHERE class = 'ufunction'"
        asked = [USCOPE, "query", "--once", "--format", "csv"]
        done = subprocess.run([*asked, question + " AND kind = 'prog:work'", "--", "timeout", "9", program], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("only its first program, /usr/bin/timeout", " ".join(done.stderr.split()))
        done = subprocess.run([*asked, "-t", f"ufunction:{program}:work", question, "--", "timeout", "9", program], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.split()[-1], "100", done.stderr)

    def test_time_is_recorded_without_calls(self):
        raw = self.path("trace.raw")
        done = self.record("-e", "none", "-t", "sample:500", "-t", "offcpu", "--keep-raw", raw,
                           command=("sh", "-c", "sleep 0.1; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([json.loads(value) for value in self.meta("targets")], [["sample:500", "offcpu"]])
        records = subprocess.run([USCOPE, "raw", "--type", "hit", raw], check=True, capture_output=True, text=True).stdout
        self.assertGreater(records.count(" hit "), 2, records)

    def test_each_call_of_a_function_and_each_probe_is_an_event(self):
        program = self.path("shop")
        with open(program + ".c", "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(["gcc", "-g", "-O2", "-o", program, program + ".c"], check=True)
        done = self.record("-e", "none", "-t", "ufunction:shop:wor*", "-t", "usdt:shop:shop:*", "-t", "ufunction:libc:getppid",
                           "-t", "tracepoint:syscalls:sys_enter_exit_group", command=(program,))
        self.assertEqual(done.returncode, 0, done.stderr)
        counts = "SELECT class, kind, count(*) FROM v_event GROUP BY 1, 2 ORDER BY 1, 2"
        self.assertEqual(self.rows(counts), [("tracepoint", "syscalls:sys_enter_exit_group", 1), ("ufunction", "libc.so.6:getppid", 100),
                                             ("ufunction", "shop:work", 100), ("usdt", "shop:shop:sold", 100)])
        self.assertEqual(self.rows("SELECT sum(a0), min(a1), max(a1) FROM v_event WHERE class = 'usdt'"), [(4950, 7, 7)])
        self.assertEqual(self.rows("SELECT sum(a0) FROM v_event WHERE kind = 'shop:work'"), [(4950,)])

    def test_hits_are_printed_as_events_prints_them(self):
        done = self.record("--print", "-t", "sample:499", "-t", "offcpu", command=("/usr/bin/python3", "-I", "-S", "-c", THREADS))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows("SELECT cause FROM loss"), [])
        printed = lines_of(done.stderr)
        events = subprocess.run([USCOPE, "events", self.db], check=True, capture_output=True, text=True).stdout
        self.assertEqual(printed, lines_of(events))
        for form in (r" sample user\(cpu=\d+, period_ns=\d+\)$", r" offcpu sleeping\(waker_tid=\d+, waker_pid=\d+, queued_ns=\d+, state=\d+\) <"):
            self.assertTrue(any(re.search(form, line) for line in printed), form)
        self.assertGreater(self.rows("SELECT sum(value) FROM v_argument WHERE name = 'period_ns'")[0][0], 100_000_000)
        self.assertEqual(self.rows("SELECT count(*) FROM error_cell JOIN kind ON kind.id = kind_id WHERE class <> 'syscall'"), [(0,)])

    def test_a_field_that_is_not_kept_is_said_once(self):
        options = ("-e", "none", "-t", "tracepoint:sched:sched_switch")
        done = self.record(*options, command=("sleep", "0.05"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("of sched:sched_switch, next_prio is not kept: an event holds six arguments\n"), 1, done.stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM kind_argument"), [(6,)])
        os.unlink(self.db)
        self.assertNotIn("not kept", self.record("-q", *options, command=("true",)).stderr)

    def test_bytes_that_are_no_code_are_never_probed(self):
        """The oracle is what the program prints without uscope."""
        program, library = self.path("constants"), self.path("librelocated.so")
        subprocess.run(["gcc", "-shared", "-Wl,-z,notext", "-x", "c", "-o", library, "-"], input=RELOCATED, text=True, check=True,
                       stderr=subprocess.DEVNULL)
        subprocess.run(["gcc", "-O1", "-x", "c", "-o", program, "-", "-x", "none", library], input=CONSTANTS, text=True, check=True)
        untraced = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        for way in ("", "%return"):
            done = self.record("-e", "none", "--force", "-t", f"ufunction:{program}:*{way}", "-t", f"ufunction:{library}:*{way}", "-t",
                               "ufunction:libc:getpid", command=(program,))
            self.assertEqual((done.returncode, done.stdout), (0, untraced), done.stderr)
            hits = dict(self.rows("SELECT kind, count(*) FROM v_event GROUP BY 1"))
            self.assertEqual(hits.get("constants:summed"), 10, hits)
            self.assertNotIn("constants:table", hits)
            self.assertNotIn("librelocated.so:where", hits)
            if way:
                self.assertFalse({"constants:behind_jump", "constants:behind_return"} & set(hits), hits)
        for target in (f"{program}:table", f"{library}:where", f"{program}:behind_jump%return", f"{program}:behind_return%return"):
            done = self.record("-t", "ufunction:" + target, command=(program,))
            self.assertEqual(done.returncode, 125, target)
            self.assertIn("--force-probe", done.stderr)

    def zlib_called(self, other):
        library = self.path("libmine.so")
        shutil.copy("/lib/x86_64-linux-gnu/libz.so.1", library)
        caller = subprocess.Popen([sys.executable, "-c", CALLER, library, other], stdout=subprocess.PIPE)
        self.addCleanup(caller.wait)
        self.addCleanup(caller.kill)
        self.addCleanup(caller.stdout.close)
        caller.stdout.readline()
        done = subprocess.run([USCOPE, "record", "-q", "-e", "none", "-o", self.db, "-t", "ufunction:libmine*:zlibVersion", "--pid",
                               str(caller.pid), "--duration", "0.5s"], check=False, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.rows("SELECT kind, count(*) > 5 FROM v_event GROUP BY 1")

    def waiting_fifo(self):
        """A FIFO, and whether its writer still waits for a reader."""
        fifo = self.path("fifo")
        os.mkfifo(fifo, 0o600)
        writer = subprocess.Popen(["sh", "-c", f"echo message > {fifo}"])
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        return fifo, lambda: writer.poll() is None

    def test_what_a_mapped_files_path_leads_to_is_not_opened(self):
        fifo, still_waits = self.waiting_fifo()
        self.assertEqual(self.zlib_called(fifo), [("libmine.so:zlibVersion", 1)])
        self.assertTrue(still_waits())

    def test_a_file_in_the_place_of_a_mapped_one_is_not_probed(self):
        other = self.path("other.so")
        shutil.copy("/lib/x86_64-linux-gnu/libz.so.1", other)
        before = os.stat(other).st_atime_ns
        self.assertEqual(self.zlib_called(other), [("libmine.so:zlibVersion", 1)])
        self.assertEqual(os.stat(other).st_atime_ns, before)

    def test_an_interpreter_that_is_no_file_is_not_opened(self):
        fifo, still_waits = self.waiting_fifo()
        script = self.path("script")
        with open(script, "w", encoding="ascii") as file:
            file.write(f"#!{fifo}\n")
        os.chmod(script, 0o755)
        self.assertNotEqual(self.record("-t", "ufunction:lib*:f", command=(script,)).returncode, 0)
        self.assertTrue(still_waits())

    def test_what_cannot_be_traced_is_refused_before_anything_runs(self):
        for target, what in (("kfunction:no_such_function", "the kernel has no such function"),
                             ("ufunction:libc:no_such_function", "no function of libc.so.6 matches 'no_such_function'"),
                             ("ufunction:libc:*", "without --all-matches uscope attaches at most 1,000"),
                             ("tracepoint:sched:sched_swich", "no such tracepoint"),
                             ("sample:0", "is not a number of samples a second")):
            ran = self.path("ran")
            done = self.record("-t", target, command=("touch", ran))
            self.assertEqual(done.returncode, 125, target)
            self.assertIn(what, done.stderr)
            self.assertFalse(os.path.exists(ran))
            self.assertFalse(os.path.exists(self.db))


if __name__ == "__main__":
    unittest.main()

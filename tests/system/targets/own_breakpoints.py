#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Breakpoints that a debugger, or a program itself, sets where uscope has a probe already: the kernel would take them for the probe's. And
programs that translate code instead of executing it. Each waits until uscope has removed the probes. Needs root and BPF; usage:
own_breakpoints.py USCOPE"""
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

# Commands come as lines, and are answered by what work() returns: "memory" opens its own memory for writing, "open" makes the page with
# work() writable, "break" and "restore" set and remove a breakpoint there, which the program handles itself, by what was opened.
PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
int work(void);
extern char code[], __executable_start[];
__asm__(".text\n.balign 4096\n.globl code\ncode:\n.globl work\n.type work,@function\nwork: mov $7,%eax\nret\n.size work,.-work\n.balign 4096\n");
static void take(int signal, siginfo_t* info, void* context) {
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  registers[REG_RIP] += 4;
  registers[REG_RAX] = 11;
}
int main(void) {
  struct sigaction hook = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &hook, NULL);
  char* before = mmap(__executable_start - 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (before == MAP_FAILED) return 1;
  char line[64];
  static char saved, set = '\xcc';
  int memory = -1;
  while (fgets(line, sizeof(line), stdin) != NULL) {
    if (line[0] == 'm') memory = open("/proc/self/mem", O_RDWR);
    if (line[0] == 'o') mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (line[0] == 'a') mprotect(before, code + 4096 - before, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (line[0] == 'b') saved = code[0];
    char* byte = line[0] == 'b' ? &set : &saved;
    if (line[0] == 'b' || line[0] == 'r') {
      if (memory < 0)
        code[0] = *byte;
      else if (pwrite(memory, byte, 1, (long)code) != 1)
        return 1;
    }
    printf("%d\n", work());
    fflush(stdout);
  }
  return 0;
}
"""

# debugger attach|poke|seize PID ADDRESS, debugger run PROGRAM ADDRESS: "ready" when it has the process; after a line it sets a breakpoint
# through /proc/PID/mem, or (poke) by PTRACE_POKETEXT, and lets the process go on until it meets it: "stopped at 1". Then it lets it alone.
# seize sets none. debugger fork PROGRAM ADDRESS: the same with a child that it attaches to, all by its second thread.
DEBUGGER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
static int debug(char** args) {
  int pid = atoi(args[2]), status = 0, memory = -1, seizes = !strcmp(args[1], "seize"), pokes = !strcmp(args[1], "poke");
  unsigned long address = strtoul(args[3], NULL, 16), word = 0;
  char line[64], saved = 0;
  if (!strcmp(args[1], "run")) {
    if ((pid = fork()) == 0) {
      ptrace(PTRACE_TRACEME, 0, 0, 0);
      execl(args[2], args[2], NULL);
    }
  } else if (!strcmp(args[1], "fork")) {
    int begun[2];
    pipe2(begun, O_CLOEXEC);
    if ((pid = fork()) == 0) execl(args[2], args[2], NULL);
    close(begun[1]);
    if (read(begun[0], line, 1) != 0 || ptrace(PTRACE_ATTACH, pid, 0, 0) != 0) return 1;
  } else if (ptrace(seizes ? PTRACE_SEIZE : PTRACE_ATTACH, pid, 0, 0) != 0) {
    return 1;
  }
  if (seizes)
    ptrace(PTRACE_INTERRUPT, pid, 0, 0);
  waitpid(pid, &status, 0);
  printf("ready\n");
  fflush(stdout);
  if (fgets(line, sizeof(line), stdin) == NULL) return 1;
  if (seizes) {
    printf("%d\n", pid);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    return 0;
  }
  sprintf(line, "/proc/%d/mem", pid);
  if (pokes) {
    word = ptrace(PTRACE_PEEKTEXT, pid, address, 0);
    if (ptrace(PTRACE_POKETEXT, pid, address, word & ~0xfful | 0xcc) != 0) return 1;
  } else {
    memory = open(line, O_RDWR);
    if (pread(memory, &saved, 1, address) != 1 || pwrite(memory, "\xcc", 1, address) != 1) return 1;
  }
  printf("set\n");
  fflush(stdout);
  ptrace(PTRACE_CONT, pid, 0, 0);
  waitpid(pid, &status, 0);
  struct user_regs_struct registers = {0};
  ptrace(PTRACE_GETREGS, pid, 0, &registers);
  printf("stopped at %ld by %d\n", (long)(registers.rip - address), WIFSTOPPED(status) ? WSTOPSIG(status) : 0);
  fflush(stdout);
  registers.rip = address;
  if (pokes ? ptrace(PTRACE_POKETEXT, pid, address, word) != 0 : pwrite(memory, &saved, 1, address) != 1) return 1;
  ptrace(PTRACE_SETREGS, pid, 0, &registers);
  ptrace(PTRACE_DETACH, pid, 0, 0);
  waitpid(pid, &status, 0);
  return 0;
}
static void* debug_in_thread(void* args) { exit(debug(args)); }
int main(int count, char** args) {
  pthread_t thread;
  if (strcmp(args[1], "fork")) return debug(args);
  pthread_create(&thread, NULL, debug_in_thread, args);
  pthread_join(thread, NULL);
  return 1;
}
"""

# A static program that maps another one's code, and executes copies of it in memory of its own, one for each line.
TRANSLATOR = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int main(int count, char** args) {
  char line[64];
  char* cache = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(args[1], O_RDONLY), strtol(args[2], NULL, 16));
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof(line), stdin) != NULL) {
    memcpy(cache, code, 16);
    printf("%d\n", ((int (*)(void))cache)());
    fflush(stdout);
  }
  return 0;
}
"""

# As user nobody: PTRACE_ATTACH to a process of root's, and its memory.
FAILS = r"""
import ctypes, os, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
assert ctypes.CDLL(None).ptrace(16, int(sys.argv[1]), 0, 0) == -1
for path in "/nonexistent/mem", f"/proc/{sys.argv[1]}/mem":
    try:
        os.open(path, os.O_RDWR)
        sys.exit(1)
    except OSError:
        pass
"""

STORM = r"""
import os
print("ready", flush=True)
while True:
    try:
        os.open("/nonexistent/mem", os.O_RDWR)
    except OSError:
        pass
"""

# Memory of a file where no breakpoint is ever put: it is shared.
SHARED = r"""
import ctypes, mmap, os
fd = os.memfd_create("shared")
os.ftruncate(fd, 4096)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, fd, ctypes.c_long(0))
assert libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(4096), mmap.PROT_READ | mmap.PROT_WRITE) == 0
"""


def children_of(pid):
    """Of all its threads."""
    children = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
            children += [int(child) for child in file.read().split()]
    return children


class OwnBreakpoints(TraceCase):
    def setUp(self):
        super().setUp()
        # What misses its breakpoint waits for ever.
        signal.signal(signal.SIGALRM, lambda number, frame: self.fail("it goes on no more: " + self.text()))
        signal.alarm(int(30 * SLOWNESS))
        self.addCleanup(signal.alarm, 0)
        self.said = open(self.path("said"), "w+", encoding="utf-8")
        self.addCleanup(self.said.close)
        self.program, self.debugger, self.translator = (self.path(name) for name in ("breaks", "debugger", "translator"))
        for path, source, *options in ((self.program, PROGRAM, "-no-pie"), (self.debugger, DEBUGGER, "-pthread"), (self.translator, TRANSLATOR, "-static")):
            subprocess.run(["gcc", "-O1", "-w", *options, "-x", "c", "-", "-o", path], input=source, text=True, check=True)
        symbols = subprocess.run(["nm", self.program], capture_output=True, text=True, check=True).stdout
        self.address = next(line.split()[0] for line in symbols.splitlines() if line.endswith(" T code"))

    def start(self, *command):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    @staticmethod
    def hear(process):
        return process.stdout.readline().strip()

    def say(self, process, line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return self.hear(process)

    def begin(self, *options):
        """Records this program, whose probe is hit once before this returns."""
        self.recording = subprocess.Popen([USCOPE, "record", "-e", "none", "--force", "-o", self.db, "-t", f"ufunction:{self.program}:work",
                                           *options, "--", self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True)
        self.addCleanup(self.recording.communicate)
        self.addCleanup(self.recording.terminate)
        self.assertEqual(self.say(self.recording, "call"), "7")

    def text(self):
        self.said.seek(0)
        return self.said.read()

    def wait_for(self, words, pid, address=None):
        """Until uscope has said so, and the probe is gone from the process."""
        def is_probed():
            with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                memory.seek(int(address or self.address, 16))
                return memory.read(1) == b"\xcc"

        until = time.monotonic() + 10 * SLOWNESS
        while (words not in self.text() or is_probed()) and time.monotonic() < until:
            time.sleep(0.01)
        self.assertIn(words, self.text())
        self.assertFalse(is_probed())
        self.assertIn(f"probes in {self.program}: the file's probes were removed", self.text())

    def end(self, *, hits=1, removed=1):
        self.assertEqual(self.say(self.recording, "call"), "7")
        self.recording.communicate()
        self.assertEqual(self.recording.returncode, 0, self.text())
        self.assertIn(self.rows("SELECT count(*) FROM v_event WHERE class = 'ufunction'")[0][0], hits if isinstance(hits, tuple) else (hits,))
        self.assertEqual(self.rows("SELECT cause, sum(count) FROM loss GROUP BY cause"), [("probe_removed", 1)] if removed else [], self.text())

    def debug(self, process, debugger, words):
        self.assertEqual(self.hear(debugger), "ready")
        self.wait_for(words, process.pid)
        self.assertEqual(self.say(debugger, "go"), "set")
        process.stdin.write("call\n")
        process.stdin.flush()
        self.assertEqual(self.hear(debugger), "stopped at 1 by 5")
        self.assertEqual(self.hear(process), "7")

    def test_a_debugger_that_attaches(self):
        self.begin()
        other = self.start(self.program)
        self.assertEqual(self.say(other, "call"), "7")
        debugger = self.start(self.debugger, "attach", str(other.pid), self.address)
        self.debug(other, debugger, f"process {other.pid} (breaks) has a debugger, process {debugger.pid} (debugger), and code that has")
        self.end()

    def test_a_program_that_a_debugger_starts(self):
        self.begin()
        debugger = self.start(self.debugger, "run", self.program, self.address)
        self.assertEqual(self.hear(debugger), "ready")
        pid = children_of(debugger.pid)[0]
        self.wait_for(f"process {pid} (breaks) has a debugger, and code that has", pid)
        # The first line is the debugger's, the next one its program's.
        self.assertEqual(self.say(debugger, "go"), "set")
        self.assertEqual(self.say(debugger, "call"), "stopped at 1 by 5")
        self.end()

    # Numbers of processes mean something else there, and it is a thread that traces.
    def test_a_debugger_in_a_pid_namespace(self):
        self.begin()
        outside = self.start("unshare", "--pid", "--fork", "--mount-proc", self.debugger, "fork", self.program, self.address)
        self.assertEqual(self.hear(outside), "ready")
        debugger = children_of(outside.pid)[0]
        pid = children_of(debugger)[0]
        self.wait_for(f"process {pid} (breaks) has a debugger, process {debugger} (debugger), and code that has", pid)
        self.assertEqual(self.say(outside, "go"), "set")
        self.assertEqual(self.say(outside, "call"), "stopped at 1 by 5")
        self.assertEqual(self.hear(outside), "7")
        self.end()

    def test_who_only_follows_calls_is_no_debugger(self):
        self.begin()
        other = self.start(self.program)
        self.assertEqual(self.say(other, "call"), "7")
        tracer = self.start(self.debugger, "seize", str(other.pid), self.address)
        self.assertEqual(self.hear(tracer), "ready")
        time.sleep(1.5)  # a look at all processes
        self.assertEqual(self.say(tracer, "go"), str(other.pid))
        self.end(hits=2, removed=0)

    def test_a_debugger_that_was_there_first(self):
        other = self.start(self.program)
        self.assertEqual(self.say(other, "call"), "7")
        debugger = self.start(self.debugger, "attach", str(other.pid), self.address)
        self.assertEqual(self.hear(debugger), "ready")
        self.assertEqual(self.say(debugger, "go"), "set")
        done = subprocess.run([USCOPE, "record", "-e", "none", "-o", self.db, "-t", f"ufunction:{self.program}:work", "--", self.program],
                              input="call\n", capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"process {other.pid} (breaks) is debugged, and the probe would hide a breakpoint there", done.stderr)

    # As ltrace and delve do: nothing but ptrace tells what they are about to do.
    def test_a_debugger_that_was_there_first_and_has_set_nothing_yet(self):
        other = self.start(self.program)
        self.assertEqual(self.say(other, "call"), "7")
        debugger = self.start(self.debugger, "poke", str(other.pid), self.address)
        self.assertEqual(self.hear(debugger), "ready")
        done = subprocess.run([USCOPE, "record", "-e", "none", "-o", self.db, "-t", f"ufunction:{self.program}:work", "--", self.program],
                              input="call\n", capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"cannot probe {self.program}: process {other.pid} (breaks) is debugged by process {debugger.pid} (debugger)", done.stderr)
        self.assertEqual(self.say(debugger, "go"), "set")
        other.stdin.write("call\n")
        other.stdin.flush()
        self.assertEqual(self.hear(debugger), "stopped at 1 by 5")
        self.assertEqual(self.hear(other), "7")

    def test_who_followed_calls_first_is_no_hindrance(self):
        other = self.start(self.program)
        self.assertEqual(self.say(other, "call"), "7")
        tracer = self.start(self.debugger, "seize", str(other.pid), self.address)
        self.assertEqual(self.hear(tracer), "ready")
        self.begin()
        self.assertEqual(self.say(tracer, "go"), str(other.pid))
        self.end(hits=2, removed=0)

    def handle_own(self, how, words):
        self.begin()
        other = self.start(self.program)
        self.assertEqual(self.say(other, "call"), "7")
        self.assertEqual(self.say(other, how), "7")
        self.wait_for(f"process {other.pid} (breaks) has {words.format(other.pid)}", other.pid)
        self.assertEqual([self.say(other, line) for line in ("break", "call", "restore", "call")], ["11", "11", "7", "7"])
        self.end()

    def test_a_process_that_opens_its_memory(self):
        self.handle_own("memory", "memory that process {} (breaks) has opened for writing, and code that has")

    def test_a_process_that_makes_its_code_writable(self):
        self.handle_own("open", "made memory writable with code that has")

    def test_a_process_that_makes_several_mappings_writable_at_once(self):
        """The first of them is no file's."""
        self.handle_own("all", "made memory writable with code that has")

    def traced(self):
        return next(pid for pid in children_of(self.recording.pid) if os.path.realpath(f"/proc/{pid}/exe") == self.program)

    # A mapping call of the traced process must not be taken for another file, which would be probed.
    def test_what_has_lost_its_probes_gets_none_again(self):
        self.begin()
        self.assertEqual(self.say(self.recording, "open"), "7")
        self.wait_for("made memory writable with code that has", self.traced())
        self.assertEqual(self.say(self.recording, "open"), "7")
        time.sleep(0.5)
        self.assertEqual([self.say(self.recording, line) for line in ("break", "call", "restore")], ["11", "11", "7"])
        self.assertNotIn("it has probes from now on", self.text())
        self.end(hits=(1, 2))  # the call behind "open" is made while the probe is being removed

    # Anybody may try.
    def test_calls_that_fail_are_no_doubts(self):
        self.begin()
        other = self.start(self.program)
        self.assertEqual(self.say(other, "call"), "7")
        subprocess.run([sys.executable, "-c", FAILS, str(other.pid)], check=True)
        time.sleep(0.5)
        self.end(hits=2, removed=0)

    def translate(self):
        lines = subprocess.run(["readelf", "-lW", self.program], capture_output=True, text=True, check=True).stdout.splitlines()
        loads = [line.split() for line in lines if line.split()[:1] == ["LOAD"]]
        offset = next(int(self.address, 16) - int(load[2], 16) + int(load[1], 16) for load in loads if "E" in load[6:8])
        translator = self.start(self.translator, self.program, hex(offset))
        self.assertEqual(self.hear(translator), "ready")
        with open(f"/proc/{translator.pid}/maps", encoding="utf-8") as maps:
            mapped = next(line for line in maps if self.program in line)
        return translator, mapped.split("-")[0]

    # Whoever may open files could fill the rings.
    def test_doubts_are_few(self):
        tries = 20000
        self.begin("--keep-raw", self.path("raw"))
        began = time.monotonic()
        for _ in range(tries):
            with self.assertRaises(FileNotFoundError):
                os.open("/nonexistent/mem", os.O_RDWR)
        most = 16 * (2 + (time.monotonic() - began) / 0.01)
        self.end(hits=2, removed=0)
        self.assertRegex(self.text(), fr"process {os.getpid()} \(.*\) makes more calls that may come before a breakpoint of its own than uscope looks at")
        raw = subprocess.run([USCOPE, "raw", self.path("raw")], capture_output=True, text=True, check=True).stdout
        told = sum(" code_doubt " in line for line in raw.splitlines())
        self.assertGreater(told, 0)
        self.assertLess(told, min(most, tries))

    def test_nobody_has_the_doubts_of_others_left_out(self):
        self.begin("--keep-raw", self.path("raw"))
        other = self.start(self.program)
        self.assertEqual(self.say(other, "call"), "7")
        storm = self.start(sys.executable, "-c", STORM)
        self.assertEqual(self.hear(storm), "ready")
        time.sleep(0.2)
        for _ in range(3):
            self.assertEqual(self.say(other, "open"), "7")
            time.sleep(0.02)
        self.wait_for(f"process {other.pid} (breaks) has made memory writable with code that has", other.pid)
        storm.kill()
        shares = self.start(sys.executable, "-c", SHARED)
        self.assertEqual(shares.wait(), 0)
        self.end()
        raw = subprocess.run([USCOPE, "raw", self.path("raw")], capture_output=True, text=True, check=True).stdout
        doubts = [line for line in raw.splitlines() if " code_doubt " in line]
        self.assertEqual(sum(f"pid={other.pid} " in line for line in doubts), 3)
        self.assertEqual([line for line in doubts if f"pid={shares.pid} " in line], [])

    def test_a_program_that_translates_code(self):
        self.begin()
        translator, address = self.translate()
        self.wait_for(f"process {translator.pid} (translator) may translate code instead of executing it", translator.pid, address)
        self.assertEqual(self.say(translator, "call"), "7")
        self.end()

    def test_a_translator_that_was_there_first(self):
        translator, _ = self.translate()
        listed = subprocess.run([USCOPE, "list", "--refused", f"ufunction:{self.program}:work"], capture_output=True, text=True, check=False)
        self.assertIn(f"process {translator.pid} (translator) translates the code instead of executing it", listed.stdout + listed.stderr)
        self.assertEqual(self.say(translator, "call"), "7")


if __name__ == "__main__":
    unittest.main()

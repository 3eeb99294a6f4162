#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Programs that hang, each in several ways: traced from its start, traced until it is interrupted as by Ctrl-C, looked at after it hung,
and the same without symbols; and programs that only wait, some of them stopped. deadlock_cases.py says what each is to be found to be. Beside that, what
is found of a program that runs is compared with what the kernel says of its threads.

usage: deadlock.py USCOPE FIXTURES [-k PATTERN] [--part all|kernel|rest] [-j N]
Needs root and a backend; a program that was not built fails."""
import argparse
import collections
import concurrent.futures
import contextlib
import fnmatch
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import BACKEND, OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from deadlock_cases import ANONYMOUS, ANY, ATTACHED, CASES, GONE, HEALTHY, INTERRUPTED, KERNEL, STOPPED, STRIPPED, TRACED  # noqa: E402
from hidden_debug import HIDE_DEBUG  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "..", "deadlock")
SCHEMA = os.path.join(HERE, "..", "..", "..", "docs", "json", "deadlock.schema.json")
STATUS = {"none": 0, "deadlock": 1, "stall": 1}
FUTEX = 202
WAITS = (0, 6, 9, 11, 13)  # operations of linux/futex.h: WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2
WAIT = 60 * SLOWNESS


class Wrong(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


def is_uscope(pid):
    """Also what has not executed the program yet, or is about to: it has no command line then, as one whose first thread has ended."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read()
    if words:
        return os.path.basename(words.split(b"\0")[0]).startswith(b"uscope")
    with open(f"/proc/{pid}/stat", "rb") as file:
        return not file.read().rpartition(b")")[2].split()[0] == b"Z"


def tasks_of(group):
    """(pid, tid) of the process group's live threads, the tracer's left out."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.getpgid(int(pid)) == group and not is_uscope(pid):
                found += [(int(pid), int(tid)) for tid in os.listdir(f"/proc/{pid}/task")]
    return found


def in_calls(group):
    """{tid: the words of its system call}, as the kernel tells them; None for one that is in none: it runs, or waits for a page."""
    calls = {}
    for pid, tid in tasks_of(group):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{tid}/syscall", encoding="ascii") as file:
            words = file.read().split()
            # -1 is no call: one that waits for a page has a stack then, the first thread that has ended has none.
            runs = words[0] == "running" or (words[0] == "-1" and int(words[1], 16) != 0)
            calls[tid] = None if runs else [int(words[0]), *(int(word, 16) for word in words[1:])]
    return calls


def hangs(group, in_futex):
    """Waits until the same threads have been in the same calls for a while; some programs never are. Before, until one of them waits for
    a futex, if that is to be."""
    end = time.monotonic() + WAIT
    while not (any(call and call[0] == FUTEX for call in in_calls(group).values()) if in_futex else in_calls(group)):
        check(time.monotonic() < end, "the program does not run, or does not hang")
        time.sleep(0.05)
    end, since, before = time.monotonic() + 6 * SLOWNESS, time.monotonic(), None
    while time.monotonic() < end:
        now = in_calls(group)
        if now != before or None in now.values():
            since, before = time.monotonic(), now
        if time.monotonic() - since > 0.6 * SLOWNESS:
            return
        time.sleep(0.05)


class Run:
    """One program in one way."""

    def __init__(self, options, case, way):
        self.options, self.case, self.way = options, case, way
        self.expected = case.expected(way)

    def command(self, folder):
        if self.case.program.endswith(".py"):
            return ["/usr/bin/python3", os.path.join(SOURCES, self.case.program)]
        program = os.path.join(self.options.fixtures, "deadlock_" + self.case.program)
        check(os.path.exists(program), program, "was not built")
        if self.way == STRIPPED:
            stripped = os.path.join(folder, os.path.basename(program))
            subprocess.run(["strip", "-o", stripped, program], check=True)
            program = stripped
        return [program, self.case.scenario] if self.case.scenario else [program]

    def uscope(self, *arguments):
        hidden = HIDE_DEBUG if self.way == STRIPPED else []
        return subprocess.run([*hidden, self.options.uscope, "deadlock", *arguments], capture_output=True, text=True, timeout=WAIT, check=False)

    def failure(self):
        with tempfile.TemporaryDirectory(prefix="uscope-deadlock-") as folder:
            try:
                command = self.command(folder)
                if self.way in (ATTACHED, STOPPED, STRIPPED):
                    self.look_at(command, folder)
                else:
                    self.trace(command, os.path.join(folder, "trace.db"))
            except (Wrong, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
                return f"{type(error).__name__}: {error}"
        return None

    def trace(self, command, db):
        duration = ["--duration", f"{2.5 * SLOWNESS}s"] if self.way == TRACED else []
        # What is said goes to a file: the program would keep a pipe open after its tracer has ended.
        with open(db + ".said", "w+", encoding="utf-8") as file:
            with subprocess.Popen([self.options.uscope, "record", *BACKEND_OPTIONS, "-o", db, *duration, "--", *command],
                                  start_new_session=True, cwd=os.path.dirname(db), stdin=subprocess.DEVNULL, stdout=file, stderr=file) as tracer:
                try:
                    if self.way == INTERRUPTED:
                        hangs(tracer.pid, self.expected.verdict != "none")
                        time.sleep(2 * SLOWNESS)
                        self.press_ctrl_c(tracer)
                    tracer.wait(WAIT)
                finally:
                    with contextlib.suppress(OSError):
                        os.killpg(tracer.pid, signal.SIGKILL)
            file.seek(0)
            said = file.read()
        check(os.path.exists(db), "no trace:", said)
        done = self.uscope(db, "--format", "json")
        found = self.judge(done)
        text = self.uscope(db)
        check(text.returncode == done.returncode, "text and JSON differ in exit status:", text.stderr)
        for name, _ in self.expected.threads:
            check(name in text.stdout, f"the text does not name {name}:", text.stdout)
        check(all(0 <= thread["waited_ns"] for thread in found["blocked"]), "waited for less than nothing")

    @staticmethod
    def press_ctrl_c(tracer):
        """A program may take the first one for something else; a second one ends tracing."""
        for _ in range(20):
            with contextlib.suppress(OSError):
                os.killpg(tracer.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                tracer.wait(3 * SLOWNESS)
                return

    def look_at(self, command, folder):
        with subprocess.Popen(command, start_new_session=True, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            try:
                hangs(process.pid, self.expected.verdict != "none")
                if self.way == STOPPED:
                    process.send_signal(signal.SIGSTOP)
                    time.sleep(0.2 * SLOWNESS)
                before = in_calls(process.pid)
                done = self.uscope("--pid", str(process.pid), *BACKEND_OPTIONS, "--format", "json")
                after = in_calls(process.pid)
            finally:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
        found = self.judge(done)
        # None: one that runs, whose calls come and go; a runtime's own threads may move too.
        if None in before.values() or before != after:
            check(self.expected.verdict == "none", "its threads moved", before, after)
            return
        waits = {tid: call[1] for tid, call in before.items() if call[0] == FUTEX and call[2] & 0x7f in WAITS}
        addresses = {thread["tid"]: int(thread["address"], 16) for thread in found["blocked"]}
        same = set(addresses) <= set(waits) if self.case.contended else set(addresses) == set(waits)
        check(same, "who waits in futex: the kernel says", sorted(waits), "but found were", sorted(addresses))
        for tid, address in addresses.items():
            check(0 <= waits[tid] - address <= 64, f"thread {tid} waits at {waits[tid]:#x}, not {address:#x}")

    def judge(self, done):
        expected = self.expected
        try:
            found = json.loads(done.stdout)
        except ValueError:
            raise Wrong(f"exit status {done.returncode}, no JSON: {done.stdout[:200]} {done.stderr}") from None
        try:
            self.validate(found)
            check(found["verdict"] == expected.verdict, f"verdict {found['verdict']}, not {expected.verdict}")
            check(done.returncode == STATUS[found["verdict"]], f"exit status {done.returncode} with verdict {found['verdict']}:", done.stderr)
            self.judge_findings(found)
            self.judge_blocked(found)
        except Wrong as wrong:
            raise Wrong(f"{wrong}\n{brief(found)}") from None
        return found

    def validate(self, found):
        if self.options.validator:
            errors = [error.message for error in self.options.validator.iter_errors(found)]
            check(not errors, "not as the schema says:", errors[:3])

    def names(self, found):
        return {thread["tid"]: thread["name"] for thread in found["blocked"]}

    def judge_findings(self, found):
        expected, names = self.expected, self.names(found)
        accused = {thread["tid"]: thread for finding in found["findings"] for thread in finding["threads"]}
        check(bool(accused) == (expected.verdict != "none"), "accused with this verdict:", sorted(accused))
        for finding in found["findings"]:
            check(finding["type"] in expected.types, f"type {finding['type']}, not", expected.types)
            check(finding["explanation"].strip(), "no explanation")
        counted = collections.Counter(thread["name"] for thread in accused.values())
        wanted = {name: expected.count.get(name, 1) for name, _ in expected.threads}
        # Behind a stall, who waits for one of it may be told with it.
        others = set(expected.blocked) if expected.verdict == "stall" else set()
        for name in expected.some:
            check(1 <= counted[name] <= wanted[name], f"{counted[name]} threads {name} are accused, not 1 to {wanted[name]}")
            wanted[name] = counted[name]
        check({name: number for name, number in counted.items() if name not in others - set(wanted)} == wanted, "accused are", dict(counted), "not", wanted)
        for thread in accused.values():
            for (name, primitive), holders in expected.threads.items():
                if name != thread["name"]:
                    continue
                check(primitive in (ANY, thread["primitive"]), f"{name} waits for a {thread['primitive']}, not a {primitive}")
                held_by = {names.get(tid, tid) for tid in thread["held_by"]}
                if holders is GONE:
                    check(len(held_by) == 1 and not held_by & set(names.values()), f"{name} waits for {held_by}, not for one who is gone")
                else:
                    check(holders is ANY or held_by == holders, f"{name} waits for {held_by}, not", holders)
                self.judge_stack(thread)

    def judge_stack(self, thread):
        check(thread["call"] == "futex", f"{thread['name']} is in {thread['call']}")
        check(thread["stack"], f"{thread['name']} has no stack")
        if self.case.program == "cpp_locks" and self.way != STRIPPED:  # not one of the functions that std:: has around the lock
            check(thread["function"].startswith(ANONYMOUS + thread["name"]), f"{thread['name']} waits in {thread['function']}")
        function = self.case.function
        if self.way != STRIPPED and function is not ANY:
            check(any(frame.startswith(function) for frame in thread["stack"]), f"no {function} in {thread['name']}'s stack:", thread["stack"])

    def judge_blocked(self, found):
        expected = self.expected
        if self.case.program == "locks_go":
            check({thread["primitive"] for thread in found["blocked"]} == {"go"}, "not Go's:", [thread["primitive"] for thread in found["blocked"]])
            return
        wanted = dict(expected.blocked) | dict(expected.threads.keys())
        for name, primitive in wanted.items():
            threads = [thread for thread in found["blocked"] if thread["name"] == name]
            check(len(threads) == expected.count.get(name, 1), f"{len(threads)} threads {name} wait")
            for thread in threads:
                check(primitive in (ANY, thread["primitive"]), f"{name} waits for a {thread['primitive']}, not a {primitive}")


def brief(found):
    """Of what was found, what a person wants to see."""
    lines = [f"  verdict {found.get('verdict')} {found.get('reason', '')}"]
    for finding in found.get("findings", []):
        lines.append(f"  {finding['type']}: {finding['explanation']} {[thread['tid'] for thread in finding['threads']]}")
    for thread in found.get("blocked", []):
        lines.append(f"  {thread['tid']} {thread['name']} {thread['primitive']} {thread['address']} held by {thread['held_by']}: {' < '.join(thread['stack'])}")
    return "\n".join(lines)


def schema():
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        return None  # the guests of tests/vm have none
    with open(SCHEMA, encoding="utf-8") as file:
        return jsonschema.Draft202012Validator(json.load(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("uscope", type=os.path.abspath)
    parser.add_argument("fixtures", type=os.path.abspath)
    parser.add_argument("-k", default="*", help="only runs whose name, PROGRAM.SCENARIO.WAY, matches")
    parser.add_argument("--part", choices=["all", "kernel", "rest"], default="all", help="kernel: the few that go by it, for tests/vm")
    parser.add_argument("-j", type=int, default=12, help="so many at once")
    options = parser.parse_args()
    options.validator = schema()
    runs = [(f"{case.name()}.{way}", Run(options, case, way)) for case in CASES + HEALTHY for way in case.ways]
    runs = [(name, run) for name, run in runs if fnmatch.fnmatch(name, options.k) and
            options.part in ("all", "kernel" if run.case.name() in KERNEL else "rest")]
    if not shutil.which("strip"):
        print("there is no strip: of stripped programs none is run")
        runs = [(name, run) for name, run in runs if run.way != STRIPPED]
    failed = 0
    # The module has one tracer at a time.
    with concurrent.futures.ThreadPoolExecutor(1 if BACKEND == "kmod" else options.j) as pool:
        for (name, _), failure in zip(runs, pool.map(lambda pair: pair[1].failure(), runs)):
            if failure:
                failed += 1
                print(f"FAILED {name}\n  {failure}")
    print(f"{len(runs) - failed} passed, {failed} failed")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())

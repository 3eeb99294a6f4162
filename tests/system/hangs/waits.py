#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Processes that wait for each other through pipes, sockets, files' locks, children, stopped processes: each program traced from its start,
traced until it is interrupted as by Ctrl-C, looked at after it hung by its process and by its name; and programs that only rest.
waits_cases.py says what each is to be found to be. What the diagnosis must name is taken from /proc while the program hangs. It must
also leave every process in the call in which it was.

usage: waits.py USCOPE FIXTURES [-k PATTERN] [--part all|quick|rest] [-j N]
Needs root and a backend; a program that was not built fails."""
import argparse
import collections
import concurrent.futures
import contextlib
import fnmatch
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import BACKEND, OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from deadlock import Wrong, brief, check, schema  # noqa: E402
from process_tree import children_of  # noqa: E402
from waits_cases import ATTACHED, BY_NAME, CASES, HEALTHY, INTERRUPTED, TRACED  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deadlock")
STATUS = {"none": 0, "deadlock": 1, "stall": 1, "undecided": 3}
WAIT = 40 * SLOWNESS
QUICK = ("ends.child_full_pipe", "ends.both_write_unix", "between.flock_parent", "between.flock_stopped", "rests.pool", "rests.stranger_pipe")
JAVA = ("Synchronized", "Child")
# A line that a process wrote before it waits.
Said = collections.namedtuple("Said", "role pid tid fd")


def told(path):
    with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        return [Said(words[0], *map(int, words[1:])) for words in map(str.split, file.read().splitlines()) if len(words) == 4]
    return []


def call_of(said):
    """The words that the kernel has for a thread's call, and its state; None if it has ended."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{said.pid}/task/{said.tid}/syscall", encoding="ascii") as file, \
             open(f"/proc/{said.pid}/task/{said.tid}/stat", encoding="ascii") as stat:
            return file.read().strip(), stat.read().rpartition(")")[2].split()[0]
    return None


def object_of(said):
    return os.readlink(f"/proc/{said.pid}/fd/{said.fd}") if said.fd >= 0 else None


class Run:
    """One program in one way."""

    def __init__(self, options, case, way):
        self.options, self.case, self.way = options, case, way
        self.path = ""

    def command(self, folder):
        if self.case.program.endswith(".mk"):
            return ["make", "-s", "-j2", "-f", os.path.join(SOURCES, self.case.program)]
        if self.case.program in JAVA:
            return ["java", "-cp", self.options.fixtures, self.case.program, self.case.scenario]
        program = os.path.join(self.options.fixtures, "deadlock_" + self.case.program)
        check(os.path.exists(program), program, "was not built")
        # By a name that no other run's processes have.
        self.path = os.path.join(folder, f"hang-{os.path.basename(folder)[-6:]}")
        # By a process of its own: what another thread forks meanwhile would have the copy open to write, and it could not be run.
        subprocess.run(["cp", program, self.path], check=True)
        return [self.path, self.case.scenario]

    def uscope(self, *arguments):
        return subprocess.run([self.options.uscope, "deadlock", *arguments], capture_output=True, text=True, timeout=WAIT, check=False)

    def failure(self):
        with tempfile.TemporaryDirectory(prefix="uscope-waits-") as folder:
            says = os.path.join(folder, "says")
            try:
                command = self.command(folder)
                start = self.trace if self.way in (TRACED, INTERRUPTED) else self.look_at
                start(command, folder, says)
            except (Wrong, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
                return f"{type(error).__name__}: {error}"
            finally:
                for said in told(says):
                    with contextlib.suppress(OSError):
                        os.kill(said.pid, signal.SIGKILL)
                    if self.case.scenario.startswith("sem_") or self.case.scenario == "messages":
                        subprocess.run(["ipcrm", "-q" if self.case.scenario == "messages" else "-s", str(said.fd)], capture_output=True, check=False)
        return None

    def hung(self, says):
        """What the roles have said, once all of them have, and have been where they are for a while."""
        end, since, before = time.monotonic() + WAIT, time.monotonic(), None
        while time.monotonic() < end:
            said = told(says)
            now = [call_of(one) for one in said]
            here = len(said) >= len(self.case.roles()) + self.case.count - 1 and {one.role for one in said} >= self.case.roles()
            check(None not in now or not here, "a process has ended that should wait:", list(zip(said, now)))
            if now != before or not here or ("running", "R") in now and self.case.verdicts != ("none",):
                since, before = time.monotonic(), now
            if time.monotonic() - since > 0.6 * SLOWNESS:
                return said, now
            time.sleep(0.05)
        raise Wrong(f"the program does not hang: {told(says)}")

    def stands(self, pid):
        """Its threads say nothing: they are where they stay once those with the names that are to be accused, and its children, have not moved for
        a while."""
        end, since, before = time.monotonic() + WAIT, time.monotonic(), None
        while time.monotonic() < end:
            now = {}
            for tid in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as name:
                    now.setdefault(name.read().strip(), []).append(call_of(Said("", pid, tid, -1)))
            now = [now.get(name) for name in self.case.names]
            if self.case.child:
                waits = [call_of(Said("", child, child, -1)) for child in children_of(pid)]
                now += [call if call and call[1] == "S" else None for call in waits] or [None]
            # One that only waits for a CPU, on a busy machine, has not arrived either.
            if now != before or None in now or any(("running", "R") in (call if isinstance(call, list) else [call]) for call in now):
                since, before = time.monotonic(), now
            if time.monotonic() - since > 0.6 * SLOWNESS:
                return []
            time.sleep(0.05)
        raise Wrong("the program does not hang")

    def options_of(self, folder, says):
        return {"start_new_session": True, "cwd": folder, "stdin": subprocess.PIPE, "env": {**os.environ, "HANG_SAYS": says}}

    def trace(self, command, folder, says):
        db = os.path.join(folder, "trace.db")
        java = self.case.program in JAVA
        duration = ["--duration", f"{(12 if java else 5) * SLOWNESS}s"] if self.way == TRACED else []
        with open(db + ".said", "w+", encoding="utf-8") as file, subprocess.Popen(
                [self.options.uscope, "record", *BACKEND_OPTIONS, "-o", db, *duration, "--", *command], stdout=file, stderr=file,
                **self.options_of(folder, says)) as tracer:
            try:
                said = self.stands(self.java_of(tracer.pid)) if java else self.hung(says)[0]
                objects = {one: object_of(one) for one in said if self.named(one)}
                if self.way == INTERRUPTED:
                    time.sleep(3.5 * SLOWNESS)  # the look is taken when nothing has happened for one to two seconds
                    os.killpg(tracer.pid, signal.SIGINT)
                tracer.wait(WAIT)
            finally:
                with contextlib.suppress(OSError):
                    os.killpg(tracer.pid, signal.SIGKILL)
        with open(db + ".said", encoding="utf-8") as file:
            check(os.path.exists(db), "no trace:", file.read())
        with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as trace:
            looked = trace.execute("SELECT count(*) FROM thread_look").fetchone()[0]
        check(self.way != INTERRUPTED or looked, "no look was taken before the interrupt: this machine is too busy, or nothing was at rest")
        self.judge((db,), said, objects)

    @staticmethod
    def java_of(tracer):
        """The Java process that the tracer has started."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            for child in children_of(tracer):
                with contextlib.suppress(OSError):
                    if os.readlink(f"/proc/{child}/exe").endswith("/java"):
                        return child
            time.sleep(0.05)
        raise Wrong("no Java process begins")

    def named(self, said):
        return said.fd >= 0 and not self.case.scenario.startswith("sem_") and self.case.scenario != "messages"

    def look_at(self, command, folder, says):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.options_of(folder, says)) as process:
            try:
                if self.case.program in JAVA:
                    said, before = self.stands(process.pid), []
                else:
                    said, before = self.hung(says)
                objects = {one: object_of(one) for one in said if self.named(one)}
                pids = [one.pid for one in said if one.role == self.case.target]
                target = ["--app", os.path.basename(self.path)] if self.way == BY_NAME else ["--pid", str(pids[0] if pids else process.pid)]
                self.judge((*target, *BACKEND_OPTIONS), said, objects)
                check(before == [call_of(one) for one in said], "its threads moved", before)
            finally:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)

    def judge(self, what, said, objects):
        done = self.uscope(*what, "--format", "json")
        try:
            found = json.loads(done.stdout)
        except ValueError:
            raise Wrong(f"exit status {done.returncode}, no JSON: {done.stdout[:200]} {done.stderr}") from None
        # By its name the text is that by its process; of one that is also traced and rests, that of the trace.
        told_before = self.way == BY_NAME or (self.way == ATTACHED and TRACED in self.case.ways and self.case in HEALTHY)
        text = None if told_before else self.uscope(*what)
        try:
            if self.options.validator:
                errors = [error.message for error in self.options.validator.iter_errors(found)]
                check(not errors, "not as the schema says:", errors[:3])
            check(done.returncode == STATUS[found["verdict"]], f"exit status {done.returncode} with verdict {found['verdict']}:", done.stderr)
            self.judge_found(found, said)
            if text:
                check(text.returncode == done.returncode, "text and JSON differ in exit status:", text.returncode)
                self.judge_text(text.stdout, found, said, objects)
        except Wrong as wrong:
            raise Wrong(f"{wrong}\n{brief(found)}\n{text.stdout if text and self.options.verbose else ''}") from None

    def judge_found(self, found, said):
        case = self.case
        missed = found["verdict"] in ("none", "undecided") and case.missed
        if missed:
            self.options.missed.append(f"{case.name()}.{self.way}: {case.missed}")
        verdicts = case.verdicts_of(self.way)
        check(missed or found["verdict"] in verdicts, f"verdict {found['verdict']}, not", " or ".join(verdicts))
        types = {finding["type"] for finding in found["findings"]}
        check(not case.types or types <= set(case.types), "the findings are", types, "not", case.types)
        accused = {thread["tid"] for finding in found["findings"] for thread in finding["threads"]}
        check(bool(accused) == (found["verdict"] in ("deadlock", "stall")), "accused with this verdict:", sorted(accused))
        tids = collections.defaultdict(set)
        for one in said:
            tids[one.role].add(one.tid)
        if accused and said and case.accused:
            wanted = set().union(*(tids[role] for role in case.accused))
            allowed = wanted.union(*(tids[role] for role in case.others))
            check(case.program.endswith(".mk") or wanted <= accused <= allowed, "accused are", sorted(accused), "not", sorted(wanted), "of",
                  dict(tids))
        names = {thread["name"] for finding in found["findings"] for thread in finding["threads"]}
        check(not case.names or names == set(case.names), "accused are", names, "not", case.names)
        for finding in found["findings"]:
            check(finding["explanation"].strip(), "no explanation")

    def judge_text(self, text, found, said, objects):
        words = " ".join(text.split())
        for word in self.case.says_of(self.way):
            check(word in words, f"the text does not say {word}:", text)
        if found["verdict"] in ("deadlock", "stall"):
            for one in said:
                check(one.role not in self.case.accused or self.case.count > 1 or str(one.pid) in words, f"the text does not name {one}:", text)
        # Whatever the verdict, the text says what each waits for; a stranger's waits are nobody's business.
        for one, name in objects.items():
            name = "socket:[" if name.startswith("socket:[") else name  # its number, or whom it is connected to
            check(one.role == "stranger" or name in text.replace("\n", "") or name in words or os.path.basename(name).removesuffix(" (deleted)") in words,
                  f"the text does not name {name}, for which {one} waits:", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("uscope", type=os.path.abspath)
    parser.add_argument("fixtures", type=os.path.abspath)
    parser.add_argument("-k", default="*", help="only runs whose name, PROGRAM.SCENARIO.WAY, matches")
    parser.add_argument("--part", choices=["all", "quick", "rest"], default="all", help="quick: one of each kind")
    parser.add_argument("-j", type=int, default=14, help="so many at once")
    parser.add_argument("-v", "--verbose", action="store_true", help="with a failure, the text of the diagnosis")
    options = parser.parse_args()
    options.validator, options.missed = schema(), []
    runs = [(f"{case.name()}.{way}", Run(options, case, way)) for case in CASES + HEALTHY for way in case.ways]
    runs = [(name, run) for name, run in runs if fnmatch.fnmatch(name, options.k) and
            (options.part == "all" or (run.case.name() in QUICK) == (options.part == "quick"))]
    # Java takes longest: it begins first, so that it does not end alone.
    runs.sort(key=lambda run: run[1].case.program not in JAVA)
    failed = 0
    # The module has one tracer at a time.
    # Descriptors in flight, in whatever process, keep every wait for a descriptor from being accused, and armed alarms those that are looked at
    # later: those runs come last, one by one.
    alone = [run for run in runs if "in_flight" in run[0] or "alarm_lock" in run[0]]
    for together, group in ((True, [run for run in runs if run not in alone]), (False, alone)):
        with concurrent.futures.ThreadPoolExecutor(options.j if together and BACKEND != "kmod" else 1) as pool:
            for (name, _), failure in zip(group, pool.map(lambda pair: pair[1].failure(), group)):
                if failure:
                    failed += 1
                    print(f"FAILED {name}\n  {failure}", flush=True)
    for name in options.missed:
        print(f"missed, as is known: {name}")
    print(f"{len(runs) - failed} passed, {failed} failed")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""One command under `strace -f -k` and then under `uscope record`: the process trees, the number of calls by process and
name, and the stacks by module and file offset must be equal.

usage: against_strace.py --uscope PROGRAM [--timing] [--without CALL]… -- COMMAND [ARG...]
Prints each difference and, last, `N passed, N failed` (one for the tree, one for each process's counts, one for each
process's stacks); exits with 1 where anything failed.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from elf_offsets import file_offset  # noqa: E402
from expectations import base_name  # noqa: E402
from trace import Trace  # noqa: E402
from traced_command import environment, record, without_randomness  # noqa: E402

import strace_log  # noqa: E402

# What is not compared, and why. Everything else is.
TIMING_CALLS = {
    "futex": "threads wait only where they meet; how often depends on the scheduler",
    "sched_yield": "as futex",
    "wait4": "a shell asks again when a child ended at another moment",
    "rt_sigreturn": "two SIGCHLD at once are one signal",
    "read": "a pipe is read in as many pieces as it was filled in",
    "restart_syscall": "a signal came at another moment",
    "madvise": "malloc returns a thread's arena depending on which thread used which one",
    "clock_nanosleep": "ptrace stops a sleeper for a signal that it ignores, and it sleeps again",
    "munmap": "as madvise: the halves of an arena that was mapped unaligned",
}


# What both runs have in common beyond the command.
SAME = {"preexec_fn": without_randomness, "env": environment()}


def place(path, address):
    """A frame as both sides can name it."""
    return base_name(path), file_offset(path, address)


def strace(command, folder):
    log = os.path.join(folder, "strace.log")
    subprocess.run(
        ["strace", "-f", "-k", "-o", log, "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,  # as under uscope: some programs look at what it is
        check=False,
        timeout=540,
        **SAME,
    )
    return strace_log.StraceLog(log)


class StraceSide:
    """Processes as (calls by name, stacks by call), and their children, from strace."""

    def __init__(self, log):
        self.log, self.below, self.calls = log, log.children(), log.by_process()
        self.root = log.root

    def children(self, process):
        return self.below[process]

    def counts(self, process):
        return collections.Counter(call.name for call in self.calls[process])

    def stacks(self, process):
        return collections.Counter(
            (call.name, tuple((base_name(module), offset) for module, offset in call.stack))
            for call in self.calls[process]
        )


class UscopeSide:
    def __init__(self, trace):
        self.trace = trace
        self.below = collections.defaultdict(list)
        processes = trace.processes()
        known = {row["id"] for row in processes}
        for row in processes:
            self.below[row["parent_id"]].append(row["id"])
        self.root = next(row["id"] for row in processes if row["parent_id"] not in known)
        self.events = collections.defaultdict(list)
        for event in trace.events():
            self.events[event["process_id"]].append(event)

    def children(self, process):
        return self.below[process]

    def counts(self, process):
        return collections.Counter(event["call"] for event in self.events[process])

    def stacks(self, process):
        return collections.Counter(
            (
                event["call"],
                tuple(place(path, address) for path, address in self.trace.places[event["stack_id"]]),
            )
            for event in self.events[process]
        )


class Comparison:
    def __init__(self, ours, theirs, excluded):
        self.ours, self.theirs, self.excluded = ours, theirs, excluded
        self.passed = self.failed = self.compared = self.not_comparable = 0

    def result(self, name, differences):
        self.passed += not differences
        self.failed += bool(differences)
        if differences:
            print(f"FAILED {name}")
            for difference in differences[:12]:
                print(f"  {difference}")

    def walk(self, our, their, path="0"):
        ours, theirs = self.ours.children(our), self.theirs.children(their)
        self.counts(our, their, path)
        self.stacks(our, their, path)
        if len(ours) != len(theirs):
            self.result(f"process {path}: children", [f"uscope {len(ours)}, strace {len(theirs)}"])
            return
        for number, (left, right) in enumerate(zip(ours, theirs)):
            self.walk(left, right, f"{path}.{number}")

    def counts(self, our, their, path):
        left, right = self.ours.counts(our), self.theirs.counts(their)
        differences = [
            f"{call}: uscope {left[call]}, strace {right[call]}"
            for call in sorted(set(left) | set(right))
            if left[call] != right[call] and call not in self.excluded
        ]
        self.result(f"process {path}: calls", differences)

    def stacks(self, our, their, path):
        """Every complete stack of strace's must be among uscope's as often, and the other way round by call."""
        left, right = self.ours.stacks(our), self.theirs.stacks(their)
        differences = []
        for (call, stack), count in right.items():
            if call in self.excluded:
                continue
            if not complete(stack):
                self.not_comparable += count
                continue
            self.compared += count
            if left[(call, stack)] < count:
                near = [other for (name, other) in left if name == call and other[:1] == stack[:1]]
                differences.append(f"{call}: {left[(call, stack)]} of {count} with {text(stack)}")
                differences += [f"    uscope has {text(other)}" for other in near[:2]]
        self.result(f"process {path}: stacks", differences)


def complete(stack):
    """Whether strace walked to where a thread starts: the program's or the loader's _start, or clone3 in libc."""
    return len(stack) > 1 and all(offset is not None for _, offset in stack) and stack[-1] in ROOTS


def text(stack):
    return " < ".join(f"{module}+0x{offset:x}" if offset is not None else module for module, offset in stack) or "none"


ROOTS = set()


def find_roots(trace):
    """The outermost frames of stacks that uscope says ended at a root, as places: what strace's must end at too."""
    for row in trace.database.execute("SELECT id FROM stack WHERE ended = 'root' AND depth > 0"):
        ROOTS.add(place(*trace.places[row["id"]][-1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uscope", default=os.environ.get("USCOPE", "uscope"))
    parser.add_argument("--timing", action="store_true", help="leave out the calls whose number depends on timing")
    parser.add_argument("--without", action="append", default=[], metavar="CALL", help="leave out this call")
    parser.add_argument("--least", type=int, default=20, help="so many stacks must have been compared")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    excluded = set(arguments.without) | (set(TIMING_CALLS) if arguments.timing else set())
    with tempfile.TemporaryDirectory() as folder:
        log = strace(arguments.command, folder)
        output = os.path.join(folder, "trace.db")
        done = record(arguments.uscope, ["-S", "1024"], arguments.command, output, subprocess.DEVNULL, timeout=300, **SAME)
        if not os.path.exists(output):
            print(f"no trace: {done.stderr}\n0 passed, 1 failed")
            return 1
        trace = Trace(output)
        find_roots(trace)
        comparison = Comparison(UscopeSide(trace), StraceSide(log), excluded)
        comparison.result("losses", trace.losses())
        comparison.walk(comparison.ours.root, comparison.theirs.root)
    print(f"{comparison.compared} stacks compared, {comparison.not_comparable} that strace did not walk to the root")
    if excluded:
        for call in sorted(excluded):
            print(f"not compared: {call}: {TIMING_CALLS.get(call, 'asked for')}")
    comparison.result("enough compared", [] if comparison.compared >= arguments.least else ["too few stacks"])
    print(f"{comparison.passed} passed, {comparison.failed} failed")
    return 1 if comparison.failed else 0


if __name__ == "__main__":
    sys.exit(main())

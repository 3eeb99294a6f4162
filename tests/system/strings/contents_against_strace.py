#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""One command under `strace -f -s N` and then under `uscope record --data N`: the data that calls carried, and the structures that
they were given, must be equal, call by call. {} in the command is a folder that is empty at each run.

usage: contents_against_strace.py --uscope PROGRAM [--data N] [--least N] [--without CALL]… -- COMMAND [ARG...]
Prints each difference and, last, `N calls compared, N differ`; exits with 1 where anything differs."""

import argparse
import codecs
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from call_lines import Comparison, calls_of  # noqa: E402
from traced_command import environment, without_randomness  # noqa: E402

# Which arguments are compared.
CONTENTS = {"read": [1], "write": [1], "pread64": [1], "pwrite64": [1], "readv": [1], "writev": [1], "preadv": [1], "pwritev": [1],
            "preadv2": [1, 2, 3, 4], "pwritev2": [1, 2, 3, 4], "sendto": [1], "recvfrom": [1], "sendmsg": [1], "recvmsg": [1], "poll": [0],
            "ppoll": [0, 2], "epoll_ctl": [3], "epoll_wait": [1], "wait4": [1], "waitid": [2], "nanosleep": [0], "newfstatat": [2],
            "fstat": [1], "statx": [4], "pipe": [0], "pipe2": [0], "socketpair": [3], "utimensat": [2], "timerfd_settime": [2]}
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.|…)?')


def chosen_calls(text, names):
    """Of each process the calls with these names. Processes are in the order of what they call, since their numbers may be used again in
    the middle of a run."""
    calls = [[call for call in process if call[0] in names] for process in calls_of(text)]
    return sorted(filter(None, calls), key=lambda process: ([name for name, _ in process], [contents(*call) for call in process]))


def plain(text):
    """Data as its bytes, the same on both sides; without quotes, brackets and commas, so that arguments can be told apart."""
    def data(found):
        raw = found[1].encode("utf-8", "surrogateescape")
        return f"<{codecs.escape_decode(raw)[0].hex()}{'+' if found[2] else ''}>"
    return STRING.sub(data, text)


def arguments(text):
    """The call's arguments, and last what stands behind them."""
    text, depth, out, begin = plain(text), 0, [], 0
    for at, byte in enumerate(text):
        if byte in "([{":
            depth += 1
        elif byte in "]}" or byte == ")" and depth:
            depth -= 1
        elif byte == ")" or byte == "," and not depth:
            out.append(text[begin:at].strip())
            begin = at + 1
            if byte == ")":
                break
    return out + [text[begin:]]


def normal(text):
    """What both sides may write differently, and what differs from run to run."""
    text = text.replace("...", "…")
    text = re.sub(r"\bu32=\d+, ", "", text)
    text = re.sub(r"events=(EPOLL[A-Z|]+), data=", r"\1, ", text)
    text = re.sub(r"msg_name(len)?=(NULL|0x\w+|\d+( => \d+)?|\{[^}]*\}), ", "", text)
    text = re.sub(r"stx_attributes=\w+, |stx_mask=[A-Z_|0-9x]+, ", "", text)
    text = re.sub(r" /\* [^*]* \*/", "", text)
    text = re.sub(r"si_pid=\d+", "si_pid=N", text)
    text = re.sub(r"(si_status=\w+), [^}]*}", r"\1, …}", text)
    return re.sub(r"\b0x[0-9a-f]{6,}", "POINTER", text)


def contents(name, text):
    parts = arguments(text)
    out = [normal(parts[index]) for index in CONTENTS[name] if index < len(parts) - 1]
    if found := re.search(r"= \d+ (\(\[\{fd.*\]\))", parts[-1]):
        out.append(found[1])
    return out


class Contents(Comparison):
    def process(self, strace, uscope):
        if [call[0] for call in strace] != [call[0] for call in uscope]:
            self.tell("calls of a process", [call[0] for call in strace], [call[0] for call in uscope])
            return
        for (name, theirs), (_, ours) in zip(strace, uscope):
            self.calls += 1
            if contents(name, theirs) != contents(name, ours):
                self.tell(name, f"{contents(name, theirs)} of {theirs}", f"{contents(name, ours)} of {ours}")


def run(uscope, command, data, names):
    same = {"preexec_fn": without_randomness, "env": environment(), "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
            "stderr": subprocess.PIPE, "check": False, "timeout": 120 * SLOWNESS}
    with tempfile.TemporaryDirectory(prefix="uscope-contents-") as folder:
        log, trace, work = (os.path.join(folder, name) for name in ("log", "trace.db", "work"))

        def fresh():
            subprocess.run(["rm", "-rf", work], check=True)
            os.mkdir(work)
            return [part.replace("{}", work) for part in command]
        subprocess.run(["strace", "-f", "-s", str(data), "-o", log, "--", *fresh()], **same)
        recorded = subprocess.run([uscope, "record", *BACKEND_OPTIONS, "--data", str(data), "-o", trace, "--", *fresh()], **same)
        if not os.path.exists(trace):
            raise SystemExit(recorded.stderr.decode())
        lines = subprocess.run([uscope, "events", trace], capture_output=True, check=True, timeout=120 * SLOWNESS).stdout
        with open(log, "rb") as text:
            return tuple(chosen_calls(side.decode("utf-8", "surrogateescape"), names) for side in (text.read(), lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uscope", required=True)
    parser.add_argument("--data", type=int, default=64)
    parser.add_argument("--least", type=int, default=5, help="so many calls must have been compared")
    parser.add_argument("--without", action="append", default=[], metavar="CALL", help="leave out this call, whose number depends on timing")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    strace, uscope = run(os.path.abspath(options.uscope), options.command[1:], options.data,
                         set(CONTENTS) - set(options.without))
    comparison = Contents()
    if len(strace) != len(uscope):
        comparison.tell("processes", len(strace), len(uscope))
    for theirs, ours in zip(strace, uscope):
        comparison.process(theirs, ours)
    print(f"{comparison.calls} calls compared, {comparison.different} differ")
    return 1 if comparison.different or comparison.calls < options.least else 0


if __name__ == "__main__":
    sys.exit(main())

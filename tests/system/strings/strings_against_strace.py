#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""One command under `strace -f -y` and then under `uscope record`: the paths that calls are given, and what their descriptors stand
for, must be equal, call by call. Links in what uscope says of a descriptor are followed here, since the kernel's name, which strace
shows, has none; sockets and pipes are compared by kind.

usage: strings_against_strace.py --uscope PROGRAM -- COMMAND [ARG...]
Prints each difference and, last, `N calls compared, N strings, N descriptors, N differ`; exits with 1 where anything differs."""

import argparse
import codecs
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from call_lines import Comparison, calls_of  # noqa: E402
from traced_command import environment, without_randomness  # noqa: E402

PATH_CALLS = """open openat openat2 creat stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat chdir unlink unlinkat
rename renameat renameat2 mkdir mkdirat rmdir link linkat symlink symlinkat chmod fchmodat chown fchownat truncate statfs execve utimensat
getxattr lgetxattr""".split()
DESCRIPTOR_CALLS = """close read write pread64 pwrite64 newfstatat fstat lseek dup dup2 dup3 fcntl mmap ioctl getdents64 openat fadvise64 fchdir
ftruncate fsync copy_file_range sendto recvfrom connect bind listen accept accept4 epoll_ctl epoll_wait unlinkat""".split()
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
FOLDER = re.compile(r"AT_FDCWD<([^>]*)>")
DESCRIPTOR = re.compile(r"(?<![\w\"])(\d+)<([^>]*)>")


def arguments(text):
    """Without the result, and what strace writes of structures."""
    depth, quoted, at = 1, False, 0
    while at < len(text) and depth:
        if text[at] == "\\" and quoted:
            at += 1
        elif text[at] == '"':
            quoted = not quoted
        elif not quoted and text[at] in "([{":
            depth += 1
        elif not quoted and text[at] in ")]}":
            depth -= 1
        at += 1
    return text[:at]


def paths(name, text):
    """strace's last string of readlink and execve's arguments are no paths that were passed."""
    found = [codecs.escape_decode(string.encode())[0] for string in STRING.findall(text)]
    if name in ("readlink", "readlinkat", "execve"):
        return found[:1]
    return found


def kind(target, follow):
    if target.startswith("/"):
        if target.startswith("/proc/"):
            return re.sub("^/proc/(self|[0-9]+)/", "/proc/self/", target)
        return os.path.realpath(target) if follow else target
    return target.split(":")[0]


def descriptors(text, follow):
    return [(int(number), kind(target, follow)) for number, target in DESCRIPTOR.findall(STRING.sub('""', text))]


class Strings(Comparison):
    def __init__(self):
        super().__init__()
        self.strings = self.descriptors = 0

    def call(self, strace, uscope):
        name, text = strace
        ours = arguments(uscope[1])
        theirs = arguments(text)
        self.calls += 1
        if name in PATH_CALLS:
            self.strings += len(paths(name, theirs))
            if paths(name, theirs) != paths(name, ours):
                self.tell(f"strings of {name}", theirs, ours)
        if name in DESCRIPTOR_CALLS:
            wanted = descriptors(theirs, False)
            self.descriptors += len(wanted)
            if wanted != descriptors(ours, True):
                self.tell(f"descriptors of {name}", theirs, ours)
        # strace names the working directory before absolute paths, too.
        if not {os.path.realpath(folder) for folder in FOLDER.findall(ours)} <= set(FOLDER.findall(theirs)):
            self.tell(f"folders of {name}", theirs, ours)

    def process(self, strace, uscope):
        if [call[0] for call in strace] != [call[0] for call in uscope]:
            self.tell("calls of a process", [call[0] for call in strace], [call[0] for call in uscope])
            return
        for pair in zip(strace, uscope):
            self.call(*pair)


def run(uscope, command):
    same = {"preexec_fn": without_randomness, "env": environment(), "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
            "stderr": subprocess.PIPE, "check": False, "timeout": 120}
    with tempfile.TemporaryDirectory(prefix="uscope-strace-") as folder:
        log, trace = os.path.join(folder, "log"), os.path.join(folder, "trace.db")
        subprocess.run(["strace", "-f", "-y", "-s", "256", "-o", log, "--", *command], **same)
        recorded = subprocess.run([uscope, "record", "-o", trace, "--", *command], **same)
        if not os.path.exists(trace):
            raise SystemExit(recorded.stderr.decode())
        lines = subprocess.run([uscope, "events", trace], capture_output=True, check=True, timeout=120).stdout.decode()
        with open(log, encoding="utf-8", errors="surrogateescape") as text:
            return calls_of(text.read()), calls_of(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uscope", required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    strace, uscope = run(os.path.abspath(options.uscope), options.command[1:])
    comparison = Strings()
    if len(strace) != len(uscope):
        comparison.tell("processes", len(strace), len(uscope))
    for ours, theirs in zip(strace, uscope):
        comparison.process(ours, theirs)
    print(f"{comparison.calls} calls compared, {comparison.strings} strings, {comparison.descriptors} descriptors, "
          f"{comparison.different} differ")
    return 1 if comparison.different or not comparison.strings or not comparison.descriptors else 0


if __name__ == "__main__":
    sys.exit(main())

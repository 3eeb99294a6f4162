#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs a command, and ends all that came of it: within.py COMMAND [ARGUMENT ...]

When the command has ended, or when SIGINT, SIGTERM or SIGHUP ends this script, every process that descends from it, or that has the mark
which this script puts into the environment, gets SIGTERM, and SIGKILL if it is still there ten seconds later: whatever its session, its
process group and its parent are by then. The exit status is the command's, or 128 and the signal's number.
"""
import os
import signal
import subprocess
import sys
import time

MARK = "USCOPE_WITHIN"
PATIENCE = 10.0  # seconds from SIGTERM to SIGKILL
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended(Exception):
    """By a signal, whose number it has."""


def read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""  # it has ended


def is_alive(pid):
    return read(pid, "stat").rpartition(b")")[2].split()[:1] not in ([], [b"Z"], [b"X"])


def came_of(root, mark):
    """The pids of all processes that descend from `root` or have the mark, without `root` and those that are dead."""
    children, marked = {}, set()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        fields = read(entry, "stat").rpartition(b")")[2].split()
        if fields:
            children.setdefault(int(fields[1]), []).append(int(entry))
        if mark in read(entry, "environ").split(b"\0"):
            marked.add(int(entry))
    found, todo = set(), [root, *marked]
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo += children.get(pid, [])
    return {pid for pid in found - {root} if is_alive(pid)}


def end_all(mark):
    told, deadline = set(), time.monotonic() + PATIENCE
    while left := came_of(os.getpid(), mark):
        late = time.monotonic() > deadline
        for pid in left if late else left - told:
            told.add(pid)
            try:
                os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
        time.sleep(0.05)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: within.py COMMAND [ARGUMENT ...]")

    def end(number, _):
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Ended(number)

    os.environ[MARK] = f"{os.getpid()}-{time.monotonic_ns()}"
    for number in SIGNALS:
        signal.signal(number, end)
    try:
        status = subprocess.Popen(sys.argv[1:]).wait()
        status = status if status >= 0 else 128 - status
    except OSError as error:
        sys.exit(f"cannot run {sys.argv[1]}: {error.strerror}")
    except Ended as ended:
        status = 128 + ended.args[0]
    finally:
        end_all(f"{MARK}={os.environ[MARK]}".encode())
    sys.exit(status)


if __name__ == "__main__":
    main()

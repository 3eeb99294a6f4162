# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What /proc tells of processes: who has started whom, and who has work."""
import contextlib
import os
import time


def children_of(pid):
    found = []
    for child in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{child}/stat", encoding="utf-8", errors="replace") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(child))
        except OSError:
            pass
    return found


def name_of(pid):
    """The name of the process's first thread; "" if it has ended."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def busy_ns(pid):
    """How long each thread of the process, and of its children, has run or waited for a CPU: by pid and tid."""
    times = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            times[pid, thread] = sum(map(int, file.read().split()[:2]))
    for child in children_of(pid):
        with contextlib.suppress(OSError):
            times.update(busy_ns(child))
    return times


def wait_until_at_rest(pid, limit, share=0.5):
    """Until the process and its children have had little to do for half a second: a tracer then has done what it was given, however slow the
    machine is. Where CPUs are busy, they wait for one each time that they look whether there is work: hence the large share."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        before, began = busy_ns(pid), time.monotonic_ns()
        time.sleep(0.5)
        now = busy_ns(pid)
        had = sum(ns - before.get(thread, 0) for thread, ns in now.items())
        if before.keys() <= now.keys() and had < share * (time.monotonic_ns() - began):  # what has ended had work
            return
    raise AssertionError(f"process {pid} has had work for {limit} s")

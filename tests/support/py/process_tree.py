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


def busy_ns(pid):
    """How long its threads, and those of its children, have run, or waited for a CPU."""
    total = 0
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += sum(map(int, file.read().split()[:2]))
    return total + sum(map(busy_ns, children_of(pid)))


def wait_until_at_rest(pid, limit, share=0.5):
    """Until the process and its children have had little to do for half a second: a tracer then has done what it was given, however slow the
    machine is. Where CPUs are busy, they wait for one each time that they look whether there is work: hence the large share."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        before, began = busy_ns(pid), time.monotonic_ns()
        time.sleep(0.5)
        if busy_ns(pid) - before < share * (time.monotonic_ns() - began):
            return
    raise AssertionError(f"process {pid} has had work for {limit} s")

# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Processor time of processes with all that they have started."""
import contextlib
import os


class _Process:
    def __init__(self, text):
        self.name, _, rest = text.partition("(")[2].rpartition(")")
        fields = rest.split()
        self.parent = int(fields[1])
        self.ticks = sum(map(int, fields[11:15]))  # its own, and of those children that it has waited for


def _all():
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            found[int(pid)] = _Process(stat.read())
    return found


def _below(processes, roots):
    """The roots first, then their children, and so on."""
    below = [pid for pid in roots if pid in processes]
    for pid in below:  # grows meanwhile
        below += [child for child, process in processes.items() if process.parent == pid and child not in below]
    return below


def processor_seconds(roots):
    """Of these processes and all below them, so far. A process counts for its ancestors once they have waited for it."""
    processes = _all()
    return sum(processes[pid].ticks for pid in _below(processes, roots)) / os.sysconf("SC_CLK_TCK")


def named_elsewhere(root, name):
    """Processes of this name that are neither `root` nor below it."""
    processes = _all()
    ours = _below(processes, [root])
    return [pid for pid, process in processes.items() if process.name == name and pid not in ours]


def named_below(root, name):
    """Processes of this name, the first ones started first: `root` itself, or below it."""
    processes = _all()
    return [pid for pid in _below(processes, [root]) if processes[pid].name == name]

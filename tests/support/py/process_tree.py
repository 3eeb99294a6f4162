# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Who has started whom, as /proc tells it."""
import os


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

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Which folder may include headers of which: the table below is the whole list. usage: allowed_edges.py SOURCE_DIR

A room (a folder with sources) may use its own headers and those of the rooms that the table gives it. Any other edge,
a room that is not in the table, a room in the table that is gone, and an edge that no file uses any more are errors:
the table says what is, and a new edge is a decision that somebody reads. The table has no circle, which is checked too.
"""
import os
import re
import sys

ALLOWED = {
    "include/uscope": "include/uscope/arch include/uscope/base include/uscope/records",
    "include/uscope/arch": "include/uscope/arch/x86_64",
    "include/uscope/arch/x86_64": "include/uscope/base",
    "include/uscope/base": "",
    "include/uscope/core": "include/uscope/arch include/uscope",
    "include/uscope/core/arch": "include/uscope/core/arch/x86_64",
    "include/uscope/core/arch/x86_64": "include/uscope include/uscope/arch include/uscope/core",
    "include/uscope/core/calls": "include/uscope/core/arch include/uscope include/uscope/core include/uscope/core/walk",
    "include/uscope/core/probes": "include/uscope include/uscope/core include/uscope/core/calls include/uscope/core/walk",
    "include/uscope/core/tasks": "include/uscope/core/calls include/uscope/core/probes",
    "include/uscope/core/walk": "include/uscope/core/arch include/uscope include/uscope/core",
    "include/uscope/lists": "",
    "include/uscope/records": "include/uscope/base include/uscope/lists",
    "bpf": "bpf/x86_64 include/uscope include/uscope/core include/uscope/core/probes include/uscope/core/tasks",
    "bpf/x86_64": "",
    "kmod": "include/uscope/arch include/uscope include/uscope/core include/uscope/core/probes include/uscope/core/tasks",
    "support": "",
    "support/process": "support",
    "support/sandbox": "support",
    "trace": "include/uscope include/uscope/lists support",
    "syscalls": "syscalls/x86_64 include/uscope include/uscope/lists support",
    "syscalls/x86_64": "",
    "symbolizer/cfi": "support symbolizer/elf",
    "symbolizer/code": "include/uscope support",
    "symbolizer/code/x86_64": "include/uscope symbolizer/code",
    "symbolizer/debug_files": "support symbolizer/elf",
    "symbolizer/elf": "symbolizer/elf/x86_64 include/uscope/arch include/uscope support",
    "symbolizer/elf/x86_64": "",
    "symbolizer/go": "include/uscope/arch support symbolizer/cfi symbolizer/code symbolizer/elf",
    "symbolizer/names": (
        "include/uscope support symbolizer/cfi symbolizer/code symbolizer/debug_files symbolizer/elf symbolizer/go trace"),
    "symbolizer/oracle": "support symbolizer/elf symbolizer/go",
    "symbolizer/probes": (
        "include/uscope/arch include/uscope support symbolizer/cfi symbolizer/code symbolizer/debug_files symbolizer/elf symbolizer/go "
        "symbolizer/names"),
    "symbolizer/reader": "include/uscope/arch support support/process support/sandbox symbolizer/elf symbolizer/rows",
    "symbolizer/rows": "include/uscope/arch include/uscope support symbolizer/cfi symbolizer/code symbolizer/elf symbolizer/go",
    "tracer/backend": "include/uscope include/uscope/core support support/process symbolizer/rows trace tracer/host tracer/probes tracer/process tracer/scouts",
    "tracer/collect": (
        "include/uscope support trace tracer/backend tracer/files tracer/futex tracer/jit tracer/model tracer/probes tracer/process "
        "tracer/scouts tracer/signals tracer/waits tracer/walk"),
    "tracer/files": (
        "include/uscope support support/process symbolizer/elf symbolizer/reader symbolizer/rows trace tracer/backend tracer/jit "
        "tracer/process tracer/scouts"),
    "tracer/futex": "include/uscope support trace tracer/model tracer/process tracer/scouts",
    "tracer/host": "support",
    "tracer/java": "include/uscope/arch include/uscope support tracer/process",
    "tracer/jit": "include/uscope support trace tracer/model tracer/scouts",
    "tracer/model": "include/uscope support trace",
    "tracer/preflight": "include/uscope support tracer/backend tracer/host",
    "tracer/probes": "include/uscope support trace",
    "tracer/process": "include/uscope support symbolizer/elf trace",
    "tracer/recorder": (
        "include/uscope support support/process symbolizer/reader trace tracer/backend tracer/collect tracer/files "
        "tracer/futex tracer/host tracer/probes tracer/process tracer/scouts tracer/waits tracer/walk"),
    "tracer/scouts": "include/uscope/arch support support/process symbolizer/code symbolizer/elf tracer/process",
    "tracer/signals": "include/uscope support trace tracer/model",
    "tracer/targets": (
        "include/uscope/arch include/uscope support support/process support/sandbox symbolizer/elf symbolizer/probes tracer/host tracer/probes "
        "tracer/process tracer/scouts"),
    "tracer/waits": "include/uscope/arch include/uscope support syscalls trace tracer/java tracer/model tracer/process tracer/scouts",
    "tracer/walk": (
        "include/uscope/arch include/uscope support symbolizer/oracle symbolizer/rows trace tracer/backend tracer/files tracer/model "
        "tracer/scouts"),
    "descriptors": "include/uscope store/model support syscalls trace",
    "store": "store/db store/model store/write support symbolizer/names trace",
    "store/db": "store/files support syscalls trace",
    "store/files": "include/uscope support",
    "store/model": "include/uscope support trace",
    "store/write": (
        "descriptors include/uscope store/db store/model support symbolizer/names syscalls trace"),
    "query/plan": "include/uscope query/sql store/db support syscalls trace",
    "query/sql": "support",
    "analyzer/deadlock": "analyzer/read include/uscope store/db support syscalls trace",
    "analyzer/diff": "analyzer/read store/db store/write support syscalls trace",
    "analyzer/files": "analyzer/read store/db support syscalls trace",
    "analyzer/picture": "analyzer/read analyzer/time store/db support syscalls",
    "analyzer/read": "store/db store/write support syscalls trace",
    "analyzer/summary": (
        "analyzer/files analyzer/read analyzer/time include/uscope include/uscope/lists store/db support syscalls trace"),
    "analyzer/time": "analyzer/read store/db support syscalls trace",
    "live": (
        "include/uscope support support/process support/sandbox symbolizer/names syscalls trace tracer/collect tracer/files "
        "tracer/jit tracer/model"),
    "live/query": (
        "include/uscope live/window query/plan query/sql store store/db store/files support support/process support/sandbox "
        "symbolizer/names trace"),
    "live/window": "descriptors include/uscope support syscalls trace",
    "exporters": "analyzer/read store/db support trace",
    "exporters/profiles": "analyzer/read exporters store/db support",
    "exporters/timelines": "analyzer/read exporters store/db support trace",
    "cli": "cli/options cli/terminal cli/verbs support support/process",
    "cli/manual": "cli/options cli/verbs",
    "cli/options": "cli/terminal support",
    "cli/pages": "analyzer/deadlock analyzer/diff analyzer/picture analyzer/read analyzer/summary cli/render store/db support",
    "cli/render": (
        "analyzer/deadlock analyzer/diff analyzer/files analyzer/read analyzer/summary analyzer/time cli/terminal live "
        "store/db support syscalls trace tracer/targets"),
    "cli/session": (
        "analyzer/deadlock analyzer/read cli/render cli/terminal descriptors include/uscope live/query query/plan store store/db "
        "store/files store/model support support/process support/sandbox symbolizer/debug_files syscalls trace tracer/collect tracer/files "
        "tracer/host tracer/model tracer/process tracer/recorder tracer/targets"),
    "cli/terminal": "support",
    "cli/verbs": (
        "analyzer/deadlock analyzer/diff analyzer/files analyzer/read analyzer/summary analyzer/time cli/pages cli/render cli/session "
        "cli/options cli/terminal exporters/profiles exporters/timelines "
        "include/uscope/lists query/plan query/sql store store/db store/files support syscalls trace tracer/host tracer/preflight "
        "tracer/recorder tracer/targets"),
}

C_SUFFIXES = (".h", ".c", ".cpp", ".def")
TOPS = ("include", "bpf", "kmod", "support", "trace", "syscalls", "symbolizer", "tracer", "descriptors", "store", "analyzer", "query",
        "live", "exporters", "cli")


def room_of(including, name, source):
    """The room that `#include "name"` in the file `including` is about, or None where it is no header of the project."""
    for path in ("include/" + name, name, os.path.join(os.path.dirname(including), name)):
        if os.path.exists(os.path.join(source, path)):
            return os.path.dirname(os.path.normpath(path))
    return None


def edges_of(source):
    """All edges, {(room, room): ["file includes name", …]}, and all rooms."""
    edges, rooms = {}, set()
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(source, top)):
            for name in names:
                if not name.endswith(C_SUFFIXES):
                    continue
                path = os.path.relpath(os.path.join(folder, name), source)
                rooms.add(os.path.dirname(path))
                with open(os.path.join(source, path), encoding="utf-8") as text:
                    for included in re.findall(r'^\s*#\s*include "([^"]+)"', text.read(), re.M):
                        room = room_of(path, included, source)
                        if room is not None and room != os.path.dirname(path):
                            edges.setdefault((os.path.dirname(path), room), []).append(f"{path} includes {included}")
    return edges, rooms


def circle(table):
    """A circle of the table as a list of rooms, or None."""
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        path.append(room)
        for other in table.get(room, "").split():
            if found := visit(other):
                return found
        path.pop()
        done.add(room)
        return None

    for room in table:
        if found := visit(room):
            return found
    return None


def faults_of(source, table):
    edges, rooms = edges_of(source)
    faults = []
    for room in sorted(rooms - set(table)):
        faults.append(f"{room}: a room that the table does not know")
    for room in sorted(set(table) - rooms):
        faults.append(f"{room}: in the table, and not in the tree")
    for (room, other), where in sorted(edges.items()):
        if other not in table.get(room, "").split():
            faults.append(f"{room} -> {other}: {where[0]}" + (f" and {len(where) - 1} more" if len(where) > 1 else ""))
    for room, others in table.items():
        for other in others.split():
            if room in rooms and (room, other) not in edges:
                faults.append(f"{room} -> {other}: allowed, and no file needs it")
    if found := circle(table):
        faults.append("a circle: " + " -> ".join(found))
    return faults


def main():
    faults = faults_of(sys.argv[1], ALLOWED)
    for fault in faults:
        print(fault)
    print(f"{len(ALLOWED)} rooms, {sum(len(o.split()) for o in ALLOWED.values())} edges: "
          + (f"{len(faults)} faults; tests/layout/allowed_edges.py has the table" if faults else "as the table says"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

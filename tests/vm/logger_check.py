#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Judges what logger-guest sent back: every event that the module logged is in the raw trace, with its values, the user stack of the
call it was made in, and kernel frames by name without an address."""

import re
import struct
import sys
from pathlib import Path

EVENT, LOGGED, PLACE, LOG_KIND = 1, 18, 19, 23
NAMED = 0x80000000
BY_MODULE = 1  # the source of what other modules log
NR_GETPPID = 110


HEAD = struct.Struct("<IHHQIIQ")  # struct usc_record: size, type, cpu, seq, task, pad, time


def records(raw: bytes):
    """Of each record of a raw trace: its type, its time, and the bytes behind its head."""
    at = struct.unpack_from("<QI", raw)[1]
    while at + HEAD.size <= len(raw):
        size, kind, *_, time = HEAD.unpack_from(raw, at)
        yield kind, time, raw[at + HEAD.size:at + size]
        at += size


class Symbols:
    """The guest's /proc/kallsyms, and where two modules' text lies: what root may see, and the records must agree with."""

    def __init__(self, folder: Path):
        self.addresses = {}
        for line in (folder / "symbols").read_text().splitlines():
            address, name, *module = line.split()
            self.addresses.setdefault((module[0].strip("[]") if module else "vmlinux", name), set()).add(int(address, 16))
        self.bases = {name: {int((folder / f"{name}.text").read_text(), 16)} for name in ("logger", "uscope")}
        self.bases["vmlinux"] = self.addresses[("vmlinux", "_text")]

    def agree(self, place: str) -> bool:
        """Do module + offset and function + offset name one address?"""
        found = re.fullmatch(r"(\S+)\+0x([0-9a-f]+) (\S+)\+0x([0-9a-f]+)", place)
        if not found:
            return False
        module, offset, function, inside = found[1], int(found[2], 16), found[3], int(found[4], 16)
        address = {base + offset for base in self.bases.get(module, ())}
        return bool(address & {start + inside for start in self.addresses.get((module, function), ())})


def main(folder: Path) -> int:
    logged, named, kinds, places, calls, sources = [], [], {}, {}, [], set()
    for kind, _, record in records((folder / "trace.raw").read_bytes()):
        if kind == LOGGED:
            own, stack, image, values, source, count = struct.unpack_from("<IIIBBH", record)
            value = struct.unpack_from("<6Q", record, 16)
            sources.add(source)
            (named if own & NAMED else logged).append((own, stack, image, values, value, struct.unpack_from(f"<{count}I", record, 64)))
        elif kind == LOG_KIND:
            number, size, source = struct.unpack_from("<IHB", record)
            sources.add(source)
            kinds.setdefault(number, []).append(record[8:8 + size].decode())
        elif kind == PLACE:
            place, size = struct.unpack_from("<IH", record)
            places[place] = record[8:8 + size].decode()
        elif kind == EVENT and struct.unpack_from("<I", record, 72)[0] == NR_GETPPID:
            calls.append(struct.unpack_from("<I", record, 64)[0])
    failed = []

    def check(what, ok):
        print("ok    " if ok else "FAILED", what)
        failed.extend([] if ok else [what])

    expected = int((folder / "logged").read_text())
    check(f"{len(logged)} events logged, the module says {expected}", len(logged) == expected >= 50)
    check(f"{len(calls)} getppid calls", len(calls) == len(logged))
    check("source", sources == {BY_MODULE})
    check("kind, number of values, image", all(e[0] == 7 and e[3] == 3 and e[2] for e in logged))
    numbers = [e[4][0] for e in logged]
    check("values in order", numbers == list(range(numbers[0], numbers[0] + len(numbers))))
    check("fixed values", all(e[4][1:] == (0x1122334455667788, 1, 0, 0, 0) for e in logged))
    check("user stacks are those of the calls", [e[1] for e in logged] == calls and all(calls))
    names = [[places.get(p, "?") for p in e[5]] for e in logged]
    print("      kernel frames:", names[0] if names else None)
    check("kernel frames", all(re.match(r"logger\+0x[0-9a-f]+ on_getppid\+0x", event[0]) and
                               any(re.match(r"vmlinux\+0x[0-9a-f]+ do_syscall_64\+0x", name) for name in event) for event in names))
    check("names are told once each", sorted(kinds.values()) == [["even"], ["odd one"]])
    check("each event under its name, without a user stack", [(kinds.get(e[0]), e[1]) for e in named] ==
          [([("odd one" if e[4][0] % 2 else "even")], 0) for e in logged])
    check("the same values", [e[2:5] for e in named] == [e[2:5] for e in logged])
    check("kernel frames of named ones: without the module's own and what calls the probe", len(named) == len(logged) and all(
        re.match(r"vmlinux\+0x[0-9a-f]+ __(do|x64)_sys_getppid\+0x", places.get(e[5][0], "?")) and of[5][-len(e[5]):] == e[5] and len(e[5]) < len(of[5])
        for e, of in zip(named, logged)))
    symbols = Symbols(folder)
    for name in places.values():
        check(f"the guest's own symbols say so: {name}", symbols.agree(name))
    check("no address", not any(re.search(r"0x[0-9a-f]{9,}", name) for name in places.values()))
    return 1 if failed or not logged else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

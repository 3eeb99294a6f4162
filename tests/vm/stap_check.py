#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Judges what stap-guest sent back: each getppid of the traced application, and no other process's, is logged twice under its names,
with its values and the user stack of the call; what goes wrong is said."""

import json
import re
import struct
import sys
from pathlib import Path

from logger_check import BY_MODULE, EVENT, LOG_KIND, LOGGED, NR_GETPPID, PLACE, records

ONES = (1 << 64) - 1


def main(folder: Path) -> int:
    logged, kinds, places, calls, sources = [], {}, {}, [], set()
    # The file has the records of one CPU after those of another; the program may have moved.
    in_time = sorted(records((folder / "trace.raw").read_bytes()), key=lambda found: found[1])
    for kind, _, record in in_time:
        if kind == LOGGED:
            number, stack, image, values, source, count = struct.unpack_from("<IIIBBH", record)
            sources.add(source)
            logged.append((number, stack, values, struct.unpack_from("<6Q", record, 16), struct.unpack_from(f"<{count}I", record, 64)))
        elif kind == LOG_KIND:
            number, size = struct.unpack_from("<IH", record)
            kinds[number] = record[8:8 + size].decode()
        elif kind == PLACE:
            place, size = struct.unpack_from("<IH", record)
            places[place] = record[8:8 + size].decode()
        elif kind == EVENT and struct.unpack_from("<I", record, 72)[0] == NR_GETPPID:
            calls.append(struct.unpack_from("<I", record, 64)[0])
    failed = []

    def check(what, ok):
        print("ok    " if ok else "FAILED", what)
        failed.extend([] if ok else [what])

    def said(name, text):
        told = (folder / name).read_text(errors="replace")
        check(f"{name} says: {text}", text in told)
        if text not in told:
            print(told)

    plain = [e for e in logged if kinds.get(e[0]) == "getppid"]
    deep = [e for e in logged if kinds.get(e[0]) == "getppid with kernel"]
    check(f"{len(plain)} and {len(deep)} events of {len(calls)} calls", len(plain) == len(deep) == len(calls) >= 50)
    check("source", sources == {BY_MODULE})
    check("no other kind", sorted(kinds.values()) == ["getppid", "getppid with kernel"] and len(plain) + len(deep) == len(logged))
    check("values: number, pid, -1", [e[3][0] for e in plain] == list(range(len(plain))) and
          len({e[3][1] for e in plain}) == 1 and all(e[2:4] == (3, (e[3][0], e[3][1], ONES, 0, 0, 0)) for e in plain))
    print("      numbers, that do not follow each other:", [(a[3][0], b[3][0]) for a, b in zip(plain, plain[1:]) if b[3][0] != a[3][0] + 1])
    check("six values", all(e[2:4] == (6, (1, 2, 3, 4, 5, 6)) for e in deep))
    check("user stacks are those of the calls", [e[1] for e in plain] == calls and [e[1] for e in deep] == calls and all(calls))
    check("no kernel stack where none is asked for", not any(e[4] for e in plain))
    names = [[places.get(p, "?") for p in e[4]] for e in deep]
    print("      kernel frames:", names[0] if names else None)
    check("kernel frames: from the function itself, without what calls the probe", bool(names) and all(
        re.match(r"vmlinux\+0x[0-9a-f]+ __(do|x64)_sys_getppid\+0x", event[0]) and any(re.match(r"vmlinux\+0x[0-9a-f]+ do_syscall_64\+0x", n) for n in event)
        for event in names))
    said("without.txt", "uscope: the kernel module is not loaded")
    said("without_record.txt", "kernel module")
    said("absent.txt", "uscope: --stap: no such SystemTap script: /root/absent.stp")
    said("bad.txt", "parse error: it is bad")
    said("bad.txt", "uscope: --stap: SystemTap could not compile /root/bad.stp")
    said("killed.txt", "uscope: --stap: ")
    said("killed.txt", "has ended (staprun: 137)")
    said("ends.txt", "enough of them")
    said("ends.txt", "has ended (staprun: 1)")
    said("stuck.txt", "could not be unloaded and still logs; remove it: staprun -d stap_")
    said("damaged.txt", "could not be started (staprun: 1)")
    said("text.txt", "/root/text.ko is not a kernel module")
    said("bpf.txt", "--stap needs the kernel module")
    for name, status in {"without_record": 125, "absent": 6, "bad": 5, "killed": 3, "ends": 7, "stuck": 8, "damaged": 4, "text": 9, "bpf": 125}.items():
        check(f"{name}: exit status {status}", (folder / f"{name}.status").read_text().strip() == str(status))

    def rows(name):
        return json.loads((folder / name).read_text())["results"][0]["rows"]

    def events(name):
        return {(of, kind): count for of, kind, count in rows(name)}

    whole, killed, ends = events("kinds.json"), events("killed.json"), events("ends.json")
    check("the store has them", whole[("stap", "getppid")] == whole[("stap", "getppid with kernel")] == whole[("syscall", "getppid")] == len(calls))
    check("killed: the script's are there until then, the calls to the end", 50 <= killed[("stap", "getppid")] <= 51 + 20 and
          killed[("syscall", "getppid")] >= 100)
    check("an error of its own: twenty, and all calls", ends[("stap", "before")] == 20 and ends[("syscall", "getppid")] >= 50)

    marks = rows("marks.json")
    turns, written = ([(a0, trigger, folded) for _, kind, _, a0, trigger, folded in marks if kind == name] for name in ("turn", "written"))
    samples = [(trigger, folded) for _, kind, _, _, trigger, folded in marks if kind == "sample"]
    writes = [folded for of, kind, _, _, _, folded in marks if (of, kind) == ("syscall", "write")]
    check("ten marks of the program, by their functions", [t[:2] for t in turns] == [(n, "marked") for n in range(10)] and
          all(";main;turns;marked" in folded and folded.startswith("_start;") for _, _, folded in turns))
    check("three returns of vfs_write, in its caller", [t[:2] for t in written] == [(n, "stores") for n in (1, 2, 3)] and
          [re.sub(r";[^;]*_\[k\]", "", folded) for _, _, folded in written] == writes and all(folded.endswith(";ksys_write_[k]") for _, _, folded in written))
    computing = [folded for trigger, folded in samples if trigger == "computes"]
    check(f"the clock, in interrupts: {len(computing)} of {len(samples)} samples where the program computes", len(computing) >= 20 and
          len(computing) > len(samples) // 2 and all(folded.startswith("_start;") and ";main;computes;asm_" in folded for folded in computing))
    check("one process, and no loss but samples of uscope itself", len({row[2] for row in marks}) == 1 and {row[0] for row in rows("marks_lost.json")} <= {"recursion"})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

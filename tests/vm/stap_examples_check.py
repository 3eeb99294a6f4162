#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Judges what stap-examples-guest sent back: what each script of stap/examples logged of kernel_work (tests/fixtures), whose work in the
kernel is known by function, against that and against the system calls of the same trace; and nothing of the kernel_work beside it."""

import json
import re
import sys
from collections import Counter, namedtuple
from pathlib import Path

Event = namedtuple("Event", "of kind pid process a0 a1 a2 a3 a4 a5 took trigger folded rel_pc")
WRITE, USER, FETCH = 1, 1 << 6, 1 << 8  # of the kernel's enum fault_flag


class Example:
    def __init__(self, folder: Path, name: str):
        rows = json.loads((folder / f"{name}.json").read_text())["results"][0]["rows"]
        events = [Event(*row) for row in rows]
        self.name, self.said = name, (folder / f"{name}.txt").read_text(errors="replace")
        self.logged = [e for e in events if e.of == "stap"]
        self.calls = [e for e in events if e.of == "syscall"]
        self.failed = []
        self.check("nothing is lost, nothing went wrong", " 0 lost," in self.said and "uscope: --stap" not in self.said and "ERROR" not in self.said)
        self.check("one process alone", len({e.pid for e in events}) == 1 and self.logged != [])

    def check(self, what: str, ok: bool) -> None:
        print("ok    " if ok else "FAILED", f"{self.name}: {what}")
        self.failed.extend([] if ok else [f"{self.name}: {what}"])

    def by_function(self, *more: str) -> Counter:
        """(kind, application function, the values named) of those that come from the program's own functions."""
        return Counter((e.kind, e.trigger, *(getattr(e, name) for name in more)) for e in self.logged
                       if e.trigger in ("opens", "stores", "small", "large", "naps", "touches"))

    def stacks_are_those_of(self, kind: str, call: str, function: str) -> None:
        """The user's part of the stacks is that of the calls, in which they were logged."""
        logged = [user_part(e) for e in self.logged if (e.kind, e.trigger) == (kind, function)]
        calls = [e.folded for e in self.calls if (e.kind, e.trigger) == (call, function)]
        self.check(f"{kind} in {function}: user stacks of the {len(calls)} {call}", logged == calls != [] and all(s.startswith("_start;") for s in logged))


def kernel_part(event: Event) -> list:
    return [f.removesuffix("_[k]") for f in event.folded.split(";") if f.endswith("_[k]")]


def user_part(event: Event) -> str:
    return ";".join(f for f in event.folded.split(";") if not f.endswith("_[k]"))


def calls(example: Example) -> None:
    """All system calls: what the module's own events are, one by one."""
    def told(events):
        return [(e.kind.removeprefix("sys_"), e.trigger, e.folded) for e in events]

    example.check(f"{len(example.logged)} calls, as the module's own events", told(example.logged) == told(example.calls) and len(example.calls) > 60)
    example.check("arguments", all(own.a0 is None or own.a0 == e.a0 for e, own in zip(example.logged, example.calls)))


def slow(example: Example) -> None:
    example.check("the four sleeps", example.by_function()[("slow clock_nanosleep", "naps")] == 4)
    example.check("their microseconds and results", all(30_000 <= e.a0 < 1_000_000 and e.a1 == 0 for e in example.logged if e.trigger == "naps"))
    example.stacks_are_those_of("slow clock_nanosleep", "clock_nanosleep", "naps")
    # The emulator may be slow too: then the module's own events say so. Between SystemTap's probe and the module's the host may take
    # the CPU away, so a call that one of them saw last 10 ms may have been 20 ms longer, or shorter, for the other.
    surely, perhaps = Counter(), Counter()
    for e in example.calls:
        surely["slow " + e.kind] += (e.took or 0) >= 30_000_000
        perhaps["slow " + e.kind] += (e.took or 0) >= 3_000_000
    logged = Counter(e.kind for e in example.logged)
    # On a slow machine SystemTap skips probes that wait for a lock of its own too long, and says so.
    skipped = re.search(r"skipped probes: (\d+)", example.said)
    example.check("no others", all(logged[kind] <= perhaps[kind] for kind in logged))
    example.check("none is missing but what SystemTap has skipped", sum((surely - logged).values()) <= (int(skipped[1]) if skipped else 0))


def vfs(example: Example) -> None:
    example.check("operations by function, with their sizes", example.by_function("a0") == {
        ("vfs_open", "opens", 0): 3, ("vfs_write", "stores", 4096): 7, ("vfs_read", "small", 100): 20, ("vfs_read", "large", 65536): 5})
    for kind, call, function in (("vfs_open", "openat", "opens"), ("vfs_write", "write", "stores"), ("vfs_read", "read", "small"),
                                 ("vfs_read", "pread64", "large")):
        example.stacks_are_those_of(kind, call, function)
    kernel = [kernel_part(e) for e in example.logged]
    example.check("kernel frames: from do_syscall_64 to the function itself, and nothing behind it",
                  all(k[-1] == e.kind and "do_syscall_64" in k[:3] for e, k in zip(example.logged, kernel)))


def switches(example: Example) -> None:
    example.check("four times it blocks in naps", {key: n for key, n in example.by_function("a0").items() if key[0] == "blocks" and key[1] == "naps"} ==
                  {("blocks", "naps", 1): 4})
    example.stacks_are_those_of("blocks", "clock_nanosleep", "naps")
    example.check("kernel frames end in __schedule", all(kernel_part(e)[-1] == "__schedule" for e in example.logged) and
                  all("do_nanosleep" in kernel_part(e) for e in example.logged if e.trigger == "naps" and e.kind == "blocks"))
    example.check("who runs next", all((e.a1 if e.kind == "blocks" else e.a0) >= 0 for e in example.logged))
    example.check("no other kinds", {e.kind for e in example.logged} <= {"blocks", "is preempted"})


def faults(example: Example) -> None:
    own = [e for e in example.logged if e.trigger == "touches" and e.folded.endswith(";main;touches") and e.a1 & WRITE and e.a1 & USER]
    pages = [e.a0 // 4096 for e in own]
    example.check("33 pages one after the other in touches", pages == list(range(pages[0], pages[0] + 33)) if pages else False)
    example.check("stacks to the root", all(e.folded.startswith("_start;") for e in own))
    # The program's own fault there can be but one: its code was not mapped yet.
    inside = [e for e in example.logged if e.folded and e.folded.endswith(";large;pread") and not e.a1 & FETCH]
    flags = ", ".join(hex(e.a1) for e in inside)
    example.check(f"those of a system call, by its caller: not the program's own (flags: {flags})", inside != [] and not any(e.a1 & USER for e in inside))


def histogram(example: Example) -> None:
    example.check("reads by function", example.by_function("a0") == {("read of", "small", 100): 20, ("read of", "large", 65536): 5})
    example.stacks_are_those_of("read of", "read", "small")
    example.stacks_are_those_of("read of", "pread64", "large")
    for function, count, bucket in (("small", 20, 64), ("large", 5, 65536)):
        rel_pc = next((e.rel_pc for e in example.logged if e.trigger == function), 0)
        printed = re.search(rf"^kernel_work\+{rel_pc:#x}: {count} reads\n(?:.*\n)*?\s*{bucket} \|@+ +{count}\n", example.said, re.MULTILINE)
        example.check(f"the histogram of {function}, whose frame is kernel_work+{rel_pc:#x}", printed is not None)
    example.check("nothing of others", set(re.findall(r"^(\S*): \d+ reads", example.said, re.MULTILINE)) - {"?"} ==
                  {f"kernel_work+{e.rel_pc:#x}" for e in example.logged if e.trigger in ("small", "large")})


def main(folder: Path) -> int:
    judges = {judge.__name__: judge for judge in (calls, slow, vfs, switches, faults, histogram)}
    scripts = sorted(path.stem for path in (Path(__file__).parent.parent.parent / "stap" / "examples").glob("*.stp"))
    failed = [] if scripts == sorted(judges) else [f"the examples are {scripts}"]
    for name, judge in judges.items():
        example = Example(folder, name)
        judge(example)
        failed += example.failed
    print("\n".join(["", *failed]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the kernel module costs a system call, in instructions, counted in an emulated machine.

A Debian kernel is booted with QEMU's -icount, where one instruction is one tick of the time stamp counter, so counts repeat nearly to the
instruction whatever the machine below does. kmod_cost/guest runs loops of getppid (kmod_cost/calls.c) there: alone, with two
empty probes of another module on sys_enter and sys_exit, with uscope.ko loaded, traced by it with all frames, not traced while another
program is, after detaching, and traced by BPF. The figure is the median of the batches (50 calls each), the cost is its difference to
the empty probes, or to no probe at all where none may be left.

Limits: instructions, not time; one processor; the loop's own instructions differ between cases, so only lines of one case compare.
The traced stacks are five frames deep (getppid, main, two of libc's start code, _start), six in `depths`.

usage: kmod_cost.py --build FOLDER [--kernel 6.1] [--batches N] [--json FILE] [--check]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
VM = HERE.parent / "tests" / "vm"
BATCH = 50
# state, case: cost over which other state, and its bound; None: told, not judged.
BOUNDS = [
    ("kmod", "same", "probe", 600), ("kmod", "sites", "probe", 1400), ("kmod", "depths", "probe", 3000),
    ("untraced", "same", "probe", 60), ("loaded", "same", "native", 0), ("detached", "same", "native", 0),
    ("unloaded", "same", "native", 0), ("bpf", "same", "probe", None), ("bpf", "sites", "probe", None), ("bpf", "depths", "probe", None),
]
NOISE = 1  # instructions by which the same code may differ


def guest_lines(arguments, work: Path) -> list:
    run = lambda *command: subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout
    for folder, name in (("kmod", "uscope.ko"), ("bench/kmod_cost/probe", "empty_probe.ko")):
        run(VM / "module.py", "--kernel", arguments.kernel, "--folder", folder, "-o", work / name)
        run("strip", "-g", work / name)
    run("gcc", "-O2", "-o", work / "calls", HERE / "kmod_cost" / "calls.c")
    run("strip", "-o", work / "uscope", arguments.build / "uscope")
    busybox = [f"{work / name}:/root/{name}" for name in ("uscope.ko", "empty_probe.ko")]
    programs = [f"{work / name}:/usr/bin/{name}" for name in ("calls", "uscope")] + [f"{HERE / 'kmod_cost' / 'guest'}:/usr/bin/cost-guest"]
    for name in ("insmod", "rmmod"):
        programs.append(next(f"{folder}/{name}" for folder in ("/usr/sbin", "/sbin") if os.path.exists(f"{folder}/{name}")))
    options = [word for name in busybox + programs for word in ("--with", name)]
    out = run(VM / "run.sh", "--kernel", arguments.kernel, "--icount", "--time", 1500, "--append", "norandmaps", *options, "--",
              "cost-guest", arguments.batches)
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def judge(lines: list, batches: int) -> list:
    """Prints the table; what is wrong comes back."""
    wrong = []
    counts = {(line["state"], line["case"]): line for line in lines if "median" in line}
    for line in lines:
        if "lost" in line and (line["lost"] or line["whole"] != batches * BATCH):
            wrong.append(f"{line['state']} {line['case']}: {line['lost']} lost, {line['whole']} whole stacks of {batches * BATCH}")
    print("state     case    instructions a call  beyond   cost  bound")
    for (state, case), line in counts.items():
        beyond, bound = next(((other, limit) for s, c, other, limit in BOUNDS if (s, c) == (state, case)), (None, None))
        cost = line["median"] - counts[(beyond, case)]["median"] if beyond else None
        text = f"{state:9} {case:7} {line['median']:19.1f}  "
        if beyond:
            line["beyond"], line["cost"] = beyond, round(cost, 1)
            text += f"{beyond:8} {cost:5.0f}  {'' if bound is None else bound}"
        print(text.rstrip())
        if bound is not None and cost > bound + NOISE:
            wrong.append(f"{state} {case}: {cost:.0f} instructions beyond {beyond}, more than {bound}")
    for state, case, beyond, _ in BOUNDS:
        if (state, case) not in counts or (beyond, case) not in counts:
            wrong.append(f"{state} {case} was not measured")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="kmod_cost.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, required=True, help="the build folder with uscope")
    parser.add_argument("--kernel", default="6.1", help="6.1, 6.12 or sid [6.1]")
    parser.add_argument("--batches", type=int, default=400, help="of 50 calls, for each case [400]")
    parser.add_argument("--json", metavar="FILE", help="the figures, also there")
    parser.add_argument("--check", action="store_true", help="fail where a bound is not met")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="uscope-cost-") as work:
        try:
            lines = guest_lines(arguments, Path(work))
        except subprocess.CalledProcessError as error:
            print(f"kmod_cost: {' '.join(error.cmd[:1])} ended with {error.returncode}: {error.stdout}", file=sys.stderr)
            return 2
    wrong = judge(lines, arguments.batches)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(lines, indent=1))
    for text in wrong:
        print(f"kmod_cost: {text}", file=sys.stderr)
    return 1 if wrong and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs the conformance suite of a build on another kernel: the tests that ctest knows under the label `root`, without those of
excluded.txt, one after the other in one emulated machine. Prints a line for each and the output of those that failed; the exit
status is 0 only if every chosen test ran and passed and the kernel's log is clean.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from guest import EXIT_HARNESS, EXIT_KERNEL, EXIT_TIME, PATIENCE, judge, qemu_command, run_guest
from guest_tree import HERE, make_initramfs
from kernels import VmError, kernel_image

# What the tests themselves call, beyond what every guest has.
PROGRAMS = "python3 strace setpriv unshare mount pgrep pkill bpftool hostname touch rmdir expr setsid perl chroot ldd".split()
# Loaded by name while a program runs, so ldd does not list them.
LIBRARIES = ["libgcc_s.so.1", "libnss_files.so.2"]
PYTHON = "/usr/bin/python3"
FOLDERS_LEFT_OUT = ("dist-packages", "idlelib", "lib2to3", "pydoc_data", "tkinter", "ensurepip", "config-3*", "turtledemo",
                    "go-cache", "CMakeFiles")


def excluded(*places: str) -> list:
    """(pattern, reason) of the rules of excluded.txt that hold in these places."""
    rules = []
    for line in (HERE / "excluded.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            where, pattern, reason = line.split(maxsplit=2)
            if where in places:
                rules.append((re.compile(pattern), reason))
    return rules


def left_out(options) -> list:
    return excluded("always", "quick") if options.quick else excluded("always")


def backends_of(name: str, options) -> list:
    """Those of the chosen backends that the test is for."""
    chosen = ["bpf", "kmod"] if options.backend == "both" else [options.backend]
    return [backend for backend in chosen if not any(pattern.fullmatch(name) for pattern, _ in excluded(backend))]


def tests_of(options) -> list:
    build = options.build
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1", "-L", "^root$"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    rules = left_out(options)
    tests = []
    for entry in json.loads(listed)["tests"]:
        reasons = [reason for pattern, reason in rules if pattern.fullmatch(entry["name"])]
        if reasons or not re.search(options.tests, entry["name"]):
            continue
        properties = {each["name"]: each["value"] for each in entry.get("properties", [])}
        command = entry["command"]
        # The guest has Debian's Python, whatever comes first in this machine's PATH.
        if os.path.basename(command[0]).startswith("python3"):
            command = [PYTHON, *command[1:]]
        tests.append({"name": entry["name"], "command": command, "cwd": properties.get("WORKING_DIRECTORY", "/"),
                      "limit": min(properties.get("TIMEOUT", 300), 600 * PATIENCE), "backends": backends_of(entry["name"], options)})
    if options.stress > 0:
        tests.append({"name": "stress", "command": [PYTHON, str(HERE / "stress.py"), str(build / "uscope"), str(build / "tests" / "vm"),
                                                    str(options.stress)], "cwd": "/tmp", "limit": 2400, "show": True,
                      "backends": backends_of("stress", options)})
    for test in tests:
        test["limit"] *= options.slowness
    if not any(test["backends"] for test in tests):
        raise VmError(f"no test of {build} is chosen (label root, {options.tests!r})")
    return tests


def without_debug_information(work: Path, program: str) -> str:
    """Most of a development build's size, and nothing that the guest reads."""
    stripped = work / "stripped" / os.path.basename(program)
    stripped.parent.mkdir(exist_ok=True)
    subprocess.run(["strip", "-o", str(stripped), program], check=True)
    return f"{stripped}:{program}"


def python_files() -> list:
    library = subprocess.run([PYTHON, "-c", "import os; print(os.path.dirname(os.__file__))"], check=True, stdout=subprocess.PIPE,
                             text=True).stdout.strip()
    return [library]


def guest_files(build: Path, tests: list, work: Path) -> list:
    """`--with` entries: the tests' folders, all files that their commands name, and the programs they call."""
    files = [str(HERE.parent), str(build / "tests" / "fixtures"), *python_files()]
    files += [str(build / "tests" / "vm" / name) for name in ("storms", "device_fuzz", "device_tasks", "device_sequences", "device_functions")]
    files += [shutil.which(name) or "/usr/sbin/" + name for name in PROGRAMS if name != "python3"] + [PYTHON, "/etc/hostname"]
    listed = subprocess.run(["/sbin/ldconfig", "-p"], check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in LIBRARIES:
        found = re.search(rf"^\s*{re.escape(name)} \(libc6,x86-64.* => (\S+)$", listed, re.MULTILINE)
        files += [found.group(1)] if found else []
    # uscope, and the tests that are programs with the tracer in them.
    programs = [str(build / "uscope")]
    programs += [test["command"][0] for test in tests if Path(test["command"][0]).is_relative_to(build / "tests" / "system")]
    for word in (word for test in tests for word in test["command"]):
        if word.startswith("/") and os.path.isfile(word) and not any(word.startswith(folder + "/") for folder in files):
            files.append(word)
    files = [name for name in dict.fromkeys(files) if name not in programs]
    return files + [without_debug_information(work, program) for program in dict.fromkeys(programs)]


class Results:
    """What the guest prints, as it comes: JSON lines."""

    def __init__(self):
        self.rest, self.running, self.done, self.stopped = b"", "", [], ""

    def write(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                print(line.decode(errors="replace"))
                continue
            if "begin" in entry:
                self.running = f"{entry['begin']} ({entry['backend']})"
            elif "stopped" in entry:
                self.stopped = entry["stopped"]
            elif "name" in entry:
                self.add(entry)

    def add(self, entry: dict) -> None:
        self.running = ""
        self.done.append(entry)
        status = entry["status"]
        verdict = "ok" if status == 0 else "TIME" if status is None else f"FAILED ({status})"
        print(f"{len(self.done):4} {entry['name']} [{entry['backend']}] {entry['seconds']} s: {verdict}")
        if entry["output"] and (status != 0 or entry["name"] == "stress"):
            print("\n".join("       " + line for line in entry["output"].splitlines()))

    def flush(self) -> None:
        sys.stdout.flush()


def summary(results: Results, wanted: int, status: int, kernel: str) -> bool:
    failed = [entry for entry in results.done if entry["status"] != 0]
    passed = len(results.done) - len(failed)
    wanted += sum(entry["name"] in ("kernel.kmemleak", "kernel.lockdep") for entry in results.done)  # where the kernel has them
    if results.running:
        print(f"during {results.running} the guest ended")
    if results.stopped:
        print(results.stopped)
    trouble = {EXIT_KERNEL: ", the kernel is in trouble", EXIT_TIME: ", time limit", EXIT_HARNESS: ", no guest"}.get(status, "")
    print(f"kernel {kernel}: {passed} passed, {len(failed)} failed, {wanted - len(results.done)} not run{trouble}")
    for entry in failed:
        print(f"  FAILED {entry['name']} [{entry['backend']}]")
    return passed == wanted and status == 0


def parse(arguments: list):
    parser = argparse.ArgumentParser(prog="suite.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, required=True, help="the build folder")
    parser.add_argument("--kernel", default="6.1", help="as run.sh's [6.1]")
    parser.add_argument("--backend", choices=("bpf", "kmod", "both"), default="bpf", help="what the tests trace with [bpf]")
    parser.add_argument("--module", metavar="PATH.ko", help="loaded before the tests, unloaded after them")
    parser.add_argument("--tests", default="", metavar="REGEX", help="of these, those whose names match")
    parser.add_argument("--quick", action="store_true", help="without what excluded.txt, and the tests themselves, leave out of scripts/test.sh")
    parser.add_argument("--stress", type=float, nargs="?", const=1, default=0, metavar="SCALE",
                        help="stress.py too: storms, killed tracers, the module reloaded, random ioctls; less of them below 1")
    parser.add_argument("--slowness", type=float, default=1, help="the tests' own limits, times this [1]")
    parser.add_argument("--time", type=int, default=900, help="limit for all, in seconds, times USCOPE_TEST_PATIENCE [900]")
    parser.add_argument("--list", action="store_true", help="print the chosen tests and the excluded ones with the reason")
    parser.add_argument("--json", metavar="FILE", help="the results, also there")
    parser.add_argument("--console-log", metavar="FILE", help="keep the kernel's log")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--memory", default="3G")
    parser.add_argument("--append", default="", help="more words for the kernel's command line")
    parser.add_argument("--icount", action="store_true", help="count instructions: one processor, time by instructions")
    options = parser.parse_args(arguments)
    if options.backend != "bpf" and not options.module:
        parser.error(f"--backend {options.backend} needs --module")
    options.build = options.build.resolve()
    options.time *= PATIENCE
    return options


def prepare(options, tests: list, work: Path) -> int:
    """The guest's files and plan, as run.sh's options; the number of results to come."""
    backends = ["bpf", "kmod"] if options.backend == "both" else [options.backend]
    # Boot and end take some of the time.
    plan = {"tests": tests, "backends": backends, "module": "/suite/uscope.ko" if options.module else None,
            "seconds": max(10, options.time - 40)}
    (work / "plan.json").write_text(json.dumps(plan))
    options.with_ = guest_files(options.build, tests, work)
    options.with_ += [f"{work / 'plan.json'}:/suite/plan.json", f"{HERE / 'suite-guest'}:/suite/suite-guest"]
    if options.module:
        options.with_.append(f"{os.path.abspath(options.module)}:/suite/uscope.ko")
    options.leave_out = FOLDERS_LEFT_OUT
    options.command, options.cwd, options.console = ["/suite/suite-guest"], "/root", False
    questions = os.environ.get("USCOPE_QUERY_QUESTIONS", "5")
    options.env = [f"USCOPE_TEST_SLOWNESS={options.slowness}", f"USCOPE_TEST_PATIENCE={PATIENCE}", f"USCOPE_TEST_KERNEL_ONLY={int(options.quick)}",
                   f"USCOPE_QUERY_QUESTIONS={questions}"]
    return sum(len(test["backends"]) for test in tests) + (2 if options.module else 0)


def main(arguments: list) -> int:
    options = parse(arguments)
    results = Results()
    with tempfile.TemporaryDirectory(prefix="uscope-vm-") as name:
        work = Path(name)
        try:
            tests = tests_of(options)
            if options.list:
                for test in tests:
                    print(test["name"], *test["backends"])
                for pattern, reason in left_out(options):
                    print(f"not {pattern.pattern}: {reason}")
                return 0
            wanted = prepare(options, tests, work)
            kernel = kernel_image(options.kernel, False)
            initramfs = make_initramfs(work, options, kernel)
            ended = run_guest(qemu_command(kernel, initramfs, work, options), work, options, out=results)
            status = judge(work, ended, options)
        except (VmError, subprocess.CalledProcessError) as error:
            print(f"uscope-vm: {error}", file=sys.stderr)
            return EXIT_HARNESS
        if options.console_log and (work / "console").exists():
            shutil.copy2(work / "console", options.console_log)
    if options.json:
        Path(options.json).write_text(json.dumps(results.done, indent=1))
    return 0 if summary(results, wanted, status, options.kernel) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

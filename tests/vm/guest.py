# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""One run of a guest in QEMU, bounded in time, and what its console says of its end."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from kernels import VmError

PATIENCE = float(os.environ.get("USCOPE_TEST_PATIENCE", "1"))  # how much longer limits of time are: tests/support/py/backend.py

EXIT_KERNEL = 250  # the guest's kernel panicked, oopsed or warned
EXIT_TIME = 251  # the time limit passed
EXIT_HARNESS = 252  # the guest could not be made, or ended without a status

# A kernel's own words for "something is wrong in me".
KERNEL_TROUBLE = re.compile(
    r"Kernel panic|\bOops\b|\bBUG: |general protection fault, |kernel NULL pointer|unable to handle page fault"
    r"|\bWARNING: .*\bat |soft lockup|hard LOCKUP|self-detected stall|detected stalls on|blocked for more than"
    r"|\bKASAN\b|\bUBSAN\b|\bODEBUG\b|scheduling while atomic|sleeping function called|voluntary context switch within RCU"
    # lockdep
    r"|possible circular locking|possible recursive locking|inconsistent lock state|irq lock inversion|bad unlock balance|irq-unsafe lock order"
    r"|suspicious RCU usage|Invalid wait context|held lock freed|lock held when returning to user space|turning off the locking correctness"
)
STATUS_LINE = re.compile(r"uscope-vm-exit: (\d+)")


def qemu_command(kernel: Path, initramfs: Path, work: Path, options) -> list:
    cpus = 1 if options.icount else options.cpus
    words = [
        # Never KVM: the result must not hang on what the machine below offers. One thread for all processors: with one for each,
        # code that the kernel patches while it runs (static keys, tracepoints) may reach another processor half done, as an
        # "Oops: int3" that no real machine has.
        # Without erms: with it, the kernel and libc clear and copy memory by `rep movsb`, which is emulated byte by byte.
        "qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "max,-erms", "-smp", str(cpus), "-m", str(options.memory),
        "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-no-reboot",
        "-kernel", str(kernel), "-initrd", str(initramfs),
        # No mitigations: emulation pays for them and guards nothing. A panic ends the machine, and an oops is one.
        # No check of the timer: on a loaded machine it comes too late for the boot to believe in it.
        "-append", f"console=ttyS0 mitigations=off panic=-1 oops=panic quiet loglevel=5 nokaslr no_timer_check {options.append}".strip(),
    ]
    if options.icount:
        # One instruction is one nanosecond of the guest's time: counts repeat from run to run.
        words += ["-icount", "shift=0,sleep=off"]
    for port in ("console", "stdout", "stderr", "results"):
        words += ["-chardev", f"file,id={port},path={work / port}", "-serial", f"chardev:{port}"]
    return words


class Follower:
    """Hands on what a file has grown by."""

    def __init__(self, path: Path, out):
        self.path, self.out, self.place = path, out, 0

    def step(self) -> None:
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            file.seek(self.place)
            new = file.read()
        self.place += len(new)
        if new and self.out:
            self.out.write(new)
            self.out.flush()


def run_guest(command: list, work: Path, options, out=None) -> bool:
    """False: the time limit passed, and the guest was ended. The command's output goes to `out`, or this one's."""
    followers = [Follower(work / "stdout", out or sys.stdout.buffer), Follower(work / "stderr", sys.stderr.buffer)]
    if options.console:
        followers.append(Follower(work / "console", sys.stderr.buffer))
    deadline = time.monotonic() + options.time
    guest = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        while guest.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
            for follower in followers:
                follower.step()
        ended = guest.poll() is not None
    finally:
        if guest.poll() is None:
            guest.kill()
        guest.wait()
    for follower in followers:
        follower.step()
    return ended


def take_results(packed: Path, folder: str) -> None:
    if not packed.exists() or not packed.stat().st_size:
        raise VmError("the guest sent no results")
    os.makedirs(folder, exist_ok=True)
    try:
        with tarfile.open(packed) as tar:
            for member in tar.getmembers():
                # What the guest says is not trusted with this machine's paths.
                place = os.path.normpath(member.name)
                if member.isdir() or (member.isfile() and not place.startswith(("/", ".."))):
                    if member.isfile():
                        target = os.path.join(folder, place)
                        os.makedirs(os.path.dirname(target), exist_ok=True)
                        with tar.extractfile(member) as source, open(target, "wb") as out:
                            shutil.copyfileobj(source, out)
    except tarfile.TarError as error:
        raise VmError(f"the results came back damaged: {error}") from error


def judge(work: Path, ended: bool, options) -> int:
    console = (work / "console").read_text(errors="replace") if (work / "console").exists() else ""
    trouble = [line.strip() for line in console.splitlines() if KERNEL_TROUBLE.search(line)]
    status = STATUS_LINE.search(console)
    if trouble or not ended or not status:
        print("uscope-vm: last lines of the guest's console:", file=sys.stderr)
        print("\n".join(console.splitlines()[-40:]), file=sys.stderr)
    if trouble:
        print(f"uscope-vm: the guest's kernel is in trouble: {trouble[0]}", file=sys.stderr)
        return EXIT_KERNEL
    if not ended:
        print(f"uscope-vm: not done after {options.time} s", file=sys.stderr)
        return EXIT_TIME
    if not status:
        print("uscope-vm: the guest ended without an exit status", file=sys.stderr)
        return EXIT_HARNESS
    return int(status.group(1))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs a command of this machine on another Linux kernel, in an emulated machine.

The guest is Debian's kernel image and an initramfs made anew for each run: this machine's programs and libraries at their own
paths, and guest-init as its first process. Four serial ports carry everything: the kernel's log and the exit status (ttyS0), the
command's output (ttyS1) and errors (ttyS2), and a tar file of the result folder (ttyS3). So no kernel module, disk or network is
needed, and whatever was written before a crash is still seen.

Limits: emulation (TCG) is 10 to 50 times slower than the machine and its clock does not tell what anything costs; no network; the
root file system is a tmpfs, so nothing outlives a run except the result folder.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from guest import EXIT_HARNESS, EXIT_KERNEL, EXIT_TIME, PATIENCE, judge, qemu_command, run_guest, take_results
from guest_tree import make_initramfs
from kernels import MODULES, SUITES, VmError, kernel_image, kernel_module

RESULTS = "/results"


def parse(arguments: list):
    parser = argparse.ArgumentParser(
        prog="run.sh", description="Runs a command of this machine on another Linux kernel, in an emulated machine.",
        epilog=f"The exit status is the command's; {EXIT_KERNEL}: the kernel is in trouble, {EXIT_TIME}: time limit,"
        f" {EXIT_HARNESS}: no guest.")
    parser.add_argument("--kernel", default="6.1", help=f"{', '.join(SUITES)} (Debian's), or the path of a vmlinuz [6.1]")
    parser.add_argument("--with", dest="with_", metavar="PATH[:TARGET]", action="append", default=[],
                        help="a program, file or folder the guest needs, with its libraries; repeatable")
    parser.add_argument("--with-module", metavar="NAME", choices=MODULES, action="append", default=[],
                        help="a module of the kernel's own, as /root/NAME.ko; repeatable")
    parser.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], help="for the command; repeatable")
    parser.add_argument("--cwd", default="/root", help="the command's working folder in the guest [/root]")
    parser.add_argument("--results", metavar="FOLDER", help=f"where the files of the guest's {RESULTS} go")
    parser.add_argument("--time", type=int, default=180, help="limit in seconds, times USCOPE_TEST_PATIENCE [180]")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--memory", default="2G", help="the guest's memory [2G]")
    parser.add_argument("--icount", action="store_true", help="count instructions: one processor, time by instructions")
    parser.add_argument("--append", default="", help="more words for the kernel's command line")
    parser.add_argument("--console", action="store_true", help="show the kernel's log while it runs")
    parser.add_argument("--refresh", action="store_true", help="fetch the kernel anew")
    parser.add_argument("command", nargs="*", metavar="-- COMMAND")
    # All behind the first -- is the command's own, also a further --.
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    options.command += arguments[split + 1:]
    if not options.command:
        parser.error("no command")
    options.time *= PATIENCE
    return options


def main(arguments: list) -> int:
    options = parse(arguments)
    for tool, package in (("qemu-system-x86_64", "qemu-system-x86"), ("cpio", "cpio"), ("dpkg-deb", "dpkg")):
        if not shutil.which(tool):
            print(f"uscope-vm: {tool} is missing (package {package})", file=sys.stderr)
            return EXIT_HARNESS
    with tempfile.TemporaryDirectory(prefix="uscope-vm-") as name:
        work = Path(name)
        try:
            kernel = kernel_image(options.kernel, options.refresh)
            options.with_ += [f"{kernel_module(options.kernel, name)}:/root/{name}.ko" for name in options.with_module]
            initramfs = make_initramfs(work, options, kernel)
            ended = run_guest(qemu_command(kernel, initramfs, work, options), work, options)
            status = judge(work, ended, options)
            if options.results and status not in (EXIT_KERNEL, EXIT_TIME, EXIT_HARNESS):
                take_results(work / "results", options.results)
            return status
        except VmError as error:
            print(f"uscope-vm: {error}", file=sys.stderr)
            return EXIT_HARNESS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Prints a folder, in which `tree` is for `stap -r`: the headers of a kernel that run.sh boots (they must be installed here), with the
symbols that its guest has, and the headers of those tracepoints alone that the scripts here use: stap compiles something for each of them,
which takes minutes for all. Made once for a kernel, for all checkouts."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from guest_tree import HERE
from kernels import SUITES, VmError, compiled
from module import headers_of, package_of, tools, version_of

TRACEPOINTS = ("include/trace/events/sched.h", "include/trace/events/syscalls.h")


def guest_symbols(series: str, folder: Path) -> None:
    """/proc/kallsyms of a guest: what Debian's own System.map does not have. Addresses count by their distances only."""
    with tempfile.TemporaryDirectory(prefix="uscope-stap-") as work:
        done = subprocess.run([HERE / "run.sh", "--kernel", series, "--time", "150", "--results", work, "--", "sh", "-c",
                               "grep -v '\\[' /proc/kallsyms >/results/System.map"], check=False)
        if done.returncode:
            raise VmError(f"the guest's symbols: run.sh: exit {done.returncode}")
        shutil.copy2(Path(work) / "System.map", folder)


def link_headers(headers: Path, tree: Path) -> None:
    common = headers.with_name(headers.name.removesuffix("-amd64") + "-common")
    for folder in (headers, common):
        if not folder.exists():
            raise VmError(f"{folder} is missing: install {headers.name}")
    tree.mkdir(parents=True)
    for path in headers.iterdir():
        if path.name == "Module.symvers":  # to which some versions of stap write
            shutil.copy2(path, tree)
        else:
            (tree / path.name).symlink_to(path)
    for name in TRACEPOINTS:
        link = tree / "source" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(common / name)


def main() -> int:
    parser = argparse.ArgumentParser(prog="stap_tree.py", description=__doc__.split(":", maxsplit=1)[0])
    parser.add_argument("--kernel", default="6.1", choices=list(SUITES))
    parser.add_argument("--headers", type=Path, help="of a kernel, in place of --kernel: no symbols then")
    parser.add_argument("--output", type=Path, help="the folder to make with --headers")
    options = parser.parse_args()
    try:
        if options.headers:
            link_headers(options.headers, options.output)
            return 0
        version = version_of(options.kernel)
        with compiled(f"stap-{version}", package_of(options.kernel), tools(version), Path(__file__).read_text()) as folder:
            if not folder.exists():
                with tempfile.TemporaryDirectory(dir=folder.parent) as work:
                    new = Path(work) / "new"
                    link_headers(headers_of(version), new / "tree")
                    guest_symbols(options.kernel, new / "tree")
                    new.rename(folder)
    except (VmError, OSError) as error:
        print(f"uscope-vm: stap's tree for kernel {options.kernel}: {error}", file=sys.stderr)
        return 1
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A command under `uscope record`, and what makes two runs of it alike."""
import ctypes
import os
import subprocess

from backend import OPTIONS as BACKEND_OPTIONS, PATIENCE


def without_randomness():
    """For a child before its exec: no address space randomisation, with which the number of brk calls changes."""
    addr_no_randomize = 0x0040000
    ctypes.CDLL(None).personality(addr_no_randomize)


def environment():
    # PYTHONHASHSEED: the order of Python's sets, and with it its allocations. LC_ALL: no locale files to look for.
    return {**os.environ, "PYTHONHASHSEED": "0", "LC_ALL": "C"}


def record(uscope, options, command, output, stdout=subprocess.PIPE, timeout=120, **more):
    return subprocess.run(
        [uscope, "record", *BACKEND_OPTIONS, *options, "-o", output, "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=timeout * PATIENCE,
        check=False,
        text=True,
        errors="replace",
        **more,
    )

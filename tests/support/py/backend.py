# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Which backend the tests trace with: USCOPE_TEST_BACKEND (bpf, kmod), or the one that `record` takes by itself; how much longer
what a test waits for may take on a slow machine: USCOPE_TEST_SLOWNESS; how much longer than on a quiet one it takes until something counts
as a hang: USCOPE_TEST_PATIENCE, which scripts/run-tests.py measures; whether only what depends on the kernel is to be tried, since all runs on a
machine that is not emulated, too: USCOPE_TEST_KERNEL_ONLY=1."""

import os
import unittest

BACKEND = os.environ.get("USCOPE_TEST_BACKEND", "")
OPTIONS = ["--backend", BACKEND] if BACKEND else []
SLOWNESS = float(os.environ.get("USCOPE_TEST_SLOWNESS", "1"))
PATIENCE = SLOWNESS * float(os.environ.get("USCOPE_TEST_PATIENCE", "1"))
KERNEL_ONLY = os.environ.get("USCOPE_TEST_KERNEL_ONLY") == "1"


def alike_on_all_kernels(why):
    """Decorates a case that runs on this machine, and in no guest."""
    return unittest.skipIf(KERNEL_ONLY, why)

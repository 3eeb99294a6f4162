#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs a test's command, and once more if it fails: twice.py --because REASON -- COMMAND

For tests whose first try may fail for a reason that is not uscope's; the reason stands in the test's definition. A second try is
announced by a line that begins with `second try:`, and with USCOPE_TEST_RETRIES=FILE it is added to that file, which
scripts/run-tests.py counts.
"""

import argparse
import os
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(usage="twice.py --because REASON -- COMMAND")
    parser.add_argument("--because", required=True)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    status = subprocess.call(arguments.command)
    if status == 0:
        return 0
    print(f"second try: {os.path.basename(arguments.command[-1])} ended with {status}; {arguments.because}", flush=True)
    log = os.environ.get("USCOPE_TEST_RETRIES")
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{' '.join(arguments.command)[:200]}\n")
    return subprocess.call(arguments.command)


if __name__ == "__main__":
    sys.exit(main())

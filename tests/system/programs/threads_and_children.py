# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A Python program with threads and subprocesses: what `against_strace.py` traces as a real one."""

import subprocess
import sys
import threading


def work(number):
    with open("/dev/null", "w", encoding="ascii") as sink:
        for line in range(20):
            print(number, line, file=sink, flush=True)


def main():
    for number in range(3):
        thread = threading.Thread(target=work, args=(number,), name=f"worker-{number}")
        thread.start()
        thread.join()
    for name in ("one", "two"):
        done = subprocess.run(["/bin/echo", name], stdout=subprocess.PIPE, check=True)
        assert done.stdout.decode().strip() == name
    return 0


if __name__ == "__main__":
    sys.exit(main())

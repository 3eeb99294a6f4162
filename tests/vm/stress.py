#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""In the guest, bounded in time: tracers killed while processes come and go, the module unloaded and loaded under that load, and at
the end a storm of processes of which each must be in the trace or counted as lost. usage: stress.py USCOPE [ROUNDS]"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

USCOPE, ROUNDS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
BACKEND = os.environ.get("USCOPE_TEST_BACKEND", "bpf")
MODULE = "/suite/uscope.ko"
STORM = "while :; do /bin/true & /bin/true; wait; done"
CHILDREN = 200


def users():
    """Of the module."""
    with open("/proc/modules", encoding="ascii") as modules:
        return sum(int(line.split()[2]) for line in modules if line.startswith("uscope "))


def programs():
    listed = subprocess.run(["bpftool", "prog", "list"], check=True, capture_output=True, text=True).stdout
    return listed.count("name on_sys_enter")


def left_over():
    """What a dead tracer has left in the kernel, after some time to take it away."""
    held = 0
    for _ in range(100):
        held = users() if BACKEND == "kmod" else programs()
        if not held:
            break
        time.sleep(0.1)
    return held


def end(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def killed_tracers(folder):
    failures = []
    for number in range(ROUNDS):
        tracer = subprocess.Popen([USCOPE, "record", "--backend", BACKEND, "-o", f"{folder}/{number}.db", "--", "sh", "-c", STORM],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(random.uniform(0.5, 6))
        tracer.kill()
        time.sleep(random.uniform(0, 0.5))
        end(tracer)
        held = left_over()
        if held:
            failures.append(f"round {number}: {held} users or programs are left")
        if BACKEND == "kmod":
            for words in (["rmmod", "uscope"], ["insmod", MODULE]):
                done = subprocess.run(["/usr/bin/busybox", *words], capture_output=True, text=True, check=False)
                if done.returncode:
                    failures.append(f"round {number}: {words[0]}: {done.stderr.strip()}")
    return failures


def counted_storm(folder):
    path = f"{folder}/storm.db"
    done = subprocess.run([USCOPE, "record", "--backend", BACKEND, "-o", path, "--", "sh", "-c",
                           f"i=0; while [ $i -lt {CHILDREN} ]; do /bin/true & i=$((i+1)); done; wait"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"storm: exit {done.returncode}: {done.stderr.strip()[-300:]}"]
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        processes, ended = database.execute("SELECT count(*), count(end_ns) FROM process").fetchone()
        lost = database.execute("SELECT cause, sum(count) FROM loss GROUP BY cause").fetchall()
        exits = database.execute("SELECT count(*) FROM v_event WHERE kind = 'exit_group'").fetchone()[0]
    print(f"storm: {processes} processes, {ended} ended, {exits} exits, lost {lost}")
    if not lost and (processes, ended, exits) != (CHILDREN + 1,) * 3:
        return [f"storm: not {CHILDREN + 1} processes, and nothing is counted as lost"]
    return []


def main():
    storm = subprocess.Popen(["sh", "-c", STORM], start_new_session=True)  # of processes that nobody traces
    try:
        with tempfile.TemporaryDirectory() as folder:
            failures = killed_tracers(folder) + counted_storm(folder)
    finally:
        end(storm)
    for failure in failures:
        print(failure)
    print(f"{ROUNDS} tracers killed ({BACKEND}), {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

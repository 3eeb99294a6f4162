#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Each way out of a wait (analyzer/deadlock/ways_out.h) with each wait (tests/deadlock/outs.c): all pairs at once, recorded from their start
and looked at while they wait. Nobody is accused whom something may let go on; the same waits without a way out, in the same look, are found.

usage: ways_out.py USCOPE OUTS [recorded|attached|alarms]...
Needs root and a backend."""
import collections
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

WAIT = 90 * SLOWNESS
WAITS = {"read", "write", "fifo", "poll", "ppoll", "select", "epoll", "receive", "send", "tcp", "event", "queue", "terminal", "flock", "ofd", "posix",
         "child", "any", "id", "pidfd", "mutex"}
# Who looks at a running application cannot know that a number means what it meant before its other thread came to wait.
FOUND = {"recorded": WAITS, "attached": WAITS - {"mutex"}, "alarms": set()}
FILTERS = {"recorded": "everything", "attached": "but_alarms", "alarms": "only_alarms"}


class Wrong(Exception):
    pass


def told(path):
    """Roles by pid."""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        return {int(pid): role for role, pid, *_ in map(str.split, file.read().splitlines())}
    return {}


def await_rest(says):
    """Until all pairs have said that they wait, and those whose descriptors change have changed them; and since when."""
    end, before, since = time.monotonic() + WAIT, {}, time.monotonic()
    while time.monotonic() < end:
        now = told(says)
        if now != before or "all" not in now.values():
            before, since = now, time.monotonic()
        if time.monotonic() - since > 2 * SLOWNESS:
            return now, since
        time.sleep(0.1)
    raise Wrong(f"the programs do not come to rest: {sorted(before.values())}")


def look(uscope, *what):
    done = subprocess.run([uscope, "deadlock", *what, "--format", "json"], capture_output=True, text=True, timeout=WAIT, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise Wrong(f"exit status {done.returncode}, no JSON: {done.stdout[:200]} {done.stderr}") from None


def judge(mode, found, roles):
    pairs = collections.Counter(roles.values())
    accused = {}
    for finding in found["findings"]:
        for thread in finding["threads"]:
            accused.setdefault(roles.get(thread["pid"], f"pid {thread['pid']}"), finding["explanation"])
    wrong = {role: why for role, why in accused.items() if not role.endswith("/none")}
    missed = {f"{wait}/none" for wait in FOUND[mode]} - set(accused)
    print(f"{mode}: {len(pairs)} pairs, {len(accused)} accused; wrongly {sorted(wrong)}; missed {sorted(missed)}", flush=True)
    if missed:
        print(f"  {found['reason']} {found['warnings']}")
    for role, why in wrong.items():
        print(f"  {role}: {why}")
    return not wrong and not missed and len(pairs) > len(WAITS)


def run(uscope, outs, mode, folder, recorded=12 * SLOWNESS):
    """`recorded`: for how many seconds. Where the programs came to rest after that, the recording is made again, twice as long."""
    socket, says, db = (os.path.join(folder, name) for name in ("keeper", "says", "trace.db"))
    environment = {"cwd": folder, "env": {**os.environ, "HANG_SAYS": says}, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    with subprocess.Popen([outs, "keep", socket], cwd=folder) as keeper:
        try:
            while not os.path.exists(socket):
                time.sleep(0.01)
            record = [uscope, "record", "-q", *BACKEND_OPTIONS, "-o", db, "--duration", f"{recorded}s", "--"] if mode == "recorded" else []
            begun = time.monotonic()
            with subprocess.Popen([*record, outs, "all", socket, FILTERS[mode]], **environment) as process:
                try:
                    roles, rested = await_rest(says)
                    if mode == "recorded":
                        process.wait(WAIT)
                    found = look(uscope, db) if mode == "recorded" else look(uscope, "--pid", str(process.pid), *BACKEND_OPTIONS)
                finally:
                    for pid, role in told(says).items():
                        with contextlib.suppress(ProcessLookupError):
                            if role == "all":
                                os.kill(pid, 9)
                    process.kill()
        finally:
            keeper.kill()
    print(f"{mode}: at rest {rested - begun:.1f} s after the start", flush=True)
    if mode == "recorded" and rested - begun > recorded:
        with tempfile.TemporaryDirectory(prefix="uscope-outs-") as another:
            return run(uscope, outs, mode, another, 2 * recorded)
    return judge(mode, found, roles)


def main():
    uscope, outs = map(os.path.abspath, sys.argv[1:3])
    good = True
    for mode in sys.argv[3:] or FOUND:
        with tempfile.TemporaryDirectory(prefix="uscope-outs-") as folder:
            begun = time.monotonic()
            good &= run(uscope, outs, mode, folder)
            print(f"  {time.monotonic() - begun:.1f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What uscope reads of Java monitors (tracer/java), compared with jstack. usage: java_monitors.py PRINTER Monitors.java USCOPE

PRINTER (java_monitors.cpp) reads a running VM from outside; jstack asks the same VM. Compared are, for each wait, the
thread's id, the object's class and the owner's thread id. On every Java VM under /usr/lib/jvm, in each mode of locking
that it has, and with each of its collectors that is named below; at least one VM must be there.
"""
import collections
import contextlib
import glob
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

LATEST = 60
Wait = collections.namedtuple("Wait", "what owner_tid cls")
FAULTS = []
CHECKED = 0


def check(context, what, found, expected):
    global CHECKED
    CHECKED += 1
    if found != expected:
        FAULTS.append(f"{context}: {what}: {found}, expected {expected}")


def printed(printer, pid, expected):
    """{tid: Wait}, {Java thread: tid} and the troubles that the printer tells.

    JDK 17's first waiter for a monitor wakes up for a moment at least once a second; a reading then leaves it out.
    """
    for _ in range(5):
        found = printed_once(printer, pid)
        if expected <= set(found[0]):
            break
    return found


def printed_once(printer, pid):
    waits, names, troubles = {}, {}, []
    for line in subprocess.run([printer, str(pid)], capture_output=True, text=True, timeout=LATEST).stdout.splitlines():
        fields = line.split("\t")
        if fields[0] == "trouble":
            troubles.append(fields[1])
            continue
        tid, what, owner, owner_tid, _, cls, name = fields
        waits[int(tid)] = Wait(what, int(owner_tid) if owner == "thread" else owner, cls)
        names[name] = int(tid)
    return waits, names, troubles


def told_by_jstack(jstack, pid):
    """{tid: Wait} and {Java thread: tid} of `jstack -l`: who owns an object is who has locked it, and does not wait in it."""
    text = subprocess.run([jstack, "-l", str(pid)], capture_output=True, text=True, timeout=LATEST).stdout
    text = text.split("\nFound ")[0]  # before its report of deadlocks, which has the stacks again
    waits, owners, names = {}, {}, {}
    for block in re.split(r'\n(?=")', text):
        head = re.match(r'"(.*?)".* nid=(0x[0-9a-f]+|\d+)', block)
        if not head:
            continue
        tid = int(head[2], 0)
        names[head[1]] = tid
        wanted = re.search(r"- (waiting to lock|waiting on|parking to wait for)\s+<(0x[0-9a-f]+)> \(a (.*?)\)", block)
        if wanted:
            what = {"waiting to lock": "enter", "waiting on": "wait", "parking to wait for": "park"}[wanted[1]]
            waits[tid] = (what, wanted[2], wanted[3])
        for object_at in re.findall(r"- locked <(0x[0-9a-f]+)>", block):
            if not (wanted and wanted[2] == object_at):
                owners[object_at] = tid
        for object_at in re.findall(r"\n\t- <(0x[0-9a-f]+)> \(a java.util.concurrent", block):
            owners[object_at] = tid
    none = {"enter": "none", "wait": "none", "park": "unknown"}
    return {tid: Wait(what, owners.get(at, none[what]), cls) for tid, (what, at, cls) in waits.items()}, names


def compare(context, home, printer, pid, readable):
    expected, known = told_by_jstack(os.path.join(home, "bin/jstack"), pid)
    if not readable:
        expected = {tid: wait._replace(cls="") for tid, wait in expected.items() if wait.what != "park"}
    waits, names, troubles = printed(printer, pid, set(expected))
    anonymous = any("locked without a monitor" in trouble for trouble in troubles)
    if anonymous:  # JDK 21 and later with ZGC: said to be not known
        expected = {tid: wait._replace(owner_tid="unknown") if wait.what == "enter" else wait for tid, wait in expected.items()}
    ours = [name for name in known if re.match(r"left|right|philosopher|waiter|enterer|locker|lock owner", name)]
    check(context, "threads of the program that jstack sees waiting", len([n for n in ours if known[n] in expected]),
          9 if readable else 7)
    for name in ours:
        if known[name] in expected:
            check(context, f"wait of {name!r}", waits.get(known[name]), expected[known[name]])
    # Threads of the VM's own may come and go; none may wait for what jstack does not see.
    for tid, wait in waits.items():
        if tid in expected:
            check(context, f"wait of thread {tid}", wait, expected[tid])
        else:
            check(context, f"what jstack does not see of thread {tid}", wait.what, "no wait")
    check(context, "troubles", len(troubles), 0 if readable else 1 + anonymous)
    if not readable:
        return
    for name in ours:
        if "waiter" not in name and known[name] in expected:
            check(context, f"id of {name!r}", names.get(name), known[name])
    check(context, "a name beyond ASCII", "waiter \u00e9\u20ac\U0001f600" in names, True)
    owner_of = {name: waits[tid].owner_tid for name, tid in names.items()}
    check(context, "the two own each other's", (owner_of["left first"], owner_of["right first"]),
          (names["right first"], names["left first"]))
    check(context, "the ring", [owner_of[f"philosopher {i}"] for i in range(3)],
          [names[f"philosopher {(i + 1) % 3}"] for i in range(3)])
    check(context, "the owner that runs", owner_of["enterer"], known["spinner"])


def has_option(java, options):
    return subprocess.run([java, *options, "-version"], capture_output=True, timeout=LATEST).returncode == 0


def run(home, options, printer, folder):
    java = os.path.join(home, "bin/java")
    if not has_option(java, options):
        return False
    context = f"{os.path.basename(home)} {' '.join(options)}"
    with subprocess.Popen([java, *options, "-Dfile.encoding=UTF-8", "-cp", folder, "Monitors"], stdout=subprocess.PIPE,
                          text=True) as program:
        try:
            check(context, "its first line", program.stdout.readline().strip(), "ready")
            compare(context, home, printer, program.pid, "-XX:+UseZGC" not in options)
        finally:
            program.kill()
    print(f"{context}: compared")
    return True


def recorded_waits(uscope, pid, path):
    with subprocess.Popen([uscope, "record", "-o", path, "--pid", str(pid)], stderr=subprocess.PIPE, text=True) as recorder:
        recorder.stderr.readline()  # "tracing pid …"
        time.sleep(3)
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=LATEST)
    with contextlib.closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT tid, what, coalesce(owner_tid, 0), class FROM monitor_wait JOIN thread ON thread_id = thread.id")
        return {tid: Wait(what, owner, cls) for tid, what, owner, cls in rows}


def compare_stored(home, uscope, folder):
    """What a recording of a running VM stores, with jstack's report."""
    with subprocess.Popen([os.path.join(home, "bin/java"), "-cp", folder, "Monitors"], stdout=subprocess.PIPE, text=True) as program:
        try:
            program.stdout.readline()
            expected, known = told_by_jstack(os.path.join(home, "bin/jstack"), program.pid)
            names = {name: tid for name, tid in known.items() if re.match(r"left|right|philosopher|enterer|locker", name)}
            # A monitor's first waiter wakes for a moment each second, and waits for nothing in it: a second recording sees it wait.
            stored = {}
            for number in range(3):
                stored |= recorded_waits(uscope, program.pid, os.path.join(folder, f"stored{number}.db"))
                if all(tid in stored for tid in names.values()):
                    break
        finally:
            program.kill()
    for name, tid in names.items():
        check("stored", f"wait of {name!r}", stored.get(tid), expected[tid])


def main():
    printer, source, uscope = sys.argv[1:4]
    homes = sorted({os.path.realpath(os.path.dirname(os.path.dirname(path))) for path in glob.glob("/usr/lib/jvm/*/bin/jstack")})
    ran = 0
    for home in homes:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.path.join(home, "bin/javac"), "-encoding", "UTF-8", "-d", folder, source], check=True,
                           timeout=2 * LATEST)
            modes = [[], ["-XX:+UseSerialGC", "-XX:-UseCompressedOops"], ["-XX:+UseZGC"],
                     ["-XX:LockingMode=1"], ["-XX:LockingMode=2"], ["-XX:+UseCompactObjectHeaders"], ["-Xint"]]
            ran += sum(run(home, options, printer, folder) for options in modes)
            compare_stored(home, uscope, folder)
    check("all", "that a Java VM with jstack is installed (scripts/install-deps.sh test)", ran > 0, True)
    for fault in FAULTS:
        print(fault)
    print(f"{ran} runs of {len(homes)} Java VMs, {CHECKED} comparisons, {len(FAULTS)} faults")
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""In the guest, bounded in time, all beside a load of processes that nobody traces: storms (storms.c) of which each call must be in the
trace or counted as lost, also those of a storm that ran before the tracer came; tracers killed; with the module also loads and unloads, a second tracer, what the
module keeps of tasks (device_tasks.c), and random ioctls, of any content (device_fuzz.c) and in any order (device_sequences.c), and hooks in functions (device_functions.c). Kernel memory before and after. The kernel's log is the harness's to judge.
usage: stress.py USCOPE FOLDER [SCALE]   (FOLDER of storms and device_*; SCALE 1 [1]: 100 loads, 50 kills, 2 * 10^5 ioctls, storms of 2000)"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

USCOPE, FOLDER = sys.argv[1:3]
SCALE = float(sys.argv[3]) if len(sys.argv) > 3 else 1
BACKEND = os.environ.get("USCOPE_TEST_BACKEND", "bpf")
MODULE = "/suite/uscope.ko"
HOLDER = "/sys/module/uscope/parameters/holder"
LOAD = "while :; do /bin/true & /bin/true; wait; done"
ROUGH = "while :; do /bin/true & (:) ; wait; done"
MEMORY_KIB = 4096  # more than this is a leak: page tables and caches come and go

failures = []


def check(right, text):
    print("ok    " if right else "FAILED", text, flush=True)
    if not right:
        failures.append(text)


def times(number):
    return max(2, round(number * SCALE))


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def busybox(*words):
    done = run("/usr/bin/busybox", *words)
    return done.stderr.strip() if done.returncode else ""


def slabs():
    """Objects in use and their bytes, by cache; KiB of vmalloc."""
    caches = {}
    with open("/proc/slabinfo", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[1].isdigit():
                caches[words[0]] = (int(words[1]), int(words[1]) * int(words[3]))
    with open("/proc/meminfo", encoding="ascii") as file:
        vmalloc = next(int(line.split()[1]) for line in file if line.startswith("VmallocUsed:"))
    return caches, vmalloc


def settled():
    """slabs(), once what waits for RCU and what can be given back has gone."""
    os.sync()
    with load_at_rest():
        for _ in range(2):
            with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
                file.write("3")
            time.sleep(2)
        return slabs()


def compare_memory(before, after):
    (caches, vmalloc), (later, later_vmalloc) = before, after
    grown = sorted(((later[name][1] - size) // 1024, name, count, later[name][0]) for name, (count, size) in caches.items() if name in later)
    for kib, name, count, now in reversed(grown[-5:]):
        if kib > 0:
            print(f"       {name}: {count} objects before, {now} after, {kib} KiB more")
    total = (sum(size for _, size in later.values()) - sum(size for _, size in caches.values())) // 1024
    check(total < MEMORY_KIB and later_vmalloc - vmalloc < MEMORY_KIB,
          f"slabs {total:+} KiB, vmalloc {later_vmalloc - vmalloc:+} KiB")


def users():
    with open("/proc/modules", encoding="ascii") as modules:
        return sum(int(line.split()[2]) for line in modules if line.startswith("uscope "))


def programs():
    listed = run("bpftool", "prog", "list")
    return listed.stdout.count("name on_sys_enter") if listed.returncode == 0 else -1


def held():
    return users() if BACKEND == "kmod" else programs()


def left_over():
    """What a dead tracer has left in the kernel, after some time to take it away."""
    for _ in range(200):
        if not held():
            break
        time.sleep(0.1)
    return held()


def end(process):
    with contextlib.suppress(ProcessLookupError):  # there may be nobody left
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def record(database, *command, **options):
    return run(USCOPE, "record", "--backend", BACKEND, "-o", database, "--", *command, **options)


@contextlib.contextmanager
def load_at_rest():
    """While a trace is read, which nothing of the kernel decides, or memory is counted."""
    os.killpg(load.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(load.pid, signal.SIGCONT)


def rows(database, query):
    with load_at_rest():
        done = run(USCOPE, "sql", "--format", "json", database, query)
    if done.returncode:
        raise RuntimeError(f"{query}: {done.stderr}")
    return json.loads(done.stdout)["results"][0]["rows"]


def missing_events(database):
    """How many events are missing, by all causes that the product says lose events."""
    with load_at_rest():
        done = run(USCOPE, "report", "--format", "json", database)
    if done.returncode:
        raise RuntimeError(f"report: {done.stderr}")
    return sum(loss["count"] for loss in json.loads(done.stdout)["losses"] if loss["events_missing"])


def count_calls(database, kind, made, what):
    """Each call that was made is in the trace, or counted as lost. Returns how many processes are without a known parent."""
    found = rows(database, f"SELECT 'seen', count(*) FROM v_event WHERE kind = '{kind}' UNION ALL SELECT 'roots', count(*) FROM process "
                           "WHERE parent_id IS NULL UNION ALL SELECT cause, sum(count) FROM loss GROUP BY cause")
    (_, seen), (_, roots), *losses = found
    losses = dict(losses)
    events = missing_events(database) if losses else 0
    right = "raw_damaged" not in losses and (seen == made if not events else seen <= made <= seen + events)
    check(right, f"{what}: {made} calls, {seen} in the trace, lost {losses}")
    return roots


def storm(kind, number):
    done = record("storm.db", f"{FOLDER}/storms", kind, str(number), timeout=600)
    if done.returncode:
        check(False, f"{kind}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
        return
    count_calls("storm.db", "getppid", int(done.stdout), kind)


def storms():
    for kind in ("forks", "threads", "execs", "mappings", "stacks"):
        storm(kind, times(500 if kind == "execs" else 2000))


def has_begun(tracer, said):
    began = time.monotonic()
    while tracer.poll() is None and time.monotonic() - began < 300:
        with open(said, encoding="utf-8") as file:
            if "Ctrl-C ends tracing" in file.read():
                return True
        time.sleep(0.02)
    return False


def met_storm(kind, number, by):
    """A storm that a tracer attaches to: from the moment that tracing is said to have begun, every call counts."""
    with open("meeting", "wb") as file:
        file.write(bytes(8))
    running = subprocess.Popen([f"{FOLDER}/storms", kind, str(number), "meeting"], stdout=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(random.uniform(0.05, 0.5))
    with open("said", "w", encoding="utf-8") as said:
        tracer = subprocess.Popen([USCOPE, "record", "--backend", BACKEND, "-o", "met.db", f"--{by}",
                                   "storms" if by == "app" else str(running.pid)], stderr=said)
    try:
        begun = has_begun(tracer, "said")
        with open("meeting", "r+b") as file:
            file.write(b"\x01")
        made = int(running.communicate(timeout=600)[0])
        if by == "app":
            tracer.send_signal(signal.SIGINT)
        tracer.wait(timeout=600)
    finally:
        end(running)
        tracer.kill()
        tracer.wait()
    with open("said", encoding="utf-8") as said:
        told = said.read().strip()[-300:]
    if not begun or tracer.returncode:
        check(False, f"attaching by {by} to {kind}: exit {tracer.returncode}: {told}")
        return
    roots = count_calls("met.db", "getpgrp", made, f"attaching by {by} to {kind}")
    check(roots == 1, f"    {roots} process without a known parent")


def met_storms():
    for i in range(max(4, times(16))):
        met_storm(("met-forks", "met-execs")[i % 2], times((1000, 300)[i % 2]), ("pid", "app")[i // 2 % 2])


def killed_tracers():
    number, attached = times(50), 0
    for i in range(number):
        with contextlib.suppress(FileNotFoundError):  # what the one before has left
            os.unlink("kill.db.raw.part")
        tracer = subprocess.Popen([USCOPE, "record", "--backend", BACKEND, "-o", "kill.db", "--", "sh", "-c", ROUGH],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        # Half of them anywhere in their beginning, the others at work.
        began = time.monotonic()
        while i % 2 and not held() and time.monotonic() - began < 20:
            time.sleep(0.05)
        time.sleep(random.uniform(0.1, 2))
        attached += held() > 0
        if tracer.poll() is not None:
            check(False, f"tracer {i} ended by itself with {tracer.returncode}")
            return
        tracer.kill()
        time.sleep(random.uniform(0, 0.2))
        end(tracer)
        if left_over():
            check(False, f"killed tracer {i}: {held()} users or programs are left")
            return
    check(attached >= number // 2, f"{number} tracers killed, {attached} of them at work, nothing left of them")


def holder():
    with open(HOLDER, encoding="ascii") as file:
        return file.read().strip()


def second_tracer():
    first = subprocess.Popen([USCOPE, "record", "--backend", BACKEND, "-o", "first.db", "--", "cat"],
                             stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(200):
        if holder() != "0":
            break
        time.sleep(0.1)
    check(holder() == f"{first.pid} uscope", f"the module names its holder: {holder()}")
    second = record("second.db", "true")
    check(second.returncode == 125 and f"in use by process {first.pid} uscope" in second.stderr, f"a second tracer: {second.stderr.strip()}")
    check(busybox("rmmod", "uscope") != "", "a module that is held is not unloaded")
    told = first.communicate()[1].strip()  # its input ends
    check(first.returncode == 0, f"the first tracer: {told}")


def loads():
    number = times(100)
    for i in range(number):
        trouble = busybox("rmmod", "uscope") or busybox("insmod", MODULE)
        if not trouble and i % 10 == 0:
            done = record("load.db", "/bin/true")
            trouble = done.stderr if done.returncode else ""
        if trouble:
            check(False, f"load {i}: {trouble}")
            return
    check(True, f"{number} times unloaded and loaded under load")


def fuzz():
    for seed in (1, 2):
        done = run(f"{FOLDER}/device_fuzz", str(times(50000)), str(seed), timeout=1200)
        check(done.returncode == 0, f"device_fuzz: {done.stdout.strip()} {done.stderr.strip()[-200:]}")


def sequences():
    done = run(f"{FOLDER}/device_tasks", timeout=600)
    check(done.returncode == 0, done.stdout.strip() + done.stderr.strip()[-200:])
    for seed in (1, 2):
        done = run(f"{FOLDER}/device_sequences", str(times(50000)), str(seed), timeout=1200)
        check(done.returncode == 0, f"device_sequences: {done.stdout.strip()[-2000:]} {done.stderr.strip()[-200:]}")


def function_addresses(most):
    """Of functions of the kernel that ftrace can stop in; of one name there may be several, of which some cannot."""
    with open("/sys/kernel/tracing/available_filter_functions", encoding="ascii") as file:
        known = {line.strip() for line in file}
    names = {}
    with open("/proc/kallsyms", encoding="ascii") as file:
        for line in file:
            address, kind, name = line.split()[:3]
            if kind in "tT" and name in known:
                names.setdefault(name, []).append(address)
    single = sorted(name for name, addresses in names.items() if len(addresses) == 1)
    return [names[name][0] for name in random.Random(1).sample(single, most)]


def functions():
    addresses = "\n".join(function_addresses(1000))
    done = run(f"{FOLDER}/device_functions", str(times(50)), "sh", input=addresses, timeout=1200)
    check(done.returncode == 0, f"device_functions: {done.stdout.strip()} {done.stderr.strip()[-200:]}")


def doctor():
    told = run(USCOPE, "doctor").stdout
    check(f"backend {BACKEND}: can run here" in told, "doctor says so")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        parts = [doctor, storms, met_storms, killed_tracers] + ([second_tracer, loads, sequences, functions, fuzz] if BACKEND == "kmod" else [])
        try:
            record("warm.db", "/bin/true")
            before = settled()
            for part in parts:
                began = time.monotonic()
                part()
                print(f"       {part.__name__}: {time.monotonic() - began:.0f} s", flush=True)
            compare_memory(before, settled())
        finally:
            end(load)
            os.chdir("/")
    print(f"stress ({BACKEND}, scale {SCALE}): {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    load = subprocess.Popen(["sh", "-c", LOAD], start_new_session=True)
    sys.exit(main())

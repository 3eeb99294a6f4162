#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What tracing costs real servers: throughput of Apache's event MPM under ab, and of MariaDB under sysbench's OLTP, alone and traced.

A server is started once; each round loads it in turn alone, under uscope in mode 2 (5 frames), in mode 4 (64 frames), and under
bpftrace's frame-pointer `ustack(5)`, and with empty programs on the two raw tracepoints, which is what any tracer pays for its hooks;
the first round also once under `strace -f -k`. Tracers attach to the running server, and the collector's own work is in what is measured,
since server, load and collector share the machine. What is lost of throughput, and what processor time of server and tracer is added,
is told against the runs alone before and after it in the same round; medians and quartiles over the rounds. A lost event fails it.

usage: servers.py --build FOLDER [--rounds N] [--seconds N] [--server NAME]... [--json FILE] [--check] [--no-strace]
Needs root, apache2, ab, mariadb-server, sysbench, bpftrace and strace.
"""

import argparse
import contextlib
import json
import os
import platform
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from bystanders import empty_programs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support", "py"))
from server_setup import Failed, answers, apache_conf, free_port, run, wait_for, written  # noqa: E402

# name: the most throughput that may be lost (%), the aim
VARIANTS = {
    "uscope mode 2, 5 frames": (6, 3),
    "uscope mode 4, 64 frames": (None, None),
    "bpftrace ustack(5)": (None, None),
    "empty programs": (None, None),
}

APACHE_LINES = """MaxKeepAliveRequests 0
StartServers 2
ServerLimit 2
ThreadsPerChild 64
MaxRequestWorkers 128
MinSpareThreads 1
MaxSpareThreads 128
"""


class Apache:
    """4 KiB from a file, connections kept, a hundred of them at once: requests a second."""

    name, unit, program = "apache2", "requests/s", "apache2"

    def __init__(self, folder, seconds):
        self.port = free_port()
        pages = os.path.join(folder, "htdocs")
        os.mkdir(pages)
        written(pages, "page", "x" * 4096)
        conf = apache_conf(folder, self.port, APACHE_LINES, pages)
        self.process = subprocess.Popen(["/usr/sbin/apache2", "-f", conf, "-DFOREGROUND"], stdin=subprocess.DEVNULL)
        wait_for(lambda: answers(self.port), "apache2 does not serve")
        self.requests = 20000
        self.requests = int(self.load() * seconds)

    def load(self, part=1, slow=False):
        # A number of requests: a limit of time would cut answers off.
        requests = max(500, int(self.requests * part))
        said = run("ab", "-q", "-k", "-c", "100", "-n", str(requests), f"http://127.0.0.1:{self.port}/page")
        # A server whose workers are all busy closes connections that are kept, which ab takes for a short answer: often so where
        # it is slow.
        if int(re.search(r"Failed requests: +(\d+)", said)[1]) > requests / (2 if slow else 50):
            raise Failed(f"requests failed: {said}")
        self.done = requests
        return float(re.search(r"Requests per second: +([\d.]+)", said)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


class MariaDb:
    """sysbench's read-write transactions over four small tables, eight at a time: transactions a second."""

    name, unit, program = "mariadbd", "transactions/s", "mariadbd"

    def __init__(self, folder, seconds):
        own = os.path.join(folder, "mariadb")
        os.mkdir(own)
        shutil.chown(own, "mysql", "mysql")
        self.seconds, self.socket, data = seconds, os.path.join(own, "socket"), os.path.join(own, "data")
        run("mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", f"--datadir={data}", "--user=mysql")
        self.process = subprocess.Popen(["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={self.socket}", "--user=mysql",
                                         "--skip-networking", "--innodb-flush-log-at-trx-commit=2", f"--log-error={own}/log"],
                                        stdin=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(self.socket), "mariadbd does not serve")
        run("mariadb", "--no-defaults", f"--socket={self.socket}", "-u", "root", "-e", "CREATE DATABASE sbtest")
        self.sysbench("prepare")

    def sysbench(self, what, *options):
        return run("sysbench", "oltp_read_write", "--db-driver=mysql", f"--mysql-socket={self.socket}", "--mysql-user=root", "--tables=4",
                    "--table-size=10000", "--threads=8", *options, what)

    def load(self, part=1, slow=False):
        said = self.sysbench("run", f"--time={max(1, int(self.seconds * part))}")
        done, rate = re.search(r"transactions: +(\d+) +\(([\d.]+) per sec", said).groups()
        self.done = int(done)
        return float(rate)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


class Tracer:
    """Attached to a server while `with` lasts."""

    def __init__(self, arguments, server, folder):
        self.uscope, self.server, self.folder = os.path.join(os.path.abspath(arguments.build), "uscope"), server, folder
        self.trace = os.path.join(folder, "trace.db")
        self.figures = {}

    @contextlib.contextmanager
    def attached(self, command, begun, check):
        with open(os.path.join(self.folder, "said"), "w+", encoding="utf-8") as said:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)

            def text():
                with open(said.name, encoding="utf-8", errors="replace") as file:
                    return file.read()

            try:
                wait_for(lambda: begun in text() or process.poll() is not None, f"{command[0]} does not begin")
                time.sleep(0.5)
                yield
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(300)
            check(process.returncode, text())

    def under_uscope(self, options):
        def check(code, said):
            if code != 0:
                raise Failed(said)
            with contextlib.closing(sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True)) as database:
                lost = database.execute("SELECT cause, sum(count) FROM loss GROUP BY 1").fetchall()
                if lost:
                    raise Failed(f"uscope lost: {lost}")
                (events,) = database.execute("SELECT count(*) FROM event").fetchone()
                (seconds,) = database.execute("SELECT CAST(value AS REAL) / 1e9 FROM meta WHERE key = 'duration_ns'").fetchone()
                whole = "('root', 'scope', 'budget')"
                (broken,) = database.execute(f"SELECT count(*) FROM v_event WHERE ended NOT IN {whole}").fetchone()
            self.figures = {"events a second": events / seconds, "stacks that are not whole": broken}

        return self.attached([self.uscope, "record", "-o", self.trace, *options, "--app", self.server.program], "Ctrl-C ends tracing", check)

    def under_bpftrace(self):
        program = f'BEGIN {{ printf("begun\\n"); }} tracepoint:raw_syscalls:sys_enter /comm == "{self.server.program}"/ {{ @[ustack(5)] = count(); }}'
        return self.attached(["bpftrace", "-e", program], "begun", lambda code, said: None)

    def under_strace(self):
        pids = ",".join(run("pgrep", "-x", self.server.program).split())
        return self.attached(["strace", "-f", "-k", "-o", "/dev/null", "-p", pids], "attached", lambda code, said: None)


def tracing(variant, tracer):
    if variant == "empty programs":
        return empty_programs()
    if variant.startswith("bpftrace"):
        return tracer.under_bpftrace()
    mode, frames = re.findall(r"\d+", variant)
    return tracer.under_uscope(["--mode", mode, "-S", frames])


def processor_seconds(server):
    """Of the server and of its tracers, so far."""
    ticks = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            name, _, rest = stat.read().partition("(")[2].rpartition(")")
            if name in (server.program, "uscope", "uscope-reader", "bpftrace"):
                ticks += sum(map(int, rest.split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def loaded(server):
    """Throughput, and processor microseconds for each request or transaction: other programs on the machine disturb that less."""
    before = processor_seconds(server)
    rate = server.load()
    return rate, 1e6 * (processor_seconds(server) - before) / server.done


def rounds_of(arguments, server, folder):
    results = {name: [] for name in VARIANTS}
    alone = []
    server.load()  # warm
    for number in range(arguments.rounds):
        before, time_before = loaded(server)
        for name in VARIANTS:
            tracer = Tracer(arguments, server, folder)
            with tracing(name, tracer):
                traced, time_traced = loaded(server)
            after, time_after = loaded(server)
            loss = 100 * (1 - traced / ((before + after) / 2))
            added = time_traced - (time_before + time_after) / 2
            results[name].append({"loss": loss, "traced": traced, "added us": added, **tracer.figures})
            alone += [before, after]
            print(f"  round {number + 1}: {name}: {traced:,.0f} of {(before + after) / 2:,.0f} {server.unit}, {loss:.1f} % lost; "
                  f"{added:.1f} µs more each of {(time_before + time_after) / 2:.1f} {tracer.figures or ''}", flush=True)
            before, time_before = after, time_after
    if not arguments.no_strace:
        with Tracer(arguments, server, folder).under_strace():
            traced = server.load(part=0.002, slow=True)
        results["strace -f -k (once)"] = [{"loss": 100 * (1 - traced / statistics.median(alone)), "traced": traced}]
    return results, alone


def measure(arguments, kind):
    folder = tempfile.mkdtemp(prefix="uscope-bench-")
    os.chmod(folder, 0o755)
    try:
        server = kind(folder, arguments.seconds)
        try:
            results, alone = rounds_of(arguments, server, folder)
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    spread = statistics.quantiles(alone, n=4) if len(alone) > 1 else [alone[0]] * 3
    print(f"{server.name} alone: {spread[1]:,.0f} {server.unit} (quartiles {spread[0]:,.0f} to {spread[2]:,.0f})")
    rows = {}
    for name, runs in results.items():
        losses = [one["loss"] for one in runs]
        quartiles = statistics.quantiles(losses, n=4) if len(losses) > 1 else losses * 3
        bound, aim = VARIANTS.get(name, (None, None))
        verdict = "" if bound is None else f"bound {bound} %, aim {aim} %: " + ("met" if quartiles[1] <= bound else "MISSED")
        added = statistics.median(one["added us"] for one in runs) if "added us" in runs[0] else None
        told = "" if added is None else f", {added:.1f} µs of processor time more each"
        print(f"  {name:26} {quartiles[1]:6.1f} % lost (quartiles {quartiles[0]:.1f} to {quartiles[2]:.1f}){told} {verdict}")
        rows[name] = {"median": quartiles[1], "quartiles": [quartiles[0], quartiles[2]], "bound": bound, "runs": runs}
    return {"alone": {"unit": server.unit, "quartiles": spread}, "variants": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="of load in each run")
    parser.add_argument("--server", action="append", choices=["apache2", "mariadbd"])
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true", help="fail where a bound is missed")
    parser.add_argument("--no-strace", action="store_true")
    arguments = parser.parse_args()
    report = {"kernel": platform.release(), "processors": os.cpu_count(), "load before": os.getloadavg()[0], "seconds": arguments.seconds, "servers": {}}
    try:
        for kind in (Apache, MariaDb):
            if not arguments.server or kind.name in arguments.server:
                report["servers"][kind.name] = measure(arguments, kind)
    except (Failed, OSError, subprocess.TimeoutExpired) as error:
        print(f"servers.py: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    missed = [name for server in report["servers"].values() for name, row in server["variants"].items()
              if row["bound"] is not None and row["median"] > row["bound"]]
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())

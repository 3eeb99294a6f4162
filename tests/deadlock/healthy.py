#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Servers and runtimes in good health, at rest and at work, looked at with `uscope deadlock` while they run: none may be accused of
anything, in any of the runs. Prints a table: threads, how many of them waited in futex, verdicts, seconds from start to verdict.

usage: healthy.py --build FOLDER [--runs N] [--only NAME]... [--json FILE]
Needs root, a backend, and what install-deps.sh calls bench. Servers listen on loopback or on sockets in a folder of their own, and end
with this script."""
import argparse
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "py"))
from healthy_programs import PROGRAMS  # noqa: E402
from healthy_runtimes import PROGRAMS as RUNTIMES  # noqa: E402
from server_setup import (Failed, answers, apache_command, free_port, mariadb_command, nginx_command, postgres_command,  # noqa: E402
                          redis_command, started as started_by, wait_for)

APACHE_LINES = """StartServers 2
ThreadsPerChild 25
"""

NGINX_LINES = "worker_processes 2; thread_pool default threads=16; events { }"

NODE = "require('http').createServer((_, answer) => answer.end('x')).listen({port}, '127.0.0.1'); require('fs').readFile('/etc/hostname', () => 0)"


def started(*command, **options):
    return started_by(command, start_new_session=True, **options)


def serves(process, port):
    wait_for(lambda: answers(port), "it does not serve")
    return process


def apache(folder, _):
    port = free_port()
    return serves(started(*apache_command(folder, port, APACHE_LINES)), port)


def nginx(folder, _):
    port = free_port()
    return serves(started(*nginx_command(folder, port, folder, NGINX_LINES, server="aio threads;")), port)


def redis(folder, _):
    path = os.path.join(folder, "socket")
    process = started(*redis_command(folder, "--port", "0", "--unixsocket", path))
    wait_for(lambda: os.path.exists(path), "redis-server does not serve")
    return process


def mariadb(folder, _):
    process = started(*mariadb_command(folder))
    wait_for(lambda: os.path.exists(os.path.join(folder, "socket")), "mariadbd does not serve")
    return process


def postgres(folder, _):
    process = started(*postgres_command(folder, "-c", "listen_addresses="))
    wait_for(lambda: os.path.exists(os.path.join(folder, ".s.PGSQL.5432")), "postgres does not serve")
    return process


def node(_, __):
    port = free_port()
    return serves(started(shutil.which("node"), "-e", NODE.format(port=port)), port)


def java(folder, _):
    """The one service that comes with the runtime, in a network namespace of its own, since it would listen on all addresses."""
    return started("unshare", "--net", "rmiregistry", cwd=folder)


def pool(_, build):
    return started(os.path.join(build, "tests/fixtures/deadlock_healthy"), "pool")


def contention(_, build):
    return started(os.path.join(build, "tests/fixtures/deadlock_healthy"), "contention")


def libc_contention(_, build):
    return started(os.path.join(build, "tests/fixtures/deadlock_libc_locks"), "contends")


def libc_handler(_, build):
    return started(os.path.join(build, "tests/fixtures/deadlock_libc_locks"), "handles")


SERVERS = {"apache2": apache, "mariadbd": mariadb, "redis-server": redis, "nginx": nginx, "postgres": postgres, "node": node,
           "java": java, "thread pool": pool, "lock contention": contention,
           "contention for libc's locks": libc_contention, "handler that takes libc's locks": libc_handler, **PROGRAMS, **RUNTIMES}
# What cannot be followed accuses nobody: their runtimes have their own scheduler, or locks that only their own code gives back.
OPAQUE = ("java", "java and its child", "go http", *RUNTIMES)


def application(process):
    """By the name of what it runs: --app's."""
    return os.path.basename(os.readlink(f"/proc/{process.pid}/exe"))


def threads_of(pid):
    """Of a process and of what it started."""
    found = len(os.listdir(f"/proc/{pid}/task"))
    for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split():
        with contextlib.suppress(OSError):
            found += threads_of(child)
    return found


def end(process):
    process.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(20)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def look(arguments, name, process, number):
    """By its process and by its name in turn; a program whose name others have, too, only by its process."""
    by_name = number % 2 and name not in PROGRAMS and name not in RUNTIMES
    target = ["--app", application(process)] if by_name else ["--pid", str(process.pid)]
    begun = time.monotonic()
    done = subprocess.run([os.path.join(arguments.build, "uscope"), "deadlock", *target, "--format", "json"], capture_output=True, text=True,
                          timeout=120, check=False)
    seconds = time.monotonic() - begun
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return {"verdict": "error", "status": done.returncode, "seconds": seconds, "waiting": 0, "said": done.stderr}
    return {"verdict": found["verdict"], "status": done.returncode, "seconds": seconds, "waiting": len(found["blocked"]),
            "findings": found["findings"]}


def measure(arguments, name):
    folder = tempfile.mkdtemp(prefix="uscope-healthy-")
    os.chmod(folder, 0o777)
    try:
        process = SERVERS[name](folder, arguments.build)
        try:
            time.sleep(3)  # at rest
            threads = threads_of(process.pid)
            runs = [look(arguments, name, process, number) for number in range(arguments.runs)]
            if process.poll() is not None:
                raise RuntimeError(f"{name} has ended: exit status {process.returncode}")
        finally:
            end(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"threads": threads, "runs": runs}


def healthy(name, one):
    return (one["verdict"], one["status"]) == ("none", 0) or (name in OPAQUE and (one["verdict"], one["status"]) == ("undecided", 3))


def line(name, row):
    runs = row["runs"]
    good = sum(healthy(name, one) for one in runs)
    seconds = [one["seconds"] for one in runs]
    waiting = sorted({one["waiting"] for one in runs})
    waiting = str(waiting[0]) if len(waiting) == 1 else f"{waiting[0]} to {waiting[-1]}"
    return f"| {name} | {row['threads']} | {waiting} | {good} of {len(runs)} | {statistics.median(seconds):.2f} s | {max(seconds):.2f} s |", good == len(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", action="append", choices=SERVERS)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    report, all_good = {}, True
    print("| program | threads | of these in futex | nobody accused | median | slowest |\n| --- | --- | --- | --- | --- | --- |")
    for name in arguments.only or SERVERS:
        try:
            report[name] = measure(arguments, name)
        except (Failed, OSError, RuntimeError, subprocess.SubprocessError) as error:
            print(f"healthy.py: {name}: {error}", file=sys.stderr)
            all_good = False
            continue
        text, good = line(name, report[name])
        print(text, flush=True)
        for one in report[name]["runs"]:
            if not healthy(name, one):
                print(json.dumps(one, indent=1), file=sys.stderr)
        all_good &= good
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())

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
from server_setup import answers, apache_conf, free_port, run, wait_for, written  # noqa: E402

APACHE_LINES = """StartServers 2
ThreadsPerChild 25
"""

NGINX = """daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
worker_processes 2;
thread_pool default threads=16;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  server {{ listen 127.0.0.1:{port}; root {folder}; aio threads; }}
}}
"""

NODE = "require('http').createServer((_, answer) => answer.end('x')).listen({port}, '127.0.0.1'); require('fs').readFile('/etc/hostname', () => 0)"


def started(*command, **options):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **options)


def serves(process, port):
    wait_for(lambda: answers(port), "it does not serve")
    return process


def apache(folder, _):
    port = free_port()
    return serves(started("/usr/sbin/apache2", "-f", apache_conf(folder, port, APACHE_LINES), "-DFOREGROUND"), port)


def nginx(folder, _):
    port = free_port()
    return serves(started("/usr/sbin/nginx", "-p", folder, "-c", written(folder, "nginx.conf", NGINX.format(folder=folder, port=port))), port)


def redis(folder, _):
    path = os.path.join(folder, "socket")
    process = started("/usr/bin/redis-server", "--port", "0", "--unixsocket", path, "--dir", folder, "--save", "", user="nobody")
    wait_for(lambda: os.path.exists(path), "redis-server does not serve")
    return process


def mariadb(folder, _):
    data, path = os.path.join(folder, "data"), os.path.join(folder, "socket")
    shutil.chown(folder, "mysql", "mysql")
    run("mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", f"--datadir={data}", "--user=mysql")
    process = started("/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={path}", "--user=mysql", "--skip-networking",
                      f"--log-error={folder}/log")
    wait_for(lambda: os.path.exists(path), "mariadbd does not serve")
    return process


def postgres(folder, _):
    programs = max(os.path.join("/usr/lib/postgresql", version, "bin") for version in os.listdir("/usr/lib/postgresql"))
    shutil.chown(folder, "postgres", "postgres")
    data = os.path.join(folder, "data")
    run(os.path.join(programs, "initdb"), "-D", data, user="postgres", cwd=folder)
    process = started(os.path.join(programs, "postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", user="postgres", cwd=folder)
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


SERVERS = {"apache2": apache, "mariadbd": mariadb, "redis-server": redis, "nginx": nginx, "postgres": postgres, "node": node,
           "java": java, "thread pool": pool, "lock contention": contention}


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


def look(arguments, process, number):
    """By its process and by its name in turn."""
    target = ["--pid", str(process.pid)] if number % 2 == 0 else ["--app", application(process)]
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
            runs = [look(arguments, process, number) for number in range(arguments.runs)]
            if process.poll() is not None:
                raise RuntimeError(f"{name} has ended: exit status {process.returncode}")
        finally:
            end(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"threads": threads, "runs": runs}


def line(name, row):
    runs = row["runs"]
    good = sum(one["verdict"] == "none" and one["status"] == 0 for one in runs)
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
    report, healthy = {}, True
    print("| program | threads | of these in futex | `none` | median | slowest |\n| --- | --- | --- | --- | --- | --- |")
    for name in arguments.only or SERVERS:
        try:
            report[name] = measure(arguments, name)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            print(f"healthy.py: {name}: {error}", file=sys.stderr)
            healthy = False
            continue
        text, good = line(name, report[name])
        print(text, flush=True)
        for one in report[name]["runs"]:
            if one["verdict"] != "none" or one["status"] != 0:
                print(json.dumps(one, indent=1), file=sys.stderr)
        healthy &= good
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    return 0 if healthy else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Whether `uscope diff` finds what is wrong: faults made on real servers, three normal runs and one abnormal each.

Apache, nginx, MariaDB and PostgreSQL each serve the same work in every run, traced by attaching to them. A fault is made before an
abnormal run and undone after it: a file is moved away, one may no longer be read, a disk is full (a small tmpfs), an upstream is
dead, no descriptor is left. Told is at which rank of `only_in_abnormal` or of `changed` the call stands that failed for it, and whether
the file or address is in its strings. Three more normal runs are compared with the first three: nothing of ten events or more may
be on one side only, and nothing changed.

usage: diff_faults.py --build FOLDER [--server NAME]... [--fault NAME]... [--keep FOLDER] [--json FILE] [--check] [--no-null]
Needs root, a backend, apache2, nginx, mariadb-server, postgresql, util-linux.
"""

import argparse
import contextlib
import http.client
import http.server
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support", "py"))
from server_setup import (Failed, answers, apache_command, free_port, mariadb_command, nginx_command, postgres_command,  # noqa: E402
                          postgres_programs, run, started, wait_for)

MOST_RANK = 5
LEAST_EVENTS = 10


class Fault:
    """What is done to a server, and what failed for it: the calls, the error, and what must be in the strings."""

    def __init__(self, name, calls, error, string, make, undo):
        self.name, self.calls, self.error, self.string, self.make, self.undo = name, calls, error, string, make, undo


OPENS = {"open", "readlink", "readlinkat", "openat", "openat2", "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"}
WRITES = {"write", "writev", "pwrite64", "pwritev", "pwritev2", "fallocate", "ftruncate"}


def moved(path):
    return Fault("moved_file", OPENS, "ENOENT", os.path.basename(path), lambda: os.rename(path, path + ".away"),
                 lambda: os.rename(path + ".away", path))


def denied(path):
    mode = os.stat(path).st_mode & 0o777
    return Fault("denied_permission", OPENS, "EACCES", os.path.basename(path), lambda: os.chmod(path, 0), lambda: os.chmod(path, mode))


class SmallDisk:
    """A tmpfs of a few MiB, and a file that fills it. A mere folder where no disk is to be filled."""

    wanted = True
    mounted = []

    def __init__(self, folder, owner, size="8M"):
        self.folder = folder
        os.mkdir(folder)
        if self.wanted:
            run("mount", "-t", "tmpfs", "-o", f"size={size}", "uscope-bench", folder)
            self.mounted.append(folder)
        shutil.chown(folder, owner, owner if owner != "nobody" else "nogroup")

    def fill(self):
        with open(os.path.join(self.folder, "ballast"), "wb", buffering=0) as ballast, contextlib.suppress(OSError):
            for size in (65536, 4096):
                with contextlib.suppress(OSError):
                    while True:
                        ballast.write(b"x" * size)

    def clear(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.folder, "ballast"))

    def unmount(self):
        if self.folder in self.mounted:
            subprocess.run(["umount", "-l", self.folder], check=False)
            self.mounted.remove(self.folder)

    def fault(self, string):
        return Fault("full_disk", WRITES, "ENOSPC", string, self.fill, self.clear)


def descriptors_of(pid):
    return sorted(int(name) for name in os.listdir(f"/proc/{pid}/fd"))


def prlimit(pid, *options):
    """As the user of the process: root needs a capability for other users' limits, which containers lack."""
    owner = os.stat(f"/proc/{pid}")
    return run("prlimit", *options, "--pid", str(pid), user=owner.st_uid, group=owner.st_gid, extra_groups=[])


def no_descriptors(pids, calls, spare=0):
    """No new descriptor can be had by these processes, but for `spare` ones. Whatever file or address they then fail on will do."""
    before = {}

    def make():
        for pid in pids():
            before[pid] = prlimit(pid, "--nofile", "--output", "SOFT,HARD", "--noheadings").split()
            used = descriptors_of(pid)
            # The limit is on the number of a descriptor: the lowest free one counts.
            first_free = next(number for number in range(len(used) + 1) if number not in used)
            prlimit(pid, f"--nofile={first_free + spare}:{before[pid][1]}")

    def undo():
        for pid, (soft, hard) in before.items():
            with contextlib.suppress(Failed, OSError):  # the server may have ended it
                prlimit(pid, f"--nofile={soft}:{hard}")
        before.clear()

    return Fault("no_descriptors", calls, "EMFILE", "", make, undo)


def children_of(pid):
    return [int(child) for child in run("sh", "-c", f"cat /proc/{pid}/task/*/children").split()]


def fetch(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        return connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class WebServer:
    """Three pages, asked for in turn, each on a connection of its own."""

    rounds = 40

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.pages = os.path.join(folder, "htdocs")
        os.mkdir(self.pages)
        for name in ("first", "second", "third"):
            with open(os.path.join(self.pages, f"{name}.page"), "w", encoding="ascii") as page:
                page.write(name * 500)
        self.disk = SmallDisk(os.path.join(folder, "logs"), "root", "1M")

    def work(self):
        for _ in range(self.rounds):
            for name in ("first", "second", "third"):
                fetch(self.port, f"/{name}.page")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.disk.unmount()


class Apache(WebServer):
    name = "apache2"
    lines = """StartServers 1
ServerLimit 1
ThreadsPerChild 8
MaxRequestWorkers 8
MinSpareThreads 1
MaxSpareThreads 8
LogFormat "%t %r %>s" short
CustomLog logs/access.log short
"""

    def __init__(self, folder):
        super().__init__(folder)
        self.process = started(apache_command(folder, self.port, self.lines, self.pages))
        wait_for(lambda: answers(self.port), "apache2 does not serve")

    def faults(self):
        page = os.path.join(self.pages, "second.page")
        return [moved(page), denied(page), self.disk.fault("access.log"),
                no_descriptors(lambda: children_of(self.process.pid), {"openat", "accept4"}, spare=1)]


class Nginx(WebServer):
    name = "nginx"
    lines = "worker_processes 1; events { worker_connections 64; }"

    def __init__(self, folder):
        super().__init__(folder)
        self.upstream = free_port()
        self.start_upstream()
        self.process = started(nginx_command(folder, self.port, self.pages, self.lines, f"access_log {folder}/logs/access.log;",
                                             f"location /upstream {{ proxy_pass http://127.0.0.1:{self.upstream}; }}"))
        wait_for(lambda: answers(self.port), "nginx does not serve")

    def start_upstream(self):
        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", "6")
                self.end_headers()
                self.wfile.write(b"answer")

            def log_message(self, *_):
                pass

        self.service = http.server.ThreadingHTTPServer(("127.0.0.1", self.upstream), Answer)
        threading.Thread(target=self.service.serve_forever, daemon=True).start()

    def stop_upstream(self):
        self.service.shutdown()
        self.service.server_close()

    def work(self):
        super().work()
        for _ in range(self.rounds):
            fetch(self.port, "/upstream")

    def stop(self):
        super().stop()
        self.stop_upstream()

    def faults(self):
        page = os.path.join(self.pages, "second.page")
        workers = lambda: children_of(self.process.pid)
        return [moved(page), denied(page), self.disk.fault("access.log"),
                Fault("dead_upstream", {"connect"}, "unconnected", f"127.0.0.1:{self.upstream}", self.stop_upstream, self.start_upstream),
                no_descriptors(workers, {"openat", "socket", "accept4"}, spare=1)]


class MariaDb:
    """Three tables, opened anew in each round; of one the file is on a small disk."""

    name = "mariadbd"
    rounds = 12

    def __init__(self, folder):
        self.socket, self.data = os.path.join(folder, "socket"), os.path.join(folder, "data")
        self.disk = SmallDisk(os.path.join(folder, "disk"), "mysql", "16M")
        self.process = started(mariadb_command(folder))
        wait_for(lambda: os.path.exists(self.socket), "mariadbd does not serve")
        self.sql("CREATE DATABASE bench", database="mysql")
        self.sql("CREATE TABLE plain (id INT PRIMARY KEY, text VARCHAR(100)) ENGINE=InnoDB; INSERT INTO plain VALUES (1, 'one'), (2, 'two');"
                 "CREATE TABLE aria (id INT PRIMARY KEY, text VARCHAR(100)) ENGINE=MyISAM; INSERT INTO aria VALUES (1, 'one'), (2, 'two');"
                 f"CREATE TABLE heavy (id INT AUTO_INCREMENT PRIMARY KEY, text LONGTEXT) ENGINE=InnoDB DATA DIRECTORY='{self.disk.folder}'")

    def sql(self, text, database="bench"):
        # --force goes on after an error, as an application does.
        return subprocess.run(["mariadb", "--no-defaults", "--force", f"--socket={self.socket}", "-u", "root", database], input=text, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)

    def work(self):
        for _ in range(self.rounds):
            self.sql("FLUSH TABLES; SELECT * FROM plain; UPDATE plain SET text = 'uno' WHERE id = 1; SELECT * FROM aria; "
                     "UPDATE aria SET text = 'dos' WHERE id = 2; INSERT INTO heavy (text) VALUES (REPEAT('x', 400000)); SELECT count(*) FROM heavy")
        self.sql("TRUNCATE heavy")

    def faults(self):
        file = os.path.join(self.data, "bench", "aria.MYI")
        # InnoDB aborts soon after its disk was full.
        return [moved(file), denied(file), no_descriptors(lambda: [self.process.pid], {"openat", "accept4", "accept", "socket"}, spare=3),
                self.disk.fault("heavy.ibd")]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.disk.unmount()


class Postgres:
    """Two tables, each session a process of its own; one in a tablespace on a small disk."""

    name = "postgres"
    rounds = 15

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.disk = SmallDisk(os.path.join(folder, "disk"), "postgres", "6M")
        self.process = started(postgres_command(folder, "-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", "autovacuum=off",
                                                "-c", "fsync=off"))
        wait_for(lambda: self.sql("SELECT 1").returncode == 0, "postgres does not serve")
        self.sql("CREATE TABLE plain (id int primary key, text text); INSERT INTO plain SELECT n, repeat('x', 100) FROM generate_series(1, 100) n")
        self.sql(f"CREATE TABLESPACE small LOCATION '{self.disk.folder}'")
        self.sql("CREATE TABLE heavy (text text) TABLESPACE small; ALTER TABLE heavy ALTER text SET STORAGE PLAIN")
        self.plain = os.path.join(folder, "data", self.ask("SELECT pg_relation_filepath('plain')"))

    def sql(self, text, *options):
        return subprocess.run([f"{postgres_programs()}/psql", "-X", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", *options, "-c", text, "postgres"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)

    def ask(self, text):
        return self.sql(text, "-At").stdout.strip()

    def work(self):
        for _ in range(self.rounds):
            self.sql("SELECT sum(id) FROM plain")
            self.sql("INSERT INTO heavy SELECT repeat('y', 7000) FROM generate_series(1, 10)")
        self.sql("VACUUM FULL heavy; ")
        self.sql("TRUNCATE heavy")

    def faults(self):
        return [moved(self.plain), denied(self.plain), self.disk.fault("pg_tblspc"),
                no_descriptors(lambda: [self.process.pid], {"openat", "accept4", "accept", "socket", "epoll_create1", "signalfd4", "pipe2"}, spare=4)]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        self.disk.unmount()


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.uscope = os.path.join(os.path.abspath(arguments.build), "uscope")

    def trace(self, server, name):
        """One run of the work, traced; its database."""
        database = os.path.join(self.folder, f"{server.name}-{name}.db")
        said = os.path.join(self.folder, "said")
        with open(said, "w", encoding="utf-8") as file:
            process = subprocess.Popen([self.uscope, "record", "-o", database, "--pid", str(server.process.pid)], stdin=subprocess.DEVNULL,
                                       stdout=file, stderr=file)

        def text():
            with open(said, encoding="utf-8", errors="replace") as file:
                return file.read()

        try:
            wait_for(lambda: "Ctrl-C ends tracing" in text() or process.poll() is not None, "uscope does not begin")
            time.sleep(0.3)
            server.work()
            time.sleep(0.3)
        finally:
            # Where the fault was the server's end, it was the end of tracing too.
            if server.process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(300)
        if process.returncode != 0:
            raise Failed(text())
        return database

    def diff(self, normal, abnormal):
        return json.loads(run(self.uscope, "diff", "--format", "json", "--normal", *normal, "--abnormal", *abnormal))

    def rank(self, found, fault):
        """Where the call that failed for it stands: rank, list, whether the string is there; None: nowhere."""
        best = None
        for name in ("only_in_abnormal", "changed"):
            for number, cell in enumerate(found[name]["lines"], 1):
                failed = fault.error in cell["what"] or fault.error in cell.get("errors", {})
                if cell["kind"] not in fault.calls or not failed:
                    continue
                told = any(fault.string in string for string in cell["arguments"])
                if best is None or (told, -number) > (best["told"], -best["rank"]):
                    best = {"rank": number, "list": name, "told": told, "function": cell["function"], "kind": cell["kind"], "strings": cell["arguments"][:3]}
        return best

    def run(self, kind):
        server_folder = os.path.join(self.folder, f"{kind.name}.home")
        os.mkdir(server_folder)
        os.chmod(server_folder, 0o755)
        server = kind(server_folder)
        results = {}
        try:
            server.work()  # warm
            normal = [self.trace(server, f"normal{number}") for number in range(3)]
            if not self.arguments.no_null:
                results["nothing"] = self.judge_null(normal, [self.trace(server, f"again{number}") for number in range(3)])
            for fault in server.faults():
                if self.arguments.fault and fault.name not in self.arguments.fault:
                    continue
                fault.make()
                try:
                    abnormal = self.trace(server, fault.name)
                finally:
                    fault.undo()
                server.work()  # well again
                results[fault.name] = self.judge(server, fault, normal, abnormal)
        finally:
            server.stop()
        return results

    def judge(self, server, fault, normal, abnormal):
        found = self.diff(normal, [abnormal])
        with contextlib.closing(sqlite3.connect(f"file:{abnormal}?mode=ro", uri=True)) as database:
            strings = database.execute("SELECT EXISTS (SELECT * FROM event_string)").fetchone()[0] != 0
        best = self.rank(found, fault)
        good = best is not None and best["rank"] <= MOST_RANK and (best["told"] or not strings)
        sizes = {name: found[name]["total"] for name in ("only_in_abnormal", "changed", "only_in_normal")}
        print(f"  {server.name:9} {fault.name:18} {'found' if good else 'MISSED'}: {best} {sizes}", flush=True)
        return {"good": good, "strings captured": strings, "cause": best, "sizes": sizes}

    def judge_null(self, normal, again):
        found = self.diff(normal, again)
        noise = [(name, cell["kind"], cell["function"], cell["what"], cell["events"])
                 for name in ("only_in_normal", "only_in_abnormal") for cell in found[name]["lines"] if cell["events"] >= LEAST_EVENTS]
        noise += [("changed", cell["kind"], cell["function"], cell["what"], cell["normal"], cell["abnormal"], cell["q"])
                  for cell in found["changed"]["lines"] if cell["q"] is not None and cell["q"] < 0.05]
        print(f"  {'three normal against three normal:':28} {'nothing' if not noise else f'NOISE {noise}'}", flush=True)
        return {"good": not noise, "noise": noise}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = {kind.name: kind for kind in (Apache, Nginx, MariaDb, Postgres)}
    parser.add_argument("--build", required=True)
    parser.add_argument("--server", action="append", choices=list(kinds))
    parser.add_argument("--fault", action="append")
    parser.add_argument("--keep", help="an existing folder for the traces, which are kept there")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true", help="fail where a cause is not found or runs without a fault differ")
    parser.add_argument("--no-null", action="store_true", help="without three normal runs against three")
    arguments = parser.parse_args()
    SmallDisk.wanted = not arguments.fault or "full_disk" in arguments.fault
    folder = tempfile.mkdtemp(prefix="uscope-faults-", dir=arguments.keep)
    os.chmod(folder, 0o755)
    results = {}
    try:
        bench = Bench(arguments, folder)
        for name in arguments.server or kinds:
            results[name] = bench.run(kinds[name])
    except (Failed, OSError, subprocess.SubprocessError) as error:
        print(f"diff_faults.py: {error}", file=sys.stderr)
        return 2
    finally:
        for left in SmallDisk.mounted:  # by a server that did not start
            subprocess.run(["umount", "-l", left], check=False)
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    missed = [f"{server} {name}" for server, rows in results.items() for name, row in rows.items() if not row["good"]]
    print(f"{sum(len(rows) for rows in results.values()) - len(missed)} good, {len(missed)} not: {missed}")
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())

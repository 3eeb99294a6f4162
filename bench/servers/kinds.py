# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The servers, each on loopback or a socket and in a folder of its own, with what they are asked for."""
import os
import signal
import subprocess
import time

from server_setup import (Failed, answers, apache_command, free_port, mariadb_command, nginx_command, postgres_command, postgres_programs,
                          redis_command, run, started, wait_for, written)
from servers.loads import Ab, RedisBenchmark, endless, pgbench, sysbench
from servers.processes import named_below


class Server:
    """Prepared once, then started and stopped as often as wanted. `program` is the name of its processes."""

    end_signal = signal.SIGTERM
    process = None

    def __init__(self, folder):
        """Sets `command` and `loads`."""
        raise NotImplementedError

    def serves(self):
        raise NotImplementedError

    def start(self, before=(), **options):
        """`before`: a tracer's command that starts it; `options`: of subprocess.Popen."""
        self.process = started([*before, *self.command], **options)
        wait_for(lambda: self.serves() or self.process.poll() is not None, f"{self.name} does not serve")
        if self.process.poll() is not None:
            raise Failed(f"{self.name} does not start: exit status {self.process.returncode}")

    def executable(self):
        """The name that every build's --app knows it by: redis-server, for one, is a link."""
        return os.path.basename(os.readlink(f"/proc/{named_below(self.process.pid, self.program)[0]}/exe"))

    def stop(self):
        """Its exit status; or that of the tracer that started it, which ends when the server has ended."""
        for first in named_below(self.process.pid, self.program)[:1]:
            os.kill(first, self.end_signal)
        return self.process.wait(300)

    def grow(self, load, seconds):
        """Loads it for so long, and until it has the processes that it will have under load."""
        with endless(load):
            time.sleep(seconds)
            wait_for(self.grown, f"{self.name} does not grow")

    def grown(self):
        return True


def pages_in(folder):
    pages = os.path.join(folder, "htdocs")
    os.mkdir(pages)
    written(pages, "page", "x" * 4096)
    return pages


class Apache(Server):
    """The event MPM: 4 KiB from a file. Two processes of 64 threads each."""

    name, program = "apache2", "apache2"
    lines = """MaxKeepAliveRequests 0
StartServers 2
ServerLimit 2
ThreadsPerChild 64
MaxRequestWorkers 128
MinSpareThreads 1
MaxSpareThreads 128
"""

    def __init__(self, folder):
        self.port = free_port()
        self.command = apache_command(folder, self.port, self.lines, pages_in(folder))
        self.loads = [Ab("static page", self.port)]

    def serves(self):
        return answers(self.port)


class ApacheForks(Apache):
    """The event MPM as it grows: one process of 27 threads when it starts, and one after the other, to seven, under load."""

    name = "apache2-forks"
    children, threads = 7, 27
    lines = f"""MaxKeepAliveRequests 0
StartServers 1
ServerLimit {children}
ThreadsPerChild {threads}
MaxRequestWorkers {children * threads}
MinSpareThreads {children * threads}
MaxSpareThreads {children * threads + threads}
"""

    def grown(self):
        return len(named_below(self.process.pid, self.program)) == 1 + self.children


class Nginx(Server):
    """4 KiB from a file, by a process for each processor."""

    name, program = "nginx", "nginx"

    def __init__(self, folder):
        self.port = free_port()
        self.command = nginx_command(folder, self.port, pages_in(folder), "worker_processes auto; events { worker_connections 512; }",
                                     "access_log off; sendfile on; keepalive_requests 1000000000;")
        self.loads = [Ab("static page", self.port)]

    def serves(self):
        return answers(self.port)


class Redis(Server):
    """Keys in memory, which are not saved."""

    name, program = "redis", "redis-server"

    def __init__(self, folder):
        self.port = free_port()
        self.command = redis_command(folder, "--bind", "127.0.0.1", "--port", str(self.port))
        self.loads = [RedisBenchmark("SET and GET", self.port), RedisBenchmark("SET and GET, 16 in a pipeline", self.port, "-P", "16")]

    def serves(self):
        return answers(self.port)


class MariaDb(Server):
    """Transactions that are written to the log, but not to the disk one by one, which would hide what tracing costs."""

    name, program = "mariadbd", "mariadbd"

    def __init__(self, folder):
        self.socket = os.path.join(folder, "socket")
        self.command = mariadb_command(folder, "--innodb-flush-log-at-trx-commit=2")
        self.loads = [sysbench("read-write", self.socket)]
        self.start()
        run("mariadb", "--no-defaults", f"--socket={self.socket}", "-u", "root", "-e", "CREATE DATABASE sbtest")
        run(*self.loads[0].command[:-1], "prepare")
        self.stop()

    def serves(self):
        return os.path.exists(self.socket)


class Postgres(Server):
    """Transactions that do not wait for the disk, which would hide what tracing costs."""

    name, program = "postgres", "postgres"
    end_signal = signal.SIGINT  # at once

    def __init__(self, folder):
        self.folder, program = folder, os.path.join(postgres_programs(), "pgbench")
        self.command = postgres_command(folder, "-c", "listen_addresses=", "-c", "synchronous_commit=off", "-c", "autovacuum=off",
                                        "-c", "shared_buffers=256MB")
        self.loads = [pgbench("read-write", program, folder), pgbench("select only", program, folder, "-S")]
        self.start()
        run(program, "-i", "-q", "-s", "10", "-h", folder, "-U", "postgres", "postgres")
        self.stop()

    def serves(self):
        return subprocess.run([os.path.join(postgres_programs(), "pg_isready"), "-q", "-h", self.folder], check=False).returncode == 0


KINDS = {kind.name: kind for kind in (Apache, ApacheForks, Nginx, Redis, MariaDb, Postgres)}

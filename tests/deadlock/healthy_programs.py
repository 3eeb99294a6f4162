# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Programs of several processes in good health, for healthy.py: pipelines, pools, supervisors, services on unix sockets, programs under
a debugger. Each function starts one, with a folder of its own, and returns the process to be looked at. Somebody who is not looked at
(healthy.py itself, a client), a time or a signal lets each of them go on."""
import atexit
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "py"))
from server_setup import answers, free_port, postgres_command, postgres_programs, started as started_by, wait_for  # noqa: E402

PYTHON = "/usr/bin/python3"
GO = """package main

import ("net/http"; "os")

func main() { http.ListenAndServe(os.Args[1], http.NotFoundHandler()) }
"""
RELAYS = """
import os, socket
def relay(source, sink):
    while data := source.recv(4096):
        sink.sendall(data)
ends = [socket.socketpair() for _ in range(3)]
for i in range(2):
    if not os.fork():
        for j, (a, b) in enumerate(ends):
            if j != i: b.close()
            if j != i + 1: a.close()
        relay(ends[i][1], ends[i + 1][0])
        os._exit(0)
for a, b in ends[1:]: a.close()
for a, b in ends[:2]: b.close()
while data := os.read(0, 4096):
    ends[0][0].sendall(data)
    ends[2][1].recv(4096)
"""
POOL = "import multiprocessing, sys, time\npool = multiprocessing.Pool(4)\npool.map({task}, range(4))\nsys.stdin.read()"
FUTURES = ("import concurrent.futures, sys, time\nwith concurrent.futures.ProcessPoolExecutor(3) as pool:\n"
           "    list(pool.map(abs, range(9)))\n    sys.stdin.read()")
HELPER = "import subprocess, sys\nhelper = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\nsys.stdin.read()"
ASYNCIO = ("import asyncio\nasync def serves():\n    await asyncio.create_subprocess_exec('sleep', '600')\n"
           "    server = await asyncio.start_unix_server(lambda r, w: w.close(), 'socket')\n    await server.serve_forever()\nasyncio.run(serves())")
PTY_DRIVER = """
import os, pty, select, sys
pid, master = pty.fork()
if pid == 0:
    os.execlp("cat", "cat")
while select.select([{waits}], [], [], {limit})[0]:
    os.write(master, os.read(0, 100))
"""
# The event loop has paused the child's output, and goes on after a time.
PAUSED = ("import asyncio\nasync def pauses():\n    child = await asyncio.create_subprocess_exec('yes', stdout=asyncio.subprocess.PIPE)\n"
          "    await asyncio.sleep(600)\n    await child.stdout.read(1)\nasyncio.run(pauses())")
# A child fills a pipe that somebody else reads; the parent has a handler that writes to a pipe of its own.
FILLS = """
import os, select, signal, sys
reads, wakes = os.pipe()
os.set_blocking(wakes, False)
signal.set_wakeup_fd(wakes)
signal.signal(signal.SIGUSR1, lambda *_: None)
ends, end = os.pipe()
if os.fork() == 0:
    os.close(reads)
    while True:
        os.write(1, b'x' * 4096)
os.close(end)
select.select([reads, ends], [], [])
"""
PASSWORD = "import getpass; getpass.getpass()"
MAKE = "all: one two three\none two three:\n\tsleep 600\n"
MAKE_READS = "all: one two three\none two three:\n\t@cat fifo >/dev/null\n"
HELD = []  # descriptors that stay open as long as this script


def started(*command, **options):
    return started_by(command, start_new_session=True, **options)


def fed(*command, **options):
    """It reads what we might write."""
    reading, writing = os.pipe()
    HELD.append(writing)
    process = started(*command, stdin=reading, **options)
    os.close(reading)
    return process


def script(folder, text):
    return started("sh", "-c", text, cwd=folder)


def tail_grep(folder, _):
    open(os.path.join(folder, "log"), "w", encoding="ascii").close()
    return script(folder, "tail -f log | grep --line-buffered x; :")


def relays(_, __):
    return fed(PYTHON, "-c", RELAYS)


def makes(folder, text):
    with open(os.path.join(folder, "Makefile"), "w", encoding="ascii") as file:
        file.write(text)
    return started("make", "-j2", cwd=folder)


def make(folder, _):
    return makes(folder, MAKE)


def make_reads(folder, _):
    os.mkfifo(os.path.join(folder, "fifo"))
    HELD.append(os.open(os.path.join(folder, "fifo"), os.O_RDWR))
    return makes(folder, MAKE_READS)


def pool_idle(_, __):
    return fed(PYTHON, "-c", POOL.format(task="abs"))


def pool_busy(_, __):
    return fed(PYTHON, "-c", POOL.format(task="time.sleep").replace("range(4)", "[600, 600]"))


def futures(_, __):
    return fed(PYTHON, "-c", FUTURES)


def helper(_, __):
    return fed(PYTHON, "-c", HELPER)


def asyncio(folder, _):
    return started(PYTHON, "-c", ASYNCIO, cwd=folder)


def postgres_row_lock(folder, _):
    """One client holds a row and waits for its user, another one waits for the row."""
    process = started(*postgres_command(folder, "-c", "listen_addresses="))
    wait_for(lambda: os.path.exists(os.path.join(folder, ".s.PGSQL.5432")), "postgres does not serve")
    client = [os.path.join(postgres_programs(), "psql"), "-h", folder, "-U", "postgres", "-q"]
    wait_for(lambda: subprocess.run([*client, "-c", "create table if not exists t(a int)"], capture_output=True, check=False).returncode == 0, "no table")
    subprocess.run([*client, "-c", "insert into t values (1)"], check=True)
    holder = subprocess.Popen(client, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    holder.stdin.write("begin; update t set a = 2;\n")
    holder.stdin.flush()
    atexit.register(holder.kill)
    wait_for(lambda: subprocess.run([*client, "-At", "-c", "select count(*) from pg_locks where relation = 't'::regclass"], capture_output=True,
                                    text=True, check=False).stdout.strip() not in ("", "0"), "the row is not locked")
    atexit.register(subprocess.Popen([*client, "-c", "update t set a = 3"], stderr=subprocess.DEVNULL).kill)
    return process


def go_http(folder, _):
    with open(os.path.join(folder, "main.go"), "w", encoding="ascii") as file:
        file.write(GO)
    port = free_port()
    environment = {**os.environ, "GO111MODULE": "off", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOPATH": folder + "/go", "GOCACHE": folder + "/cache",
                   "HOME": folder}
    subprocess.run(["go", "build", "-o", "go-http", "main.go"], cwd=folder, env=environment, check=True)
    process = started(os.path.join(folder, "go-http"), f"127.0.0.1:{port}")
    wait_for(lambda: answers(port), "it does not serve")
    return process


def gdb(_, build):
    return fed("gdb", "-q", "-nx", "-ex", "starti", "--args", os.path.join(build, "tests/fixtures/deadlock_healthy"), "pool")


def gdb_program(folder, build):
    """The stopped program itself."""
    debugger = gdb(folder, build)
    atexit.register(debugger.kill)

    def program():
        return subprocess.run(["pgrep", "-P", str(debugger.pid), "deadlock_"], capture_output=True, text=True, check=False).stdout.split()
    wait_for(program, "gdb does not start the program")
    return Other(int(program()[0]), debugger)


class Other:
    """A process that another one has started, as healthy.py uses a Popen."""

    def __init__(self, pid, starter):
        self.pid, self.starter, self.returncode = pid, starter, None

    def poll(self):
        return self.starter.poll()

    def send_signal(self, _):
        self.starter.kill()

    def wait(self, *arguments):
        return self.starter.wait(*arguments)


def socat(folder, _):
    """A relay that waits for callers, and one that has a caller."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.join(folder, "service"))
    server.listen()
    process = started("socat", "UNIX-LISTEN:relay,fork", "UNIX-CONNECT:service", cwd=folder)
    wait_for(lambda: os.path.exists(os.path.join(folder, "relay")), "socat does not serve")
    caller = socket.socket(socket.AF_UNIX)
    caller.connect(os.path.join(folder, "relay"))
    HELD.extend((server, caller, server.accept()))
    return process


def socat_terminal(folder, _):
    """Whoever opens the terminal by its name talks to the child."""
    process = started("socat", "PTY,link=terminal,raw", "EXEC:cat", cwd=folder)
    wait_for(lambda: os.path.exists(os.path.join(folder, "terminal")), "socat makes no terminal")
    return process


def pty_driver(_, __):
    return fed(PYTHON, "-c", PTY_DRIVER.format(waits="0", limit="None"))


def pty_driver_timed(_, __):
    return fed(PYTHON, "-c", PTY_DRIVER.format(waits="master", limit="600"))


def tmux(folder, _):
    name = os.path.join(folder, "tmux")
    starter = started("tmux", "-S", name, "-f", "/dev/null", "new-session", "-d", "cat", cwd=folder)
    starter.wait(20)
    server = int(subprocess.run(["tmux", "-S", name, "display", "-p", "#{pid}"], capture_output=True, text=True, check=True).stdout)
    return Server(server, ["tmux", "-S", name, "kill-server"])


def password(folder, _):
    return fed("script", "-qfc", f'{PYTHON} -c "{PASSWORD}"', "/dev/null", cwd=folder)


def pager(folder, _):
    return fed("script", "-qfc", "less /etc/services", "/dev/null", cwd=folder)


def java_child(_, build):
    return started("java", "-cp", os.path.join(build, "tests/fixtures"), "Child", "later")


def paused(_, __):
    return started(PYTHON, "-c", PAUSED)


def fills(_, __):
    reading, writing = os.pipe()
    HELD.append(reading)
    process = started(PYTHON, "-c", FILLS, stdout=writing)
    os.close(writing)
    return process


def in_flight(_, __):
    """Somebody else's descriptor lies in the queue of a socket as long as this script runs."""
    ends = socket.socketpair()
    socket.send_fds(ends[0], [b"x"], [0])
    HELD.extend(ends)
    return relays(_, __)


class Server:
    """One that has left its starter."""

    def __init__(self, pid, ends):
        self.pid, self.ends, self.returncode = pid, ends, None

    def poll(self):
        return None if os.path.exists(f"/proc/{self.pid}") else 0

    def send_signal(self, _):
        subprocess.run(self.ends, check=False)

    def wait(self, *_):
        return 0


def ssh_agent(folder, _):
    return started("ssh-agent", "-D", "-a", os.path.join(folder, "agent"))


def dbus(folder, _):
    return started("dbus-daemon", "--session", "--nofork", f"--address=unix:path={folder}/bus")


def supervisor(folder, _):
    return script(folder, "mkfifo one two; trap : HUP; cat <>one >/dev/null & cat <>two >/dev/null & wait")


def container_init(folder, _):
    return started("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", "sleep 600 & cat <>/dev/ptmx & wait", cwd=folder)


def shell_on_terminal(folder, _):
    return fed("script", "-qfc", "sh -i", "/dev/null", cwd=folder)


def client(folder, _):
    """A service that is not looked at answers when it likes."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.join(folder, "socket"))
    server.listen()
    HELD.append(server)
    return started(PYTHON, "-c", "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('socket')\ns.recv(1)", cwd=folder)


PROGRAMS = {"tail -f, grep": tail_grep, "relays": relays, "make -j2": make, "make -j2 at a fifo": make_reads, "pool of processes, idle": pool_idle,
            "pool of processes, busy": pool_busy, "process pool executor": futures, "helper process": helper, "asyncio": asyncio,
            "postgres, row lock": postgres_row_lock, "go http": go_http, "gdb": gdb, "program under gdb": gdb_program, "supervisor": supervisor,
            "container": container_init, "shell on a terminal": shell_on_terminal, "client": client, "socat": socat,
            "socat, terminal": socat_terminal, "pty driver": pty_driver, "pty driver, timed": pty_driver_timed, "tmux": tmux,
            "password prompt": password, "pager": pager, "java and its child": java_child, "asyncio, paused": paused,
            "child fills a pipe": fills, "ssh-agent": ssh_agent, "dbus-daemon": dbus,
            "relays, descriptors in flight": in_flight}

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Hundreds of supervisors, daemons, servers and shells' pipelines at rest: nobody may be accused, looked at while they run and recorded from
their start. Programs are made of parts (shells with scripts, languages' supervisors with workers, servers with configurations) and started in
groups, each group under one root, which the look or the recording is about. What is not installed is left out, and counted.

usage: at_rest.py USCOPE [--group N] [--only PATTERN] [--ways attached,recorded,each] [--seconds N] [--json FILE]
With `each`, every program of a group is looked at by itself as well: the counts of verdicts are then of programs, else of groups.
Needs root and a backend. Programs that a look finds ended are not counted. Not part of the test suite: a quarter of an hour and more."""
import argparse
import collections
import concurrent.futures
import contextlib
import fnmatch
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SHELLS = {"dash": ["dash"], "bash": ["bash"], "zsh": ["zsh", "-f"], "ksh": ["ksh"], "mksh": ["mksh"], "yash": ["yash"], "busybox": ["busybox", "sh"]}
SCRIPTS = {
    "pipeline": "sleep 9999 | cat | cat | cat",
    "filters": "sleep 9999 | tr a b | sed s/a/b/ | grep x | sort | uniq -c",
    "wait": "sleep 9999 & wait",
    "many waits": "sleep 9999 & sleep 9999 & cat fifo & wait; wait",
    "foreground": "sleep 9999; true",
    "trap": "trap 'kill %1; exit 0' TERM INT; cat never & wait; wait",
    "worker by fifo": "trap 'exec 7>&-' TERM; mkfifo $1.work; cat $1.work >/dev/null & exec 7>$1.work; wait; wait",
    "worker, trap HUP": "mkfifo $1.work; (while read l; do :; done) <$1.work & exec 7>$1.work; trap 'echo x >&7' HUP; wait; wait; wait",
    "reads a fifo": "read line <never",
    "reads itself": "mkfifo $1.self; exec 8<>$1.self; trap 'echo end >&8' USR1; read line <&8",
    "substitution": "x=$(sleep 9999; echo x); true",
    "loop behind a pipe": "sleep 9999 | while read line; do echo $line; done",
    "subshells": "(trap 'exit 0' USR1; sleep 9999 & wait) & (cat never) & wait",
    "nested": "sh -c 'sh -c \"sleep 9999; true\"; true'; true",
    "xargs": "sleep 9999 | xargs -P 3 -n 1 echo",
    "tee": "sleep 9999 | tee $1.copy | cat >/dev/null",
    "lock": "flock $1.lock sleep 9999 & sleep 0.2; flock $1.lock true",
    "timeout": "timeout 9999 cat never",
    "job of jobs": "(sleep 9999 | cat) & (sleep 9999 | cat) & trap : CHLD; wait",
}
BASH_SCRIPTS = {
    "coproc": "coproc W { while read -r l; do :; done; }; trap 'exec {W[1]}>&-' TERM; wait; wait",
    "coproc cat, USR1": "coproc cat; trap 'eval \"exec ${COPROC[1]}>&-\"' USR1; wait",
    "process substitution": "while read l; do :; done < <(sleep 9999)",
    "into a substitution": "sleep 9999 > >(cat)",
    "wait -n": "sleep 9999 & sleep 9999 & wait -n",
    "read with a trap": "coproc cat; trap 'echo x >&${COPROC[1]}' HUP; read -u ${COPROC[0]} line",
}
WORKERS = {"cat": ["cat"], "shell": ["sh", "-c", "while read l; do :; done"], "sleep": ["sleep", "9999"], "python": ["python3", "-c", "import sys; sys.stdin.read()"],
           "perl": ["perl", "-ne", "1"], "awk": ["awk", "{ n++ }"], "grep": ["grep", "-c", "x"], "pipeline": ["sh", "-c", "cat | sort | uniq"]}
# `work` is the worker's command, `end` closes its input.
PYTHON_HEAD = "import os, select, signal, subprocess, sys, threading\nwork = sys.argv[1:]\np = subprocess.Popen(work, stdin=subprocess.PIPE)\n"
PYTHON = {
    "waits, TERM": PYTHON_HEAD + "signal.signal(signal.SIGTERM, lambda *a: p.stdin.close())\np.wait()",
    "waits, HUP, any": PYTHON_HEAD + "signal.signal(signal.SIGHUP, lambda *a: p.stdin.close())\nos.waitpid(-1, 0)",
    "waits, interrupted": PYTHON_HEAD + "try:\n  p.wait()\nexcept KeyboardInterrupt:\n  p.stdin.close()\n  p.wait()",
    "waitid": PYTHON_HEAD + "signal.signal(signal.SIGUSR1, lambda *a: p.stdin.close())\nos.waitid(os.P_ALL, 0, os.WEXITED)",
    "pause": PYTHON_HEAD + "signal.signal(signal.SIGTERM, lambda *a: p.stdin.close())\nsignal.pause()",
    "sigwait": PYTHON_HEAD + "signal.pthread_sigmask(signal.SIG_BLOCK, [15])\nsignal.sigwait([15])\np.stdin.close()",
    "sigwait thread": PYTHON_HEAD + "signal.pthread_sigmask(signal.SIG_BLOCK, [15])\nt = threading.Thread(target=lambda: (signal.sigwait([15]), p.stdin.close()), daemon=True)\n"
                      "t.start()\np.wait()",
    "wakeup pipe": PYTHON_HEAD + "r, w = os.pipe(); os.set_blocking(w, False); signal.set_wakeup_fd(w)\nsignal.signal(signal.SIGTERM, lambda *a: None)\nselect.select([r], [], [])",
    "pidfd": PYTHON_HEAD + "signal.signal(signal.SIGTERM, lambda *a: p.stdin.close())\nf = os.pidfd_open(p.pid)\nselect.select([f], [], [])",
    "answers": PYTHON_HEAD + "q = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\nsignal.signal(signal.SIGUSR1, lambda *a: os.write(q.stdin.fileno(), b'x'))\n"
               "os.read(q.stdout.fileno(), 1)",
    "lock": PYTHON_HEAD + "import fcntl\na = open(f'{os.getpid()}.lock', 'w'); fcntl.flock(a, fcntl.LOCK_EX)\nb = subprocess.Popen(['flock', a.name, 'true'])\n"
            "signal.signal(signal.SIGTERM, lambda *a: p.stdin.close())\nb.wait()",
    "alarm": PYTHON_HEAD + "signal.signal(signal.SIGALRM, lambda *a: p.stdin.close())\nsignal.alarm(9999)\np.wait()",
    "asyncio": "import asyncio, sys\nasync def main():\n    p = await asyncio.create_subprocess_exec(*sys.argv[1:], stdin=asyncio.subprocess.PIPE)\n    await p.wait()\nasyncio.run(main())",
    "pool": "import multiprocessing, signal, time\npool = multiprocessing.Pool(3)\npool.map(abs, [1, 2])\nsignal.signal(signal.SIGTERM, lambda *a: None)\nsignal.pause()",
    "executor": "import concurrent.futures, signal\npool = concurrent.futures.ProcessPoolExecutor(2)\nlist(pool.map(abs, range(4)))\nsignal.pause()",
    "queue": "import multiprocessing, signal\ndef work(q):\n    q.get()\nq = multiprocessing.Queue()\np = multiprocessing.Process(target=work, args=(q,))\np.start()\n"
             "signal.signal(signal.SIGTERM, lambda *a: q.put(1))\np.join()",
}
PERL = {
    "waits, TERM": "$p = open(W, '|-', @ARGV); $SIG{TERM} = sub { close W }; waitpid($p, 0)",
    "wait, any": "open(W, '|-', @ARGV); $SIG{HUP} = sub { close W }; wait",
    "sleep": "open(W, '|-', @ARGV); $SIG{TERM} = sub { close W }; sleep",
    "self-pipe": "open(V, '|-', @ARGV); pipe(R, W); $SIG{TERM} = sub { syswrite W, 'x' }; sysread R, $x, 1",
    "alarm": "$p = open(W, '|-', @ARGV); $SIG{ALRM} = sub { close W }; alarm 9999; waitpid($p, 0)",
}
RUBY = {
    "waits, TERM": "w = IO.popen(ARGV, 'w'); trap('TERM') { w.close_write }; Process.wait(w.pid)",
    "queue": "w = IO.popen(ARGV, 'w'); q = Queue.new; trap('TERM') { exit }; Thread.new { Process.wait }; q.pop",
    "sleep": "w = IO.popen(ARGV, 'w'); sleep",
}
NODE = {
    "child": "const p = require('child_process').spawn(process.argv[1], process.argv.slice(2)); process.on('SIGTERM', () => p.stdin.end())",
    "sync": "require('child_process').spawnSync('sleep', ['9999'])",
}
SMALL = {
    "coreutils tail | grep": ["sh", "-c", "touch log; tail -f log | grep --line-buffered x"],
    "tail -F of two": ["sh", "-c", "touch log log2; tail -F log log2"],
    "ssh-agent": ["ssh-agent", "-D"],
    "dbus-daemon": ["dbus-daemon", "--session", "--nofork"],
    "script": ["script", "-q", "-c", "cat", "typescript"],
    "expect": ["expect", "-c", "spawn cat; set timeout -1; expect never"],
    "inotifywait": ["inotifywait", "-m", "."],
    "strace": ["strace", "-f", "-c", "sh", "-c", "sleep 9999; true"],
    "strace, output to a pipe": ["strace", "-o", "|cat", "sh", "-c", "sleep 9999 | cat"],
    "strace, reads": ["strace", "-f", "-o", "trace", "sh", "-c", "cat never; true"],
    "gdb": ["gdb", "-q", "-batch", "-ex", "run", "--args", "sleep", "9999"],
    "tini": ["tini", "-s", "--", "sh", "-c", "cat never; true"],
    "dumb-init": ["dumb-init", "sh", "-c", "sleep 9999 | cat"],
    "cron": ["cron", "-f"],
    "busybox httpd": ["busybox", "httpd", "-f", "-p", "127.0.0.1:{port}"],
    "busybox runsvdir": ["busybox", "runsvdir", "services"],
    "unshare": ["unshare", "--fork", "--pid", "--mount-proc", "sh", "-c", "sleep 9999 | cat"],
    "setsid": ["setsid", "-w", "sh", "-c", "cat never; true"],
    "java": ["java", "-XX:+UseSerialGC", "-cp", ".", "Waits"],
    "tclsh": ["tclsh", "waits.tcl"],
    "lua": ["lua5.4", "-e", "io.popen('cat never'):read('a')"],
    "fish": ["fish", "-c", "sleep 9999 | cat"],
    "fish, wait": ["fish", "-c", "sleep 9999 & ; wait"],
    "tcsh": ["tcsh", "-f", "-c", "sleep 9999 | cat"],
}
SERVERS = {
    "redis": [["redis-server", "--port", "{port}", "--save", "", *more] for more in ([], ["--io-threads", "2"], ["--appendonly", "yes"], ["--lazyfree-lazy-expire", "yes"])],
    "memcached": [["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", "{port}", "-t", n] for n in "1248"],
    "nginx": [["nginx", "-p", ".", "-g", f"daemon off; pid nginx.{{port}}.pid; {more}", "-c", "{folder}/nginx.conf"]
              for more in ("worker_processes 1;", "worker_processes 4;", "master_process off;", "worker_processes 2; thread_pool default threads=4;")],
    "socat": [["socat", *ends] for ends in (("UNIX-LISTEN:s{port}", "EXEC:cat"), ("EXEC:cat", "EXEC:cat"), ("EXEC:cat,pty", "EXEC:cat"), ("TCP-LISTEN:{port},fork,bind=127.0.0.1", "EXEC:cat"),
                                            ("SYSTEM:cat never", "-"), ("PTY", "EXEC:cat"))],
    "sshd": [["/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-h", "{folder}/key", "-p", "{port}", "-o", "ListenAddress=127.0.0.1", *more] for more in ([], ["-o", "UsePAM=no"])],
    "lighttpd": [["lighttpd", "-D", "-f", "{folder}/lighttpd.conf"]],
    "dnsmasq": [["dnsmasq", "-k", "-C", "/dev/null", "-p", "0", "--pid-file="]],
    "mosquitto": [["mosquitto", "-p", "{port}"]],
    "rsync": [["rsync", "--daemon", "--no-detach", "--port={port}", "--config=/dev/null"]],
    "gunicorn": [["gunicorn", "-b", "127.0.0.1:{port}", "-w", n, "-k", kind, "wsgi:application"] for kind in ("sync", "gthread") for n in "124"],
    "uwsgi": [["uwsgi", "--socket", "u{port}", "--processes", n, *more] for n in "12" for more in ([], ["--master"])],
    "php-fpm": [["php-fpm8.2", "-F", "-R", "-y", "{folder}/fpm-" + kind + ".conf"] for kind in ("static", "dynamic", "ondemand")],
    "supervisord": [["supervisord", "-n", "-c", "{folder}/supervisord.conf"]],
    "runsvdir": [["runsvdir", "{folder}/services"]],
    "s6-svscan": [["s6-svscan", "{folder}/s6"]],
    "svscan": [["svscan", "{folder}/daemontools"]],
    "make": [["make", "-f", "{folder}/Jobs", "-j" + n] for n in "1248"],
    "parallel": [["parallel", "-j", n, "sleep", ":::", "9999", "9998", "9997"] for n in "123"],
    "tmux": [["tmux", "-L", "t{port}", "-f", "/dev/null", "-D"]],
    "http.server": [["python3", "-m", "http.server", "--bind", "127.0.0.1", "{port}"]],
    "busybox nc": [["busybox", "nc", "-l", "-p", "{port}", "-s", "127.0.0.1"]],
}


def files_of(folder):
    def write(name, text, mode=0o644):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, mode)
    for kind in ("services", "s6", "daemontools"):
        for name in ("one", "two", "three"):
            write(f"{kind}/{name}/run", "#!/bin/sh\nexec sleep 9999\n" if name != "two" else "#!/bin/sh\nsleep 9999 | cat\n", 0o755)
    write("nginx.conf", "error_log stderr; events { } http { access_log off; server { listen unix:nginx.socket; } }")
    write("lighttpd.conf", f'server.document-root = "{folder}"\nserver.bind = "{folder}/lighttpd.socket"\n')
    write("wsgi.py", "def application(environ, start):\n    start('200 OK', [])\n    return [b'x']\n")
    for kind in ("static", "dynamic", "ondemand"):
        write(f"fpm-{kind}.conf", f"[global]\nerror_log = /dev/stderr\n[www]\nuser = root\ngroup = root\nlisten = {folder}/fpm-{kind}.socket\npm = {kind}\npm.max_children = 3\n"
                                  "pm.start_servers = 2\npm.min_spare_servers = 1\npm.max_spare_servers = 3\n")
    write("supervisord.conf", f"[supervisord]\nlogfile=/dev/null\nlogfile_maxbytes=0\npidfile={folder}/supervisord.pid\nnodaemon=true\nuser=root\n"
                              "[program:cat]\ncommand=cat\n[program:sleep]\ncommand=sh -c 'sleep 9999 | cat'\n[program:many]\ncommand=sleep 9999\nnumprocs=3\nprocess_name=%(process_num)s\n")
    write("Jobs", "all: a b c d\na b c d:\n\t@sleep 9999; true\n")
    write("waits.tcl", "set f [open \"|cat never\" r]\ngets $f\n")
    write("Waits.java", "class Waits { public static void main(String[] a) throws Exception { new ProcessBuilder(\"sleep\", \"9999\").start().waitFor(); } }\n")
    if shutil.which("javac"):
        subprocess.run(["javac", "Waits.java"], cwd=folder, check=False)
    if shutil.which("ssh-keygen"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, "key")], check=False)
    os.makedirs("/run/sshd", exist_ok=True)
    os.mkfifo(os.path.join(folder, "never"))
    os.mkfifo(os.path.join(folder, "fifo"))


def programs():
    """Names and commands."""
    for shell, command in SHELLS.items():
        for name, script in {**SCRIPTS, **(BASH_SCRIPTS if shell == "bash" else {})}.items():
            yield f"{shell}: {name}", [*command, "-c", script, shell, "{mark}"]
    for language, interpreter, kinds in (("python", ["python3", "-c"], PYTHON), ("perl", ["perl", "-e"], PERL), ("ruby", ["ruby", "-e"], RUBY),
                                         ("node", ["node", "-e"], NODE)):
        for kind, text in kinds.items():
            for worker, command in WORKERS.items():
                yield f"{language}: {kind}, {worker}", [*interpreter, text, *command]
    for shell in ("dash", "bash", "zsh", "ksh", "mksh"):  # as what a service manager runs, in a shell or without
        for worker, command in WORKERS.items():
            yield f"{shell} runs {worker}", [*SHELLS[shell], "-c", 'mkfifo $1.in; exec 9<>$1.in; shift; "$@" <&9; true', shell, "{mark}", *command]
    for shell in ("dash", "bash", "busybox"):
        for kind, text in PYTHON.items():
            yield f"{shell} runs python: {kind}", [*SHELLS[shell], "-c", '"$@"; true', shell, "python3", "-c", text, "cat"]
    yield from SMALL.items()
    for server, configurations in SERVERS.items():
        for number, command in enumerate(configurations):
            yield f"{server} {number}", command


# Starts the commands of its standard input, and says whose pid is whose: it is the root of a group.
ROOT = """
import ctypes, json, os, signal, subprocess, sys
for mask in (signal.SIGINT, signal.SIGPIPE): signal.signal(mask, signal.SIG_DFL)
def dies(): ctypes.CDLL(None).prctl(1, signal.SIGKILL)
with open(sys.argv[1]) as file: commands = json.load(file)
reads, keeps = os.pipe()
started = {}
for name, command in commands.items():
    try:
        with open(os.devnull, "w") as out: started[name] = subprocess.Popen(command, stdin=reads, stdout=out, stderr=out, preexec_fn=dies, start_new_session=True)
    except OSError: pass
with open(sys.argv[2], "w") as file: json.dump({name: one.pid for name, one in started.items()}, file)
signal.pause()
"""


def parents():
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, parent = file.read().rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(pid)] = int(parent)
    return found


class Group:
    def __init__(self, options, commands, folder):
        self.options, self.commands, self.folder = options, commands, folder
        self.wanted, self.said, self.db = (os.path.join(folder, name) for name in ("commands.json", "started.json", "trace.db"))
        with open(self.wanted, "w", encoding="utf-8") as file:
            json.dump(commands, file)

    def owners(self, started):
        """Names by pid, of each program and of what it started."""
        names, tree = {pid: name for name, pid in started.items()}, parents()
        owners = {}
        for pid in tree:
            at = pid
            while at and at not in names:
                at = tree.get(at, 0)
            if at:
                owners[pid] = names[at]
        return owners

    def look(self, *what):
        done = subprocess.run([self.options.uscope, "deadlock", *what, "--format", "json"], capture_output=True, text=True, timeout=300, check=False)
        return json.loads(done.stdout)

    def run(self, way):
        record = [self.options.uscope, "record", "-q", "-o", self.db, "--force", "--duration", f"{self.options.seconds}s", "--"] if way == "recorded" else []
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.said)
        process = subprocess.Popen([*record, sys.executable, "-c", ROOT, self.wanted, self.said], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        owners, root = {}, process.pid
        try:
            end = time.monotonic() + 60
            while not os.path.exists(self.said) and time.monotonic() < end:
                time.sleep(0.1)
            time.sleep(self.options.seconds * 0.6 if way == "recorded" else 3)
            with open(self.said, encoding="utf-8") as file:
                started = json.load(file)
            owners = self.owners(started)
            root = parents().get(next(iter(started.values())), process.pid)
            if way == "recorded":
                process.wait(300)
            if way == "each":
                with concurrent.futures.ThreadPoolExecutor(3) as pool:
                    pids = [pid for pid in started.values() if pid in owners]
                    found = {"verdict": "each", "findings": [], "verdicts": collections.Counter()}
                    for one in pool.map(lambda pid: self.look("--pid", str(pid)), pids):
                        found["findings"] += one["findings"]
                        found["verdicts"][one["verdict"]] += 1
            else:
                found = self.look(*([self.db] if way == "recorded" else ["--pid", str(root)]))
        except (OSError, ValueError, StopIteration, subprocess.SubprocessError) as error:
            return {"error": str(error)}, {}, owners
        finally:
            for pid in [*owners, process.pid]:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.kill(root, signal.SIGKILL)
            process.wait()
        return found, {name: pid for name, pid in started.items() if pid in owners}, owners


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("uscope", type=os.path.abspath)
    parser.add_argument("--group", type=int, default=40, help="so many programs at once")
    parser.add_argument("--only", default="*")
    parser.add_argument("--ways", default="attached,recorded")
    parser.add_argument("--seconds", type=int, default=12, help="how long a group is recorded")
    parser.add_argument("--json")
    options = parser.parse_args()
    every = [(name, command) for name, command in programs() if fnmatch.fnmatch(name, options.only)]
    missing = sorted({command[0] for _, command in every if not shutil.which(command[0])})
    every = [(name, command) for name, command in every if shutil.which(command[0])]
    print(f"{len(every)} programs; not installed: {' '.join(missing) or 'nothing'}", flush=True)
    counts, verdicts, accusations, failures = collections.Counter(), collections.Counter(), [], []
    for first in range(0, len(every), options.group):
        with tempfile.TemporaryDirectory(prefix="uscope-rest-") as folder:
            files_of(folder)
            for way in options.ways.split(","):
                port = 20000 + first * 2 + (1000 if way == "recorded" else 0)
                commands = {}
                for number, (name, command) in enumerate(every[first:first + options.group]):
                    words = {"{port}": str(port + number), "{folder}": folder, "{mark}": f"{way}{number}"}
                    for mark, word in words.items():
                        command = [part.replace(mark, word) for part in command]
                    commands[name] = command
                found, alive, *owners = Group(options, commands, folder).run(way)
                if "error" in found:
                    failures.append(f"{way} {first}: {found['error']}")
                    print(f"FAILED {failures[-1]}", flush=True)
                    continue
                counts[way] += len(alive)
                for verdict, count in found.get("verdicts", {found["verdict"]: 1}).items():
                    verdicts[f"{way} {verdict}"] += count
                for finding in found["findings"]:
                    names = sorted({owners[0].get(thread["pid"], str(thread["pid"])) for thread in finding["threads"]})
                    accusations.append((way, names, finding["explanation"]))
                    print(f"ACCUSED {way} {names}: {finding['explanation']}", flush=True)
                ended = sorted(set(commands) - set(alive))
                print(f"{way}, {first} to {first + len(commands)}: {len(alive)} at rest, {found.get('verdicts', found['verdict'])}; ended: {', '.join(ended) or 'none'}", flush=True)
    print(f"at rest: {dict(counts)}; verdicts: {dict(verdicts)}; accused: {len(accusations)}; failed groups: {len(failures)}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"counts": counts, "verdicts": verdicts, "accusations": accusations, "failures": failures}, file, indent=1)
    return 1 if accusations or failures else 0


if __name__ == "__main__":
    sys.exit(main())

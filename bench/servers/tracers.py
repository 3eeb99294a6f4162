# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What is attached to a server, or starts it, while it is loaded; and what it has seen."""
import contextlib
import json
import os
import re
import sqlite3

from server_setup import Failed
from servers.processes import named_below, named_elsewhere
from tracing import beside

WHOLE = "('root', 'scope', 'budget')"  # how a stack ends that lacks nothing that was asked for
COUNTERS = ("walks", "memo_hits", "mapping_lookups", "deferred_lock", "deferred_no_table", "deferred_mappings", "deferred_register",
            "deferred_copied")


def check_alone(server):
    """Tracers find the server by its name: those of others would be traced too."""
    others = named_elsewhere(server.process.pid, server.program)
    if others:
        raise Failed(f"other processes are called {server.program}, and would be traced too: {others[:5]}; stop them first")


@contextlib.contextmanager
def by_name(server, *arguments, **options):
    """As beside(), for a command that traces all processes of the server's name."""
    check_alone(server)
    with beside(*arguments, **options) as pid:
        yield pid
        check_alone(server)


class Uscope:
    """`record` of one build; `seen` is what the trace tells, once there is one."""

    def __init__(self, build, mode, frames, folder):
        self.folder, self.trace = folder, os.path.join(folder, "trace.db")
        self.command = [os.path.join(os.path.abspath(build), "uscope"), "record", "-o", self.trace, "--mode", str(mode), "-S", str(frames)]

    def attached(self, server):
        def judge(status, said):
            if status != 0:
                raise Failed(f"uscope: {said[-400:]}")

        return by_name(server, [*self.command, "--app", server.executable()], "Ctrl-C ends tracing", self.folder, judge)

    def seen(self, window):
        """Events in all and those of a time (from, to: ns), stacks that are not whole, and the tracer's counters, which are of its whole
        time. A loss of any kind is a failure."""
        with contextlib.closing(sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True)) as database:
            wanted = ", ".join(f"'{name}'" for name in COUNTERS)
            counters = dict(database.execute(f"SELECT key, CAST(value AS INTEGER) FROM meta WHERE key IN ({wanted})"))
            lost = database.execute("SELECT cause, (min(ts_ns) - start.value) / 1e9, (max(until_ns) - start.value) / 1e9, sum(count) "
                                    "FROM loss, meta start WHERE start.key = 'start_ns' GROUP BY 1").fetchall()
            if lost:
                raise Failed(f"uscope lost (cause, from and until second, count): {lost}; {counters}")
            (everything,) = database.execute("SELECT count(*) FROM event").fetchone()
            (events,) = database.execute("SELECT count(*) FROM event WHERE ts_ns BETWEEN ? AND ?", window).fetchone()
            if not events:
                raise Failed("uscope saw no event while the server was loaded")
            (broken,) = database.execute(f"SELECT coalesce(sum(events), 0) FROM stack_end WHERE ended NOT IN {WHOLE}").fetchone()
        os.unlink(self.trace)
        return {"events": events, "events_of_trace": everything, "stacks_not_whole": broken, **counters}


class Question:
    """`query`, once a second: how many calls of each kind there are, how many fail, and how long they take."""

    TEXT = "SELECT kind, count(*) AS calls, count(errno) AS errors, quantile(dur_ns, 0.99) AS p99 FROM v_event GROUP BY kind"

    def __init__(self, build, folder):
        self.folder, self.answers = folder, []
        self.command = [os.path.join(os.path.abspath(build), "uscope"), "query", "--format", "json", self.TEXT]

    def attached(self, server):
        def judge(status, said):
            if status != 0:
                raise Failed(f"uscope query: {said[-400:]}")
            self.answers = self.answered(said)

        # There is an answer for the first second, too, in which nothing is asked of the server.
        return by_name(server, [*self.command, "--app", server.executable()], '"rows"', self.folder, judge)

    @staticmethod
    def answered(said):
        """The answers, each with `calls`: how many of them there are. A loss of any kind is a failure."""
        answers = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        if any(answer["lost"] for answer in answers):
            raise Failed(f"uscope query lost: {[answer['lost'] for answer in answers]}")
        for answer in answers:
            at = answer["columns"].index("calls")
            answer["calls"] = sum(row[at] for row in answer["rows"])
        return answers

    def seen(self, window):
        """Calls of the intervals that share time with the window: outside of it next to none are made."""
        events = sum(answer["calls"] for answer in self.answers if answer["from_ns"] < window[1] and answer["until_ns"] > window[0])
        if not events:
            raise Failed("uscope query saw no call while the server was loaded")
        return {"events": events}


class Bpftrace:
    """Frame-pointer stacks of five frames, counted in the kernel. `events`: how many, also those of the half second before the load.

    Where a server has no frame pointers, what is found instead differs from call to call: a hundred thousand stacks in seconds."""

    STACKS_MAX = 262144  # more than bpftrace keeps apart: 131072
    PROGRAM = 'BEGIN {{ printf("begun\\n"); }} tracepoint:raw_syscalls:sys_enter /comm == "{}"/ {{ @[ustack(5)] = count(); }}'

    def __init__(self, folder):
        self.folder, self.events = folder, None

    def attached(self, server):
        def judge(status, said):
            if status != 0:
                raise Failed(f"bpftrace: {said[-400:]}")
            self.events = self.counted(said)

        return by_name(server, ["bpftrace", "-e", self.PROGRAM.format(server.program)], "begun", self.folder, judge,
                       env={**os.environ, "BPFTRACE_MAP_KEYS_MAX": str(self.STACKS_MAX), "BPFTRACE_CACHE_USER_SYMBOLS": "1"})

    @classmethod
    def counted(cls, said):
        counts = [int(count) for count in re.findall(r"\]: (\d+)$", said, re.MULTILINE)]
        if not counts or len(counts) >= cls.STACKS_MAX:
            raise Failed(f"bpftrace counted {len(counts)} stacks, of which it has room for {cls.STACKS_MAX}")
        return sum(counts)


def under_strace(server, folder):
    pids = ",".join(map(str, named_below(server.process.pid, server.program)))
    return beside(["strace", "-f", "-k", "-o", "/dev/null", "-p", pids], "attached", folder)

# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""One load of one server, alone and with each tracer in turn."""
import dataclasses
import os
import time

from server_setup import Failed
from servers.loads import endless
from servers.processes import processor_seconds
from servers.tracers import Bpftrace, Question, Uscope, under_strace
from tracing import empty_programs

EMPTY, BPFTRACE, STRACE = "empty programs", "bpftrace ustack(5)", "strace -f -k"
QUESTION, OLD_QUESTION = "question", "old, question"
BUSY, LAUNCHED = "mode 4, attached while busy", "mode 4, launched"
MODE_2, MODE_4 = "mode 2", "mode 4"
FRAMES = {2: 5, 4: 64}
SETTLED = 0.5  # seconds after which a tracer that says that it has begun is at rest
WARM = 2  # seconds of load after which a server is in its stride


@dataclasses.dataclass
class Variant:
    name: str
    how: str  # idle, busy, launched, question: uscope; bpftrace, empty
    mode: int = 0
    old: bool = False


VARIANTS = [
    Variant(MODE_2, "idle", 2),
    Variant(MODE_4, "idle", 4),
    Variant(BUSY, "busy", 4),
    Variant(LAUNCHED, "launched", 4),
    Variant(QUESTION, "question"),
    Variant("old, mode 2", "idle", 2, old=True),
    Variant("old, mode 4", "idle", 4, old=True),
    Variant(OLD_QUESTION, "question", old=True),
    Variant(BPFTRACE, "bpftrace"),
    Variant(EMPTY, "empty"),
]


@dataclasses.dataclass
class Run:
    """What a server did of a load."""

    rate: float
    count: int
    micros: float  # of processor time of server and tracer, for each request or transaction
    window: tuple  # when, in ns of CLOCK_MONOTONIC
    tracer_percent: float  # the tracer's processor time, of one processor


def loaded(server, load, tracer=None):
    def so_far():
        return processor_seconds([server.process.pid]), processor_seconds([tracer] if tracer else [])

    before, begin = so_far(), time.monotonic_ns()
    answered = load.run()
    end, after = time.monotonic_ns(), so_far()
    served, traced = (late - early for early, late in zip(before, after))
    return Run(answered.rate, answered.count, 1e6 * (served + traced) / answered.count, (begin, end), 1e11 * traced / (end - begin))


class Bench:
    """One server, which runs alone between two measurements."""

    def __init__(self, arguments, server, load, folder):
        self.arguments, self.server, self.load, self.folder = arguments, server, load, folder

    def restarted(self):
        self.server.start()
        self.server.grow(self.load, WARM)

    def alone(self):
        return loaded(self.server, self.load)

    def build(self, variant):
        return self.arguments.old if variant.old else self.arguments.build

    def uscope(self, variant):
        return Uscope(self.build(variant), variant.mode, FRAMES[variant.mode], self.folder)

    def traced(self, variant):
        """The run with this tracer, and what it saw."""
        return getattr(self, "_" + variant.how)(variant)

    def _idle(self, variant):
        tracer = self.uscope(variant)
        with tracer.attached(self.server) as pid:
            time.sleep(SETTLED)
            run = loaded(self.server, self.load, pid)
        return run, tracer.seen(run.window)

    def _busy(self, variant):
        tracer = self.uscope(variant)
        with endless(self.load) as end:
            time.sleep(WARM)
            with tracer.attached(self.server) as pid:
                time.sleep(SETTLED)
                end()  # no client tells its rate from a certain time on, so the next one takes over
                run = loaded(self.server, self.load, pid)
        return run, tracer.seen(run.window)

    def _launched(self, variant):
        tracer = self.uscope(variant)
        self.server.stop()
        with open(os.path.join(self.folder, "said"), "w+", encoding="utf-8") as said:
            self.server.start([*tracer.command, "--"], stderr=said)
            self.server.grow(self.load, WARM)
            run = loaded(self.server, self.load)
            if self.server.stop() != 0:
                said.seek(0)
                raise Failed(f"{self.server.name} under uscope: {said.read()[-400:]}")
        seen = tracer.seen(run.window)
        self.restarted()
        return run, seen

    def _question(self, variant):
        tracer = Question(self.build(variant), self.folder)
        with tracer.attached(self.server) as pid:
            time.sleep(SETTLED)
            run = loaded(self.server, self.load, pid)
        return run, tracer.seen(run.window)

    def _bpftrace(self, _):
        tracer = Bpftrace(self.folder)
        with tracer.attached(self.server) as pid:
            time.sleep(SETTLED)
            run = loaded(self.server, self.load, pid)
        return run, {"events": tracer.events}

    def _empty(self, _):
        with empty_programs():
            return loaded(self.server, self.load), {}

    def beside(self, variant, before):
        """What the variant takes, beside the run alone before it and one after it, which comes back too."""
        run, seen = self.traced(variant)
        after = self.alone()
        alone = (before.rate + after.rate) / 2
        micros = (before.micros + after.micros) / 2
        row = {"rate": run.rate, "rate_alone": alone, "loss_percent": 100 * (1 - run.rate / alone), "requests": run.count,
               "added_us": run.micros - micros, "tracer_percent": run.tracer_percent, **seen}
        print(f"  {self.server.name}, {self.load.name}: {variant.name}: {run.rate:,.0f} of {alone:,.0f} {self.load.unit}, "
              f"{row['loss_percent']:.1f} % lost; {row['added_us']:.1f} µs more each of {micros:.1f} {seen or ''}", flush=True)
        return row, after

    def round(self, variants, before):
        """A row for each variant, and the runs alone."""
        rows, alone = {}, [before]
        for variant in variants:
            rows[variant.name], after = self.beside(variant, alone[-1])
            alone.append(after)
        return rows, alone

    def attaches(self, number):
        """The server attached to, while busy, so many times without being started anew; and as launched, twice before and twice after it."""
        busy, launched = (next(variant for variant in VARIANTS if variant.name == name) for name in (BUSY, LAUNCHED))
        tries, references, last = [], [], self.alone()
        for variant, rows, times in ((launched, references, 2), (busy, tries, number), (launched, references, 2)):
            for _ in range(times):
                row, last = self.beside(variant, last)
                rows.append(row)
        return {"launched": references, "tries": tries}

    def strace(self):
        with under_strace(self.server, self.folder):
            return self.load.run(part=0.002, patient=True).rate


def measure(arguments, server, load, folder):
    """Rounds, runs alone, and what --attach and strace gave."""
    traces = os.path.join(folder, "traces")
    os.makedirs(traces, exist_ok=True)
    bench = Bench(arguments, server, load, traces)
    wanted = arguments.variant or [variant.name for variant in VARIANTS]
    chosen = [variant for variant in VARIANTS if variant.name in wanted and (arguments.old or not variant.old)]
    server.grow(load, WARM)
    load.prepare(arguments.seconds)
    rounds, alone = [], [bench.alone()]
    for number in range(arguments.rounds):
        shift = number % len(chosen)  # so that none is always the first
        rows, runs = bench.round(chosen[shift:] + chosen[:shift], alone[-1])
        rounds.append(rows)
        alone += runs[1:]
    found = {"rounds": rounds, "alone": [dataclasses.asdict(run) for run in alone]}
    if not arguments.no_strace:
        found["strace"] = bench.strace()
    if arguments.attach:
        found["attach"] = bench.attaches(arguments.attach)
    return found

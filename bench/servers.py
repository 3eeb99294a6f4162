#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What tracing costs real servers: throughput, and processor time for each event, of Apache, nginx, redis, MariaDB and PostgreSQL.

Each round loads a server in turn under uscope, attached while the server was idle (mode 2 with 5 frames, mode 4 with 64), attached while
it was busy, and having started the server (both in mode 4); under bpftrace's frame-pointer `ustack(5)`; and with empty programs on the two
raw tracepoints, which is what any tracer pays for its hooks. Before and after each of them the server runs alone; what is lost of
throughput, and what processor time of server and tracer is added, is told against these two runs. Medians and quartiles are over the
rounds. `question` is `uscope query`, attached while idle, with "calls, errors and p99 by call". Server, tracer and load share the machine, so the collector's own work is in what is measured. A loss of any kind fails it.

Processor time for each event is what a variant adds to a request, less what empty programs add in the same round, by the events of a
request. Events are counted in the trace, in the time of the load; bpftrace counts its own. Ratios are of two variants in one round.

--old measures another build's uscope, and its question, in the same rounds. --attach N attaches N times to one server while it is busy, without starting it
anew, and tells what the walks of each try took. One run under `strace -f -k` is for comparison.

usage: servers.py --build FOLDER [--old FOLDER] [--rounds N] [--seconds N] [--attach N] [--server NAME]... [--variant NAME]... [--json FILE]
                  [--markdown] [--check] [--no-strace]
Needs root, and what `scripts/install-deps.sh bench` installs. Nothing else of the servers' names may run on the machine.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from figures import machine
from servers.kinds import KINDS
from servers.report import markdown, summary, text, verdicts
from servers.rounds import VARIANTS, measure
from tracing import Failed


def results_of(arguments, kind):
    """An entry for each load of the server."""
    folder = tempfile.mkdtemp(prefix="uscope-bench-")
    os.chmod(folder, 0o755)
    home = os.path.join(folder, "home")
    os.mkdir(home)
    server = None
    try:
        server = kind(home)
        server.start()
        for load in server.loads:
            yield summary(server, load, measure(arguments, server, load, folder))
    finally:
        if server:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def arguments_of_command_line():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="a release build folder")
    parser.add_argument("--old", metavar="BUILD", help="the build folder of another uscope, measured in the same rounds")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="of load in each run")
    parser.add_argument("--attach", type=int, default=0, metavar="N", help="attach so many times to one busy server, after the rounds")
    parser.add_argument("--server", action="append", choices=list(KINDS))
    parser.add_argument("--variant", action="append", choices=[variant.name for variant in VARIANTS], help="only these, in each round")
    parser.add_argument("--json")
    parser.add_argument("--markdown", action="store_true", help="print the table of bench/README.md")
    parser.add_argument("--check", action="store_true", help="fail where a bound is missed")
    parser.add_argument("--no-strace", action="store_true")
    return parser.parse_args()


def main():
    arguments = arguments_of_command_line()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # servers are stopped in any case
    report = {"machine": machine(), "seconds": arguments.seconds, "rounds": arguments.rounds, "results": [], "failed": {}}
    for name in arguments.server or KINDS:
        try:
            for result in results_of(arguments, KINDS[name]):
                report["results"].append(result)
        except (Failed, OSError, subprocess.SubprocessError) as error:
            print(f"servers.py: {name}: {error}", file=sys.stderr)
            report["failed"][name] = str(error)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")
    print("\n".join(markdown(report["results"])) if arguments.markdown else "\n".join(text(report["results"])))
    judged = list(verdicts(report["results"]))
    for what, met in judged:
        print(f"{'met' if met else 'MISSED'}: {what}")
    if report["failed"]:
        return 2
    return 1 if arguments.check and not all(met for _, met in judged) else 0


if __name__ == "__main__":
    sys.exit(main())

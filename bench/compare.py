#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What got worse between two runs of one benchmark: the JSON of servers.py, bench.py or kmod_cost.py.

All figures are costs. One is worse where the quartiles of the two runs do not overlap: OLD's upper one lies below NEW's lower one. A figure
of fewer than three runs has no spread, and is not judged. Figures of peers and of programs alone say what machine it was, and are
not compared. Between machines, only ratios mean anything.

usage: compare.py OLD.json NEW.json [--some]
Exit status 1 if a figure got worse, is missing in NEW (with --some, NEW may lack figures), or NEW says that something failed.
"""

import argparse
import dataclasses
import json
import sys

LEAST_RUNS = 3
INSTRUCTION_NOISE = 1  # by which counts of the same code may differ


class Unusable(Exception):
    pass


@dataclasses.dataclass
class Figure:
    median: float
    low: float
    high: float
    judged: bool = True

    def __str__(self):
        return f"{self.median:,.4g} ({self.low:,.4g} to {self.high:,.4g})"


def figure(spread):
    """Of what figures.spread() made."""
    return Figure(spread["median"], *spread["quartiles"], spread["runs"] >= LEAST_RUNS)


def of_servers(report):
    for result in report["results"]:
        where = f"{result['server']}, {result['load']}"
        for name, row in result["variants"].items():
            if name.startswith("mode "):
                for key in ("loss_percent", "ns_per_event", "ratio_to_bpftrace"):
                    if key in row:
                        yield f"{where}, {name}: {key}", figure(row[key])
        if "attach" in result:
            yield f"{where}: points_beyond_launched", figure(result["attach"]["points_beyond_launched"])


def of_bench(report):
    for result in report["results"]:
        yield f"{result['case']}: added_ns_per_call", figure(result["added_ns_per_call"]["uscope"])
        yield f"{result['case']}: ratio_to_bpftrace", figure(result["ratio_to_bpftrace"])


def of_kmod_cost(lines):
    for line in lines:
        if "cost" in line:
            beyond = line["median"] - line["cost"]
            low, high = line.get("quartiles", [line["median"]] * 2)
            yield (f"{line['state']}, {line['case']}: instructions beyond {line['beyond']}",
                   Figure(line["cost"], low - beyond - INSTRUCTION_NOISE, high - beyond + INSTRUCTION_NOISE))


def figures_of(report):
    """The benchmark's name, and its figures by name."""
    try:
        if isinstance(report, list):
            return "kmod_cost.py", dict(of_kmod_cost(report))
        if any("server" in result for result in report["results"]) or "failed" in report:
            return "servers.py", dict(of_servers(report))
        return "bench.py", dict(of_bench(report))
    except (KeyError, TypeError, ValueError) as error:
        raise Unusable(f"it is not what servers.py, bench.py or kmod_cost.py write with --json: {error!r}") from error


def compared(old, new, some=False):
    """(verdict, text) for each figure; the verdicts `worse` and `missing` are bad."""
    for name, before in old.items():
        now = new.get(name)
        if now is None:
            yield ("left out" if some else "missing"), f"{name}: {before} before"
        elif not (before.judged and now.judged):
            yield "not judged", f"{name}: {now}, before {before}: of fewer than {LEAST_RUNS} runs"
        elif now.low > before.high:
            yield "worse", f"{name}: {now}, before {before}"
        elif now.high < before.low:
            yield "better", f"{name}: {now}, before {before}"
        else:
            yield "equal", f"{name}: {now}, before {before}"
    for name in new.keys() - old.keys():
        yield "new", f"{name}: {new[name]}"


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        return report, *figures_of(report)
    except (OSError, ValueError, Unusable) as error:
        raise Unusable(f"{path}: {error}") from error


def facts(report):
    """Of the machine; nothing where the benchmark counts instructions."""
    told = report.get("machine", {}) if isinstance(report, dict) else {}
    return {key: value for key, value in told.items() if key != "load_before"}


def main(command_line=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", metavar="OLD.json")
    parser.add_argument("new", metavar="NEW.json")
    parser.add_argument("--some", action="store_true", help="NEW may lack figures of OLD: fewer servers or cases were measured")
    arguments = parser.parse_args(command_line)
    try:
        (old, old_kind, before), (new, new_kind, now) = read(arguments.old), read(arguments.new)
        if old_kind != new_kind:
            raise Unusable(f"{arguments.old} is of {old_kind}, {arguments.new} of {new_kind}: compare files of one benchmark")
    except Unusable as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    there, here = facts(old), facts(new)
    for key in sorted(there.keys() & here.keys()):
        if there[key] != here[key]:
            print(f"{'differs':10} {key}: {here[key]}, before {there[key]}")
    lines = list(compared(before, now, arguments.some))
    lines += [("failed", f"{name}: {why}") for name, why in (new.get("failed", {}) if isinstance(new, dict) else {}).items()]
    for verdict, what in lines:
        print(f"{verdict:10} {what}")
    bad = sum(verdict in ("worse", "missing", "failed") for verdict, _ in lines)
    judged = sum(verdict in ("worse", "better", "equal") for verdict, _ in lines)
    print(f"{judged} of {len(lines)} figures compared; {bad} worse, missing or failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

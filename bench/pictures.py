#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The tables of docs/BENCHMARKS.md and the plots beside it, of the JSON in bench/results.

The page's prose is written by hand; each table stands between `<!-- figures of NAME.json -->` and `<!-- end of figures -->` and is written
anew, with a plot docs/pictures/bench-NAME.svg (gnuplot). A file of bench/results without a table, and a table without a file, are errors.

usage: pictures.py [--check]    --check: writes nothing; ends with 1 if a table is not what the JSON says, or a plot is missing
"""
import argparse
import json
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from bystanders import COMPUTATION_BOUND, NEIGHBOUR_BOUND
from figures import spread
from probe_cost import MOST_CYCLES, MOST_RATIO
from query_cost import QUESTIONS

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE, PICTURES = ROOT / "bench" / "results", ROOT / "docs" / "BENCHMARKS.md", ROOT / "docs" / "pictures"
BLOCK = re.compile(r"<!-- figures of (\S+)\.json -->\n(.*?)<!-- end of figures -->", re.S)
# Colours that colour-blind people tell apart (Okabe and Ito), each with a pattern of its own.
COLOURS = ("#0072b2", "#e69f00", "#999999", "#009e73")
LABEL = 14  # letters of a line below a bar


@dataclass
class Plot:
    """Groups of bars: for each row its name, and for each series a median with its quartiles, or None."""

    title: str
    unit: str
    series: list
    rows: list  # (name, [figure or None, …])
    logarithmic: bool = False


def figure(values):
    if not values:
        return "–"
    low, middle, high = (f"{round(value) + 0:,}" for value in (values["quartiles"][0], values["median"], values["quartiles"][1]))
    return f"{middle} ({low} to {high})"


def share(values):
    return f"{values['median']:.2f} ({values['quartiles'][0]:.2f} to {values['quartiles'][1]:.2f})" if values else "–"


def verdict(values, most):
    """A bound between the quartiles is neither met nor missed."""
    low, high = values["quartiles"]
    return f"≤ {most}: " + ("met" if high <= most else "**missed**" if low > most else "not shown: the spread is too large")


def machine_line(facts, rounds):
    bpftrace = f", {facts['bpftrace']}" if facts.get("bpftrace") else ""
    return (f"{facts.get('date', 'no date')}, Linux {facts['kernel']}, {facts['processors']} processors ({facts['processor']}){bpftrace}; load "
            f"before {facts['load_before']:.1f}; median (quartiles) of {rounds} rounds.")


def table(header, rows):
    return ["| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows)]


def of_bench(data):
    """bench.py: one traced call, against the peers."""
    rows, bars = [], []
    for result in data["results"]:
        added, ratio = result["added_ns_per_call"], result["ratio_to_bpftrace"]
        rows.append([result["case"], figure(added["uscope"]), figure(added["bpftrace"]), figure(added.get("strace")), share(ratio),
                     verdict(ratio, result["ratio_bound"])])
        bars.append((result["case"], [added["uscope"], added["bpftrace"], added.get("strace")]))
    names = ["uscope: full event, whole stack", "bpftrace ustack(5), counted", "strace -k"]
    return (machine_line(data["machine"], data["results"][0]["ratio_to_bpftrace"]["runs"]),
            table(["ns a call", *names, "uscope ÷ bpftrace", "must be"], rows), Plot("What one traced call adds", "ns (logarithmic)", names, bars, True))


QUERY_BOUNDS = {name: bound for name, (_, _, _, bound) in QUESTIONS.items()}


def of_query_cost(data):
    """query_cost.py: a question asked of each call."""
    rows, bars = [], []
    for result in data["results"]:
        added, ratio = result["added_ns_per_call"], result.get("ratio_to_bpftrace")
        bound = QUERY_BOUNDS.get(result["question"])
        rows.append([result["question"], figure(added["uscope"]), figure(added.get("bpftrace")), share(ratio), verdict(ratio, bound) if bound else "–"])
        bars.append((result["question"], [added["uscope"], added.get("bpftrace")]))
    names = ["uscope query", "bpftrace"]
    return (machine_line(data["machine"], data["results"][0]["added_ns_per_call"]["uscope"]["runs"]),
            table(["ns a call", *names, "uscope ÷ bpftrace", "must be"], rows), Plot("What a question adds to a call", "ns", names, bars))


def of_probe_cost(data):
    """probe_cost.py: a hit of a probe, counted by kind."""
    ways = {"question": "count adds", "record": "record adds", "bpftrace": "bpftrace adds", "empty program": "empty adds"}
    rows = [[result["probe"], figure(result["beyond_cycles"]), verdict(result["beyond_cycles"], MOST_CYCLES),
             share(result["ratio"]), verdict(result["ratio"], MOST_RATIO)] for result in data["results"]]
    bars = [(result["probe"], [result.get(key) for key in ways.values()]) for result in data["results"]]
    return (machine_line(data["machine"], data["results"][0]["ratio"]["runs"]),
            table(["keyed count beyond an empty program", "cycles", "must be", "uscope ÷ bpftrace", "must be"], rows),
            Plot("What one hit of a probe adds", "ns", list(ways), bars))


def of_bystanders(data):
    """bystanders.py: those who are not traced."""
    rows = [[name, figure(spread(values)), "–"] for name, values in data["ns_a_call"].items()]
    beyond, work = spread(data["beyond_empty"]), data["computation"]
    rows.append(["uscope beyond empty programs", figure(beyond), verdict(beyond, NEIGHBOUR_BOUND)])
    added = work["programs"] + work["tracer"]
    rows.append([f"a traced computation of {work['command_seconds']:.1f} s: programs and tracer, % of its time",
                 f"{work['programs']:.2f} and {work['tracer']:.2f}", verdict({"quartiles": [added, added]}, COMPUTATION_BOUND)])
    return (machine_line(data["machine"], len(data["beyond_empty"])), table(["ns a call, of a program that is not traced", "median (quartiles)", "must be"], rows),
            None)


def of_servers(data):
    """servers.py: throughput that a server loses."""
    rows, names = [], [f"{result['server']}, {result['load']}" for result in data["results"]]
    for name, result in zip(names, data["results"]):
        rows += [[name, variant, share(row["loss_percent"]), share(row.get("added_us")), figure(row.get("ns_per_event"))]
                 for variant, row in result["variants"].items()]
    variants = list(dict.fromkeys(variant for result in data["results"] for variant in result["variants"]))
    bars = [(variant, [result["variants"].get(variant, {}).get("loss_percent") for result in data["results"]]) for variant in variants]
    return (machine_line(data["machine"], data["rounds"]) + " Alone: " + "; ".join(
                f"{result['server']} {result['alone']['rate']['median']:,.0f} {result['unit']}" for result in data["results"]) + ".",
            table(["server", "variant", "throughput lost, %", "more processor time a request, µs", "ns an event"], rows),
            Plot("Throughput that a server loses", "%", names, bars))


def of_kmod_cost(data):
    """kmod_cost.py: instructions, counted in an emulated machine."""
    costs = {(line["state"], line["case"]): line for line in data if "cost" in line}
    cases = {"same": "one stack again and again", "sites": "200 call sites: every stack is walked", "depths": "walked and remembered anew"}
    rows = [[text, *(f"{costs[(state, case)]['cost']:,.0f}" if (state, case) in costs else "–" for state in ("kmod", "bpf"))] for case, text in cases.items()]
    rows += [[f"not traced, while another one is ({state})" if state == "untraced" else state, f"{line['cost']:,.0f}", "–"]
             for (state, _), line in costs.items() if state not in ("kmod", "bpf")]
    bars = [(text, [{"median": costs[(state, case)]["cost"], "quartiles": [costs[(state, case)]["cost"]] * 2} if (state, case) in costs else None
                    for state in ("kmod", "bpf")]) for case, text in cases.items()]
    return ("Linux 6.1 of Debian 12 in QEMU, where one instruction is one tick: no time, and the same on any machine.",
            table(["instructions a call, beyond empty probes", "kernel module", "BPF"], rows), Plot("Instructions of a traced call", "instructions",
                                                                                                      ["kernel module", "BPF"], bars))


MAKERS = {"bench": of_bench, "query_cost": of_query_cost, "probe_cost": of_probe_cost, "bystanders": of_bystanders, "servers": of_servers,
          "kmod_cost": of_kmod_cost}


def gnuplot_script(plot, path):
    """Bars with their quartiles, one group a row."""
    lines = ["$data << EOD", "\t".join(["name", *plot.series])]
    for name, figures in plot.rows:
        cells = ['"' + r"\n".join(textwrap.wrap(name, LABEL, break_long_words=False)) + '"']
        for values in figures:
            cells += [str(values["median"]), str(values["quartiles"][0]), str(values["quartiles"][1])] if values else ["nan"] * 3
        lines.append("\t".join(cells))
    lines += ["EOD", "set datafile separator tab", f"set terminal svg size 900,420 font 'Helvetica,13' background '#ffffff'", f"set output '{path}'",
              f'set title "{plot.title}"', f'set ylabel "{plot.unit}"', "set style data histogram", "set style histogram errorbars gap 1 lw 1",
              "set style fill pattern border lt -1", "set grid ytics lt 0", f"set key tmargin left vertical maxrows {len(plot.series)} Left reverse", "set xtics nomirror scale 0 font ',11'",
              "set bars 0.5", "set xrange [-0.6:*]", "set bmargin 4", *(["set logscale y", "set yrange [*:*]"] if plot.logarithmic else ["set yrange [0:*]"])]
    lines.append("plot " + ", ".join(
        f"$data every ::1 using {2 + 3 * number}:{3 + 3 * number}:{4 + 3 * number}:xtic(1) title \"{series}\" fs pattern {number + 1} "
        f"lc rgb '{COLOURS[number % len(COLOURS)]}'" for number, series in enumerate(plot.series)))
    return "\n".join(lines) + "\n"


def made(name):
    """The text of a block, and its plot or None."""
    with open(RESULTS / f"{name}.json", encoding="utf-8") as file:
        said, lines, plot = MAKERS[name](json.load(file))
    picture = [f"![{plot.title}, {plot.unit}](pictures/bench-{name}.svg)", ""] if plot else []
    return "\n".join([said, "", *lines, "", *picture]), plot


def blocks_of(page):
    """The blocks whose JSON is there, {name: text}, and what is wrong with the others."""
    there, blocks = {path.stem for path in RESULTS.glob("*.json")}, dict(BLOCK.findall(page))
    faults = [f"docs/BENCHMARKS.md: no block for bench/results/{name}.json" for name in sorted(there - set(blocks))]
    faults += [f"docs/BENCHMARKS.md: a block for bench/results/{name}.json, which is not there" for name in sorted(set(blocks) - there)]
    return {name: text for name, text in blocks.items() if name in there}, faults


def check(page):
    """What is not as the JSON has it."""
    blocks, faults = blocks_of(page)
    for name, old in blocks.items():
        text, plot = made(name)
        faults += [f"docs/BENCHMARKS.md: the figures of {name}.json differ: run bench/pictures.py"] if old != text else []
        picture = PICTURES / f"bench-{name}.svg"
        faults += [f"docs/pictures/{picture.name}: missing: run bench/pictures.py"] if plot and not picture.exists() else []
    return faults


def write(page):
    blocks, faults = blocks_of(page)
    for name, old in blocks.items():
        text, plot = made(name)
        page = page.replace(f"<!-- figures of {name}.json -->\n{old}", f"<!-- figures of {name}.json -->\n{text}")
        if plot:
            subprocess.run(["gnuplot"], input=gnuplot_script(plot, PICTURES / f"bench-{name}.svg"), text=True, check=True)
    PAGE.write_text(page, encoding="utf-8")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; say what is not as the JSON has it")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    faults = check(page) if arguments.check else write(page)
    print("\n".join(faults) or "docs/BENCHMARKS.md has the figures of bench/results")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

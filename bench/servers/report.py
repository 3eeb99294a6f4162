# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the rounds of a load come to: figures with their spread, bounds, and the table of bench/README.md."""
from figures import spread
from servers.rounds import BPFTRACE, BUSY, EMPTY, LAUNCHED, MODE_2, MODE_4, OLD_QUESTION, QUESTION, STRACE, VARIANTS

# Of a variant: its figures, and the digits that they are told with.
FIGURES = {"rate": 0, "loss_percent": 1, "added_us": 2, "events_per_request": 2, "ns_per_event": 1, "ratio_to_bpftrace": 3, "ratio_to_old": 3,
           "loss_to_record": 3, "added_to_record": 3, "tracer_percent": 2}
COUNTERS = ("walks", "memo_hits", "mapping_lookups", "deferred_lock")

# The most that is accepted, of the median, and the aim.
LOSS_BOUNDS = {("mariadbd", MODE_2): (6, 3), ("mariadbd", MODE_4): (6, 3), ("postgres", MODE_2): (6, 3), ("postgres", MODE_4): (6, 3)}
OLD_BOUNDS = {"apache2": (0.5, 0.33), "mariadbd": (0.5, 0.33)}  # of the old build's processor time for each event
QUESTION_BOUNDS = {"apache2": (0.5, 0.5)}  # throughput lost, of what `record` takes; the tracer's processor time, % of one processor
ATTACH_BOUNDS = {"apache2": 3, "apache2-forks": 3}  # points of throughput lost beyond launched, in each try


def derive(rows):
    """Adds to the rows of one round what follows from them together."""
    empty = rows.get(EMPTY)
    for row in rows.values():
        if row.get("events"):
            row["events_per_request"] = row["events"] / row["requests"]
            if empty:
                row["ns_per_event"] = 1000 * (row["added_us"] - empty["added_us"]) / row["events_per_request"]
    recorded = rows.get(MODE_4)
    for asked in (rows[name] for name in (QUESTION, OLD_QUESTION) if name in rows and recorded):
        for figure, of in (("loss_to_record", "loss_percent"), ("added_to_record", "added_us")):
            if recorded[of] > 0:
                asked[figure] = asked[of] / recorded[of]
    for variant in VARIANTS:
        if variant.how not in ("bpftrace", "empty") and variant.name in rows:
            for figure, other in (("ratio_to_bpftrace", BPFTRACE), ("ratio_to_old", "old, " + variant.name)):
                theirs = rows.get(other, {}).get("ns_per_event", 0)
                # A peer that cost nothing that could be measured in this round gives no ratio.
                if theirs > 0 and "ns_per_event" in rows[variant.name]:
                    rows[variant.name][figure] = rows[variant.name]["ns_per_event"] / theirs


def summary(server, load, found):
    """The entry of the JSON for a load, of what rounds.measure() found."""
    rounds, alone = found["rounds"], found["alone"]
    for rows in rounds:
        derive(rows)
    variants = {}
    for name in dict.fromkeys(name for rows in rounds for name in rows):
        runs = [rows[name] for rows in rounds]
        variants[name] = {figure: spread([run[figure] for run in runs if figure in run], digits)
                          for figure, digits in FIGURES.items() if any(figure in run for run in runs)}
        variants[name]["runs"] = runs
    result = {"server": server.name, "load": load.name, "unit": load.unit, "variants": variants,
              "alone": {"rate": spread([run["rate"] for run in alone], 0), "us_per_request": spread([run["micros"] for run in alone], 2)}}
    if "strace" in found:
        lost = 100 * (1 - found["strace"] / result["alone"]["rate"]["median"])
        variants[STRACE] = {"rate": spread([found["strace"]]), "loss_percent": spread([lost])}
    if "attach" in found:
        launched = spread([row["loss_percent"] for row in found["attach"]["launched"]])
        beyond = [row["loss_percent"] - launched["median"] for row in found["attach"]["tries"]]
        result["attach"] = {"launched": launched, "points_beyond_launched": spread(beyond), "launched_runs": found["attach"]["launched"],
                            "tries": found["attach"]["tries"]}
    return result


def verdicts(results):
    """(text, whether it is met) for each bound that something was measured for."""
    for result in results:
        where = f"{result['server']}, {result['load']}"
        for name, row in result["variants"].items():
            bound = LOSS_BOUNDS.get((result["server"], name))
            if bound:
                lost = row["loss_percent"]["median"]
                yield f"{where}, {name}: {lost:.1f} % lost, bound {bound[0]} %, aim {bound[1]} %", lost <= bound[0]
            bound = OLD_BOUNDS.get(result["server"])
            if bound and "ratio_to_old" in row and name != QUESTION:
                ratio = row["ratio_to_old"]["median"]
                told = f"{ratio:.2f} of the old build's time for each event, bound {bound[0]}, aim {bound[1]}"
                yield f"{where}, {name}: {told}", ratio <= bound[0]
        bound, asked = QUESTION_BOUNDS.get(result["server"]), result["variants"].get(QUESTION, {})
        if bound and "tracer_percent" in asked:
            ratio, percent = (asked.get(figure, {}).get("median") for figure in ("loss_to_record", "tracer_percent"))
            if ratio is not None:
                yield f"{where}, {QUESTION}: {ratio:.2f} of the throughput that record takes, bound {bound[0]}", ratio <= bound[0]
            yield f"{where}, {QUESTION}: the tracer takes {percent:.2f} % of a processor, bound {bound[1]} %", percent <= bound[1]
        points = ATTACH_BOUNDS.get(result["server"])
        if points and "attach" in result:
            launched = result["attach"]["launched"]["median"]
            good = sum(row["loss_percent"] <= launched + points for row in result["attach"]["tries"])
            tries = len(result["attach"]["tries"])
            yield f"{where}: {good} of {tries} times at most {points} points beyond launched ({launched:.1f} %)", good == tries


def _cell(row, figure, digits=0):
    if figure not in row:
        return "–"
    low, high = row[figure]["quartiles"]
    # + 0: no figure is -0.
    low, middle, high = (f"{round(value, digits) + 0:,.{digits}f}" for value in (low, row[figure]["median"], high))
    return f"{middle} ({low} to {high})"


def text(results):
    """Line by line, for people at a terminal."""
    for result in results:
        alone = result["alone"]
        yield (f"{result['server']}, {result['load']}, alone: {_cell(alone, 'rate')} {result['unit']}, "
               f"{_cell(alone, 'us_per_request', 1)} µs of processor time each")
        for name, row in result["variants"].items():
            line = f"  {name:27} {_cell(row, 'loss_percent', 1)} % lost"
            for figure, digits, what in (("added_us", 1, "µs more each"), ("ns_per_event", 0, "ns an event"),
                                         ("ratio_to_bpftrace", 2, "of bpftrace's"), ("ratio_to_old", 2, "of the old build's"),
                                         ("loss_to_record", 2, "of record's loss"), ("added_to_record", 2, "of record's time"),
                                         ("tracer_percent", 2, "% of a processor for the tracer")):
                if figure in row:
                    line += f", {_cell(row, figure, digits)} {what}"
            yield line
        if "attach" in result:
            yield f"  beyond launched: {_cell(result['attach'], 'points_beyond_launched', 1)} points"
            yield from attaches(result)


def _line(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def markdown(results):
    """The table, with a line for each load; after it, one for each that was attached to again and again."""
    losses = [MODE_2, MODE_4, BUSY, LAUNCHED, BPFTRACE, EMPTY]
    costs = [("ns_per_event", 0, "ns an event"), ("ratio_to_bpftrace", 2, "of bpftrace's"), ("ratio_to_old", 2, "of the old build's")]
    header = ["throughput lost, %, median (quartiles)", "alone", *losses, *(f"{what}, {mode}" for _, _, what in costs for mode in losses[:2])]
    yield _line(*header)
    yield _line(*["---"] * len(header))
    for result in results:
        rows = [result["variants"].get(name, {}) for name in losses]
        cells = [_cell(row, "loss_percent") for row in rows]
        cells += [_cell(row, figure, digits) for figure, digits, _ in costs for row in rows[:2]]
        yield _line(f"{result['server']}, {result['load']}", f"{result['alone']['rate']['median']:,.0f} {result['unit']}", *cells)
    for result in results:
        if "attach" in result:
            yield ""
            yield from attaches(result)


def attaches(result):
    yield _line(f"{result['server']}, {result['load']}", "throughput lost, %", "events", *COUNTERS)
    yield _line(*["---"] * (3 + len(COUNTERS)))
    for name, rows in (("launched", result["attach"]["launched_runs"]), ("attached while busy", result["attach"]["tries"])):
        for number, row in enumerate(rows, 1):
            yield _line(f"{name}, {number}", f"{row['loss_percent']:.1f}", f"{row['events_of_trace']:,}",
                        *(f"{row[counter]:,}" for counter in COUNTERS))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Two traces of one run, value by value: two tracers were attached to the same processes at once.

usage: compare_traces.py OUTER.db INNER.db
OUTER's tracer ran INNER's tracer (`record -o OUTER.db -- uscope record -o INNER.db -- COMMAND`), so it has more processes, and of the
command's first process the calls before its exec. All of INNER's processes, threads, images and calls must be in OUTER, with equal
values, and nothing more than that of these processes. Times may differ by the tolerance. Prints each difference and, last, how much
was compared; exits with 1 where anything differs or nothing was compared.
"""

import argparse
import difflib
import sqlite3
import sys

TOLERANCE_NS = 50_000_000  # a tracer may be preempted between its probe and the other's
ARGUMENTS = ("a0", "a1", "a2", "a3", "a4", "a5")


class Side:
    """One trace: processes, and for each its threads, images and calls in the order of their times."""

    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.database.row_factory = sqlite3.Row
        # The last thing it knows of; what another tracer saw later is not missing here.
        self.end_ns = self.rows("SELECT max(ts) FROM (SELECT max(ts_ns + coalesce(dur_ns, 0)) AS ts FROM event "
                                "UNION ALL SELECT max(end_ns) FROM process UNION ALL SELECT max(end_ns) FROM thread)")[0][0] or 0
        self.processes = {row["id"]: row for row in self.rows("SELECT * FROM process ORDER BY start_ns, id")}
        self.stacks = {}
        for row in self.rows("SELECT stack_id, path, build_id, rel_pc, function FROM stack_frame JOIN frame ON frame.id = frame_id "
                             "JOIN module ON module.id = module_id WHERE inline_depth = 0 ORDER BY stack_id, position"):
            self.stacks.setdefault(row["stack_id"], []).append((row["path"], row["build_id"], row["rel_pc"], row["function"]))

    def rows(self, query, *values):
        return self.database.execute(query, values).fetchall()

    def losses(self):
        return [tuple(row) for row in self.rows("SELECT cause, count FROM loss WHERE cause <> 'verify_skipped' AND count > 0")]

    def threads(self, process):
        return self.rows("SELECT * FROM thread WHERE process_id = ? ORDER BY start_ns, id", process)

    def images(self, process):
        return self.rows("SELECT path, argv, ts_ns FROM image WHERE process_id = ? ORDER BY ts_ns, id", process)

    def events(self, thread):
        return self.rows(
            "SELECT event.*, kind.name AS call, kind.abi AS abi, ended, depth, image.path AS image FROM event "
            "JOIN kind ON kind.id = kind_id LEFT JOIN stack ON stack.id = stack_id LEFT JOIN image ON image.id = image_id "
            "WHERE event.thread_id = ? ORDER BY event.ts_ns, event.id", thread)

    def stack(self, event):
        return self.stacks.get(event["stack_id"], [])


def text_of(event):
    return f"{event['call']}({', '.join(str(event[name]) for name in ARGUMENTS)}) = {event['result']} {event['how']}"


def frame_text(frame):
    return f"{frame[0]}+{frame[2]:#x} {frame[3]}" if frame else "(no frame)"


def near(left, right):
    if left is None or right is None:
        return left is right
    return abs(left - right) <= TOLERANCE_NS


class Comparison:
    def __init__(self, outer, inner):
        self.outer, self.inner = outer, inner
        self.differences = []
        self.processes = self.threads = self.events = self.frames = self.cut = self.copies = 0
        self.end_ns = min(outer.end_ns, inner.end_ns)

    def differ(self, where, what, outer, inner):
        self.differences.append(f"{where}: {what}: {outer!r} and {inner!r}")

    def equal(self, where, what, outer, inner):
        if outer != inner:
            self.differ(where, what, outer, inner)

    def near(self, where, what, outer, inner):
        if not near(outer, inner):
            self.differ(where, what, outer, inner)

    def run(self):
        for name, side in (("outer", self.outer), ("inner", self.inner)):
            if side.losses():
                self.differences.append(f"{name}: lost: {side.losses()}")
        by_pid = {}
        for row in self.outer.processes.values():
            by_pid.setdefault(row["pid"], []).append(row)
        pairs = {}  # the inner process's id → the outer one's
        for row in self.inner.processes.values():
            found = min(by_pid.get(row["pid"], []), key=lambda other: abs((other["start_ns"] or 0) - (row["start_ns"] or 0)), default=None)
            if found is None:
                self.differences.append(f"process {row['pid']}: only in the inner trace")
            else:
                pairs[row["id"]] = found["id"]
        for inner, outer in pairs.items():
            self.process(outer, inner, pairs)
        below = set(pairs.values())
        for row in self.outer.processes.values():
            if row["parent_id"] in below and row["id"] not in below:
                self.differences.append(f"process {row['pid']}: only in the outer trace")

    def process(self, outer, inner, pairs):
        self.processes += 1
        left, right = self.outer.processes[outer], self.inner.processes[inner]
        where = f"process {right['pid']}"
        first = right["parent_id"] is None  # the command itself, which the inner tracer has started
        if not first:
            self.equal(where, "parent", left["parent_id"], pairs.get(right["parent_id"]))
            self.near(where, "start", left["start_ns"], right["start_ns"])
        self.equal(where, "inner pid", left["ns_pid"], right["ns_pid"])
        self.equal(where, "io_uring", left["uses_io_uring"], right["uses_io_uring"])
        # One that ends when tracing does has its end in the trace of whoever looked last.
        if right["end_ns"] is not None or left["end_ns"] is not None and left["end_ns"] < self.end_ns - TOLERANCE_NS:
            for what in ("exit_code", "exit_signal"):
                self.equal(where, what, left[what], right[what])
            self.near(where, "end", left["end_ns"], right["end_ns"])
        images = [[tuple(row)[:2] for row in side.images(one)] for side, one in ((self.outer, outer), (self.inner, inner))]
        self.equal(where, "images", images[0][-len(images[1]):] if first else images[0], images[1])
        self.all_threads(where, outer, inner, first)

    def all_threads(self, where, outer, inner, first):
        lefts, rights = self.outer.threads(outer), self.inner.threads(inner)
        self.equal(where, "threads", [row["tid"] for row in lefts], [row["tid"] for row in rights])
        for left, right in zip(lefts, rights):
            self.threads += 1
            name = f"thread {right['tid']}"
            for what in ("ns_tid", "name"):
                self.equal(name, what, left[what], right[what])
            self.calls(name, self.outer.events(left["id"]), self.inner.events(right["id"]), first)

    def calls(self, where, lefts, rights, first):
        if first and rights:
            # The inner trace begins with the exec; what the launched process did before is only in the outer one.
            begin = next((i for i, event in enumerate(lefts) if self.key(event) == self.key(rights[0])
                          and near(event["ts_ns"], rights[0]["ts_ns"])), 0)
            lefts = lefts[begin:]
        # After the end of the inner trace the outer one goes on.
        lefts = [event for event in lefts if event["ts_ns"] <= self.end_ns]
        matcher = difflib.SequenceMatcher(None, [self.key(event) for event in lefts], [self.key(event) for event in rights], autojunk=False)
        for tag, i, i_end, j, j_end in matcher.get_opcodes():
            if tag == "equal":
                for left, right, number in zip(lefts[i:i_end], rights[j:j_end], range(j, j_end)):
                    self.call(where, left, right, launch=first and number == 0)
                continue
            for event in lefts[i:i_end]:
                self.differences.append(f"{where}: only in the outer trace: {text_of(event)}")
            for event in rights[j:j_end]:
                self.differences.append(f"{where}: only in the inner trace: {text_of(event)}")

    @staticmethod
    def key(event):
        return (event["call"], event["abi"], *(event[name] for name in ARGUMENTS))

    def call(self, where, left, right, launch):
        self.events += 1
        where = f"{where}: {text_of(right)}"
        self.near(where, "time", left["ts_ns"], right["ts_ns"])
        last = {left["how"], right["how"]} & {"open"}
        if last and left["how"] != right["how"] and self.ended_late(left, right):
            self.cut += 1  # it returned after one of them had stopped
        else:
            self.equal(where, "how", left["how"], right["how"])
            self.equal(where, "result", left["result"], right["result"])
            self.near(where, "duration", left["dur_ns"], right["dur_ns"])
        if launch:
            return  # made by the inner tracer itself, of whose image and stack it says nothing
        self.equal(where, "image", left["image"], right["image"])
        ours, theirs = self.outer.stack(left), self.inner.stack(right)
        self.frames += len(theirs)
        if left["ended"] != right["ended"] and "broken:copy_limit" in (left["ended"], right["ended"]):
            # One of them had no rows yet and walked a copy of the stack, which has a limit: as far as it goes, it must be the same.
            self.copies += 1
            ours, theirs = ours[:len(theirs)], theirs[:len(ours)]
        else:
            self.equal(where, "stack's end", left["ended"], right["ended"])
            self.equal(where, "depth", left["depth"], right["depth"])
        for position in range(max(len(ours), len(theirs))):
            outer = ours[position] if position < len(ours) else None
            inner = theirs[position] if position < len(theirs) else None
            if outer != inner:
                self.differ(where, f"frame {position}", frame_text(outer), frame_text(inner))
                break

    def summary(self):
        return (f"{len(self.differences)} differences; compared: {self.processes} processes, {self.threads} threads, {self.events} calls "
                f"({self.cut} still open in one), {self.frames} frames ({self.copies} stacks cut at a copy's limit in one)")

    def ended_late(self, left, right):
        ends = [event["ts_ns"] + (event["dur_ns"] or 0) for event in (left, right) if event["how"] != "open"]
        return all(end >= self.end_ns - TOLERANCE_NS for end in ends)


def compare(outer, inner):
    comparison = Comparison(Side(outer), Side(inner))
    comparison.run()
    return comparison


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("outer")
    parser.add_argument("inner")
    arguments = parser.parse_args()
    comparison = compare(arguments.outer, arguments.inner)
    for difference in comparison.differences:
        print(difference)
    print(comparison.summary())
    return 1 if comparison.differences or not comparison.events else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A trace file, read with nothing but SQL on the published schema (docs/schema.md)."""

import collections
import sqlite3

from expectations import Frame, base_name


class Trace:
    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.database.row_factory = sqlite3.Row
        self.stacks = collections.defaultdict(list)
        self.places = collections.defaultdict(list)
        for row in self.database.execute(
            "SELECT stack_id, function, path, rel_pc FROM stack_frame JOIN frame ON frame.id = frame_id "
            "JOIN module ON module.id = module_id WHERE inline_depth = 0 AND space = 'user' "
            "ORDER BY stack_id, position"
        ):
            self.stacks[row["stack_id"]].append(Frame(row["function"], base_name(row["path"])))
            self.places[row["stack_id"]].append((row["path"], row["rel_pc"]))

    def losses(self):
        return [
            f"{row['cause']} x {row['count']}"
            for row in self.database.execute("SELECT * FROM loss WHERE cause <> 'verify_skipped' AND count > 0")
        ]

    def figure(self, key):
        """One of the tracer's counters."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return int(row["value"]) if row else 0

    def events(self, call=None):
        where = "WHERE kind.name = ?" if call else ""
        return self.database.execute(
            "SELECT event.*, kind.name AS call, stack.depth AS depth, stack.ended AS ended, process_id, tid "
            "FROM event JOIN kind ON kind.id = kind_id JOIN thread ON thread.id = thread_id "
            f"LEFT JOIN stack ON stack.id = stack_id {where} ORDER BY event.ts_ns, event.id",
            (call,) if call else (),
        ).fetchall()

    def frames(self, stack_id):
        """Innermost first."""
        return self.stacks.get(stack_id, [])

    def describe(self, event):
        frames = self.frames(event["stack_id"])
        names = " < ".join(frame.function for frame in frames[:24]) + (" < …" if len(frames) > 24 else "")
        return (
            f"{event['call']} how={event['how']} result={event['result']} a0={event['a0']} depth={event['depth']} "
            f"ended={event['ended']} stack={names or '(none)'}"
        )

    def processes(self):
        return self.database.execute("SELECT id, parent_id FROM process ORDER BY start_ns, id").fetchall()

    def tree(self):
        """name(child,child(grandchild)), children in the order of their start."""
        images = {}
        for row in self.database.execute("SELECT process_id, path FROM image ORDER BY ts_ns"):
            images[row["process_id"]] = base_name(row["path"])
        # A symlink by which a program names itself stands for the program.
        children = collections.defaultdict(list)
        parents = {}
        for row in self.processes():
            children[row["parent_id"]].append(row["id"])
            parents[row["id"]] = row["parent_id"]
        roots = [process for process, parent in parents.items() if parent not in parents]

        def text(process, inherited):
            name = images.get(process, inherited)
            if name == "exe":
                name = inherited or self.first_image(process)
            below = ",".join(text(child, name) for child in children[process])
            return f"{name}({below})" if below else name

        return " + ".join(text(root, "") for root in roots)

    def first_image(self, process):
        row = self.database.execute("SELECT path FROM image WHERE process_id = ? ORDER BY ts_ns LIMIT 1", (process,))
        return base_name(row.fetchone()["path"])

    def calls_by_process(self):
        """Counter of calls for each process id."""
        counts = collections.defaultdict(collections.Counter)
        for row in self.events():
            counts[row["process_id"]][row["call"]] += 1
        return counts

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Is what smoke-guest brought back true? Values, not just success: the pipeline's bytes are followed from ls to wc."""

import re
import sqlite3
import sys
from pathlib import Path

FILES = 300


class Checks:
    def __init__(self, folder: Path):
        self.folder = folder
        self.failed = 0
        self.done = 0

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(errors="replace").strip()

    def equal(self, what: str, got, expected) -> None:
        self.done += 1
        if got != expected:
            self.failed += 1
            print(f"FAILED {what}: {got!r}, expected {expected!r}")

    def true(self, what: str, holds: bool, seen) -> None:
        self.done += 1
        if not holds:
            self.failed += 1
            print(f"FAILED {what}: {seen!r}")


def listing_bytes() -> int:
    return sum(len(f"a-file-with-a-long-name-{number}\n") for number in range(1, FILES + 1))


def open_database(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def one(database: sqlite3.Connection, query: str):
    return database.execute(query).fetchone()[0]


def check_commands(checks: Checks) -> None:
    size = str(listing_bytes())
    checks.equal("doctor's exit status", checks.text("doctor.status"), "0")
    checks.equal("the pipeline's output, untraced", checks.text("plain.out"), size)
    for name in ("pipeline", "verify"):
        checks.equal(f"{name}: output of the traced command", checks.text(f"{name}.out"), size)
        checks.equal(f"{name}: exit status", checks.text(f"{name}.status"), "0")
    checks.equal("record ends with its command's exit status", checks.text("seven.status"), "7")
    checks.equal("report's exit status", checks.text("report.status"), "0")
    checks.true("report says that nothing was lost", "LOST       nothing" in checks.text("report.out"), checks.text("report.out"))
    for name in ("before", "during", "after"):
        checks.equal(f"bpftool {name} tracing: exit status", checks.text(f"{name}.status"), "0")
    checks.true("programs in the kernel while tracing", "on_sys_enter" in checks.text("during.out"), checks.text("during.out"))
    checks.equal("programs in the kernel afterwards", checks.text("after.out"), checks.text("before.out"))


def check_processes(checks: Checks, database: sqlite3.Connection) -> None:
    rows = database.execute(
        "SELECT (SELECT path FROM image WHERE process_id = p.id ORDER BY ts_ns DESC LIMIT 1),"
        " (SELECT path FROM image WHERE process_id = p.parent_id ORDER BY ts_ns DESC LIMIT 1), exit_code, exit_signal"
        " FROM process p ORDER BY start_ns"
    ).fetchall()
    got = sorted((Path(image or "").name, Path(parent or "").name, code, signal or 0) for image, parent, code, signal in rows)
    checks.equal("processes", [row for row in got if row[0] != "sh"], [("ls", "sh", 0, 0), ("wc", "sh", 0, 0)])
    checks.equal("shells", [(row[0], row[2]) for row in got if row[0] == "sh"], [("sh", 0)])


def check_events(checks: Checks, database: sqlite3.Connection) -> None:
    size = listing_bytes()
    totals = dict(database.execute(
        "SELECT v.process || ' ' || v.kind, sum(v.result) FROM v_event v JOIN event e ON e.id = v.id WHERE v.result > 0 AND"
        " (v.process = 'ls' AND v.kind = 'write' AND e.a0 = 1 OR v.process = 'wc' AND v.kind = 'read' AND e.a0 = 0"
        " OR v.process = 'wc' AND v.kind = 'write' AND e.a0 = 1) GROUP BY 1").fetchall())
    checks.equal("bytes through the pipe",
                 totals, {"ls write": size, "wc read": size, "wc write": len(f"{size}\n")})
    checks.equal("programs started", one(database, "SELECT count(*) FROM v_event WHERE kind = 'execve' AND result = 0"), 3)
    checks.equal("calls that ended their process", database.execute(
        "SELECT process, kind FROM v_event WHERE how = 'noreturn' ORDER BY 1").fetchall(),
        [("ls", "exit_group"), ("sh", "exit_group"), ("wc", "exit_group")])
    checks.equal("ways that calls ended", one(
        database, "SELECT count(*) FROM v_event WHERE how NOT IN ('returned', 'noreturn')"), 0)
    directories = one(database, "SELECT count(*) FROM v_event WHERE process = 'ls' AND kind = 'getdents64' AND result > 0")
    checks.true("ls read its folder", directories >= 1, directories)


def check_stacks(checks: Checks, database: sqlite3.Connection) -> None:
    # The launcher's own execve comes before the command has an image: it has no frames, by design.
    checks.equal("stacks that do not end at the root", database.execute(
        "SELECT kind, depth, ended FROM v_event WHERE ended IS NOT 'root' ORDER BY ts_ns").fetchall(), [("execve", 0, "scope")])
    events = one(database, "SELECT count(*) FROM event")
    checks.true("events", events > 100, events)
    checks.equal("events without a thread, image or kind", one(
        database, "SELECT count(*) FROM v_event WHERE tid IS NULL OR kind IS NULL OR (process IS NULL AND depth > 0)"), 0)
    for process in ("ls", "wc"):
        module, folded = database.execute(
            "SELECT v.trigger_module, v.folded FROM v_event v JOIN event e ON e.id = v.id"
            " WHERE v.process = ? AND v.kind = 'write' AND e.a0 = 1 LIMIT 1", (process,)).fetchone()
        checks.equal(f"{process}: module that wrote", module.rsplit("/", 1)[-1], process)
        checks.true(f"{process}: the way to its write", "__libc_start_main" in folded and folded.endswith("write"), folded)


def check_oracle(checks: Checks, database: sqlite3.Connection) -> None:
    equal, compared = database.execute("SELECT coalesce(sum(equal), 0), count(*) FROM verify").fetchone()
    checks.true("walks compared with libdwfl's", compared > 100, compared)
    checks.equal("walks equal to libdwfl's", equal, compared)
    for row in database.execute(
            "SELECT kind, process, uscope_depth, oracle_depth, first_difference, folded FROM verify"
            " JOIN v_event ON v_event.id = event_id WHERE NOT equal LIMIT 5"):
        print("  differs:", *row)


def main(folder: Path) -> int:
    checks = Checks(folder)
    check_commands(checks)
    for name in ("pipeline", "verify", "seven"):
        if not (folder / f"{name}.db").is_file():
            print(f"FAILED {name}.db was not made: {checks.text(f'{name}.err')}")
            return 1
        checks.equal(f"{name}: losses", open_database(folder / f"{name}.db").execute("SELECT cause, count FROM loss").fetchall(), [])
    database = open_database(folder / "pipeline.db")
    events = one(database, "SELECT count(*) FROM event")
    checks.equal("events as uscope sql counts them", re.findall(r"\d+", checks.text("sql.out")), [str(events)])
    check_processes(checks, database)
    check_events(checks, database)
    check_stacks(checks, database)
    check_oracle(checks, open_database(folder / "verify.db"))
    print(f"Linux {checks.text('kernel')}: {events} events, {checks.done} checks, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""How true the stacks of real programs are: each program of verify_programs_list.py is recorded once, whole.

`uscope record --mode 4 -S 1024 --verify N` follows the program and all it starts; of the database that comes out, four things are
counted: how the stacks of its events ended (`root`, or by which reason not), how many of the stacks that libdwfl walked too, on the
same copy, were equal frame by frame, what was lost, and where the stacks that are not whole end (the outermost frame).

Limits: one short run of each program, so rare places are missed; libdwfl is the oracle where it has unwind information itself.
A program that is not installed is named and left out; --install fetches what is missing first (Debian packages). Servers listen on
unix sockets or loopback. Needs root.

usage: verify_programs.py --build FOLDER [--only NAME]... [--install] [--json FILE] [--markdown FILE] [--keep FOLDER] [--check]
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from verify_programs_list import PROGRAMS

RUN_SECONDS = 20  # tracing stops then
END_SECONDS = 90  # loading included; beyond, the run has failed
BOUND = 99.9  # percent, of stacks that end at the root and of equal walks


class Failed(Exception):
    pass


def shell(text, folder, seconds=60, check=True):
    """What `bash -c text` prints, run in `folder`."""
    try:
        done = subprocess.run(["bash", "-c", text], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=seconds)  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Failed(f"`{text[:80]}` did not end within {seconds} s") from None
    if check and done.returncode != 0:
        raise Failed(f"`{text[:80]}`: exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout + (done.stderr if not done.stdout else "")


def install(programs):
    wanted = sorted({package for program in programs for package in program.packages})
    status = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *wanted], capture_output=True, text=True)
    present = {line.split()[0] for line in status.stdout.splitlines() if line.endswith(" installed")}
    missing = [package for package in wanted if package not in present]
    if missing:
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing], env=environment, check=True)


def record_command(uscope, program, database, folder):
    command = [uscope, "record", "--mode", "4", "-S", "1024", "--verify", str(program.every), "--duration", f"{RUN_SECONDS}s"]
    if program.user:
        command += ["-u", program.user]
    command += ["-o", database, "--"]
    if isinstance(program.command, str):
        return command + ["bash", "-c", program.command]
    return command + [folder if word == "@" else word.replace("@/", folder + "/") for word in program.command]


def wait_ready(program, folder, process):
    for _ in range(100):
        if process.poll() is not None:
            raise Failed(f"ended with {process.returncode} before it was ready")
        if subprocess.run(["bash", "-c", program.ready], cwd=folder, capture_output=True).returncode == 0:
            return
        time.sleep(0.2)
    raise Failed(f"not ready within 20 s: {program.ready}")


def run(uscope, program, folder, database):
    """Records the program; returns the seconds it took."""
    with open(os.path.join(folder, "bench.log"), "w") as log:
        begin = time.monotonic()
        process = subprocess.Popen(record_command(uscope, program, database, folder), cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, start_new_session=True)  # fmt: skip
        try:
            if program.load:
                wait_ready(program, folder, process)
                shell(program.load, folder)
                shell(program.stop, folder, check=False)
            process.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(f"did not end within {END_SECONDS} s") from None
        finally:
            end_session(process)
    seconds = time.monotonic() - begin
    if process.returncode not in program.statuses or not os.path.exists(database):
        with open(os.path.join(folder, "bench.log"), errors="replace") as log:
            raise Failed(f"exit status {process.returncode}: {log.read().strip()[-400:]}")
    return seconds


def end_session(process):
    """What a failed run left in its own session is ended."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue


def base_name(path):
    return path.rsplit("/", 1)[-1]


def read(database):
    """The figures of one database, as the JSON has them."""
    handle = sqlite3.connect(f"file:{database}?mode=ro", uri=True)

    def rows(text):
        return handle.execute(text).fetchall()

    ends = rows(
        "SELECT coalesce(ended, 'no stack'), count(*), count(DISTINCT stack_id) FROM event"
        " LEFT JOIN stack ON stack.id = stack_id GROUP BY ended"
    )
    events = rows("SELECT count(*) FROM event")[0][0]
    places = rows(
        "SELECT stack.ended, path, function, count(*) AS times FROM event JOIN stack ON stack.id = event.stack_id"
        " LEFT JOIN stack_frame ON stack_frame.stack_id = stack.id AND inline_depth = 0 AND position ="
        "  (SELECT max(position) FROM stack_frame AS other WHERE other.stack_id = stack.id)"
        " LEFT JOIN frame ON frame.id = frame_id LEFT JOIN module ON module.id = module_id"
        " WHERE stack.ended NOT IN ('root', 'scope') GROUP BY 1, 2, 3 ORDER BY times DESC LIMIT 12"
    )
    differences = rows(
        "SELECT first_difference, uscope_depth, oracle_depth, folded, ended, count(*) AS times FROM verify"
        " LEFT JOIN v_event ON v_event.id = event_id WHERE NOT equal GROUP BY 1, 2, 3, 4, 5 ORDER BY times DESC LIMIT 12"
    )
    compared, equal = rows("SELECT count(*), coalesce(sum(equal), 0) FROM verify")[0]
    figures = {
        "events": events,
        "stacks": rows("SELECT count(*) FROM stack")[0][0],
        "processes": rows("SELECT count(*) FROM process")[0][0],
        "ends": {name: {"events": count, "stacks": stacks} for name, count, stacks in ends},
        "compared": compared,
        "equal": equal,
        "lost": dict(rows("SELECT cause, sum(count) FROM loss GROUP BY cause")),
        "places": [
            {"ended": ended, "module": base_name(path or ""), "function": function, "events": count}
            for ended, path, function, count in places
        ],
        "differences": [
            {"position": at, "uscope_depth": ours, "oracle_depth": theirs, "stack": folded, "ended": ended, "count": count}
            for at, ours, theirs, folded, ended, count in differences
        ],
    }
    # The launcher's own execve has a stack outside the scope: no walk that could have reached a root.
    walked = sum(end["events"] for name, end in figures["ends"].items() if name != "scope")
    root = figures["ends"].get("root", {"events": 0})["events"]
    figures["root_percent"] = 100.0 * root / walked if walked else 0.0
    figures["equal_percent"] = 100.0 * equal / compared if compared else 0.0
    handle.close()
    return figures


def measure(uscope, program, scratch, keep):
    folder = os.path.join(scratch, program.name.replace(" ", "-"))
    os.mkdir(folder, mode=0o755)
    os.chmod(folder, 0o777)
    database = os.path.join(scratch, program.name.replace(" ", "-") + ".db")
    version = shell(program.version, folder, check=False).strip().splitlines()
    shell(program.setup or "true", folder, seconds=120)
    seconds = run(uscope, program, folder, database)
    figures = {"name": program.name, "version": version[0][:60] if version else "", "packages": program.packages}
    figures |= {"seconds": round(seconds, 1)} | read(database)
    if keep:
        shutil.copy(database, keep)
    os.unlink(database)
    shutil.rmtree(folder, ignore_errors=True)
    return figures


def percent(value):
    """Never rounded up to 100."""
    return "100" if value == 100 else f"{min(value, 99.999):.3f}"


def markdown(results):
    lines = [
        "| program | version | events | stacks | `root` % | other ends (events) | compared | equal | lost |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in results:
        others = ", ".join(f"{name} {end['events']}" for name, end in one["ends"].items() if name not in ("root", "scope"))
        lost = ", ".join(f"{cause} {count}" for cause, count in one["lost"].items())
        lines.append(
            f"| {one['name']} | {one['version'].replace('|', '/')} | {one['events']} | {one['stacks']} |"
            f" {percent(one['root_percent'])} | {others or '–'} | {one['compared']} | {one['equal']} | {lost or '0'} |"
        )
    return "\n".join(lines) + "\n"


def tell(one):
    print(markdown([one]).splitlines()[-1], flush=True)
    for place in one["places"]:
        print(f"    {place['ended']}: {place['events']} at {place['function']} in {place['module']}", flush=True)
    for difference in one["differences"]:
        print(f"    differs at {difference['position']} ({difference['uscope_depth']} frames, libdwfl"
              f" {difference['oracle_depth']}) x{difference['count']}: {difference['stack']}", flush=True)  # fmt: skip


def chosen(only):
    programs = [program for program in PROGRAMS if not only or program.name in only]
    unknown = set(only) - {program.name for program in PROGRAMS}
    if unknown:
        raise Failed(f"no such program: {', '.join(sorted(unknown))}; known: {', '.join(p.name for p in PROGRAMS)}")
    return programs


def context():
    return {
        "date": datetime.date.today().isoformat(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", required=True, help="CMake's build folder")
    parser.add_argument("--only", action="append", default=[], help="this program; repeatable")
    parser.add_argument("--install", action="store_true", help="install the programs' Debian packages first")
    parser.add_argument("--json", help="write the figures here after each program; figures of other programs there stay")
    parser.add_argument("--markdown", help="write the table here")
    parser.add_argument("--keep", help="keep the databases in this folder")
    parser.add_argument("--check", action="store_true", help=f"fail where less than {BOUND} %% is at the root or equal")
    arguments = parser.parse_args()
    uscope = os.path.join(os.path.abspath(arguments.build), "uscope")
    programs = chosen(arguments.only)
    if arguments.install:
        install(programs)
    results, missing, failed = [], [], []
    if arguments.json and os.path.exists(arguments.json):
        with open(arguments.json) as file:
            results = json.load(file)["programs"]
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        for program in programs:
            absent = [tool for tool in program.tools if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
            if absent:
                missing.append(program.name)
                print(f"{program.name}: not here: {', '.join(absent)} (packages: {' '.join(program.packages)})", flush=True)
                continue
            try:
                one = measure(uscope, program, scratch, arguments.keep)
            except Failed as error:
                failed.append(program.name)
                print(f"{program.name}: {error}", flush=True)
                continue
            tell(one)
            results = [other for other in results if other["name"] != program.name] + [one]
            if arguments.json:
                with open(arguments.json, "w") as file:
                    json.dump({"context": context(), "programs": results}, file, indent=1)
                    file.write("\n")
    order = {program.name: at for at, program in enumerate(PROGRAMS)}
    results.sort(key=lambda one: order.get(one["name"], len(order)))
    if arguments.markdown:
        with open(arguments.markdown, "w") as file:
            file.write(markdown(results))
    weak = [one["name"] for one in results if min(one["root_percent"], one["equal_percent"]) < BOUND]
    print(f"{len(results)} programs; below {BOUND} %: {', '.join(weak) or 'none'}; not here: {', '.join(missing) or 'none'};"
          f" failed: {', '.join(failed) or 'none'}")  # fmt: skip
    return 1 if failed or (arguments.check and (weak or missing)) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        print(f"verify_programs: {error}", file=sys.stderr)
        sys.exit(1)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Whether probes change what programs do: probes every function of programs and libraries, at entry and from entry to
return, while each does some deterministic work, and compares its output and status with those of the untraced program.
Needs root, and the programs that it is asked for (bench/probe_programs_list.py); what is not installed is said.

usage: probe_programs.py USCOPE [NAME…] [--markdown]

Each file is copied first, so that nobody else comes by its probes. A stripped file gets a symbol for each function that
its call frame information tells. One line for each program: functions, how many of them are refused at their return (and
why, below), hits, and whether all outputs were equal. Where they differ, halves of the functions are tried until it is
known which function it is. Status 1 if any differed."""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from probe_programs_list import PROGRAMS

LIMIT = 900  # seconds for one traced run
FEW = 20  # functions in a file that is as good as stripped
FORMS = ("", "%return")
MOST = 60000  # probes that uscope has room for, and some left


def run(words, **options):
    return subprocess.run(words, check=False, capture_output=True, text=True, errors="replace", **options)


def frames_of(path):
    """Where .text begins, and (start, size) of the functions that call frame information tells in it. What begins with a
    frame (.cold) is a part of another function."""
    head = re.search(r"\.text\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", run(["readelf", "-SW", path]).stdout)
    low, size = int(head[1], 16), int(head[2], 16)
    found = re.findall(r"FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)\n +LOC .*\n[0-9a-f]+ (\S+)",
                       run(["readelf", "--debug-dump=frames-interp", path]).stdout)
    frames = sorted({(int(start, 16), int(end, 16) - int(start, 16)) for start, end, cfa in found if cfa == "rsp+8"})
    return low, [(start, length) for start, length in frames if low <= start < low + size and length]


def add_symbols(path):
    low, frames = frames_of(path)
    with tempfile.NamedTemporaryFile("w", suffix=".args") as words:
        for start, _ in frames:
            words.write(f"--add-symbol f_{start:x}=.text:{start - low:#x},function,local\n")
        words.flush()
        done = run(["objcopy", "@" + words.name, path])
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def patterns(listed):
    """Patterns of names, in groups that mean no more than MOST of the functions each."""
    if len(listed) <= MOST:
        return [["*"]]
    firsts = {}
    for one in listed:
        first = one["name"].split(":", 1)[1][:1]
        firsts[first] = firsts.get(first, 0) + 1
    groups, room = [[]], MOST
    for first, count in sorted(firsts.items()):
        if count > room:
            groups, room = groups + [[]], MOST
        room -= count
        # A mangled name matches as it stands, too.
        groups[-1].append("_[!Z]*" if first == "_" else f"[{first}]*")
    return groups


class Program:
    def __init__(self, uscope, name, what, folder):
        self.uscope, self.name, self.folder, self.what = uscope, name, folder, what
        self.file = os.path.join(folder, os.path.basename(what.file))
        shutil.copy2(os.path.realpath(what.file), self.file)
        self.from_frames = len(self.listed("")[0]) < FEW
        if self.from_frames:
            add_symbols(self.file)
        self.environment = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", HOME=folder, **what.environment)
        if what.is_library:
            self.environment["LD_LIBRARY_PATH"] = folder

    def target(self, form, names="*"):
        return f"ufunction:{self.file}:{names}{form}"

    def listed(self, form):
        done = run([self.uscope, "list", "--format", "json", self.target(form)])
        if done.returncode != 0:
            return [], []
        found = json.loads(done.stdout)
        return found["targets"], found["refused"]

    def work(self, targets):
        """(output, errors, status) of the program's work, and what uscope counted, if it traces these targets."""
        place = tempfile.mkdtemp(dir=self.folder)
        command = ["sh", "-c", f"cd {place}; ({self.what.command(self.file)}) >../out 2>../err </dev/null; echo $? >../status"]
        if targets:
            question = "SELECT count(*) AS hits, count(dur_ns) AS ended FROM v_event WHERE class = 'ufunction'"
            words = [w for target in targets for w in ("-t", target)]
            command = [self.uscope, "query", "--all-matches", "--once", "--format", "json", *words, question, "--", *command]
        done = run(command, env=self.environment, timeout=LIMIT, cwd=self.folder)
        shutil.rmtree(place, ignore_errors=True)
        result = []
        for name in ("out", "err", "status"):
            with open(os.path.join(self.folder, name), "rb") as file:
                result.append(file.read().replace(place.encode(), b"PLACE"))
        answer = None
        if targets:
            if done.returncode != 0:
                raise RuntimeError(done.stderr[-500:])
            answer = json.loads(done.stdout.splitlines()[-1])
        return tuple(result), answer

    def culprit(self, plain, targets):
        """The one target of these that changes the program's output, or as few as can be told."""
        while len(targets) > 1:
            half = len(targets) // 2
            guilty = [part for part in (targets[:half], targets[half:]) if self.work(part)[0] != plain]
            if not guilty:
                break
            targets = guilty[0]
        return targets


def try_program(uscope, name, what):
    """A line of the table, the reasons of refusals, and which targets have changed the output."""
    with tempfile.TemporaryDirectory(prefix="uscope-probes-") as folder:
        program = Program(uscope, name, what, folder)
        plain = program.work([])[0]
        if program.work([])[0] != plain:
            raise RuntimeError("its output differs from run to run without any probe")
        reasons, hits, changed = {}, [], []
        functions = refused = 0
        for form in FORMS:
            fit, unfit = program.listed(form)
            functions, refused = len(fit) + len(unfit), len(unfit)
            if form:
                for one in unfit:
                    reasons[one["why_not"]] = reasons.get(one["why_not"], 0) + 1
            hits.append(0)
            for names in patterns(fit):
                traced, answer = program.work([program.target(form, one) for one in names])
                hits[-1] += answer["rows"][0][0 if not form else 1]
                if traced != plain:
                    changed += program.culprit(plain, sorted({one["target"] for one in fit}))
        return {"name": name, "functions": functions, "refused": refused, "entries": hits[0], "ended": hits[1],
                "from_frames": program.from_frames, "changed": changed, "reasons": reasons}


def line_of(found, markdown):
    share = 100 * found["refused"] / max(found["functions"], 1)
    equal = "equal" if not found["changed"] else "CHANGED by " + ", ".join(found["changed"][:4])
    cells = [found["name"], f"{found['functions']:,}" + (" (frames)" if found["from_frames"] else ""),
             f"{found['refused']:,}", f"{share:.2f} %", f"{found['entries']:,}", f"{found['ended']:,}", equal]
    return "| " + " | ".join(cells) + " |" if markdown else "  ".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("uscope")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--markdown", action="store_true", help="lines of a table for docs/verify.md")
    arguments = parser.parse_args()
    uscope = os.path.abspath(arguments.uscope)
    reasons, all_functions, all_refused, differing, tried = {}, 0, 0, 0, 0
    for name in arguments.names or PROGRAMS:
        what = PROGRAMS[name]
        if not os.path.exists(what.file):
            print(f"{name}: {shlex.quote(what.file)} is not installed", flush=True)
            continue
        try:
            found = try_program(uscope, name, what)
        except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
            print(f"{name}: NOT TRIED: {error}", flush=True)
            differing += 1
            continue
        tried += 1
        print(line_of(found, arguments.markdown), flush=True)
        differing += bool(found["changed"])
        if found["from_frames"]:
            continue
        all_functions += found["functions"]
        all_refused += found["refused"]
        for reason, count in found["reasons"].items():
            reasons[reason] = reasons.get(reason, 0) + count
    print(f"\n{tried} tried. Of {all_functions:,} functions with symbols, {all_refused:,} are refused at their return "
          f"({100 * all_refused / max(all_functions, 1):.2f} %):")
    for reason, count in sorted(reasons.items(), key=lambda one: -one[1]):
        print(f"{count:>8,}  {reason}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

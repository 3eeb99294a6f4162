#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs clang-tidy over the project's own C++ with the compile commands of a build folder: tidy.py [--deep] BUILD [FILE...]

A file that passed is not looked at again as long as nothing that its result depends on has changed: the file and the project's
headers that it includes, by content; headers of the system, by path, size and time; .clang-tidy; the compile command; clang-tidy itself.
What has passed is kept in ${XDG_CACHE_HOME:-~/.cache}/uscope-tidy, for all checkouts of a user. The build folder must be built:
ninja knows there which headers a file includes.

The analyzer (clang-analyzer-*) looks at each file alone: it would not follow a function by itself any more that a file beside it calls. All
other checks spend most of their time on headers. They look at some files of a folder together, as one source that includes them. Where
they say anything, be it only that two files have a name in common, each of these files is looked at alone, and what is said then counts.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("support", "trace", "syscalls", "symbolizer", "tracer", "store", "query", "analyzer", "live", "exporters", "cli")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "uscope-tidy"
# The analyzer follows 30,000 states of a function instead of 225,000, which takes a third of the time. `--deep` has it follow all, before a
# release.
NODES = 225000 if "--deep" in sys.argv else 30000
OPTIONS = ["--quiet", "--extra-arg=-Wno-unknown-warning-option",
           *(f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={NODES}"))]
ANALYZER = "--checks=-*,clang-analyzer-*"
OTHERS = "--checks=-clang-analyzer-*"
TOGETHER = 6  # files at a time
MESSAGE = re.compile(r"^(/\S+\.cpp):\d+:\d+: (?:error|warning): ", re.MULTILINE)
OWN_FILES = rf"({'|'.join(FOLDERS)})/.*\.(h|cpp)$"


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def included(build):
    """Object file -> the files that it was made from, as ninja noted them."""
    files, current = {}, None
    for line in output_of("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line.startswith("    "):
            current.append(line.strip())
        elif ": #deps" in line:
            current = files.setdefault(line.split(":", 1)[0], [])
    return files


class Keys:
    """What a file's result depends on, as one number for each file."""

    def __init__(self, build):
        self.build = build
        self.deps = included(build)
        self.seen = {}
        settings = (ROOT / ".clang-tidy").read_text() + output_of("clang-tidy", "--version") + " ".join(OPTIONS)
        self.common = hashlib.sha256(settings.encode())

    def state(self, path):
        """Of one file: its content, or for the system's headers size and time."""
        if path not in self.seen:
            whole = pathlib.Path(os.path.normpath(self.build / path))
            if whole.is_relative_to(ROOT):
                state = f"{whole.relative_to(ROOT)} {hashlib.sha256(whole.read_bytes()).hexdigest()}"
            else:
                found = whole.stat()
                state = f"{whole} {found.st_size} {found.st_mtime_ns}"
            self.seen[path] = state
        return self.seen[path]

    def of(self, entry):
        """None: it cannot be told, since the file was not built."""
        output = re.search(r" -o (\S+)", entry["command"])
        made_from = self.deps.get(output.group(1)) if output else None
        if not made_from:
            return None
        key = self.common.copy()
        # Paths of this checkout do not count: another one's results hold here.
        key.update(re.sub(re.escape(str(ROOT)) + r"(?=/|\s|$)", ".", entry["command"]).encode())
        for path in made_from:
            key.update((self.state(path) + "\n").encode())
        return key.hexdigest()


def entries(build, files):
    """Compile commands of the files that are asked for, or of all of the project's own."""
    asked = {str(pathlib.Path(name).resolve()) for name in files}
    if not asked:
        listed = output_of("git", "ls-files", *(f"{folder}/*.cpp" for folder in FOLDERS))
        asked = {str(ROOT / name) for name in listed.splitlines()}
    found = [entry for entry in json.loads((build / "compile_commands.json").read_text()) if entry["file"] in asked]
    for name in sorted(asked - {entry["file"] for entry in found}):
        sys.exit(f"tidy: {name} is not built in {build}: build it first")
    return found


def run_tidy(*words):
    done = subprocess.run(["clang-tidy", *OPTIONS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout + (done.stderr if done.returncode else "")


def check_alone(build, entry, *options):
    return run_tidy(*options, "-p", str(build), entry["file"])


def flags_of(entry):
    """How it is compiled, without the file itself."""
    words = shlex.split(entry["command"])[1:]
    return [word for i, word in enumerate(words) if word not in ("-c", "-o", entry["file"]) and words[i - 1] != "-o"]


def check_together(group):
    """Of these files, compiled as one: exit status and what is said."""
    with tempfile.TemporaryDirectory(prefix="uscope-tidy-") as folder:
        source = pathlib.Path(folder) / "together.cpp"
        source.write_text("".join(f'#include "{entry["file"]}"  // NOLINT\n' for entry, _ in group))
        return run_tidy(OTHERS, f"--config-file={ROOT / '.clang-tidy'}", f"--header-filter={OWN_FILES}", str(source), "--",
                        *flags_of(group[0][0]))


def check_group(build, group):
    """(entry, key, status, text) of each."""
    if len(group) > 1:
        status, text = check_together(group)
        if status == 0 and not text.strip():
            return [(entry, key, *check_alone(build, entry, ANALYZER)) for entry, key in group]
        # Most often a name that a file has in common with one before it. Files of which something is said go apart from the others.
        named = set(MESSAGE.findall(text))
        apart = [pair for pair in group if pair[0]["file"] in named]
        rest = [pair for pair in group if pair[0]["file"] not in named]
        if apart and rest:
            return check_group(build, rest) + check_group(build, apart)
    return [(entry, key, *check_alone(build, entry)) for entry, key in group]


def groups_of(left):
    """Files of one folder that are compiled alike, those of a room side by side."""
    alike = {}
    for entry, key in sorted(left, key=lambda each: each[0]["file"]):
        folder = pathlib.Path(entry["file"]).relative_to(ROOT).parts[0]
        alike.setdefault((folder, *flags_of(entry)), []).append((entry, key))
    return [group[i:i + TOGETHER] for group in alike.values() for i in range(0, len(group), TOGETHER)]


def main():
    words = [word for word in sys.argv[1:] if word != "--deep"]
    if not words:
        sys.exit(__doc__)
    build = pathlib.Path(words[0]).resolve()
    CACHE.mkdir(parents=True, exist_ok=True)
    keys = Keys(build)
    wanted = [(entry, keys.of(entry)) for entry in entries(build, words[1:])]
    left = [(entry, key) for entry, key in wanted if not key or not (CACHE / key).exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for results in pool.map(lambda group: check_group(build, group), groups_of(left)):
            for _, key, status, text in results:
                # A warning does not pass either: it is said again as long as it stands.
                if text.strip():
                    print(text.rstrip(), flush=True)
                elif status == 0 and key:
                    (CACHE / key).touch()
                failed += status != 0
    print(f"tidy: {len(wanted)} files, {len(wanted) - len(left)} of them unchanged since they passed; {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

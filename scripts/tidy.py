#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs clang-tidy over the project's own C++ with the compile commands of a build folder: tidy.py [--deep] BUILD [FILE...]

A file that passed is not looked at again as long as nothing that its result depends on has changed: the file and the project's
headers that it includes, by content; headers of the system, by path, size and time; .clang-tidy; the compile command; clang-tidy itself.
What has passed is kept in ${XDG_CACHE_HOME:-~/.cache}/uscope-tidy, for all checkouts of a user. The build folder must be built:
ninja knows there which headers a file includes. Of files that are compiled together (USCOPE_UNITY) it knows them all together; which of the
project's own a file includes is then read in the files themselves.

Half of the analyzer's time (clang-analyzer-*), and most of the other checks', goes into headers. So several files are looked at together:

- The other checks take files of one folder, as one source that includes them. Where they say anything, be it only that two files have a
  name in common, each of these files is looked at alone, and what is said then counts.
- The analyzer does not follow a function by itself if it has followed a call of it. So it takes files of which none includes another one's
  header, directly or not: none of them calls another one's functions. It looks only at functions in the source itself, which is therefore
  the text of the files. Where it says anything, it looks at each half of them, down to one file, and what is said then counts.
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
FOLDERS = ("support", "trace", "syscalls", "symbolizer", "tracer", "descriptors", "store", "query", "analyzer", "live", "exporters", "cli")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "uscope-tidy"
# The analyzer follows 15,000 states of a function instead of 225,000, and no calls into the standard library, which takes a fifth of the
# time. `--deep` has it follow all, before a release.
DEPTH = [] if "--deep" in sys.argv else ["max-nodes=15000", "c++-stdlib-inlining=false"]
OPTIONS = ["--quiet", "--extra-arg=-Wno-unknown-warning-option",
           *(f"--extra-arg={word}" for setting in DEPTH for word in ("-Xclang", "-analyzer-config", "-Xclang", setting))]
ANALYZER = "--checks=-*,clang-analyzer-*"
OTHERS = "--checks=-clang-analyzer-*"
TOGETHER = 6  # files at a time, for the other checks
ANALYZED = 8  # files at a time, for the analyzer
MESSAGE = re.compile(r"^(/\S+\.cpp):\d+:\d+: (?:error|warning): ", re.MULTILINE)
OWN_FILES = rf"({'|'.join(FOLDERS)})/.*\.(h|cpp)$"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
TOGETHER_SOURCE = re.compile(r"/Unity/unity_\w+\.cxx$")  # CMake's, which includes the files


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


def own_includes(path, known):
    """The project's own files that one includes, directly or not, and itself; `known`: path -> those that it includes directly."""
    seen, left = set(), [path]
    while left:
        file = left.pop()
        if file in seen:
            continue
        seen.add(file)
        if file not in known:
            places = [(ROOT / name, ROOT / "include" / name, file.parent / name) for name in INCLUDE.findall(file.read_text())]
            known[file] = [pathlib.Path(os.path.normpath(place)) for candidates in places for place in candidates if place.is_file()]
        left += known[file]
    return seen


class Keys:
    """What a file's result depends on, as one number for each file."""

    def __init__(self, build):
        self.build = build
        self.deps = included(build)
        self.seen = {}
        self.includes = {}
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

    def made_from(self, entry):
        output = re.search(r" -o (\S+)", entry["command"])
        files = self.deps.get(output.group(1)) if output else None
        if not files or not entry.get("together"):
            return files
        # Headers of the system, and those that the build makes, may come from another file's includes.
        others = [path for path in files if not self.is_own(path)]
        return sorted(str(path) for path in own_includes(pathlib.Path(entry["file"]), self.includes)) + others

    def is_own(self, path):
        whole = pathlib.Path(os.path.normpath(self.build / path))
        return whole.is_relative_to(ROOT) and not whole.is_relative_to(self.build)

    def headers_of(self, entry):
        """What it includes, directly or not, as whole paths."""
        return {os.path.normpath(self.build / path) for path in self.made_from(entry) or ()}

    def of(self, entry):
        """None: it cannot be told, since the file was not built."""
        made_from = self.made_from(entry)
        if not made_from:
            return None
        key = self.common.copy()
        # Paths of this checkout do not count: another one's results hold here.
        command = re.sub(r" -(o|MF|MT) \S+", "", entry["command"])
        key.update(re.sub(re.escape(str(ROOT)) + r"(?=/|\s|$)", ".", command).encode())
        for path in made_from:
            key.update((self.state(path) + "\n").encode())
        return key.hexdigest()


def one_by_one(command):
    """A compile command, or one for each of the files that it compiles together."""
    if not TOGETHER_SOURCE.search(command["file"]):
        return [command]
    files = INCLUDE.findall(pathlib.Path(command["file"]).read_text())
    return [{**command, "file": file, "command": command["command"].replace(f"-c {command['file']}", f"-c {file}"), "together": True} for file in files]


def entries(build, files):
    """Compile commands of the files that are asked for, or of all of the project's own."""
    asked = {str(pathlib.Path(name).resolve()) for name in files}
    if not asked:
        listed = output_of("git", "ls-files", *(f"{folder}/*.cpp" for folder in FOLDERS))
        asked = {str(ROOT / name) for name in listed.splitlines()}
    commands = json.loads((build / "compile_commands.json").read_text())
    found = [entry for command in commands for entry in one_by_one(command) if entry["file"] in asked]
    for name in sorted(asked - {entry["file"] for entry in found}):
        sys.exit(f"tidy: {name} is not built in {build}: build it first")
    return found


def run_tidy(*words):
    done = subprocess.run(["clang-tidy", *OPTIONS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout + (done.stderr if done.returncode else "")


def check_alone(entry, *options):
    return run_tidy(*options, entry["file"], "--", *flags_of(entry))


def flags_of(entry):
    """How it is compiled, without the file itself."""
    words = shlex.split(entry["command"])[1:]
    return [word for i, word in enumerate(words) if word not in ("-c", "-o", entry["file"]) and words[i - 1] != "-o"]


def run_on(text, entry, *options):
    """On this source, compiled as the entry's file is: exit status and what is said."""
    with tempfile.TemporaryDirectory(prefix="uscope-tidy-") as folder:
        source = pathlib.Path(folder) / "together.cpp"
        source.write_text(text)
        return run_tidy(*options, f"--config-file={ROOT / '.clang-tidy'}", f"--header-filter={OWN_FILES}", str(source), "--", *flags_of(entry))


def check_group(group):
    """(file, status, text) of each, without the analyzer."""
    if len(group) > 1:
        status, text = run_on("".join(f'#include "{entry["file"]}"  // NOLINT\n' for entry in group), group[0], OTHERS)
        if status == 0 and not text.strip():
            return [(entry["file"], 0, "") for entry in group]
        # Most often a name that a file has in common with one before it. Files of which something is said go apart from the others.
        named = set(MESSAGE.findall(text))
        apart = [entry for entry in group if entry["file"] in named]
        rest = [entry for entry in group if entry["file"] not in named]
        if apart and rest:
            return check_group(rest) + check_group(apart)
    return [(entry["file"], *check_alone(entry, OTHERS)) for entry in group]


def analyze_group(group):
    """(file, status, text) of each, from the analyzer."""
    if len(group) == 1:
        return [(group[0]["file"], *check_alone(group[0], ANALYZER))]
    status, text = run_on("".join(f'#line 1 "{entry["file"]}"\n{pathlib.Path(entry["file"]).read_text()}\n' for entry in group), group[0],
                          ANALYZER)
    if status == 0 and not text.strip():
        return [(entry["file"], 0, "") for entry in group]
    half = len(group) // 2
    return analyze_group(group[:half]) + analyze_group(group[half:])


def compiled_alike(entries_left):
    """Lists of files that are compiled with the same flags."""
    alike = {}
    for entry in sorted(entries_left, key=lambda each: each["file"]):
        alike.setdefault(tuple(flags_of(entry)), []).append(entry)
    return alike.values()


def groups_of(entries_left):
    """Files of one folder that are compiled alike, those of a room side by side."""
    groups = []
    for alike in compiled_alike(entries_left):
        folders = {}
        for entry in alike:
            folders.setdefault(pathlib.Path(entry["file"]).relative_to(ROOT).parts[0], []).append(entry)
        groups += [files[i:i + TOGETHER] for files in folders.values() for i in range(0, len(files), TOGETHER)]
    return groups


def strangers(entries_left, keys):
    """Groups of files that are compiled alike, of which none includes another one's header."""
    groups = []
    for alike in compiled_alike(entries_left):
        own = []
        for entry in alike:
            headers = keys.headers_of(entry)
            header = str(pathlib.Path(entry["file"]).with_suffix(".h"))
            place = next((group for group in own if len(group) < ANALYZED and
                          all(header not in others and str(pathlib.Path(other["file"]).with_suffix(".h")) not in headers
                              for other, others in group)), None)
            if place is None:
                own.append([(entry, headers)])
            else:
                place.append((entry, headers))
        groups += [[entry for entry, _ in group] for group in own]
    return groups


def main():
    words = [word for word in sys.argv[1:] if word != "--deep"]
    if not words:
        sys.exit(__doc__)
    build = pathlib.Path(words[0]).resolve()
    CACHE.mkdir(parents=True, exist_ok=True)
    keys = Keys(build)
    wanted = [(entry, keys.of(entry)) for entry in entries(build, words[1:])]
    left = [(entry, key) for entry, key in wanted if not key or not (CACHE / key).exists()]
    files = [entry for entry, _ in left]
    key_of = {entry["file"]: key for entry, key in left}
    said = {entry["file"]: [] for entry in files}  # (status, text): of the analyzer and of the other checks
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(check_group, group) for group in groups_of(files)]
        running += [pool.submit(analyze_group, group) for group in strangers(files, keys)]
        for done in concurrent.futures.as_completed(running):
            for file, status, text in done.result():
                said[file].append((status, text))
                # At once, so that a run that is cut short leaves what it knows.
                if key_of[file] and len(said[file]) == 2 and all(status == 0 and not text.strip() for status, text in said[file]):
                    (CACHE / key_of[file]).touch()
                # A warning does not pass either: it is said again as long as it stands.
                if text.strip():
                    print(text.rstrip(), flush=True)
    failed = sum(any(status != 0 for status, _ in each) for each in said.values())
    print(f"tidy: {len(wanted)} files, {len(wanted) - len(left)} of them unchanged since they passed; {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Each C++ header compiles alone. usage: headers.py SOURCE_DIR WORK_DIR COMPILER [FLAG ...]

A header whose own .cpp includes it first is compiled alone by the build: here this order is checked. Headers without a
.cpp are compiled one by one, each by a file of its own in WORK_DIR: a compiler cache knows it again. include/uscope is C,
and is compiled by tests/kernel-headers.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

FOLDERS = ("support", "trace", "syscalls", "symbolizer", "tracer", "descriptors", "store", "analyzer", "query", "live",
           "exporters", "cli")
# Parts of one .cpp in a file of their own, for which the .cpp defines what they need.
PARTS = {"syscalls/flag_tables.h"}


def headers_of(source):
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(source, folder)):
            for name in sorted(names):
                if name.endswith(".h"):
                    yield os.path.relpath(os.path.join(place, name), source)


def first_include(path):
    with open(path, encoding="utf-8") as text:
        found = re.search(r'^#include ["<]([^">]+)[">]', text.read(), re.M)
    return found.group(1) if found else ""


def main():
    source, work, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(work, exist_ok=True)
    faults, alone = [], []
    for header in headers_of(source):
        own = os.path.join(source, header[:-2] + ".cpp")
        if header in PARTS:
            continue
        if os.path.exists(own):
            if first_include(own) != header:
                faults.append(f"{header}: its .cpp includes {first_include(own)} before it")
        else:
            alone.append(header)

    def compile_alone(header):
        name = os.path.join(work, header.replace("/", ".") + ".cpp")
        with open(name, "w", encoding="utf-8") as file:
            file.write(f'#include "{header}"\n')
        done = subprocess.run([*compiler, "-std=c++20", "-fsyntax-only", name], capture_output=True, text=True, check=False)
        return header, done.returncode, done.stderr

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, code, errors in pool.map(compile_alone, alone):
            if code != 0:
                faults.append(f"{header}: does not compile alone\n{errors}")
    if not alone:
        faults.append("no header was found")
    print("\n".join([*faults, f"{len(alone)} headers compiled alone, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

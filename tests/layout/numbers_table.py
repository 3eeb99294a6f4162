#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The table of numbers in docs/contributing/README.md is what the code has. usage: numbers_table.py SOURCE_DIR

Each row names a number, its value and the file where it lives. That file must define it so, no other source may define it too, and
every number of an interface in include/uscope must have a row.
"""
import glob
import os
import re
import sys

PAGE = "docs/contributing/README.md"
ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| ([\w./-]+) \|", re.M)
FORMS = (r"#define {name}\s+(\d+)\b", r"constexpr [\w:]+ {name} = (\d+);")
NUMBER_OF_AN_INTERFACE = re.compile(r"^#define (USC_\w+_(?:ABI|VERSION)\w*)\s+\d+\b", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def definition(text, name):
    """The value that a file gives to a number, or None."""
    for form in FORMS:
        if found := re.search(form.format(name=name), text):
            return found[1]
    return None


def faults_of(source):
    faults = []
    rows = ROW.findall(read(os.path.join(source, PAGE)))
    for name, value, path in rows:
        place = os.path.join(source, path)
        there = definition(read(place), name) if os.path.exists(place) else None
        if there != value:
            faults.append(f"{PAGE}: {name} is {value} there, and {there or 'not defined'} in {path}")
    named = {name for name, _, _ in rows}
    for path in glob.glob(os.path.join(source, "include", "uscope", "**", "*.h"), recursive=True):
        short = os.path.relpath(path, source)
        for name in NUMBER_OF_AN_INTERFACE.findall(read(path)):
            if name not in named:
                faults.append(f"{PAGE}: no row for {name} of {short}")
            elif (name, short) not in {(row[0], row[2]) for row in rows}:
                faults.append(f"{short} defines {name}, which lives elsewhere by {PAGE}")
    return faults, len(rows)


def main():
    faults, count = faults_of(sys.argv[1])
    if count < 5:
        faults.append(f"{PAGE}: hardly a row was found")
    print("\n".join([*faults, f"{count} numbers, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Each source file says its licence in its first five lines. usage: licences.py SOURCE_DIR"""
import os
import subprocess
import sys

SUFFIXES = (".cpp", ".h", ".c", ".def", ".go", ".rs", ".py", ".sh", ".stp", ".cmake", ".js", ".mjs", ".css")
NAMES = ("CMakeLists.txt", "Makefile", "Kbuild")
LICENCE = "SPDX-License-Identifier: GPL-2.0-or-later OR MIT"


def sources_of(folder):
    for place, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if f not in ("build", ".git", "corpus", "node_modules", "dist")]
        for name in names:
            path = os.path.join(place, name)
            if os.path.islink(path):
                continue
            if name in NAMES or name.endswith(SUFFIXES):
                yield path
            elif "." not in name:
                with open(path, "rb") as file:
                    if file.read(2) == b"#!":
                        yield path


def main():
    without, count = [], 0
    for path in sources_of(sys.argv[1]):
        count += 1
        with open(path, encoding="utf-8") as file:
            if not any(LICENCE in file.readline() for _ in range(5)):
                without.append(os.path.relpath(path, sys.argv[1]))
    print("\n".join(sorted(without) + [f"{count} files, {len(without)} without '{LICENCE}'"]))
    return 1 if without or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())

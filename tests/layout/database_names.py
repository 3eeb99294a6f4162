#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A room that may not use store/db names no row of the database and nothing of SQLite. usage: database_names.py SOURCE_DIR

Which rooms may use it, directly or through others, is in allowed_edges.py. The others have their own ids (trace/ids.h),
and so work where there is no database.
"""
import os
import re
import sys

import allowed_edges

DATABASE = "store/db"
NAME = re.compile(r"\b(\w*RowId|row_ids\.h|sqlite3\w*)\b", re.I)


def rooms_with_database(table):
    """Rooms that reach DATABASE by the edges of the table, and itself."""
    found = {DATABASE}
    while more := {room for room, others in table.items() if room not in found and found & set(others.split())}:
        found |= more
    return found


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def faults_of(source, table):
    """The faults, and how many files were read."""
    faults, count, allowed = [], 0, rooms_with_database(table)
    for top in allowed_edges.TOPS:
        for folder, _, names in os.walk(os.path.join(source, top)):
            room = os.path.relpath(folder, source)
            if room in allowed:
                continue
            for name in sorted(names):
                if not name.endswith(allowed_edges.C_SUFFIXES):
                    continue
                count += 1
                with open(os.path.join(folder, name), encoding="utf-8") as text:
                    for found in sorted(set(NAME.findall(without_comments(text.read())))):
                        faults.append(f"{room}/{name}: names {found}, and {room} may not use {DATABASE}")
    return faults, count


def main():
    faults, count = faults_of(sys.argv[1], allowed_edges.ALLOWED)
    for fault in faults:
        print(fault)
    print(f"{count} files of rooms without the database: {len(faults)} faults")
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

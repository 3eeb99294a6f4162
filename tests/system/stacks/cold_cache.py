#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A compiler that is exec'd on a machine whose row cache is empty: its unwind rows, half a million, are built while it runs, and
still no event is lost, and no stack. Needs root, BPF and g++; usage: cold_cache.py USCOPE"""
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
CACHE = "/var/cache/uscope"
SOURCE = "#include <algorithm>\n#include <iostream>\n#include <map>\nint main() { std::cout << std::map<int, int>().size(); }\n"


class ColdCache(unittest.TestCase):
    def record(self, folder, *command):
        db = os.path.join(folder, "trace.db")
        # A mount namespace of its own, so that the cache of others stays as it is.
        script = f"mount -t tmpfs tmpfs {CACHE} && exec \"$@\""
        os.makedirs(CACHE, mode=0o700, exist_ok=True)
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", USCOPE, "record",
                               *BACKEND_OPTIONS, "--verify", "50", "-o", db, "--", *command],
                              capture_output=True, text=True, timeout=200, check=False, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
        self.addCleanup(connection.close)
        return connection

    def test_nothing_is_lost_while_rows_are_built(self):
        with tempfile.TemporaryDirectory(prefix="uscope-cold-") as folder:
            pathlib.Path(folder, "program.cpp").write_text(SOURCE)
            db = self.record(folder, "sh", "-c", "g++ -O2 -c program.cpp && g++ -o program program.o")
            self.assertEqual(db.execute("SELECT cause, sum(count) FROM loss GROUP BY cause").fetchall(), [])
            ends = dict(db.execute("SELECT s.ended, count(*) FROM event e LEFT JOIN stack s ON s.id = e.stack_id GROUP BY 1"))
            self.assertGreater(ends.get("root", 0), 1000)
            # The launched shell's own start, and recursion beyond the frames asked for.
            self.assertLessEqual(set(ends), {"root", "scope", "budget"})
            self.assertLess(sum(ends.values()) - ends["root"], 20)
            deferred = int(db.execute("SELECT value FROM meta WHERE key = 'deferred_no_table'").fetchone()[0])
            self.assertGreater(deferred, 0, "all rows were there: the cache was not cold")
            compiler = db.execute("SELECT max(rows) FROM unwind_table WHERE path LIKE '%/cc1plus'").fetchone()[0]
            self.assertGreater(compiler, 300_000)
            self.assertEqual(db.execute("SELECT count(*) FROM verify WHERE equal = 0").fetchone()[0], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)

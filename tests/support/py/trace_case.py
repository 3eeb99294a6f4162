# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A test with a folder of its own and a trace in it."""
import os
import sqlite3
import tempfile
import unittest


class TraceCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="uscope-test-")
        self.addCleanup(self.folder.cleanup)
        self.db = self.path("trace.db")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def rows(self, sql, *values):
        with sqlite3.connect(f"file:{self.db}?mode=ro", uri=True) as db:
            return db.execute(sql, values).fetchall()

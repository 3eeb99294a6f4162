#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""docs/BENCHMARKS.md has the figures of bench/results, and bench/pictures.py finds where it has not. usage: pictures_test.py BENCH_FOLDER"""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
import pictures  # noqa: E402
from figures import spread  # noqa: E402

MACHINE = {"kernel": "6.1.0", "processors": 2, "processor": "P", "load_before": 0.1, "date": "2026-01-02", "bpftrace": "bpftrace v0"}
BENCH = {"machine": MACHINE, "results": [{
    "case": "getppid-5", "added_ns_per_call": {"uscope": spread([300, 310, 320]), "bpftrace": spread([700, 710, 720]), "strace": spread([1e6])},
    "ratio_to_bpftrace": spread([0.42, 0.43, 0.44], 4), "ratio_bound": 0.3, "ratio_aim": 0.25}]}


class ThePage(unittest.TestCase):
    def test_has_the_figures_of_the_results(self):
        self.assertEqual(pictures.check(pictures.PAGE.read_text(encoding="utf-8")), [])


class Small(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        old = pictures.RESULTS, pictures.PICTURES
        self.addCleanup(lambda: (setattr(pictures, "RESULTS", old[0]), setattr(pictures, "PICTURES", old[1])))
        pictures.RESULTS = pictures.PICTURES = folder
        (folder / "bench.json").write_text(json.dumps(BENCH), encoding="utf-8")
        (folder / "bench-bench.svg").touch()
        self.folder = folder
        self.page = f"<!-- figures of bench.json -->\n{pictures.made('bench')[0]}<!-- end of figures -->\n"

    def test_a_table(self):
        self.assertEqual(pictures.check(self.page), [])
        self.assertIn("| getppid-5 | 310 (305 to 315) | 710 (705 to 715) | 1,000,000 (1,000,000 to 1,000,000) | 0.43 (0.42 to 0.43) "
                      "| ≤ 0.3: **missed** |\n", self.page)
        self.assertIn("load before 0.1; median (quartiles) of 3 rounds.", self.page)

    def test_faults(self):
        self.assertEqual(pictures.check(self.page.replace("310", "301")), ["docs/BENCHMARKS.md: the figures of bench.json differ: run bench/pictures.py"])
        self.assertEqual(pictures.check(""), ["docs/BENCHMARKS.md: no block for bench/results/bench.json"])
        (self.folder / "bench-bench.svg").unlink()
        self.assertEqual(pictures.check(self.page), ["docs/pictures/bench-bench.svg: missing: run bench/pictures.py"])
        (self.folder / "bench.json").unlink()
        self.assertEqual(pictures.check(self.page), ["docs/BENCHMARKS.md: a block for bench/results/bench.json, which is not there"])

    def test_a_plot(self):
        script = pictures.gnuplot_script(pictures.made("bench")[1], "x.svg")
        self.assertIn('"getppid-5"\t310.0\t305.0\t315.0\t710.0\t705.0\t715.0\t1000000.0\t1000000.0\t1000000.0\n', script)
        self.assertIn("set logscale y", script)


if __name__ == "__main__":
    unittest.main()

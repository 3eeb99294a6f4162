#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""bench/compare.py on figures that got worse, got better, are equal, are missing. usage: compare_test.py BENCH_FOLDER"""
import contextlib
import copy
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
import compare  # noqa: E402
from figures import spread  # noqa: E402

MACHINE = {"kernel": "6.1.0", "processors": 2, "load_before": 0.1}
SERVERS = {
    "machine": MACHINE,
    "failed": {},
    "results": [{
        "server": "apache2", "load": "static page", "unit": "requests/s",
        "variants": {
            "mode 2": {"loss_percent": spread([20, 21, 22]), "ns_per_event": spread([900, 910, 930]), "ratio_to_bpftrace": spread([0.8, 0.81, 0.82], 3)},
            "bpftrace ustack(5)": {"loss_percent": spread([30, 31, 32])},
        },
        "attach": {"points_beyond_launched": spread([0, 1, 2])},
    }],
}
BENCH_PY = {
    "machine": MACHINE,
    "results": [{"case": "getppid-5", "added_ns_per_call": {"uscope": spread([300, 310, 320]), "bpftrace": spread([700, 710, 720])},
                 "ratio_to_bpftrace": spread([0.42, 0.43, 0.44], 4)}],
}
KMOD_COST = [
    {"state": "native", "case": "same", "minimum": 328.2, "quartiles": [328.2, 328.2], "median": 328.2},
    {"state": "kmod", "case": "same", "minimum": 1139.0, "quartiles": [1139.0, 1139.4], "median": 1139.2, "beyond": "native", "cost": 811.0},
    {"state": "kmod", "case": "same", "lost": 0, "whole": 20000},
]


class Comparisons(unittest.TestCase):
    def compare(self, old, new, *options):
        """The exit status, and the lines that begin with each verdict."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("old.json", "new.json")]
            for path, report in zip(paths, (old, new)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(report if isinstance(report, str) else json.dumps(report))
            out, said = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
                status = compare.main([*paths, *options])
        self.said, lines = said.getvalue(), {}
        for line in out.getvalue().splitlines()[:-1]:
            lines.setdefault(line[:10].strip(), []).append(": ".join(line[11:].split(": ")[:2]))
        return status, lines

    def changed(self, report, path, value):
        """A copy with another value there."""
        report = copy.deepcopy(report)
        place = report
        for step in path[:-1]:
            place = place[step]
        if value is None:
            del place[path[-1]]
        else:
            place[path[-1]] = value
        return report

    MODE_2 = ("results", 0, "variants", "mode 2")

    def test_equal_files_differ_in_nothing(self):
        for report, number in ((SERVERS, 4), (BENCH_PY, 2), (KMOD_COST, 1)):
            status, lines = self.compare(report, report)
            self.assertEqual((status, list(lines)), (0, ["equal"]))
            self.assertEqual(len(lines["equal"]), number)

    def test_beyond_the_spreads_is_worse(self):
        status, lines = self.compare(SERVERS, self.changed(SERVERS, (*self.MODE_2, "loss_percent"), spread([23, 24, 25])))
        self.assertEqual((status, lines["worse"]), (1, ["apache2, static page, mode 2: loss_percent"]))
        status, lines = self.compare(BENCH_PY, self.changed(BENCH_PY, ("results", 0, "added_ns_per_call", "uscope"), spread([330, 340, 350])))
        self.assertEqual((status, lines["worse"]), (1, ["getppid-5: added_ns_per_call"]))
        status, lines = self.compare(SERVERS, self.changed(SERVERS, ("results", 0, "attach", "points_beyond_launched"), spread([4, 5, 6])))
        self.assertEqual((status, lines["worse"]), (1, ["apache2, static page: points_beyond_launched"]))

    def test_within_the_spreads_is_equal(self):
        # The median is higher; the upper quartile before is 21.5, the lower one now 21.4.
        status, lines = self.compare(SERVERS, self.changed(SERVERS, (*self.MODE_2, "loss_percent"), spread([20.8, 22, 29])))
        self.assertEqual((status, list(lines)), (0, ["equal"]))

    def test_less_is_better(self):
        status, lines = self.compare(SERVERS, self.changed(SERVERS, (*self.MODE_2, "ns_per_event"), spread([400, 410, 420])))
        self.assertEqual((status, lines["better"]), (0, ["apache2, static page, mode 2: ns_per_event"]))

    def test_instructions_repeat_but_for_one(self):
        line = {**KMOD_COST[1], "median": 1140.2, "quartiles": [1140.0, 1140.4], "cost": 812.0}
        self.assertEqual(self.compare(KMOD_COST, [KMOD_COST[0], line])[0], 0)
        line = {**KMOD_COST[1], "median": 1143.2, "quartiles": [1143.0, 1143.4], "cost": 815.0}
        status, lines = self.compare(KMOD_COST, [KMOD_COST[0], line])
        self.assertEqual((status, lines["worse"]), (1, ["kmod, same: instructions beyond native"]))

    def test_instructions_of_files_without_quartiles(self):
        old = [{key: value for key, value in line.items() if key != "quartiles"} for line in KMOD_COST]
        status, lines = self.compare(old, KMOD_COST)
        self.assertEqual((status, list(lines)), (0, ["equal"]))

    def test_missing_figures(self):
        new = self.changed(SERVERS, (*self.MODE_2, "ratio_to_bpftrace"), None)
        status, lines = self.compare(SERVERS, new)
        self.assertEqual((status, lines["missing"]), (1, ["apache2, static page, mode 2: ratio_to_bpftrace"]))
        status, lines = self.compare(SERVERS, new, "--some")
        self.assertEqual((status, lines["left out"]), (0, ["apache2, static page, mode 2: ratio_to_bpftrace"]))
        status, lines = self.compare(new, SERVERS)
        self.assertEqual((status, lines["new"]), (0, ["apache2, static page, mode 2: ratio_to_bpftrace"]))

    def test_peers_are_not_compared(self):
        status, _ = self.compare(SERVERS, self.changed(SERVERS, ("results", 0, "variants", "bpftrace ustack(5)"), {"loss_percent": spread([50, 51, 52])}))
        self.assertEqual(status, 0)

    def test_two_runs_have_no_spread(self):
        status, lines = self.compare(SERVERS, self.changed(SERVERS, (*self.MODE_2, "loss_percent"), spread([40, 40])))
        self.assertEqual((status, lines["not judged"]), (0, ["apache2, static page, mode 2: loss_percent"]))

    def test_a_server_that_failed(self):
        status, lines = self.compare(SERVERS, self.changed(SERVERS, ("failed",), {"nginx": "uscope lost: 3"}))
        self.assertEqual((status, lines["failed"]), (1, ["nginx: uscope lost"]))

    def test_another_machine_is_told(self):
        status, lines = self.compare(SERVERS, self.changed(SERVERS, ("machine", "kernel"), "6.12.0"))
        self.assertEqual((status, lines["differs"]), (0, ["kernel: 6.12.0, before 6.1.0"]))

    def test_files_that_cannot_be_compared(self):
        for old, new, why in ((SERVERS, BENCH_PY, "compare files of one benchmark"), (SERVERS, "{", "new.json"), ("{}", SERVERS, "old.json"),
                              (SERVERS, {"results": [{"case": "x"}]}, "new.json")):
            self.assertEqual(self.compare(old, new)[0], 2)
            self.assertIn(why, self.said)


if __name__ == "__main__":
    unittest.main(verbosity=2)

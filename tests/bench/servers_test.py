#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What bench/servers.py makes of what clients and tracers print, and of the rows of its rounds. usage: servers_test.py BENCH_FOLDER"""
import os
import sys
import types
import unittest

sys.path.insert(0, sys.argv.pop(1))
from servers import report  # noqa: E402
from servers.loads import Ab, Answered, RedisBenchmark, pgbench, sysbench  # noqa: E402
from servers.processes import named_below, named_elsewhere, processor_seconds  # noqa: E402
from servers.tracers import Bpftrace, Question  # noqa: E402
from tracing import Failed  # noqa: E402

AB = """Complete requests:      1000
Failed requests:        {failed}
Requests per second:    29400.12 [#/sec] (mean)
"""
REDIS = '''"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
"SET","60000.00","0.257","0.104","0.247","0.383","0.463","1.743"
"GET","120000.00","0.249","0.088","0.239","0.367","0.423","1.207"
'''
SYSBENCH = """    queries:                             100000 (20000.00 per sec.)
    transactions:                        16012  (3200.15 per sec.)
"""
PGBENCH = """number of transactions actually processed: 12345
number of failed transactions: 0 (0.000%)
latency average = 2.345 ms
initial connection time = 12.345 ms
tps = 2469.123456 (without initial connection time)
"""
BPFTRACE = """begun


@[
    epoll_wait+86
]: 40
@[
    __read+77
    0x55d0
]: 2
"""


class WhatClientsPrint(unittest.TestCase):
    def test_ab(self):
        self.assertEqual(Ab.answered(AB.format(failed=20), 1000, False), Answered(1000, 29400.12))
        self.assertRaises(Failed, Ab.answered, AB.format(failed=21), 1000, False)
        self.assertEqual(Ab.answered(AB.format(failed=400), 1000, True).count, 1000)
        self.assertRaises(Failed, Ab.answered, AB.format(failed=0) + "Non-2xx responses:      1000\n", 1000, False)

    def test_redis_benchmark(self):
        # As many of each: 1000 in 1/60 s, and 1000 in 1/120 s.
        self.assertEqual(RedisBenchmark.answered(REDIS, 1000), Answered(2000, 80000))
        self.assertRaises(Failed, RedisBenchmark.answered, "Could not connect to Redis", 1000)

    def test_sysbench_and_pgbench(self):
        self.assertEqual(sysbench("", "socket").answered(SYSBENCH), Answered(16012, 3200.15))
        self.assertEqual(pgbench("", "pgbench", "folder").answered(PGBENCH), Answered(12345, 2469.123456))
        self.assertRaises(Failed, sysbench("", "socket").answered, "FATAL: unable to connect")

    def test_commands(self):
        self.assertEqual(pgbench("", "pgbench", "folder", "-S").timed(7)[-4:], ["-S", "-T", "7", "postgres"])
        self.assertEqual(sysbench("", "socket").timed(7)[-2:], ["run", "--time=7"])


class WhatTracersPrint(unittest.TestCase):
    def test_bpftrace_counts_events(self):
        self.assertEqual(Bpftrace.counted(BPFTRACE), 42)

    def test_bpftrace_that_counted_nothing_or_had_no_room(self):
        self.assertRaises(Failed, Bpftrace.counted, "begun\n")
        self.assertRaises(Failed, Bpftrace.counted, "@[\n]: 1\n" * Bpftrace.STACKS_MAX)


    def test_a_question_counts_calls(self):
        answer = '{"from_ns":%d,"until_ns":%d,"lost":%d,"events":9,"columns":["kind","calls"],"rows":[["read",4],["write",3]]}'
        question = Question("build", "folder")
        question.answers = question.answered("began\n" + "\n".join(answer % (begin, begin + 10, 0) for begin in (0, 10, 20, 30)))
        self.assertEqual(question.seen((15, 30)), {"events": 14})
        self.assertRaises(Failed, question.seen, (40, 50))
        self.assertRaises(Failed, Question.answered, answer % (0, 10, 1))


class Processes(unittest.TestCase):
    def test_this_one(self):
        with open("/proc/self/comm", encoding="utf-8") as file:
            name = file.read().strip()
        self.assertIn(os.getpid(), named_below(os.getppid(), name))
        self.assertNotIn(os.getpid(), named_elsewhere(os.getppid(), name))
        self.assertEqual(named_elsewhere(os.getpid(), "no process is called so"), [])
        before = processor_seconds([os.getpid()])
        while processor_seconds([os.getpid()]) <= before:
            pass
        self.assertEqual(processor_seconds([]), 0)


def row(added, events=None, requests=100, loss=10):
    return {"rate": 90.0, "rate_alone": 100.0, "loss_percent": loss, "requests": requests, "added_us": added,
            **({"events": events} if events else {})}


def a_round(**more):
    return {"mode 2": row(11, 1000), "mode 4": row(21, 2000), "bpftrace ustack(5)": row(5, 500), "empty programs": row(1), **more}


class Rounds(unittest.TestCase):
    def test_time_for_each_event_beyond_empty_programs(self):
        rows = a_round()
        report.derive(rows)
        # 10 µs more than the empty programs, for ten events; bpftrace 4 µs for five.
        self.assertEqual(rows["mode 2"]["ns_per_event"], 1000)
        self.assertEqual(rows["mode 4"]["ns_per_event"], 1000)
        self.assertEqual(rows["bpftrace ustack(5)"]["ns_per_event"], 800)
        self.assertEqual(rows["mode 2"]["ratio_to_bpftrace"], 1.25)
        self.assertNotIn("ns_per_event", rows["empty programs"])
        self.assertNotIn("ratio_to_old", rows["mode 2"])

    def test_the_old_build(self):
        rows = a_round(**{"old, mode 2": row(26, 1000)})
        report.derive(rows)
        self.assertEqual(rows["mode 2"]["ratio_to_old"], 0.4)
        self.assertNotIn("ratio_to_old", rows["mode 4"])
        self.assertEqual(rows["old, mode 2"]["ratio_to_bpftrace"], 3.125)

    def test_a_peer_that_cost_nothing_gives_no_ratio(self):
        rows = a_round(**{"bpftrace ustack(5)": row(0.5, 500)})
        report.derive(rows)
        self.assertNotIn("ratio_to_bpftrace", rows["mode 2"])

    def test_a_question_beside_record(self):
        rounds = [a_round(question={**row(6, 900, loss=4), "tracer_percent": percent}) for percent in (0.2, 0.4, 0.9)]
        results = self.results("apache2", rounds)
        self.assertEqual(rounds[0]["question"]["added_to_record"], 6 / 21)
        self.assertEqual(dict(report.verdicts(results)), {
            "apache2, load, question: 0.40 of the throughput that record takes, bound 0.5": True,
            "apache2, load, question: the tracer takes 0.40 % of a processor, bound 0.5 %": True})

    def test_a_question_of_two_builds(self):
        rounds = [a_round(question=row(6, 900, loss=4), **{"old, question": row(11, 900, loss=8)})]
        results = self.results("apache2", rounds)
        self.assertEqual(rounds[0]["question"]["loss_to_record"], rounds[0]["old, question"]["loss_to_record"] / 2)
        self.assertEqual(rounds[0]["question"]["ratio_to_old"], 0.5)
        self.assertEqual(list(report.verdicts(results)), [], "the bound of a recording is none of a question")

    def results(self, server, rounds, **more):
        alone = [{"rate": 100.0, "micros": 50.0}] * 3
        return [report.summary(types.SimpleNamespace(name=server), types.SimpleNamespace(name="load", unit="requests/s"),
                               {"rounds": rounds, "alone": alone, **more})]

    def test_bounds(self):
        rounds = [a_round(**{"mode 2": row(11, 1000, loss=loss), "mode 4": row(11, 1000, loss=2), "old, mode 2": row(26, 1000)}) for loss in (5, 7, 9)]
        met = dict(report.verdicts(self.results("mariadbd", rounds)))
        self.assertEqual(met, {"mariadbd, load, mode 2: 7.0 % lost, bound 6 %, aim 3 %": False,
                               "mariadbd, load, mode 2: 0.40 of the old build's time for each event, bound 0.5, aim 0.33": True,
                               "mariadbd, load, mode 4: 2.0 % lost, bound 6 %, aim 3 %": True})
        self.assertEqual(list(report.verdicts(self.results("nginx", rounds))), [])

    def test_attaching_again_and_again(self):
        def attached(loss):
            return {**row(11, 1000, loss=loss), "events_of_trace": 1234, **{name: 7 for name in report.COUNTERS}}

        attach = {"launched": [attached(10), attached(11), attached(12)], "tries": [attached(11), attached(14), attached(15)]}
        results = self.results("apache2", [a_round()], attach=attach)
        self.assertEqual(results[0]["attach"]["points_beyond_launched"]["median"], 3)
        self.assertEqual(list(report.verdicts(results)), [("apache2, load: 2 of 3 times at most 3 points beyond launched (11.0 %)", False)])
        table = list(report.markdown(results))
        self.assertIn("| attached while busy, 3 | 15.0 | 1,234 | 7 | 7 | 7 | 7 |", table)
        self.assertEqual({line.count("|") for line in table[:3]}, {table[0].count("|")})
        self.assertIn("| apache2, load | 100 requests/s | 10 (10 to 10) | 10 (10 to 10) | – |", table[2])

    def test_text(self):
        text = "\n".join(report.text(self.results("redis", [a_round()], strace=1.0)))
        self.assertIn("mode 2                      10.0 (10.0 to 10.0) % lost, 11.0 (11.0 to 11.0) µs more each, 1,000 (1,000 to 1,000) ns an event", text)
        self.assertIn("strace -f -k                99.0 (99.0 to 99.0) % lost", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)

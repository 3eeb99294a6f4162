#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`ufunction:…%return`: entries and returns are paired through all ways in which functions end, results and durations are right, and programs
behave as without probes. Needs root; Programs also sqlite3, redis, python3, gdb, rustc and java.
usage: function_returns.py USCOPE FIXTURE_RETURNS Ways|Programs"""
import collections
import json
import math
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import alike_on_all_kernels, KERNEL_ONLY, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE, FIXTURE = (os.path.abspath(path) for path in sys.argv[1:3])
PART = sys.argv[3]
del sys.argv[1:4]
TIMEOUT = 300 * SLOWNESS

# Pairing is core's (tests/unit/include/open_functions_test.cpp); with another kernel it is tried in a few ways.
of_core = alike_on_all_kernels("does not depend on the kernel")


def command(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit status {done.returncode}\n{done.stderr}")
    return done


class ReturnsCase(TraceCase):
    def record(self, targets, *words, **options):
        """Only what the targets bring; returns what the program printed."""
        arguments = [word for target in targets for word in ("-t", target)]
        done = subprocess.run((USCOPE, "record", "-e", "none", "--all-matches", "-o", self.db, *arguments, "--", *words), capture_output=True,
                              text=True, timeout=TIMEOUT, check=False, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def ends(self):
        """{function: {how: count}}"""
        out = collections.defaultdict(dict)
        for kind, how, count in self.rows("SELECT kind, how, count(*) FROM v_event GROUP BY kind, how"):
            out[kind.split(":", 1)[1].split("(")[0]][how] = count
        return dict(out)

    def lost(self):
        return dict(self.rows("SELECT cause, sum(count) FROM loss GROUP BY cause"))

    def results(self, function):
        """(first argument, result) in the order of the entries"""
        return self.rows("SELECT a0, result FROM v_event WHERE kind GLOB ? ORDER BY ts_ns", f"*:{function}*")


class Ways(ReturnsCase):
    def run_way(self, way, *functions):
        printed = self.record([f"ufunction:{FIXTURE}:{name}%return" for name in functions], FIXTURE, way)
        # Without a return there is neither a duration nor a result; with one there is a duration.
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE (how = 'returned') <> (dur_ns IS NOT NULL)"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE how <> 'returned' AND result IS NOT NULL"), [(0,)])
        if not KERNEL_ONLY or way in ("recursion", "exec"):
            self.expect_same_of_question(way, [f"ufunction:{FIXTURE}:{name}%return" for name in functions])
        return printed

    def expect_same_of_question(self, way, targets):
        """A question that reads neither arguments nor stacks has no hits kept: its functions are paired all the same."""
        results = "0" if way in ("results", "indirect") else "sum(result % 1000)"  # among these is a pointer
        question = ("SELECT class, kind, how, count(*), count(dur_ns), coalesce(min(dur_ns) > 0, 0), count(result), "
                    f"{results} FROM v_event WHERE class IN ('ufunction') GROUP BY 1, 2, 3")
        arguments = [word for target in targets for word in ("-t", target)]
        done = subprocess.run((USCOPE, "query", "--once", "--format", "json", "--all-matches", *arguments, question, "--", FIXTURE, way),
                              capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        [answer] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        self.assertEqual(answer["lost"], sum(self.lost().values()))
        self.assertEqual(sorted(tuple(row) for row in answer["rows"]), sorted(self.rows(question)))

    @of_core
    def test_results_are_those_of_their_types(self):
        self.run_way("results", "gives_*", "chooses")
        self.assertEqual([result for _, result in self.results("gives_char")], [-3])
        self.assertEqual(self.results("gives_bool"), [(2, 1)])
        self.assertEqual(self.results("gives_int"), [(5, -5)])
        self.assertEqual(self.results("gives_unsigned"), [(1, 2**32 - 2)])
        ((text, result),) = self.results("gives_pointer")
        self.assertEqual(result, text + 1)
        self.assertEqual([result for _, result in self.results("gives_double")], [None])
        self.assertEqual(self.results("gives_nothing"), [(1, None)])
        self.assertEqual([result for _, result in self.results("chooses")], [4, 20, 13, 4, 15, 13, 4, 1000, 1000])

    def test_recursion(self):
        self.run_way("recursion", "factorial")
        self.assertEqual(self.ends(), {"factorial": {"returned": 200}})
        self.assertEqual(self.results("factorial"), [(n, math.factorial(n)) for n in range(20, 0, -1)] * 10)
        # An inner call lies within the one around it, whose stack is one frame shorter.
        events = self.rows("SELECT a0, ts_ns, ts_ns + dur_ns, length(folded) - length(replace(folded, 'factorial', '')) FROM v_event ORDER BY ts_ns")
        for (n, begin, end, frames), (inner, inner_begin, inner_end, inner_frames) in zip(events, events[1:]):
            if inner == n - 1:
                self.assertTrue(begin < inner_begin <= inner_end <= end)
                self.assertEqual(inner_frames, frames + len("factorial"))

    @of_core
    def test_what_has_no_room_is_counted(self):
        self.run_way("deep", "factorial")
        self.assertEqual(self.ends(), {"factorial": {"returned": 256}})
        self.assertEqual(self.lost(), {"probe_missed": 44})

    @of_core
    def test_durations(self):
        self.run_way("sleep", "sleeps")
        durations = [dur for dur, in self.rows("SELECT dur_ns FROM v_event")]
        self.assertEqual(len(durations), 5)
        whole = self.rows("SELECT value FROM meta WHERE key = 'duration_ns'")[0][0]
        for dur in durations:
            self.assertGreaterEqual(dur, 20_000_000)
        self.assertLess(sum(durations), int(whole))

    @of_core
    def test_tail_calls_end_at_their_jumps(self):
        self.run_way("tails", "jumps*", "lands")
        self.assertEqual(self.ends(), {"jumps": {"returned": 5}, "jumps_if_zero": {"returned": 5}, "jumps_by_pointer": {"returned": 5},
                                       "jumps_by_register": {"returned": 5}, "jumps_unseen": {"returned": 5}, "lands": {"returned": 21}})
        self.assertEqual(self.results("jumps_if_zero"), [(0, None), (1, 7), (0, None), (1, 7), (0, None)])
        self.assertEqual({result for _, result in self.results("jumps")}, {None, 0, 7})
        for number, result in self.results("lands"):
            self.assertEqual(result, number + 100)

    @of_core
    def test_indirect_jumps_are_ends_if_they_lead_out(self):
        self.run_way("indirect", "threads", "jumps_unmarked", "jumps_by_thunk", "pops_return", "goes_round", "leaps", "lands")
        self.assertEqual(self.ends(), {"threads": {"returned": 6}, "jumps_unmarked": {"returned": 15}, "jumps_by_thunk": {"returned": 5}, "pops_return": {"returned": 5},
                                       "goes_round": {"returned": 5}, "leaps": {"left": 5}, "lands": {"returned": 10}})
        self.assertEqual([result for _, result in self.results("threads")][1:], [6, 10, 14, 18, 22])
        self.assertEqual(self.results("jumps_unmarked"), [(0, 2), (1, 3), (2, None)] * 5)
        self.assertEqual(self.results("goes_round"), [(4, 5)] * 5)
        self.assertEqual({result for _, result in self.results("jumps_by_thunk")}, {None})
        self.assertEqual(self.results("pops_return"), [(i, i + 200) for i in range(5)])
        self.assertEqual(self.lost(), {})

    def test_a_jump_by_memory_that_is_not_there_is_decided_later_or_counted(self):
        self.run_way("unread", "jumps_by_memory", "lands")
        self.assertEqual(self.ends(), {"jumps_by_memory": {"returned": 1}, "lands": {"returned": 1}})
        self.assertEqual(self.lost(), {})
        os.unlink(self.db)
        self.record([f"ufunction:{FIXTURE}:jumps_by_memory%return"], FIXTURE, "unread")
        self.assertEqual(self.ends(), {"jumps_by_memory": {"open": 1}})
        self.assertEqual(self.lost(), {"jump_unread": 1})

    def test_the_red_zone_is_untouched(self):
        printed = self.run_way("red_zone", "in_red_zone")
        self.assertEqual(printed, command(FIXTURE, "red_zone").stdout)
        self.assertEqual(self.ends(), {"in_red_zone": {"returned": 20000}})
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE result <> 2 * a0"), [(0,)])

    @of_core
    def test_longjmp(self):
        self.run_way("longjmp", "jumps_out", "survives")
        self.assertEqual(self.ends(), {"jumps_out": {"left": 20}, "survives": {"returned": 1}})

    @of_core
    def test_exceptions(self):
        self.assertEqual(self.run_way("exceptions", "throws", "catches"), "5\n")
        self.assertEqual(self.ends(), {"throws": {"left": 15}, "catches": {"returned": 1}})
        self.assertEqual(self.results("catches"), [(5, 5)])

    def test_handlers_of_signals(self):
        for way in ("signals", "alternate"):
            self.run_way(way, "interrupted", "handler", "inner", "gives_nothing")
            self.assertEqual(self.ends(), {"interrupted": {"returned": 5}, "handler": {"returned": 5}, "inner": {"returned": 10},
                                           "gives_nothing": {"returned": 1}}, way)
            os.unlink(self.db)

    @of_core
    def test_handlers_that_jump_back(self):
        for way in ("siglongjmp", "alternate_siglongjmp"):
            self.run_way(way, "interrupted", "handler", "inner", "gives_nothing")
            self.assertEqual(self.ends(), {"interrupted": {"left": 5}, "handler": {"left": 5}, "inner": {"returned": 5},
                                           "gives_nothing": {"returned": 1}}, way)
            os.unlink(self.db)

    @of_core
    def test_exit(self):
        self.run_way("exit", "exits")
        self.assertEqual(self.ends(), {"exits": {"open": 1}})

    def test_threads_that_are_killed_inside(self):
        self.run_way("killed", "waits", "exits")
        self.assertEqual(self.ends(), {"waits": {"open": 3}, "exits": {"open": 1}})

    def test_exec(self):
        self.run_way("exec", "waits", "executes", "gives_int")
        self.assertEqual(self.ends(), {"waits": {"open": 3}, "executes": {"left": 1}, "gives_int": {"returned": 1}})

    def test_fork(self):
        self.run_way("fork", "forks", "gives_*")
        self.assertEqual(self.ends(), {"forks": {"returned": 1}, "gives_nothing": {"returned": 2}, "gives_int": {"returned": 1}})
        self.assertEqual(self.results("forks"), [(3, 3)])
        self.assertEqual(self.lost(), {})

    @of_core
    def test_vfork(self):
        self.run_way("vfork", "vforks")
        self.assertEqual(self.ends(), {"vforks": {"returned": 1}})
        self.assertEqual(self.results("vforks"), [(4, 4)])

    def test_what_is_open_when_tracing_ends(self):
        done = subprocess.run((USCOPE, "record", "-e", "none", "-o", self.db, "-t", f"ufunction:{FIXTURE}:rests%return", "--duration", "1",
                               "--", FIXTURE, "rest"), capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ends(), {"rests": {"open": 1}})
        self.assertEqual(self.rows("SELECT a0, dur_ns, result FROM v_event"), [(3, None, None)])

    @of_core
    def test_both_forms_of_a_target_are_one_event(self):
        self.record([f"ufunction:{FIXTURE}:factorial", f"ufunction:{FIXTURE}:factorial%return"], FIXTURE, "recursion")
        self.assertEqual(self.ends(), {"factorial": {"returned": 200}})

    @of_core
    def test_moments_beside_them(self):
        targets = [f"ufunction:{FIXTURE}:factorial%return", f"ufunction:{FIXTURE}:main"]
        self.record(targets, FIXTURE, "recursion")
        self.assertEqual(self.ends(), {"factorial": {"returned": 200}, "main": {"hit": 1}})
        self.expect_same_of_question("recursion", targets)

    @of_core
    def test_list_shows_results(self):
        listed = command(USCOPE, "list", f"ufunction:{FIXTURE}:gives_pointer%return").stdout
        self.assertIn("const char * text", listed.replace("*text", "* text"))
        self.assertIn("-> const char *", listed)


class Programs(ReturnsCase):
    def assert_unharmed(self, targets, *words, **options):
        printed = self.record(targets, *words, **options)
        self.assertEqual(printed, command(*words, **options).stdout)
        return self.ends()

    def test_a_library_is_called_as_often_as_breakpoints_say(self):
        words = ("sqlite3", "-batch", ":memory:",
                 "with recursive n(a) as (select 1 union all select a + 1 from n where a < 50) select sum(a) from n")
        ends = self.assert_unharmed(["ufunction:libsqlite3:sqlite3_*%return"], *words)
        functions = ("sqlite3_step", "sqlite3_prepare_v2", "sqlite3_open_v2", "sqlite3_close", "sqlite3_column_text")
        asked = [word for name in functions for word in ("-ex", f"break {name}", "-ex", "ignore $bpnum 1000000")]
        told = command("gdb", "-nx", "-batch", "-ex", "set breakpoint pending on", *asked, "-ex", "run", "-ex", "info breakpoints", "--args", *words)
        for name, count in re.findall(r"<(\w+)(?:\+\d+)?>\s+breakpoint already hit (\d+) time", told.stdout):
            self.assertEqual(sum(ends[name].values()), int(count), name)
            self.assertEqual(ends[name], {"returned": int(count)})
        # SQLITE_ROW and then SQLITE_DONE.
        self.assertEqual([result & 0xffffffff for _, result in self.results("sqlite3_step")][-2:], [100, 101])

    def test_all_functions_of_the_c_library(self):
        library = self.path("libc.so.6")
        shutil.copy(os.path.realpath("/lib/x86_64-linux-gnu/libc.so.6"), library)
        environment = dict(os.environ, LD_LIBRARY_PATH=self.folder.name, LC_ALL="C")
        ends = self.assert_unharmed([f"ufunction:{library}:*%return"], "ls", "-la", "/usr/share", env=environment)
        self.assertGreater(ends["malloc"]["returned"], 10)
        self.assertEqual([how for how in ends["malloc"] if how != "returned"], [])
        self.assertGreater(sum("returned" in of for of in ends.values()), 50)

    def test_python(self):
        ends = self.assert_unharmed(["ufunction:libc*:malloc%return", "ufunction:libc*:free%return", "ufunction:libc*:mem*%return"],
                                    "python3", "-c", "print(sum(len(str(i)) for i in range(2000)))")
        self.assertGreater(ends["malloc"]["returned"], 100)

    def test_a_rust_program(self):
        source = self.path("app.rs")
        with open(source, "w", encoding="utf-8") as out:
            out.write("""
#[inline(never)] fn fails(n: u64) -> u64 { if n % 3 == 0 { panic!("three") } n + 1 }
#[inline(never)] fn tries(n: u64) -> u64 { std::panic::catch_unwind(|| fails(unsafe { std::ptr::read_volatile(&n) })).unwrap_or(0) }
fn main() {
  std::panic::set_hook(Box::new(|_| {}));
  println!("{}", (0..30).map(|n| std::thread::spawn(move || tries(n)).join().unwrap()).sum::<u64>());
}
""")
        # Debian's: another one in PATH may be set up for somebody else.
        command("/usr/bin/rustc", "-O", "-g", "-o", self.path("app"), source)
        ends = self.assert_unharmed(["ufunction:app:app::*%return"], self.path("app"))
        fails, tries = ({how: count for name, of in ends.items() if function in name for how, count in of.items()} for function in ("fails", "tries"))
        self.assertEqual(tries, {"returned": 30})
        self.assertEqual(fails, {"returned": 20, "left": 10})

    def test_a_go_function_is_refused_with_the_reason(self):
        source = self.path("app.go")
        with open(source, "w", encoding="utf-8") as out:
            out.write("package main\n\nfunc main() { println(\"x\") }\n")
        environment = dict(os.environ, GOCACHE=self.path("cache"), HOME=self.folder.name, GO111MODULE="off")
        command("go", "build", "-o", self.path("app"), source, env=environment)
        done = subprocess.run((USCOPE, "record", "-o", self.db, "-t", f"ufunction:{self.path('app')}:main.main%return", "--", self.path("app")),
                              capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Go moves the stacks", done.stderr)

    @unittest.skipUnless(shutil.which("java") and shutil.which("javac"), "no JDK is installed")
    def test_a_java_program(self):
        source = self.path("App.java")
        with open(source, "w", encoding="utf-8") as out:
            out.write("""
public class App {
  static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
  public static void main(String[] words) throws Exception {
    long sum = 0;
    for (int i = 0; i < 20000; i++) { sum += depth(i % 50); try { if (i % 7 == 0) throw new Exception("x" + i); } catch (Exception e) { sum += 1; } }
    Thread[] threads = new Thread[8];
    for (int i = 0; i < threads.length; i++) { threads[i] = new Thread(() -> System.gc()); threads[i].start(); }
    for (Thread thread : threads) thread.join();
    System.out.println(sum);
  }
}
""")
        command("javac", "-d", self.folder.name, source)
        machine = os.path.join(os.path.dirname(os.path.realpath(shutil.which("java"))), "..", "lib", "server", "libjvm.so")
        ends = self.assert_unharmed(["ufunction:libc.so.6:malloc%return", "ufunction:libc.so.6:mmap%return",
                                     f"ufunction:{os.path.realpath(machine)}:JVM_*%return"], "java", "-cp", self.folder.name, "App")
        self.assertGreater(ends["malloc"]["returned"], 100)
        self.assertTrue(any(name.startswith("JVM_") for name in ends))


if __name__ == "__main__":
    unittest.main(defaultTest=PART, verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Triggers do not depend on the budget of frames: the same programs under `record -S 4 … -S 256` have the same trigger wherever it is
within the budget, and "(cut)" elsewhere. Interpreters, and programs whose main() is in a library. Needs root and BPF; usage:
triggers.py USCOPE"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from trace_case import TraceCase  # noqa: E402
from traced_command import record  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1))
BUDGETS = (4, 8, 16, 64, 256)
CUT = "(cut)"
RECURSION = """#include <unistd.h>
#include <sys/syscall.h>
__attribute__((noinline)) int deep(int n) { return n ? deep(n - 1) + 1 : (int)syscall(SYS_getppid) * 0; }
"""


class TriggerCase(TraceCase):
    def make(self, name, source, *options, language="c"):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path("source.c"), "w", encoding="ascii") as file:
            file.write(source)
        subprocess.run(["cc", "-O1", "-fno-optimize-sibling-calls", "-o", self.path(name), "-x", language, self.path("source.c"), "-x", "none", *options],
                       check=True)
        return self.path(name)

    def record(self, budget, *command):
        """The calls under this budget."""
        self.db = self.path(f"{budget}.db")
        done = record(USCOPE, ["-S", str(budget)], command, self.db, env={**os.environ, "PYTHONHASHSEED": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.calls()

    def calls(self):
        """Each call by time: its name, the trigger, and its module; with the frames that are inside of the trigger."""
        return self.rows("""SELECT v.kind, v."trigger", v.trigger_module, (SELECT min(position) FROM stack_frame sf
                            JOIN stack s ON s.id = sf.stack_id WHERE s.id = v.stack_id AND sf.frame_id = s.trigger_frame_id)
                            FROM v_event v ORDER BY v.id""")

    def report(self):
        return subprocess.run([USCOPE, "report", self.db], capture_output=True, text=True, check=True).stdout

    def same_under_all_budgets(self, *command):
        """The calls under the largest budget, compared with those under the others."""
        whole = self.record(BUDGETS[-1], *command)
        self.assertNotIn(CUT, [call[1] for call in whole])
        app = [path for (path,) in self.rows("SELECT path FROM module WHERE class = 'app'")]
        for budget in BUDGETS[:-1]:
            found = self.record(budget, *command)
            self.assertEqual([call[0] for call in found], [call[0] for call in whole], f"-S {budget}: the program is not the same")
            for (kind, expected, module, position), (_, trigger, in_module, _) in zip(whole, found):
                if trigger == CUT:
                    self.assertFalse(position is not None and position < budget and module in app,
                                     f"-S {budget}: {kind} of {expected} in {module}, frame {position}, is said to be cut")
                elif (trigger, in_module) != (expected, module):
                    self.fail(f"-S {budget}: {kind}: {trigger} in {in_module}, not {expected} in {module}\n{self.report()}")
        return whole


class Triggers(TriggerCase):
    def test_interpreters_and_tools(self):
        for command in (["/usr/bin/python3", "-SIc", "import os\ndef f(n): return f(n - 1) if n else os.getppid()\nf(30)"],
                        ["/usr/bin/perl", "-e", "sub f { $_[0] ? f($_[0] - 1) : getppid } f(30)"],
                        ["/usr/bin/git", "--version"], ["/usr/bin/make", "--version"]):
            with self.subTest(command[0]):
                calls = self.same_under_all_budgets(*command)
                self.assertFalse([call for call in calls if call[1] == "_start" and call[0] not in ("exit_group",)])

    def test_main_in_a_library_beside_the_program(self):
        self.make("app/libwork.so", RECURSION + "int main(void) { return deep(20) - 20; }\n", "-shared", "-fPIC")
        program = self.make("app/stub", "extern int main(void);\n", "-L" + self.path("app"), "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed",
                            "-lwork")
        calls = self.same_under_all_budgets(program)
        self.assertIn(("getppid", "deep", self.path("app/libwork.so")), [call[:3] for call in calls])

    def test_main_in_a_library_elsewhere(self):
        self.make("lib/libelsewhere.so", RECURSION + "int main(void) { return deep(20) - 20; }\n", "-shared", "-fPIC")
        program = self.make("app/stub", "extern int main(void);\n", "-L" + self.path("lib"), "-Wl,-rpath," + self.path("lib"),
                            "-Wl,--no-as-needed", "-lelsewhere")
        found = {budget: {call[1] for call in self.record(budget, program) if call[0] == "getppid"} for budget in (4, 256)}
        # Where no stack shows that the library holds main(), its functions are not said to be the application's.
        self.assertEqual(found, {4: {CUT}, 256: {"deep"}})
        told = subprocess.run([USCOPE, "report", self.path("4.db")], capture_output=True, text=True, check=True).stdout
        self.assertIn("`record -S 256` keeps deeper stacks whole", told)
        self.assertIn("(cut): the budget of frames", told)
        # After recording, --app-module names the library.
        lines = subprocess.run([USCOPE, "events", self.path("4.db"), "--app-module", "libelsewhere*", "--trigger", "deep"],
                               capture_output=True, text=True, check=True).stdout
        self.assertIn("getppid()", lines)

    def test_main_of_a_stripped_program(self):
        program = self.make("app/bare", RECURSION + "int main(void) { return (int)syscall(SYS_getpid) * 0; }\n", "-s")
        calls = self.same_under_all_budgets(program)
        self.assertIn(("getpid", "main", program), [call[:3] for call in calls])


CONFIG = """#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline)) void read_config(void) { int f = open("/dev/null", O_RDONLY); char b; read(f, &b, 1); close(f); __asm__ volatile(""); }
int main(void) { read_config(); return 0; }
"""
CXX_CONFIG = """#include <fstream>
#include <functional>
#include <string>
namespace shop { __attribute__((noinline)) std::string load(const char* path) { std::ifstream in(path); std::string s; in >> s; return s; }
struct Item { __attribute__((noinline)) void operator()() const { load("/dev/null"); __asm__ volatile(""); } }; }
int main() { std::function<void()> f = shop::Item(); f(); }
"""
LAUNCHER = """int run(int count, char** texts);
int main(int count, char** texts) { int r = run(count, texts); return r + 1; }
"""
RUN = """#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline)) static int load(void) { int f = open("/dev/null", O_RDONLY); __asm__ volatile(""); return f; }
int run(int count, char** texts) { return count > 100 || !texts ? 0 : -1 + 0 * load(); }
"""


class RunTimes(TriggerCase):
    """Functions of run-time systems within the program's own file are no triggers."""

    def triggers(self, *command, of="openat"):
        self.db = self.path("run.db")
        done = record(USCOPE, [], command, self.db)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return {name for name, in self.rows(f"""SELECT DISTINCT v."trigger" FROM v_event v JOIN event_string s ON s.event_id = v.id
            JOIN string t ON t.id = s.string_id WHERE v.kind = '{of}' AND t.value = '/dev/null'""")}

    def test_static_programs(self):
        self.assertEqual(self.triggers(self.make("static", CONFIG, "-static")), {"read_config"})
        again = subprocess.run([USCOPE, "report", self.db, "--app-runtime", "--format", "json"], capture_output=True, text=True, check=True).stdout
        lines = json.loads(again)["triggers"]["lines"]
        self.assertEqual({line["function"] for line in lines if line["call"] == "openat"}, {"open"})
        bare = self.make("bare", CONFIG, "-static", "-s")
        (name,) = self.triggers(bare)
        # Without symbols it is the function that main calls: its name is its address.
        self.assertRegex(name, r"^bare\+0x")
        self.assertEqual(self.rows("""SELECT count(*) FROM frame f JOIN stack s ON s.trigger_frame_id = f.id
            WHERE f.origin <> 'own' AND NOT s.trigger_fallback"""), [(0,)])

    def test_run_time_functions_are_shown_everywhere(self):
        """--app-runtime of files, sql, query and export, and of a live question: the same functions as in the report."""
        program = self.make("shown", CONFIG, "-static")
        self.assertEqual(self.triggers(program), {"read_config"})
        ask = """SELECT kind, "trigger", count(*) FROM v_event WHERE kind IN ('openat', 'read', 'close') GROUP BY 1, 2 ORDER BY 1, 2"""
        def said(*words):
            return subprocess.run([USCOPE, *words], capture_output=True, text=True, check=True).stdout
        for option, calls in (((), "close,read_config,1\nopenat,read_config,1\nread,read_config,1\n"),
                              (("--app-runtime",), "close,close,1\nopenat,open,1\nread,read,1\n")):
            with self.subTest(option):
                self.assertEqual(said("query", self.db, ask, "--format", "csv", *option).split("\n", 1)[1], calls)
                self.assertEqual(said("query", "--once", "--format", "csv", *option, ask, "--", program).split("\n", 1)[1], calls)
                rows = json.loads(said("sql", self.db, ask, "--format", "json", *option))["results"][0]["rows"]
                self.assertEqual("".join(",".join(map(str, row)) + "\n" for row in rows), calls)
                callers = json.loads(said("files", self.db, "--path", "/dev/null", "--format", "json", *option))["callers"]
                self.assertEqual("".join(f"{c['call']},{c['function']},1\n" for c in sorted(callers["lines"], key=lambda c: c["call"])), calls)
                names = {line.split(",")[1] for line in calls.splitlines()}
                for name in ("read_config", "open"):
                    stacks = said("export", self.db, "-e", "openat", "--trigger", name, *option)
                    self.assertEqual(bool(stacks), name in names, stacks)

    def test_modes_keep_the_application_s_functions(self):
        """--mode app-last and app-all of a file that holds libc, too; a program that holds none has the frames of its file."""
        def stacks(program, *options):
            self.db = self.path("mode.db")
            done = record(USCOPE, options, [program], self.db)
            self.assertEqual(done.returncode, 0, done.stderr)
            return self.rows("""SELECT DISTINCT v."trigger", v.ended, v.depth, (SELECT group_concat(function, ' < ') FROM (SELECT f.function
                FROM stack_frame sf JOIN frame f ON f.id = sf.frame_id WHERE sf.stack_id = v.stack_id ORDER BY position, inline_depth))
                FROM v_event v JOIN event_string s ON s.event_id = v.id JOIN string t ON t.id = s.string_id
                WHERE v.kind = 'openat' AND t.value = '/dev/null'""")
        for name, options in (("mixed", ["-static"]), ("pie", ["-static-pie"])):
            program = self.make(name, CONFIG, *options)
            self.assertEqual(stacks(program, "--mode", "app-last"), [("read_config", "scope", 1, "read_config")])
            self.assertEqual(self.rows("SELECT count(*) FROM stack_end WHERE ended = 'scope' AND stacks > 0 AND events > 0"), [(1,)])
            self.assertEqual(stacks(program, "--mode", "app-all"), [("read_config", "root", 2, "read_config < main")])
            # The budget is that of the frames that the kernel side keeps.
            self.assertEqual(stacks(program, "--mode", "app-last", "-S", "1"), [("(cut)", "budget", 1, "open")])
        plain = self.make("unmixed", CONFIG)
        self.assertEqual(stacks(plain, "--mode", "app-last"), [("read_config", "scope", 1, "read_config")])
        self.assertEqual(stacks(plain, "--mode", "app-all"), [("read_config", "root", 3, "read_config < main < _start")])
        shop = self.make("shop_mode", CXX_CONFIG, "-O2", "-static", "-lstdc++", "-lm", language="c++")
        (stack,) = stacks(shop, "--mode", "app-last")
        self.assertEqual(stack[:2], ("shop::load[abi:cxx11](char const*)", "scope"))
        self.assertEqual(stack[3].split(" < ")[-1], "shop::load[abi:cxx11](char const*)")
        (stack,) = stacks(shop, "--mode", "app-all")
        self.assertEqual({name for name in stack[3].split(" < ") if name.startswith("std::") and "invoke" not in name}, set())

    def test_top_says_the_same(self):
        program = self.make("static_for_top", CONFIG, "-static")
        with subprocess.Popen([USCOPE, "top", "--app", "static_for_top", "--once", "--interval", "2s", "--format", "json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as top:
            self.assertIn("waiting for it", top.stderr.readline())  # it traces by now
            subprocess.run([program], check=True)
            lines = json.loads(top.stdout.read())["lines"]
        self.assertEqual({line["function"] for line in lines if line["call"] == "openat"}, {"read_config"})

    def test_cxx(self):
        self.assertEqual(self.triggers(self.make("shop", CXX_CONFIG, "-O2", "-lstdc++", language="c++")), {"shop::load[abi:cxx11](char const*)"})

    def test_cxx_without_symbols(self):
        """The C++ library in the program's file is known by its bytes: the trigger is where the program itself has it, with symbols."""
        for name, options in (("static", ["-static"]), ("half", ["-static-libstdc++", "-static-libgcc"])):
            with self.subTest(name):
                program = self.make(name, CXX_CONFIG, "-O2", *options, "-lstdc++", "-lm", language="c++")
                self.assertEqual(self.triggers(program), {"shop::load[abi:cxx11](char const*)"})
                symbols = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
                (at,) = [int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T shop::load[abi:cxx11](char const*)")]
                subprocess.run(["strip", "-o", self.path(name + "_bare"), program], check=True)
                self.assertEqual(self.triggers(self.path(name + "_bare")), {f"{name}_bare+0x{at:x}"})

    def test_a_program_that_the_loader_runs(self):
        loader = os.path.realpath("/lib64/ld-linux-x86-64.so.2")
        self.assertEqual(self.triggers(loader, self.make("plain", CONFIG)), {"read_config"})

    def test_a_launcher(self):
        self.make("lib/libtool.so", RUN, "-shared", "-fPIC")
        program = self.make("app/tool", LAUNCHER, "-L" + self.path("lib"), "-Wl,-rpath," + self.path("lib"), "-ltool")
        self.assertEqual(self.triggers(program), {"load"})
        # A program that does more with its arguments is none.
        plain = self.make("app/plain", "int run(int, char**);\nint main(void) { int r = run(1, (char**)1); return r + 1; }\n",
                          "-L" + self.path("lib"), "-Wl,-rpath," + self.path("lib"), "-ltool")
        self.assertEqual(self.triggers(plain), {"main"})


if __name__ == "__main__":
    unittest.main(verbosity=2)

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/generated_code.h"

#include <gtest/gtest.h>

#include "analyzer/deadlock/primitive.h"

namespace uscope::test {
namespace {

using analyzer::StackLine;
using analyzer::StackLines;

StackLine line(const char* function, const char* module, bool app) {
  return {function, module, app, "", 0};
}

std::vector<std::string> application_of(StackLines stack) {
  mark_generated_code(stack);
  std::vector<std::string> names;
  for (const StackLine& one : stack)
    if (one.app) names.push_back(one.function);
  return names;
}

using Names = std::vector<std::string>;

// As CPython 3.12 has it under -X perf; its library is the application's own by its place.
TEST(GeneratedCode, OfPythonIsTheApplications) {
  StackLines stack{line("sem_clockwait", "libc.so.6", false),
                   line("PyThread_acquire_lock_timed", "libpython3.12.so.1.0", true),
                   line("_PyEval_EvalFrameDefault", "libpython3.12.so.1.0", true),
                   line("py_trampoline_evaluator", "libpython3.12.so.1.0", true),
                   line("py::take:/srv/app.py", "[jit]", false),
                   line("_PyEval_EvalFrameDefault", "libpython3.12.so.1.0", true),
                   line("py_trampoline_evaluator", "libpython3.12.so.1.0", true),
                   line("py::<module>:/srv/app.py", "[jit]", false),
                   line("Py_RunMain", "libpython3.12.so.1.0", true),
                   line("main", "python3.12", true)};
  EXPECT_EQ(application_of(stack), (Names{"py::take:/srv/app.py", "py::<module>:/srv/app.py", "main"}));
  mark_generated_code(stack);
  EXPECT_EQ(analyzer::application_frame(stack)->function, "py::take:/srv/app.py");
}

TEST(GeneratedCode, OfAVirtualMachineIsNot) {
  EXPECT_EQ(application_of({line("park", "libjvm.so", true), line("monitorenter_nofpu Runtime1 stub", "[jit]", false),
                            line("void H.main(java.lang.String[])", "[jit]", false),
                            line("StubRoutines (1)", "[jit]", false), line("JavaMain", "libjvm.so", true)}),
            Names{"void H.main(java.lang.String[])"});
  EXPECT_EQ(application_of({line("Monitor::wait", "libjvm.so", true), line("Interpreter", "[jit]", false),
                            line("StubRoutines (1)", "[jit]", false), line("JavaMain", "libjvm.so", true)}),
            (Names{"Monitor::wait", "JavaMain"}));
}

TEST(GeneratedCode, CallsTheApplicationsOwnLibraries) {
  EXPECT_EQ(application_of({line("pthread_mutex_lock", "libc.so.6", false), line("take", "addon.so", true),
                            line("JS:*serve /srv/app.js:1:1", "[jit]", false), line("Invoke", "node", true)}),
            (Names{"take", "JS:*serve /srv/app.js:1:1"}));
}

TEST(GeneratedCode, OtherStacksStayAsTheyAre) {
  EXPECT_EQ(application_of({line("futex", "libc.so.6", false), line("[anon]+0x1000", "[anon]", false),
                            line("work", "app", true), line("main", "app", true)}),
            (Names{"work", "main"}));
  EXPECT_EQ(application_of({}), Names{});
}

}  // namespace
}  // namespace uscope::test

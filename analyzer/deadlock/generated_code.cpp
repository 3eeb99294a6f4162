// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/generated_code.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

namespace uscope::analyzer {
namespace {

bool is_generated(const StackLine& line) {
  return line.module == "[jit]";
}

// Generated code of the virtual machine's own, as Java's and V8's perf maps call it.
bool is_stub(std::string_view function) {
  constexpr std::array<std::string_view, 5> kStubs{"Interpreter", "StubRoutines",
                                                   "Builtin:", "BytecodeHandler:", "Stub:"};
  return function.ends_with(" stub") || std::any_of(kStubs.begin(), kStubs.end(), [&](std::string_view prefix) {
           return function.starts_with(prefix);
         });
}

}  // namespace

void mark_generated_code(StackLines& stack) {
  std::set<std::string> run_times;
  bool any = false;
  for (std::size_t i = 0; i < stack.size(); i++) {
    if (!is_generated(stack[i])) continue;
    stack[i].app = !is_stub(stack[i].function);
    any = any || stack[i].app;
    if (i + 1 < stack.size() && !is_generated(stack[i + 1])) run_times.insert(stack[i + 1].module);
  }
  if (!any) return;
  for (StackLine& line : stack) line.app = line.app && run_times.count(line.module) == 0;
}

}  // namespace uscope::analyzer

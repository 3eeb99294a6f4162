// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which frames are the application's where a program runs code that is generated while it runs: Python's functions
// under
// `-X perf`, methods of Java, functions of JavaScript. A perf map names them; their module is [jit].
//
// These functions are what the application's author wrote. The interpreter or virtual machine around them also counts
// as the application by its place (python3, libpython, node), and would hide them among its own frames. So in a stack
// with generated functions, a module that calls one of them is the language's run time, and its frames are not the
// application's. A program that generates code for itself is such a module too: its functions stand behind those that
// it generates.
#pragma once

#include "analyzer/deadlock/futex_wait.h"

namespace uscope::analyzer {

// Sets StackLine::app, which says of each line whether its module is the application's.
void mark_generated_code(StackLines& stack);

}  // namespace uscope::analyzer

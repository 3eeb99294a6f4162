// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stands in uscope's job for a command that has a session, and perhaps a terminal, of its own: passes on what is typed
// and printed, the terminal's signals and its size. It is a process of its own, so that the terminal is given back
// however uscope ends.
#pragma once

#include <sys/types.h>

namespace uscope::tracer {

struct RelayEnds {
  int control = -1;  // uscope's: a byte when the command starts, the end when uscope has no more to do with it
  int session = -1;  // held until the relay ends
  int master = -1;   // of the command's terminal; -1: it has none, and neither of the next two is used
  int input = -1;    // the caller's terminal, if the command's input comes from it
  int output = -1;   // the caller's terminal
  pid_t command = 0;
};

// Runs in a freshly forked process of uscope's process group, with one thread. While the command runs, `input` is in
// raw mode, if this process group is in the foreground: each key goes to the command's terminal, which makes of it what
// its own modes say. When `control` ends, what the command has printed is passed on, the terminal is as it was, and a
// byte is sent. If processes still use the command's terminal, their output is passed on until they end; their input
// has ended.
[[noreturn]] void relay_terminal(const RelayEnds& ends);

}  // namespace uscope::tracer

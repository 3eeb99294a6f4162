// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Waits in other calls than futex: which processes could end each of them, by the last look. What is not known, or
// lies outside of the trace, is told apart: both count against a verdict. Pure functions on what was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/look.h"

namespace uscope::analyzer {

// A process that could end a wait, and by what.
struct WaitEnd {
  std::size_t process = 0;  // index in LastCalls::processes
  std::int64_t fd = -1;     // -1: not by a descriptor
  std::string object;       // "pipe:[4711]", "/tmp/app.lock"; empty: the process itself
  std::string part;         // "the write end of", "a lock on"
};

struct CallWait {
  enum class State {
    kNotLooked,  // no look has the thread
    kGoesOn,     // it runs, or goes on by itself
    kFollowed,   // only threads of `holders` can end the wait
    kOutside,    // somebody or something outside of the trace can end it, as `why` says
    kUnknown,    // it is not known who can end it, as `why` says
  };
  State state = State::kNotLooked;
  std::string text;                  // "read(3<pipe:[4711]>)"; names in it may hold any byte
  std::string why;                   // "a terminal", "process 12 `server`, which is not traced, …"
  std::vector<std::size_t> holders;  // processes, ascending
  static constexpr std::size_t kMostEnds = 16;
  std::vector<WaitEnd> ends;  // what makes them holders: the first of them
  bool weak = false;          // a process that has no part in it yet could end it: a FIFO that it opens
  bool by_handler = false;    // kOutside: nothing but a handler of a signal is known that could end it
  bool by_self_pipe = false;  // by_handler: it would use what only this process has, or what does not block
  bool by_own_end = false;    // by_handler: it would use the other end, which this process and others have
  bool by_timer = false;      // by_handler: of a signal that a timer may send
  bool doubtful = false;      // kUnknown: it would be kFollowed, if what `why` tells did not end it
  bool has_unknown = false;   // something that could end it is not known, whatever else is
  std::string by_name;      // kOutside: nothing but somebody who opens this FIFO or terminal, or changes this System V
                            // object, is known that could end it
  bool is_at_fifo = false;  // by_name is that of a FIFO
  bool nobody_comes = false;  // by_name: the last user of the System V object has ended, or who has the terminal waits
  bool at_mount = false;      // for the server of a file system, which may not answer
  bool writes = false;        // it does not rest, but has something to write that there is no room for
  std::vector<WaitEnd> idle;  // have both ends of a pipe and do not read it, while its one reader is stopped
  bool anyone = false;        // kFollowed: any thread of the trace could (a semaphore whose taker is dead)
};

// One element for each thread of `calls`.
[[nodiscard]] std::vector<CallWait> follow_calls(const LastCalls& calls, const Look& look);

// "stopped by SIGTTOU", "traced by gdb (pid 12)", "frozen"; empty if it is none of these.
[[nodiscard]] std::string halted_text(const LookedThread& thread);

}  // namespace uscope::analyzer

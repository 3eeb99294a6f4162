// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A session of its own for a command that runs as another user. Whoever shares a session's terminal can type there for
// its owner (TIOCSTI), read what is typed and change its modes. So the command's descriptors 0, 1 and 2 that are a
// terminal become one that is made for it, a relay (terminal_relay.h) passes on what is typed and printed, and the
// caller's terminal is not reachable, by /dev/tty neither.
//
// The session's leader is a process that does nothing: a leader's end would hang up what the command leaves running.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

class CommandSession {
 public:
  // Looks at descriptors 0, 1 and 2. `user` becomes the owner of the command's terminal.
  static Result<CommandSession> open(uid_t user);

  CommandSession(CommandSession&&) = default;
  CommandSession& operator=(CommandSession&&) = delete;
  // As end(); and waits until all that was printed has come and the caller's terminal is as it was, two seconds at
  // most.
  ~CommandSession();

  // Forks the command as a child of this process, in its own session and process group, and the relay; to be called
  // once, while there is one thread. Returns 0 in the command.
  Result<pid_t> fork_command();
  // The command is about to be executed: from now on the keys are its own.
  void begin();
  // The command has ended, or tracing has: the caller's terminal is given back.
  void end();

 private:
  CommandSession() = default;
  Result<pid_t> lead(int told, int held);
  void enter() const;

  int input_ = -1;   // the caller's terminal where the command reads it, or -1
  int output_ = -1;  // ... and where it prints; -1: none of the three is a terminal
  UniqueFd master_;
  UniqueFd slave_;
  UniqueFd control_;
  std::optional<termios> modes_;  // of the caller's terminal, as they were
  pid_t leader_ = 0;
  pid_t relay_ = 0;
};

}  // namespace uscope::tracer

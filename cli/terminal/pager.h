// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A pager for what a verb prints, as git starts one: $USCOPE_PAGER, else $PAGER, else `less`, which gets LESS=FRX if
// the user has not set LESS. There is none unless standard output is a terminal, nor for the commands "" and `cat`.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>

#include "support/end_signals.h"

namespace uscope::cli {

// While it lives, standard output (and standard error, where that is the same terminal) goes to the pager. One at a
// time. Make it before other threads, and before the process gives up executing programs (confine_reader). A user who
// quits the pager has seen enough: later output is dropped and no error (Output::finish).
class Pager {
 public:
  Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  // Waits until the user has quit the pager.
  ~Pager();

 private:
  void start(const std::string& command, const std::string& script);

  pid_t process_ = -1;
  std::string command_;
  struct sigaction before_pipe_ {};  // what signals did before
  std::array<struct sigaction, kEndSignals.size()> before_end_{};
  std::optional<SignalsLetThrough> let_through_;
};

// Whether a pager shows what this process prints.
[[nodiscard]] bool is_paged();

// The descriptor of the terminal on which a stream's text is seen, also through a pager; -1 if there is none.
[[nodiscard]] int terminal_behind(std::FILE* stream);

// Whether $TERM promises nothing but lines of text.
[[nodiscard]] bool is_dumb_terminal();

}  // namespace uscope::cli

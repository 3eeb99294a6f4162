// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A whole terminal, by ncurses: lines are drawn, keys are read without Enter, and what was shown before comes back at
// the end. Text is UTF-8, as everywhere in uscope.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cli/terminal/screen_line.h"
#include "support/result.h"

struct screen;  // of ncurses

namespace uscope::cli {

class Screen {
 public:
  // Takes the terminal of standard output; keys are read from standard input, where that is a terminal too. Fails where
  // nothing can be placed on this kind of terminal. ncurses handles SIGTSTP and SIGWINCH from here on: no process that
  // inherits this may be forked later.
  [[nodiscard]] static Result<std::unique_ptr<Screen>> open();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  [[nodiscard]] bool has_keys() const { return has_keys_; }
  // The terminal's size now.
  [[nodiscard]] ScreenSize size();
  // Whether the terminal takes output: it does not while it is stopped (Ctrl-S), or where the line to it is slow.
  [[nodiscard]] static bool takes_output();
  // Replaces what is shown. What goes beyond the terminal's width or height is left out.
  void draw(const std::vector<ScreenLine>& lines);
  // The next key that was typed, if any was; never waits.
  [[nodiscard]] std::optional<Key> key();
  // The terminal has gone: there are no more keys.
  [[nodiscard]] bool is_gone() const { return is_gone_; }

 private:
  struct Close {
    void operator()(screen* taken) const;
  };
  explicit Screen(std::unique_ptr<screen, Close> taken);

  std::unique_ptr<screen, Close> screen_;
  bool has_keys_ = false;
  bool is_gone_ = false;
};

}  // namespace uscope::cli

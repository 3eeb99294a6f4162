// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/terminal_choice.h"

namespace uscope::cli {

TerminalChoice& terminal_choice() {
  static TerminalChoice choice;
  return choice;
}

}  // namespace uscope::cli

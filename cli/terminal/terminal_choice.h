// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the user chose about the terminal, for the whole process: also an error that is printed last keeps to it.
#pragma once

namespace uscope::cli {

enum class ColoursWhen { kAuto, kAlways, kNever };

struct TerminalChoice {
  ColoursWhen colours = ColoursWhen::kAuto;  // --color
  bool no_pager = false;                     // --no-pager
};

// The options write to it while the command line is parsed, before a verb runs.
[[nodiscard]] TerminalChoice& terminal_choice();

}  // namespace uscope::cli

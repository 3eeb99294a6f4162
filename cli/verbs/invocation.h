// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The interface between main and the verbs. add_<verb> declares a verb's options on the app and, when the command line
// names the verb, sets `run`, which main calls after parsing; so parsing is over before anything is opened.
#pragma once

#include <functional>

#include "support/result.h"

namespace CLI {
class App;
}

namespace uscope::cli {

struct Invocation {
  // Returns the command's exit code; main prints an Error.
  std::function<Result<int>()> run;
  // Exit code if the command line is wrong or `run` returns an Error.
  int error_code = 2;
};

}  // namespace uscope::cli

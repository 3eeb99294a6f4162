// How main and the verbs meet. add_<verb> declares a verb's options on the app and, when the command line names the
// verb, sets `run`, which main then calls; so parsing is over before anything is opened.
#pragma once

#include <functional>

#include "support/result.h"

namespace CLI {
class App;
}

namespace uscope::cli {

struct Invocation {
  // Gives the exit code of the command; an Error is printed by main.
  std::function<Result<int>()> run;
  // Exit code where the command line is wrong or `run` gives an Error.
  int error_code = 2;
};

}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The keeper, which forks scouts, and the scouts themselves (scouts.h).
#pragma once

#include <sys/types.h>

#include <optional>

#include "support/unique_fd.h"

namespace uscope::tracer {

// A scout as the tracer holds it.
struct Scout {
  UniqueFd socket;
  UniqueFd process;  // pidfd
  pid_t pid = 0;
};

// The keeper's whole life. `control` is its end of the socket that fork_scout() writes to.
[[noreturn]] void keep_scouts(int control);

// Asks the keeper for a new scout. Returns nullopt if there is none; if that is because the keeper does not answer,
// its socket is closed.
std::optional<Scout> fork_scout(UniqueFd& keeper);

}  // namespace uscope::tracer

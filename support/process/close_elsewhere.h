// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Closes files in another process: where nobody waits for it, or where no signal ends it halfway.
#pragma once

#include <sys/types.h>

#include <vector>

#include "support/unique_fd.h"

namespace uscope {

// For files whose last close() takes the kernel long, one after the other. A process that does nothing else has them
// last; it is no child of this one, holds no other file, and ends when the kernel has closed them. If it cannot be
// started, this process waits for them.
void close_elsewhere(std::vector<UniqueFd> files);

// For files whose last close() does only part of its work when a SIGKILL comes meanwhile. A child that does nothing
// else has them last, and ends: the kernel closes the files of a process that ends whatever is sent to it. Returns the
// child, which is for the caller to wait for; 0: it could not be started, and this process has closed them.
[[nodiscard]] pid_t close_in_child(std::vector<UniqueFd> files);

}  // namespace uscope

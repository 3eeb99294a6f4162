// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Closes files where nobody waits for it.
#pragma once

#include <vector>

#include "support/unique_fd.h"

namespace uscope {

// For files whose last close() takes the kernel long, one after the other. A process that does nothing else has them
// last; it is no child of this one, holds no other file, and ends when the kernel has closed them. If it cannot be
// started, this process waits for them.
void close_elsewhere(std::vector<UniqueFd> files);

}  // namespace uscope

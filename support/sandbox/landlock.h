// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Landlock, if the kernel has it: https://docs.kernel.org/userspace-api/landlock.html.
#pragma once

#include <vector>

#include "support/result.h"

namespace uscope {

// Both functions are permanent, for this thread and its children. no_new_privs must be set, or the thread needs
// CAP_SYS_ADMIN. Without Landlock in the kernel they do nothing.
//
// Files can be written, created and removed only below these folders (descriptors, O_PATH is enough).
Result<void> limit_writing(const std::vector<int>& folders);
// No file can be opened, created, removed or executed.
Result<void> leave_file_systems();

}  // namespace uscope

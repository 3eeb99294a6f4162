// Landlock, as far as the kernel has it: https://docs.kernel.org/userspace-api/landlock.html.
#pragma once

#include <vector>

#include "support/result.h"

namespace uscope {

// For good, for this thread and what it forks; no_new_privs must be set, or CAP_SYS_ADMIN be there. Without Landlock
// nothing happens.
//
// Files are written, made and removed below these folders (descriptors, O_PATH is enough) only.
Result<void> limit_writing(const std::vector<int>& folders);
// Nothing is opened, made, removed or executed.
Result<void> leave_file_systems();

}  // namespace uscope

// Landlock, as far as the kernel has it: https://docs.kernel.org/userspace-api/landlock.html.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace uscope {

// For good, for this thread and what it forks; no_new_privs must be set, or CAP_SYS_ADMIN be there. Without Landlock
// nothing happens.
//
// Files are written, made and removed below these folders only.
Result<void> limit_writing(const std::vector<std::string>& folders);
// Nothing is opened, made, removed or executed.
Result<void> leave_file_systems();

}  // namespace uscope

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The SET of `events -e`: which system calls, by name.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace uscope::syscalls {

// Names of the calls that parse_syscall_set finds in "openat,read", "%file", "all", "!%memory", of every ABI.
[[nodiscard]] Result<std::vector<std::string>> parse_call_set(const std::string& set);

}  // namespace uscope::syscalls

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Asks the kernel about another process's descriptor by a copy of it (pidfd_getfd), which is given back at once.
#pragma once

#include <cstdint>
#include <string>

#include "support/unique_fd.h"

namespace uscope::tracer {

// No descriptor: the process or its descriptor has gone, or may not be asked.
[[nodiscard]] UniqueFd copy_of(std::uint32_t pid, int fd);

// The address of the socket that /proc calls `target`, whatever its network namespace: "with inet:127.0.0.1:80" of a
// connected one, since nobody knows any more which side began; "at inet:0.0.0.0:80" of one that only has an address of
// its own. Empty: it has neither, cannot be asked, or is not the socket any more.
[[nodiscard]] std::string socket_address_of(std::uint32_t pid, int fd, const std::string& target);

}  // namespace uscope::tracer

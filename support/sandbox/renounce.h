// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For a process that only reads data handed to it: gives up everything else.
#pragma once

#include <cstdint>

#include "support/result.h"

namespace uscope {

struct Renunciation {
  std::uint64_t memory = 0;       // bytes of address space beyond the current size; 0: no limit
  std::uint64_t descriptors = 0;  // most descriptors open at once
};

// Permanent, for this thread and its children; call it while there is no other thread. A user and group of its
// own (own_user.h; if CAP_SETUID and CAP_SETGID allow it), no further groups, no capability, no new privileges, not
// dumpable; no file system (Landlock, if the kernel has it). seccomp: the process may read, write, send and receive
// through descriptors that it has or is sent, have memory that is not executable, fork, wait for its children, and
// exit; all else fails with EPERM. Limits: as given; no core file, and no file can be written.
Result<void> renounce(const Renunciation& limits);

// The last step: from here on the process cannot fork. (The limit RLIMIT_NPROC, which does not bind root.)
Result<void> renounce_forking();

}  // namespace uscope

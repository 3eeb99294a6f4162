// For a process that does nothing but read what it is handed: it gives up all that it could do besides.
#pragma once

#include <cstdint>

#include "support/result.h"

namespace uscope {

constexpr unsigned kNobody = 65534;  // the user and group of no file (the kernel's overflowuid)

struct Renunciation {
  std::uint64_t memory = 0;       // bytes of address space beside what it has now; 0: no limit
  std::uint64_t descriptors = 0;  // open at once
};

// For good, for this thread and what it forks; called while there is no other thread. User and group kNobody without
// further groups (where CAP_SETUID and CAP_SETGID allow it), no capability, no new privileges, not dumpable; no file
// system (Landlock, where the kernel has it). seccomp: it may read, write, send and receive by the descriptors that it
// has or is sent, have memory that is not executable, fork, wait for what it forked, and end; all else fails with
// EPERM. Limits: as told; no core file, no file is written.
Result<void> renounce(const Renunciation& limits);

// The last of it: from here on it cannot fork. (The limit RLIMIT_NPROC, which is not asked of the user root.)
Result<void> renounce_forking();

}  // namespace uscope

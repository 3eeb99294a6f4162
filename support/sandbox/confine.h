// Before files that others have made are read, ELF and DWARF above all: this process gives up what it does not need
// any more, so that a reader that such a file takes over can do little.
#pragma once

#include <vector>

#include "support/result.h"

namespace uscope {

struct Confinement {
  std::vector<int> writable;  // open folders: files are written, made and removed below these only
  bool network = false;       // new sockets may be made
};

// For good, for this thread and what it forks; called while there is no other thread. Capabilities: none but
// CAP_DAC_OVERRIDE and CAP_FOWNER, which writing into a user's folder needs. Landlock: writing as told, where the
// kernel has it. seccomp: no exec, ptrace, bpf, mount, modules, namespaces, change of owners or modes, nor what else a
// reader has no use for (EPERM). Fails only where the kernel refuses what it should know.
Result<void> confine(const Confinement& confinement);

}  // namespace uscope

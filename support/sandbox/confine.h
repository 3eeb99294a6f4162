// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Gives up the privileges that a process no longer needs, before it reads files of other users (above all ELF and
// DWARF), so that a reader that such a file takes over can do little.
#pragma once

#include <vector>

#include "support/result.h"

namespace uscope {

struct Confinement {
  std::vector<int> writable;  // open folders: files are written, created and removed only below these
  bool network = false;       // new sockets may be created
};

// Permanent, for this thread and its children; call it while there is no other thread. Capabilities: only
// CAP_DAC_OVERRIDE and CAP_FOWNER remain, which writing into a user's folder needs. Landlock: restricts writing to
// `writable`, if the kernel supports it. seccomp: EPERM for exec, ptrace, bpf, mount, modules, namespaces, change of
// owners or modes, and other calls that a reader does not need. Returns an error only if the kernel refuses something
// that it should support.
Result<void> confine(const Confinement& confinement);

}  // namespace uscope

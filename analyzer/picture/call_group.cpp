// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/picture/call_group.h"

#include "syscalls/call_traits.h"
#include "syscalls/syscall_table.h"

namespace uscope::analyzer {

CallGroup group_of(const Kind& kind) {
  if (!kind.is_call()) return CallGroup::kNone;
  if (kind.waits) {
    if (syscalls::are_related(kind.name, "futex")) return CallGroup::kWaitLock;
    if (syscalls::are_related(kind.name, "nanosleep")) return CallGroup::kWaitTimer;
    if (syscalls::are_related(kind.name, "wait4") || syscalls::are_related(kind.name, "vfork"))
      return CallGroup::kWaitProcess;
    return CallGroup::kWaitPeer;
  }
  const std::uint16_t classes = syscalls::syscall_classes(kind.name);
  if ((classes & syscalls::kClassNetwork) != 0) return CallGroup::kNetwork;
  if ((classes & syscalls::kClassMemory) != 0) return CallGroup::kMemory;
  if ((classes & (syscalls::kClassFile | syscalls::kClassDesc)) != 0 && (classes & syscalls::kClassProcess) == 0)
    return CallGroup::kFile;
  return CallGroup::kOther;
}

}  // namespace uscope::analyzer

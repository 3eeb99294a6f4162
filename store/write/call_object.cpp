// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/call_object.h"

#include <vector>

#include "syscalls/syscall_table.h"

namespace uscope::store {

// By ABI and number. To make it takes longer than a small trace does, so it is made once.
const syscalls::ObjectArgs& object_args_of(std::uint32_t abi, std::uint32_t nr) {
  static const std::vector<syscalls::ObjectArgs> all = [] {
    std::vector<syscalls::ObjectArgs> made(std::size_t{USC_ABI_COUNT} * syscalls::kSyscallNumbers);
    for (std::size_t one = 0; one < USC_ABI_COUNT; one++)
      for (std::uint32_t number = 0; number < syscalls::kSyscallNumbers; number++)
        made[one * syscalls::kSyscallNumbers + number] = syscalls::object_args(static_cast<usc_abi>(one), number);
    return made;
  }();
  static const syscalls::ObjectArgs none;
  return abi < USC_ABI_COUNT && nr < syscalls::kSyscallNumbers ? all[abi * syscalls::kSyscallNumbers + nr] : none;
}

CallObject object_without_names(const syscalls::ObjectArgs& args, const std::array<std::uint64_t, 6>& values) {
  CallObject object;
  if (!args.any()) return object;
  const auto value = [&](int arg) { return values.at(static_cast<std::size_t>(arg)); };
  object.changes = args.changes || (args.open_flags >= 0 && syscalls::makes_anew(value(args.open_flags)));
  // Of an optional descriptor, -1 means none: mmap of anonymous memory. The kernel ignores the upper half.
  if (args.path < 0 && args.descriptor > 0 && args.source < 0 && static_cast<int>(value(args.descriptor)) == -1)
    return object;
  object.is_about_any = true;
  object.has_target = args.path >= 0 && args.target >= 0;
  object.has_source = args.path < 0 && args.source >= 0;
  return object;
}

}  // namespace uscope::store

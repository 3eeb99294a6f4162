// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/call_set.h"

#include <set>

#include "syscalls/syscall_table.h"
#include "uscope/record.h"

namespace uscope::syscalls {

Result<std::vector<std::string>> parse_call_set(const std::string& set) {
  auto calls = parse_syscall_set(set);
  if (!calls) return calls.error();
  if (calls->none())
    return Error{"'" + set + "' names no system call", "leave `none` out: it is for recording other events alone"};
  std::set<std::string> names;
  for (const usc_abi abi : kTableAbis)
    for (std::uint32_t nr = 0; nr < kSyscallNumbers; nr++)
      if (calls->tables[USC_CALL_TABLE(abi)][nr]) names.emplace(syscall_name(abi, nr));
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace uscope::syscalls

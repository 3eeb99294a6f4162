// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/call_set.h"

#include <set>

#include "syscalls/syscall_table.h"
#include "uscope/record.h"

namespace uscope::syscalls {

Result<std::vector<std::string>> parse_call_set(const std::string& set) {
  auto calls = parse_syscall_set(set);
  if (!calls) return calls.error();
  if (calls->x86_64.none() && calls->i386.none())
    return Error{"'" + set + "' names no system call", "leave `none` out: it is for recording other events alone"};
  std::set<std::string> names;
  for (std::uint32_t nr = 0; nr < calls->x86_64.size(); nr++)
    if (calls->x86_64[nr]) names.emplace(syscall_name(USC_ABI_X86_64, nr));
  for (std::uint32_t nr = 0; nr < calls->i386.size(); nr++)
    if (calls->i386[nr]) names.emplace(syscall_name(USC_ABI_I386, nr));
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace uscope::syscalls

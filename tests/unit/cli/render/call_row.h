// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A row of a system call, for tests of what is printed of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "analyzer/read/event_row.h"
#include "syscalls/syscall_table.h"

namespace uscope::cli {

inline analyzer::EventRow row_of(const std::string& call, std::initializer_list<std::int64_t> args) {
  analyzer::EventRow row;
  row.call = call;
  row.source = "syscall";
  row.abi = "x86_64";
  row.nr = syscalls::syscall_number(USC_ABI_X86_64, call).value_or(9999);
  row.args.fill(0);
  std::copy(args.begin(), args.end(), row.args.begin());
  return row;
}

}  // namespace uscope::cli

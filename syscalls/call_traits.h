// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Properties of calls that hold for every application: what a call transfers.
#pragma once

#include <string_view>

namespace uscope::syscalls {

// What a call transfers through descriptors.
struct Transfer {
  bool reads = false;
  bool writes = false;
  bool counts_bytes = false;  // a result above 0 is the number of bytes
  int source = -1;  // of a call that reads from one descriptor and writes to another: the first one's argument
  int target = -1;  // and the second one's
};

[[nodiscard]] Transfer transfer_of(std::string_view name);

}  // namespace uscope::syscalls

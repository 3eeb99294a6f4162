// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A seccomp filter for x86-64, built call by call. Calls of another architecture, and of x32, are refused.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "support/result.h"

namespace uscope {

class SeccompFilter {
 public:
  SeccompFilter();

  // The first rule added for a call wins. Refused calls fail with EPERM.
  void allow(long call) { answer(call, true); }
  void refuse(long call) { answer(call, false); }
  // Allows the call if the low half of an argument (0 … 5) equals `value`, or has none of `bits`; otherwise refuses it.
  void allow_if_equal(long call, unsigned argument, std::uint32_t value);
  void allow_without(long call, unsigned argument, std::uint32_t bits);

  // Permanent, for this thread and its children. `others`: whether calls without a rule are allowed. no_new_privs must
  // be set.
  Result<void> install(bool others);

 private:
  void answer(long call, bool allowed);
  void test_argument(long call, unsigned argument, const sock_filter& test);

  std::vector<sock_filter> program_;
};

}  // namespace uscope

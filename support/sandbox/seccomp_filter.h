// A seccomp filter for x86-64, put together call by call. What is of another architecture, or of x32, is refused.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "support/result.h"

namespace uscope {

class SeccompFilter {
 public:
  SeccompFilter();

  // What is said first of a call holds. Refused calls fail with EPERM.
  void allow(long call) { answer(call, true); }
  void refuse(long call) { answer(call, false); }
  // Allowed if the low half of an argument (0 … 5) is `value`; if it has none of `bits`. Otherwise refused.
  void allow_if_equal(long call, unsigned argument, std::uint32_t value);
  void allow_without(long call, unsigned argument, std::uint32_t bits);

  // For good, for this thread and what it forks; `others`: whether calls that nothing was said of are allowed.
  // no_new_privs must be set.
  Result<void> install(bool others);

 private:
  void answer(long call, bool allowed);
  void test_argument(long call, unsigned argument, const sock_filter& test);

  std::vector<sock_filter> program_;
};

}  // namespace uscope

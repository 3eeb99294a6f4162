// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A seccomp filter for x86-64, built call by call with libseccomp. Calls of another architecture, and of x32, are
// refused. Refused calls fail with EPERM.
#pragma once

#include <seccomp.h>

#include <cstdint>
#include <memory>

#include "support/result.h"

namespace uscope {

class SeccompFilter {
 public:
  enum class Others : std::uint8_t { kAllowed, kRefused };

  // `others`: what happens to calls without a rule. A rule must say the opposite, or install() returns an error.
  explicit SeccompFilter(Others others);

  void allow(long call);
  void refuse(long call);
  // Allows the call if the low half of an argument (0 … 5) equals `value`, or has none of `bits`.
  void allow_if_equal(long call, unsigned argument, std::uint32_t value);
  void allow_without(long call, unsigned argument, std::uint32_t bits);
  // Refuses the call if the argument has any of `bits`.
  void refuse_with(long call, unsigned argument, std::uint32_t bits);
  // The call fails as on a kernel that does not have it (ENOSYS), so that libraries make an older call in its place.
  void hide(long call);

  // Loads the filter into the kernel; permanent, for this thread and its children. Sets no_new_privs. Returns an error
  // if the kernel refuses the filter, or if a rule could not be added.
  Result<void> install();

 private:
  struct Release {
    void operator()(void* context) const { seccomp_release(context); }
  };

  void add(std::uint32_t action, long call, const scmp_arg_cmp* condition);
  void note(int result);  // keeps the first error of libseccomp, a negative errno

  std::unique_ptr<void, Release> context_;
  int error_ = 0;
};

}  // namespace uscope

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/sandbox/seccomp_filter.h"

#include <cerrno>

namespace uscope {
namespace {

constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
constexpr std::uint64_t kLowHalf = 0xffffffff;
constexpr std::uint32_t kBinaryTree = 2;
constexpr int kNoCall = -1;  // the number that a debugger gives a call that the kernel is to skip

}  // namespace

SeccompFilter::SeccompFilter(Others others)
    : context_(seccomp_init(others == Others::kAllowed ? SCMP_ACT_ALLOW : kRefuse)) {
  if (!context_) {
    note(-ENOMEM);
    return;
  }
  note(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, kRefuse));
  note(seccomp_attr_set(context_.get(), SCMP_FLTATR_API_SYSRAWRC, 1));  // the kernel's errno, not ECANCELED
  // The kernel runs the filter once for each call number when it loads it, so fewer tests on the way pay off.
  note(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, kBinaryTree));
  // libseccomp refuses the numbers of x32 calls, which begin with a set bit, but not kNoCall, which has that bit too.
  note(seccomp_attr_set(context_.get(), SCMP_FLTATR_API_TSKIP, 1));
  if (others == Others::kAllowed) refuse(kNoCall);
}

void SeccompFilter::note(int result) {
  if (error_ == 0 && result < 0) error_ = -result;
}

void SeccompFilter::add(std::uint32_t action, long call, const scmp_arg_cmp* condition) {
  if (!context_) return;
  note(seccomp_rule_add_exact_array(context_.get(), action, static_cast<int>(call), condition != nullptr ? 1 : 0,
                                    condition));
}

void SeccompFilter::allow(long call) {
  add(SCMP_ACT_ALLOW, call, nullptr);
}

void SeccompFilter::refuse(long call) {
  add(kRefuse, call, nullptr);
}

void SeccompFilter::allow_if_equal(long call, unsigned argument, std::uint32_t value) {
  const scmp_arg_cmp condition{argument, SCMP_CMP_MASKED_EQ, kLowHalf, value};
  add(SCMP_ACT_ALLOW, call, &condition);
}

void SeccompFilter::allow_without(long call, unsigned argument, std::uint32_t bits) {
  const scmp_arg_cmp condition{argument, SCMP_CMP_MASKED_EQ, bits, 0};
  add(SCMP_ACT_ALLOW, call, &condition);
}

void SeccompFilter::refuse_with(long call, unsigned argument, std::uint32_t bits) {
  for (std::uint32_t rest = bits; rest != 0; rest &= rest - 1) {
    const std::uint32_t bit = rest & -rest;
    const scmp_arg_cmp condition{argument, SCMP_CMP_MASKED_EQ, bit, bit};
    add(kRefuse, call, &condition);
  }
}

void SeccompFilter::hide(long call) {
  add(SCMP_ACT_ERRNO(ENOSYS), call, nullptr);
}

Result<void> SeccompFilter::install() {
  if (error_ == 0) note(seccomp_load(context_.get()));
  if (error_ != 0) return errno_error("cannot limit the system calls of this process", error_);
  return {};
}

}  // namespace uscope

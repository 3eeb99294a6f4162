// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/sandbox/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace uscope {
namespace {

constexpr std::uint32_t kX32Bit = 0x40000000;

constexpr sock_filter plain(std::uint16_t code, std::uint32_t value) {
  return {code, 0, 0, value};
}
constexpr sock_filter jump(std::uint16_t code, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
  return {code, yes, no, value};
}

constexpr sock_filter kAllow = plain(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
constexpr sock_filter kRefuse = plain(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);

}  // namespace

SeccompFilter::SeccompFilter()
    : program_{plain(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
               jump(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
               kRefuse,
               plain(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
               jump(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1),
               kRefuse} {}

void SeccompFilter::answer(long call, bool allowed) {
  program_.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
  program_.push_back(allowed ? kAllow : kRefuse);
}

void SeccompFilter::test_argument(long call, unsigned argument, const sock_filter& test) {
  const auto low_half = static_cast<std::uint32_t>(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
  program_.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4));
  program_.push_back(plain(BPF_LD | BPF_W | BPF_ABS, low_half));
  program_.push_back(test);
  program_.push_back(kAllow);
  program_.push_back(kRefuse);
}

void SeccompFilter::allow_if_equal(long call, unsigned argument, std::uint32_t value) {
  test_argument(call, argument, jump(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
}

void SeccompFilter::allow_without(long call, unsigned argument, std::uint32_t bits) {
  test_argument(call, argument, jump(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0));
}

Result<void> SeccompFilter::install(bool others) {
  program_.push_back(others ? kAllow : kRefuse);
  const sock_fprog filter = {static_cast<unsigned short>(program_.size()), program_.data()};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
    return errno_error("cannot limit the system calls of this process", errno);
  return {};
}

}  // namespace uscope

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/errno_names.h"

#include <cerrno>
#include <csignal>
#include <cstring>

namespace uscope::syscalls {
namespace {

constexpr int kFirstRestart = 512;
constexpr int kLastRestart = 516;
constexpr int kFirstRealTime = 32;  // the kernel's; the C library keeps some for itself
constexpr int kLastRealTime = 64;

}  // namespace

bool is_error(std::int64_t result) {
  return result < 0 && result >= -kLastErrno && (result > -kFirstRestart || result < -kLastRestart);
}

std::string_view errno_name(int number) {
  // include/linux/errno.h of Linux 6.1: these reach no program, but a tracer sees them.
  switch (number) {
    case 512:
      return "ERESTARTSYS";
    case 513:
      return "ERESTARTNOINTR";
    case 514:
      return "ERESTARTNOHAND";
    case 515:
      return "ENOIOCTLCMD";
    case 516:
      return "ERESTART_RESTARTBLOCK";
    case 524:
      return "ENOTSUPP";
    case EOPNOTSUPP:
      // The C library calls it ENOTSUP; Linux has one number for both and names it so.
      return "EOPNOTSUPP";
    default:
      break;
  }
  const char* name = number > 0 ? strerrorname_np(number) : nullptr;
  return name != nullptr ? name : "";
}

std::string signal_name(int number) {
  if (number == kFirstRealTime) return "SIGRTMIN";
  if (number > kFirstRealTime && number <= kLastRealTime) return "SIGRT_" + std::to_string(number - kFirstRealTime);
  if (number == SIGIO) return "SIGIO";  // the C library's name for it is SIGPOLL
  const char* name = number > 0 && number < kFirstRealTime ? sigabbrev_np(number) : nullptr;
  return name != nullptr ? std::string("SIG") + name : "";
}

}  // namespace uscope::syscalls

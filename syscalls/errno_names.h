// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of error and signal numbers, the same on every machine that reads a trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace uscope::syscalls {

// Results from -kLastErrno to -1 are error numbers (the kernel's MAX_ERRNO).
constexpr int kLastErrno = 4095;

// True if a program sees this result as an error. The results -512 … -516 (ERESTARTSYS …) tell the kernel to restart
// the call, and no program sees them.
[[nodiscard]] bool is_error(std::int64_t result);

// "ENOENT" for 2; the kernel's own ERESTARTSYS (512), ERESTARTNOINTR, ERESTARTNOHAND, ENOIOCTLCMD,
// ERESTART_RESTARTBLOCK (516) and ENOTSUPP (524) too; empty for numbers without a name. Lives for ever.
[[nodiscard]] std::string_view errno_name(int number);

// "SIGINT" for 2. Real-time signals by the kernel's numbers, as strace has them: SIGRTMIN for 32, SIGRT_1 for 33 …
// SIGRT_32 for 64. Empty for other numbers.
[[nodiscard]] std::string signal_name(int number);

}  // namespace uscope::syscalls

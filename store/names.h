// Names of system calls and error numbers, as the loader stores them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#if __has_include("store/errno_names.h")
#include "store/errno_names.h"
#endif
#if __has_include("store/syscall_table.h")
#include "store/syscall_table.h"
#endif
#include "uscope/record.h"

namespace uscope::store {

#if __has_include("store/errno_names.h")
inline std::string stored_errno_name(int number) {
  return std::string(errno_name(number));
}
#else
inline std::string stored_errno_name(int number) {
  // The kernel's own, which no C library knows (include/linux/errno.h).
  constexpr const char* kRestart[] = {"ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD",
                                      "ERESTART_RESTARTBLOCK"};
  if (number >= 512 && number <= 516) return kRestart[number - 512];
  const char* name = strerrorname_np(number);
  return name ? name : "";
}
#endif

#if __has_include("store/syscall_table.h")
inline std::string stored_syscall_name(usc_abi abi, std::uint32_t nr) {
  return std::string(syscall_name(abi, nr));
}
#else
inline std::string stored_syscall_name(usc_abi, std::uint32_t nr) {
  return "syscall_" + std::to_string(nr);
}
#endif

}  // namespace uscope::store

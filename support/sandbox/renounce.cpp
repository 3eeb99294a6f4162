// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/sandbox/renounce.h"

#include <fmt/core.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <utility>

#include "support/sandbox/landlock.h"
#include "support/sandbox/own_user.h"
#include "support/sandbox/seccomp_filter.h"

namespace uscope {
namespace {

#if defined(USCOPE_SANITIZED)
constexpr bool kBoundsMemory = false;  // AddressSanitizer's shadow takes terabytes of addresses
#else
constexpr bool kBoundsMemory = true;
#endif

std::uint64_t address_space() {
  unsigned long pages = 0;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/statm", "re"), std::fclose);
  if (!file || std::fscanf(file.get(), "%lu", &pages) != 1) return 0;
  return std::uint64_t{pages} * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

bool set_limit(__rlimit_resource_t what, rlim_t most) {
  const rlimit value{most, most};
  return setrlimit(what, &value) == 0;
}

rlim_t most_of(__rlimit_resource_t what) {
  rlimit limit{};
  return getrlimit(what, &limit) == 0 ? limit.rlim_max : RLIM_INFINITY;
}

Result<void> set_limits(const Renunciation& limits) {
  if (!set_limit(RLIMIT_CORE, 0) || !set_limit(RLIMIT_FSIZE, 0))
    return errno_error("cannot set the limits of a process that reads files", errno);
  if (!set_limit(RLIMIT_NOFILE, limits.descriptors))
    return errno_error(fmt::format("a process that reads files must have {} descriptors, and the limit is {}",
                                   limits.descriptors, most_of(RLIMIT_NOFILE)),
                       errno, "raise the limit: ulimit -n 4096 (in a unit of systemd: LimitNOFILE=4096)");
  const std::uint64_t now = address_space();
  if (kBoundsMemory && limits.memory != 0 && now != 0 && !set_limit(RLIMIT_AS, now + limits.memory))
    return errno_error(fmt::format("a process that reads files must have {} MiB of addresses, and the limit is {}",
                                   (now + limits.memory) >> 20, most_of(RLIMIT_AS) >> 20),
                       errno, "raise the limit: ulimit -v unlimited (in a unit of systemd: LimitAS=infinity)");
  return {};
}

using Capabilities = std::array<__user_cap_data_struct, 2>;

long with_capabilities(long call, Capabilities& data) {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  return syscall(call, &header, data.data());
}

Result<void> become_nobody_else() {
  Capabilities held{};
  if (with_capabilities(SYS_capget, held) != 0) return errno_error("cannot ask for capabilities", errno);
  constexpr std::uint32_t kNeeded = 1u << CAP_SETUID | 1u << CAP_SETGID;
  if ((held[0].effective & kNeeded) == kNeeded) {
    const auto own = draw_own_user();
    if (!own) return own.error();
    if (setgroups(0, nullptr) != 0 || setresgid(*own, *own, *own) != 0 || setresuid(*own, *own, *own) != 0)
      return errno_error(fmt::format("cannot become the user {}", *own), errno);
  }
  Capabilities none{};
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (with_capabilities(SYS_capset, none) != 0) return errno_error("cannot drop capabilities", errno);
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno_error("cannot make this process not dumpable", errno);
  return {};
}

Result<void> limit_calls() {
  SeccompFilter filter(SeccompFilter::Others::kRefused);
  for (const long call : {SYS_read,         SYS_pread64,        SYS_lseek,           SYS_write,
                          SYS_recvfrom,     SYS_recvmsg,        SYS_sendto,          SYS_sendmsg,
                          SYS_fstat,        SYS_newfstatat,     SYS_close,           SYS_brk,
                          SYS_munmap,       SYS_mremap,         SYS_madvise,         SYS_futex,
                          SYS_getpid,       SYS_getppid,        SYS_gettid,          SYS_wait4,
                          SYS_pidfd_open,   SYS_clock_gettime,  SYS_getrandom,       SYS_sched_yield,
                          SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_set_robust_list, SYS_rseq,
                          SYS_exit,         SYS_exit_group,     SYS_restart_syscall, SYS_sigaltstack})
    filter.allow(call);
  filter.allow_without(SYS_mmap, 2, PROT_EXEC);
  filter.allow_without(SYS_mprotect, 2, PROT_EXEC);
  filter.allow_if_equal(SYS_prctl, 0, PR_SET_PDEATHSIG);
  filter.allow_if_equal(SYS_prlimit64, 0, 0);  // its own limits only, which it cannot raise without CAP_SYS_RESOURCE
  // The flags of glibc's fork(): no threads, no namespaces.
  filter.allow_if_equal(SYS_clone, 0, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD);
  return filter.install();
}

}  // namespace

Result<void> renounce(const Renunciation& limits) {
  if (auto done = set_limits(limits); !done) return done;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno_error("cannot give up new privileges", errno);
  if (auto done = become_nobody_else(); !done) return done;
  if (auto done = leave_file_systems(); !done) return done;
  return limit_calls();
}

Result<void> renounce_forking() {
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_NPROC, &none) != 0) return errno_error("cannot give up forking", errno);
  return {};
}

}  // namespace uscope

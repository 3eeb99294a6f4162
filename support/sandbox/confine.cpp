// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/sandbox/confine.h"

#include <linux/capability.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "support/sandbox/landlock.h"
#include "support/sandbox/seccomp_filter.h"

namespace uscope {
namespace {

// Calls that are missing in Debian 12's headers: arch/x86/entry/syscalls/syscall_64.tbl of Linux 6.18.
constexpr int kFchmodat2 = 452;
constexpr int kSetxattrat = 463;
constexpr int kRemovexattrat = 466;
constexpr int kOpenTreeAttr = 467;
constexpr int kFileSetattr = 469;

constexpr std::uint32_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

constexpr std::array kRefused = {
    // calls that execute another program, or access another process
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise,
    SYS_pidfd_getfd, SYS_kcmp,
    // calls that change the kernel itself
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
    SYS_kexec_file_load, SYS_io_uring_setup, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_syslog, SYS_reboot,
    SYS_swapon, SYS_swapoff, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname,
    SYS_setdomainname, SYS_acct, SYS_quotactl, SYS_iopl, SYS_ioperm,
    // namespaces and file systems, which could circumvent Landlock
    SYS_mount, SYS_umount2, SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_fsmount, SYS_fspick, SYS_fsconfig,
    SYS_mount_setattr, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_open_by_handle_at, kOpenTreeAttr,
    // owners, modes, users
    SYS_chmod, SYS_fchmod, SYS_fchmodat, SYS_chown, SYS_fchown, SYS_lchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr,
    SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, kFchmodat2, kSetxattrat, kRemovexattrat,
    kFileSetattr, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups,
    SYS_capset};

Result<void> drop_capabilities() {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  std::array<__user_cap_data_struct, 2> data{};
  if (syscall(SYS_capget, &header, data.data()) != 0) return errno_error("cannot ask for capabilities", errno);
  const std::uint32_t kept = 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER;
  data[0].effective &= kept;
  data[0].permitted &= kept;
  data[1].effective = data[1].permitted = 0;
  data[0].inheritable = data[1].inheritable = 0;
  if (syscall(SYS_capset, &header, data.data()) != 0) return errno_error("cannot drop capabilities", errno);
  return {};
}

Result<void> refuse_calls(bool network) {
  SeccompFilter filter(SeccompFilter::Others::kAllowed);
  for (const long call : kRefused) filter.refuse(call);
  filter.refuse_with(SYS_clone, 0, kNamespaces);
  filter.hide(SYS_clone3);  // its flags lie in memory, where a filter cannot look; glibc then makes clone()
  if (!network) filter.refuse(SYS_socket);
  return filter.install();
}

}  // namespace

Result<void> confine(const Confinement& confinement) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno_error("cannot give up new privileges", errno);
  if (auto done = limit_writing(confinement.writable); !done) return done;
  if (auto done = drop_capabilities(); !done) return done;
  return refuse_calls(confinement.network);
}

}  // namespace uscope

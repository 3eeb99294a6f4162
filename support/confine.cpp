#include "support/confine.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "support/unique_fd.h"

namespace uscope {
namespace {

constexpr std::uint32_t kX32Bit = 0x40000000;

// Rights that came after Debian 12's headers: include/uapi/linux/landlock.h of Linux 6.2.
constexpr std::uint64_t kAccessTruncate = 1ull << 14;
constexpr int kAbiRefer = 2;
constexpr int kAbiTruncate = 3;

constexpr std::array kDenied = {
    // what becomes another program, or looks into one
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise,
    SYS_pidfd_getfd, SYS_kcmp,
    // the kernel itself
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
    SYS_kexec_file_load, SYS_io_uring_setup, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_syslog, SYS_reboot,
    SYS_swapon, SYS_swapoff, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname,
    SYS_setdomainname, SYS_acct, SYS_quotactl, SYS_iopl, SYS_ioperm,
    // namespaces and file systems, by which Landlock could be gone around
    SYS_mount, SYS_umount2, SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_fsmount, SYS_fspick, SYS_fsconfig,
    SYS_mount_setattr, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_open_by_handle_at,
    // owners, modes, users
    SYS_chmod, SYS_fchmod, SYS_fchmodat, SYS_chown, SYS_fchown, SYS_lchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr,
    SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_setuid, SYS_setgid, SYS_setreuid,
    SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_capset};

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

Result<void> limit_writing(const std::vector<std::string>& writable) {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) return {};  // this kernel has none
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                            LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                            LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                            LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  if (abi >= kAbiRefer) rules.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= kAbiTruncate) rules.handled_access_fs |= kAccessTruncate;
  const UniqueFd ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0)));
  if (!ruleset) return errno_error("cannot make a Landlock ruleset", errno);
  for (const std::string& folder : writable) {
    const UniqueFd fd(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return errno_error("cannot open the folder " + folder, errno, "create the folder");
    landlock_path_beneath_attr below{};
    below.allowed_access = rules.handled_access_fs;
    below.parent_fd = fd.get();
    if (syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &below, 0) != 0)
      return errno_error("cannot add " + folder + " to the Landlock ruleset", errno);
  }
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return errno_error("cannot enter the Landlock ruleset", errno);
  return {};
}

Result<void> limit_calls(bool network) {
  const auto jump = [](std::uint16_t code, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    return sock_filter{code, yes, no, value};
  };
  const auto plain = [](std::uint16_t code, std::uint32_t value) { return sock_filter{code, 0, 0, value}; };
  const sock_filter refuse = plain(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  std::vector<sock_filter> program = {
      plain(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      jump(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      refuse,
      plain(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      jump(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1),
      refuse,
  };
  const auto deny = [&](long number) {
    program.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
    program.push_back(refuse);
  };
  for (const long number : kDenied) deny(number);
  if (!network) deny(SYS_socket);
  program.push_back(plain(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
    return errno_error("cannot limit the system calls of this process", errno);
  return {};
}

}  // namespace

Result<void> confine(const Confinement& confinement) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno_error("cannot give up new privileges", errno);
  if (auto done = limit_writing(confinement.writable); !done) return done;
  if (auto done = drop_capabilities(); !done) return done;
  return limit_calls(confinement.network);
}

}  // namespace uscope

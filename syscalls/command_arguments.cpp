// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/command_arguments.h"

#include <map>
#include <optional>
#include <utility>

#include "syscalls/flag_tables.h"

namespace uscope::syscalls {
namespace {

constexpr CommandArguments kEntries[] = {
    {"fcntl", "F_DUPFD", "dfi"},
    {"fcntl", "F_GETFD", "df"},
    {"fcntl", "F_SETFD", "dff", {{2, &kFdFlag}}},
    {"fcntl", "F_GETFL", "df"},
    {"fcntl", "F_SETFL", "dff", {{2, &kOpen}}},
    {"fcntl", "F_GETLK", "dfR"},
    {"fcntl", "F_SETLK", "dfc"},
    {"fcntl", "F_SETLKW", "dfc"},
    {"fcntl", "F_SETOWN", "dfi"},
    {"fcntl", "F_GETOWN", "df"},
    {"fcntl", "F_SETSIG", "dfg"},
    {"fcntl", "F_GETSIG", "df"},
    {"fcntl", "F_SETOWN_EX", "dfR"},
    {"fcntl", "F_GETOWN_EX", "dfR"},
    {"fcntl", "F_GETOWNER_UIDS", "dfR"},
    {"fcntl", "F_OFD_GETLK", "dfR"},
    {"fcntl", "F_OFD_SETLK", "dfc"},
    {"fcntl", "F_OFD_SETLKW", "dfc"},
    {"fcntl", "F_SETLEASE", "dff", {{2, &kLease}}},
    {"fcntl", "F_GETLEASE", "df"},
    {"fcntl", "F_NOTIFY", "dff", {{2, &kNotify}}},
    {"fcntl", "F_DUPFD_QUERY", "dfd"},
    {"fcntl", "F_CREATED_QUERY", "df"},
    {"fcntl", "F_DUPFD_CLOEXEC", "dfi"},
    {"fcntl", "F_SETPIPE_SZ", "dfi"},
    {"fcntl", "F_GETPIPE_SZ", "df"},
    {"fcntl", "F_ADD_SEALS", "dff", {{2, &kSeal}}},
    {"fcntl", "F_GET_SEALS", "df"},
    {"fcntl", "F_GET_RW_HINT", "dfR"},
    {"fcntl", "F_SET_RW_HINT", "dfR"},
    {"fcntl", "F_GET_FILE_RW_HINT", "dfR"},
    {"fcntl", "F_SET_FILE_RW_HINT", "dfR"},
    {"fcntl", "F_GETDELEG", "dfR"},
    {"fcntl", "F_SETDELEG", "dfR"},

    {"fcntl", "", "dfo"},

    {"arch_prctl", "ARCH_GET_FS", "fC"},
    {"arch_prctl", "ARCH_GET_GS", "fC"},
    {"arch_prctl", "ARCH_GET_CPUID", "f"},
    {"arch_prctl", "", "fo"},

    {"fsconfig", "FSCONFIG_SET_STRING", "dfssi"},
    {"fsconfig", "FSCONFIG_SET_PATH", "dfssD"},
    {"fsconfig", "FSCONFIG_SET_PATH_EMPTY", "dfssD"},
    {"fsconfig", "", "dfspi"},

    {"futex", "FUTEX_WAIT", "qfut"},
    {"futex", "FUTEX_WAKE", "qfu"},
    {"futex", "FUTEX_FD", "qfu"},
    {"futex", "FUTEX_REQUEUE", "qfuup"},
    {"futex", "FUTEX_CMP_REQUEUE", "qfuupu"},
    {"futex", "FUTEX_WAKE_OP", "qfuupf"},
    {"futex", "FUTEX_LOCK_PI", "qf-t"},
    {"futex", "FUTEX_UNLOCK_PI", "qf"},
    {"futex", "FUTEX_TRYLOCK_PI", "qf"},
    {"futex", "FUTEX_WAIT_BITSET", "qfut-f", {{5, &kFutexBitset}}},
    {"futex", "FUTEX_WAKE_BITSET", "qfu--f", {{5, &kFutexBitset}}},
    {"futex", "FUTEX_WAIT_REQUEUE_PI", "qfutp"},
    {"futex", "FUTEX_CMP_REQUEUE_PI", "qfuupu"},
    {"futex", "FUTEX_LOCK_PI2", "qf-t"},

    {"prctl", "PR_SET_PDEATHSIG", "fg"},
    {"prctl", "PR_GET_PDEATHSIG", "fp"},
    {"prctl", "PR_GET_DUMPABLE", "f"},
    {"prctl", "PR_SET_DUMPABLE", "fz"},
    {"prctl", "PR_GET_KEEPCAPS", "f"},
    {"prctl", "PR_SET_KEEPCAPS", "fz"},
    {"prctl", "PR_GET_TIMING", "f"},
    {"prctl", "PR_SET_TIMING", "ff", {{1, &kPrctlTiming}}},
    {"prctl", "PR_SET_NAME", "fs"},
    {"prctl", "PR_GET_NAME", "fp"},
    {"prctl", "PR_GET_SECCOMP", "f"},
    {"prctl", "PR_SET_SECCOMP", "ffp", {{1, &kSeccompMode}}},
    {"prctl", "PR_CAPBSET_READ", "ff", {{1, &kCapability}}},
    {"prctl", "PR_CAPBSET_DROP", "ff", {{1, &kCapability}}},
    {"prctl", "PR_GET_TSC", "fp"},
    {"prctl", "PR_SET_TSC", "ff", {{1, &kPrctlTsc}}},
    {"prctl", "PR_GET_SECUREBITS", "f"},
    {"prctl", "PR_SET_SECUREBITS", "ff", {{1, &kSecureBit}}},
    {"prctl", "PR_SET_TIMERSLACK", "fz"},
    {"prctl", "PR_GET_TIMERSLACK", "f"},
    {"prctl", "PR_TASK_PERF_EVENTS_DISABLE", "f"},
    {"prctl", "PR_TASK_PERF_EVENTS_ENABLE", "f"},
    {"prctl", "PR_MCE_KILL", "ffooo", {{1, &kPrctlMceKill}}},
    {"prctl", "PR_SET_MM", "ffooo", {{1, &kPrctlMm}}},
    {"prctl", "PR_SET_CHILD_SUBREAPER", "fz"},
    {"prctl", "PR_GET_CHILD_SUBREAPER", "fp"},
    {"prctl", "PR_GET_TID_ADDRESS", "fp"},
    {"prctl", "PR_SET_NO_NEW_PRIVS", "fzooo"},
    {"prctl", "PR_SET_THP_DISABLE", "fzooo"},
    {"prctl", "PR_CAP_AMBIENT", "fffoo", {{1, &kPrctlAmbient}, {2, &kCapability}}},
    {"prctl", "PR_GET_SPECULATION_CTRL", "ffooo", {{1, &kPrctlSpec}}},
    {"prctl", "PR_SET_SPECULATION_CTRL", "fffoo", {{1, &kPrctlSpec}, {2, &kPrctlSpecControl}}},
    {"prctl", "PR_SET_SYSCALL_USER_DISPATCH", "ffopp", {{1, &kPrctlDispatch}}},
    {"prctl", "PR_SCHED_CORE", "ffifp", {{1, &kPrctlCore}}},
    {"prctl", "PR_SET_MDWE", "ffooo", {{1, &kPrctlMdwe}}},
    {"prctl", "PR_GET_AUXV", "fpzoo"},
    {"prctl", "PR_SET_VMA", "ffpzp", {{1, &kPrctlVma}}},
    {"prctl", "PR_SET_PTRACER", "fi"},
    {"prctl", "", "foooo"},

    {"quotactl", "Q_QUOTAON", "fsfs", {{2, &kQuotaFormat}}},
    {"quotactl", "Q_QUOTAOFF", "fs"},
    {"quotactl", "Q_GETFMT", "fs-p"},
    {"quotactl", "Q_GETINFO", "fs-p"},
    {"quotactl", "Q_SETINFO", "fs-p"},
    {"quotactl", "Q_SYNC", "fs"},
    {"quotactl", "Q_XQUOTAON", "fs-p"},
    {"quotactl", "Q_XQUOTAOFF", "fs-p"},
    {"quotactl", "Q_XGETQSTAT", "fs-p"},
    {"quotactl", "Q_XGETQSTATV", "fs-p"},
    {"quotactl", "Q_XQUOTARM", "fs-p"},
    {"quotactl", "Q_XQUOTASYNC", "fs"},
    {"quotactl", "", "fsup"},
    {"quotactl_fd", "Q_QUOTAON", "dfus"},
    {"quotactl_fd", "Q_QUOTAOFF", "df"},
    {"quotactl_fd", "Q_GETFMT", "df-p"},
    {"quotactl_fd", "Q_GETINFO", "df-p"},
    {"quotactl_fd", "Q_SETINFO", "df-p"},
    {"quotactl_fd", "Q_SYNC", "df"},
    {"quotactl_fd", "", "dfup"},

    {"syslog", "SYSLOG_ACTION_CLOSE", "f"},
    {"syslog", "SYSLOG_ACTION_OPEN", "f"},
    {"syslog", "SYSLOG_ACTION_CLEAR", "f"},
    {"syslog", "SYSLOG_ACTION_CONSOLE_OFF", "f"},
    {"syslog", "SYSLOG_ACTION_CONSOLE_ON", "f"},
    {"syslog", "SYSLOG_ACTION_CONSOLE_LEVEL", "f-i"},
    {"syslog", "SYSLOG_ACTION_SIZE_UNREAD", "f"},
    {"syslog", "SYSLOG_ACTION_SIZE_BUFFER", "f"},
    {"syslog", "", "fpi"},

    {"ptrace", "PTRACE_TRACEME", "F"},
    {"ptrace", "PTRACE_SEIZE", "Fipf", {{3, &kPtraceOption}}},
    {"ptrace", "PTRACE_SETOPTIONS", "Fipf", {{3, &kPtraceOption}}},
    {"ptrace", "PTRACE_ATTACH", "Fi"},
    {"ptrace", "PTRACE_INTERRUPT", "Fi"},
    {"ptrace", "PTRACE_LISTEN", "Fi"},
    {"ptrace", "PTRACE_KILL", "Fi"},
    {"ptrace", "PTRACE_GETREGS", "Fi-p"},
    {"ptrace", "PTRACE_SETREGS", "Fi-p"},
    {"ptrace", "PTRACE_GETFPREGS", "Fi-p"},
    {"ptrace", "PTRACE_SETFPREGS", "Fi-p"},
    {"ptrace", "PTRACE_GETEVENTMSG", "Fi-p"},
    {"ptrace", "PTRACE_GETSIGINFO", "Fi-p"},
    {"ptrace", "PTRACE_SETSIGINFO", "Fi-p"},
    {"ptrace", "PTRACE_CONT", "Fipg"},
    {"ptrace", "PTRACE_DETACH", "Fipg"},
    {"ptrace", "PTRACE_SYSCALL", "Fipg"},
    {"ptrace", "PTRACE_SINGLESTEP", "Fipg"},

    {"seccomp", "SECCOMP_SET_MODE_FILTER", "ffp", {{1, &kSeccompFlag}}},

    {"kcmp", "KCMP_FILE", "iifdd"},
    {"kcmp", "KCMP_VM", "iif"},
    {"kcmp", "KCMP_FILES", "iif"},
    {"kcmp", "KCMP_FS", "iif"},
    {"kcmp", "KCMP_SIGHAND", "iif"},
    {"kcmp", "KCMP_IO", "iif"},
    {"kcmp", "KCMP_SYSVSEM", "iif"},
    {"kcmp", "KCMP_EPOLL_TFD", "iifdp"},

    {"keyctl", "KEYCTL_GET_KEYRING_ID", "fii", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_JOIN_SESSION_KEYRING", "fs"},
    {"keyctl", "KEYCTL_UPDATE", "fipz", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_REVOKE", "fi", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_CHOWN", "fiuu", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_SETPERM", "fif", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_DESCRIBE", "fipz", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_CLEAR", "fi", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_LINK", "fii", {{1, &kKeyring}, {2, &kKeyring}}},
    {"keyctl", "KEYCTL_UNLINK", "fii", {{1, &kKeyring}, {2, &kKeyring}}},
    {"keyctl", "KEYCTL_SEARCH", "fissi", {{1, &kKeyring}, {4, &kKeyring}}},
    {"keyctl", "KEYCTL_READ", "fipz", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_INSTANTIATE", "fipzi", {{1, &kKeyring}, {4, &kKeyring}}},
    {"keyctl", "KEYCTL_NEGATE", "fiui", {{1, &kKeyring}, {3, &kKeyring}}},
    {"keyctl", "KEYCTL_SET_REQKEY_KEYRING", "fi", {{1, &kKeyRequest}}},
    {"keyctl", "KEYCTL_SET_TIMEOUT", "fiu", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_ASSUME_AUTHORITY", "fi", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_GET_SECURITY", "fipz", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_SESSION_TO_PARENT", "f"},
    {"keyctl", "KEYCTL_REJECT", "fiuui", {{1, &kKeyring}, {4, &kKeyring}}},
    {"keyctl", "KEYCTL_INSTANTIATE_IOV", "fipui", {{1, &kKeyring}, {4, &kKeyring}}},
    {"keyctl", "KEYCTL_INVALIDATE", "fi", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_GET_PERSISTENT", "fui", {{2, &kKeyring}}},
    {"keyctl", "KEYCTL_RESTRICT_KEYRING", "fiss", {{1, &kKeyring}}},
    {"keyctl", "KEYCTL_CAPABILITIES", "fpz"},
    {"keyctl", "KEYCTL_MOVE", "fiiif", {{1, &kKeyring}, {2, &kKeyring}}},
    {"keyctl", "", "foooo"},
};

struct CommandCall {
  std::size_t place;
  const FlagSet* commands;
  std::map<std::uint64_t, const CommandArguments*> by_command;
  const CommandArguments* any = nullptr;
};

std::size_t place_of_command(std::string_view call) {
  if (call == "kcmp") return 2;
  return call == "fcntl" || call == "fsconfig" || call == "futex" || call == "quotactl_fd" ? 1 : 0;
}

// The command in the argument that has it. The commands of all these calls are of 32 bits but for ptrace's; quotactl
// has a type of quota below it.
std::uint64_t command_in(std::string_view call, std::uint64_t bits) {
  constexpr unsigned kQuotaTypeBits = 8;
  if (call == "ptrace") return bits;
  return (bits & 0xffffffffU) >> (call.starts_with("quotactl") ? kQuotaTypeBits : 0);
}

std::map<std::string_view, CommandCall> index_of_calls() {
  std::map<std::string_view, CommandCall> calls;
  for (const CommandArguments& entry : kEntries) {
    const std::size_t place = place_of_command(entry.call);
    CommandCall& call =
        calls.try_emplace(entry.call, CommandCall{place, flags_of(entry.call, place), {}}).first->second;
    const std::optional<std::uint64_t> value = flag_value(*call.commands, entry.command);
    if (value)
      call.by_command.emplace(*value, &entry);
    else
      call.any = &entry;
  }
  return calls;
}

const CommandCall* call_of(std::string_view name) {
  static const std::map<std::string_view, CommandCall> calls = index_of_calls();
  const auto at = calls.find(name);
  return at == calls.end() ? nullptr : &at->second;
}

}  // namespace

const CommandArguments* command_arguments(std::string_view call, std::span<const std::int64_t> args) {
  const CommandCall* of = call_of(call);
  if (of == nullptr || of->place >= args.size()) return nullptr;
  const std::uint64_t command = command_in(call, static_cast<std::uint64_t>(args[of->place])) & of->commands->part;
  const auto at = of->by_command.find(command);
  return at == of->by_command.end() ? of->any : at->second;
}

std::span<const CommandArguments> all_command_arguments() {
  return kEntries;
}

std::size_t command_place(std::string_view call) {
  const CommandCall* of = call_of(call);
  return of == nullptr ? 0 : of->place;
}

}  // namespace uscope::syscalls

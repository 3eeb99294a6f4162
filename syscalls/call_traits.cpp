// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/call_traits.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "syscalls/syscall_table.h"

namespace uscope::syscalls {
namespace {

struct TransferEntry {
  std::string_view name;
  Transfer transfer;
};

constexpr Transfer kReads{.reads = true, .counts_bytes = true};
constexpr Transfer kWrites{.writes = true, .counts_bytes = true};
constexpr Transfer kReadsMessages{.reads = true};  // the result is a number of messages
constexpr Transfer kWritesMessages{.writes = true};

constexpr Transfer copies(int source, int target) {
  return {.reads = true, .writes = true, .counts_bytes = true, .source = source, .target = target};
}

constexpr TransferEntry kTransfers[] = {
    {"read", kReads},         {"pread64", kReads},           {"readv", kReads},
    {"preadv", kReads},       {"preadv2", kReads},           {"recvfrom", kReads},
    {"recvmsg", kReads},      {"recvmmsg", kReadsMessages},  {"mq_timedreceive", kReads},
    {"write", kWrites},       {"pwrite64", kWrites},         {"writev", kWrites},
    {"pwritev", kWrites},     {"pwritev2", kWrites},         {"sendto", kWrites},
    {"sendmsg", kWrites},     {"sendmmsg", kWritesMessages}, {"mq_timedsend", kWritesMessages},  // the result is 0
    {"vmsplice", kWrites},    {"sendfile", copies(1, 0)},    {"sendfile64", copies(1, 0)},
    {"splice", copies(0, 2)}, {"tee", copies(0, 1)},         {"copy_file_range", copies(0, 2)},
};

// Of several paths, the one that the call makes.
constexpr std::pair<std::string_view, int> kPathArgs[] = {{"symlink", 1}, {"symlinkat", 2}, {"mount", 1}};

// Calls that give an object another name, and the argument with that name.
constexpr std::pair<std::string_view, int> kTargetArgs[] = {
    {"rename", 1}, {"renameat", 3}, {"renameat2", 3}, {"link", 1}, {"linkat", 3}};

// Calls that change the object that they are about, other than those that write. link() leaves the old name as it is.
constexpr std::string_view kChanging =
    "creat truncate truncate64 ftruncate ftruncate64 fallocate rename renameat renameat2 symlink symlinkat unlink "
    "unlinkat rmdir mkdir mkdirat mknod mknodat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat chown32 "
    "fchown32 lchown32 utime utimes utimensat futimesat setxattr lsetxattr fsetxattr removexattr lremovexattr "
    "fremovexattr";

constexpr std::pair<std::string_view, int> kOpenFlagsAt[] = {{"open", 1}, {"openat", 2}};

// Calls that succeed only where their object is a folder.
constexpr std::string_view kOfFolders =
    "mkdir mkdirat rmdir chdir fchdir chroot pivot_root getdents getdents64 readdir";

// Those that do so with a flag: the argument with it.
constexpr std::pair<std::string_view, std::pair<int, std::uint64_t>> kFolderFlags[] = {
    {"open", {1, O_DIRECTORY}}, {"openat", {2, O_DIRECTORY}}, {"unlinkat", {2, AT_REMOVEDIR}}};

// A 32-bit call with wide times is the call without that ending.
std::string_view without_width(std::string_view name) {
  constexpr std::string_view kWide = "_time64";
  return name.ends_with(kWide) ? name.substr(0, name.size() - kWide.size()) : name;
}

// Calls by which programs do one thing; those of %sync are another such family.
constexpr std::string_view kNetworkCalls[] = {
    "open openat openat2 creat open_by_handle_at",
    "read pread64 readv preadv preadv2",
    "write pwrite64 writev pwritev pwritev2",
    "recvfrom recvmsg recvmmsg",
    "sendto sendmsg sendmmsg",
    "sendfile sendfile64 splice copy_file_range",
    "stat lstat fstat newfstatat statx stat64 lstat64 fstat64 fstatat64 oldstat oldlstat oldfstat",
    "statfs fstatfs statfs64 fstatfs64",
    "access faccessat faccessat2",
    "getdents getdents64 readdir",
    "lseek _llseek",
    "truncate ftruncate truncate64 ftruncate64",
    "rename renameat renameat2",
    "link linkat",
    "symlink symlinkat",
    "readlink readlinkat",
    "unlink unlinkat rmdir",
    "mkdir mkdirat",
    "mknod mknodat",
    "chmod fchmod fchmodat fchmodat2",
    "chown fchown lchown fchownat chown32 fchown32 lchown32",
    "utime utimes utimensat futimesat",
    "chdir fchdir",
    "close close_range",
    "dup dup2 dup3",
    "fcntl fcntl64",
    "pipe pipe2",
    "accept accept4",
    "poll ppoll select _newselect pselect6 epoll_wait epoll_wait_old epoll_pwait epoll_pwait2",
    "epoll_create epoll_create1",
    "eventfd eventfd2",
    "signalfd signalfd4",
    "inotify_init inotify_init1",
    "fork vfork clone clone3",
    "execve execveat",
    "exit exit_group",
    "wait4 waitid waitpid",
    "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal",
    "nanosleep clock_nanosleep",
    "pause rt_sigsuspend rt_sigtimedwait",
    "futex futex_wait futex_waitv futex_wake futex_requeue",
    "mmap mmap2",
    "getrlimit setrlimit prlimit64 ugetrlimit",
    "time gettimeofday clock_gettime",
    "getxattr lgetxattr fgetxattr",
    "setxattr lsetxattr fsetxattr",
};

bool has_word(std::string_view words, std::string_view word) {
  if (word.empty()) return false;
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <std::size_t N>
int argument_of(const std::pair<std::string_view, int> (&calls)[N], std::string_view name) {
  const auto* const at =
      std::find_if(std::begin(calls), std::end(calls), [&](const auto& entry) { return entry.first == name; });
  return at == std::end(calls) ? -1 : at->second;
}

int place_of(std::string_view letters, std::string_view wanted) {
  const std::size_t at = letters.find_first_of(wanted);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

bool waits(std::string_view name) {
  return (syscall_classes(name) & kClassWait) != 0;
}

bool are_related(std::string_view one, std::string_view other) {
  if ((syscall_classes(one) & syscall_classes(other) & kClassSync) != 0) return true;
  one = without_width(one);
  other = without_width(other);
  return std::any_of(std::begin(kNetworkCalls), std::end(kNetworkCalls),
                     [&](std::string_view family) { return has_word(family, one) && has_word(family, other); });
}

Transfer transfer_of(std::string_view name) {
  const auto* const at = std::find_if(std::begin(kTransfers), std::end(kTransfers),
                                      [&](const TransferEntry& entry) { return entry.name == without_width(name); });
  return at == std::end(kTransfers) ? Transfer() : at->transfer;
}

bool opens(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOpening{"open",    "openat", "openat2", "creat", "open_by_handle_at",
                                                     "connect", "accept", "accept4"};
  return contains(kOpening, name);
}

ObjectArgs object_args(usc_abi abi, std::uint32_t nr) {
  const std::string_view letters = syscall_arguments(abi, nr).value_or("");
  const std::string name = syscall_name(abi, nr);
  ObjectArgs args;
  if ((syscall_classes(abi, nr) & kClassFile) != 0) {
    const int other = argument_of(kPathArgs, name);
    args.path = other < 0 ? place_of(letters, "sx") : other;
  }
  const Transfer transfer = transfer_of(name);
  args.changes = transfer.writes || has_word(kChanging, without_width(name));
  args.open_flags = argument_of(kOpenFlagsAt, name);
  args.is_folder = has_word(kOfFolders, name);
  for (const auto& [call, flag] : kFolderFlags)
    if (name == call) std::tie(args.folder_flags, args.folder_flag) = flag;
  if (name == "openat2") {
    args.open_how = 2;
    args.folder_flag = O_DIRECTORY;
  }
  if (args.path >= 0) {
    const auto folder_of = [&](int path) {
      return path > 0 && letters[static_cast<std::size_t>(path) - 1] == 'D' ? path - 1 : -1;
    };
    args.folder = folder_of(args.path);
    args.target = argument_of(kTargetArgs, name);
    args.target_folder = folder_of(args.target);
    return args;
  }
  args.descriptor = transfer.target >= 0 ? transfer.target : place_of(letters, "d");
  if (args.descriptor < 0) return args;
  args.source = transfer.source;
  args.address = place_of(letters, "an");
  return args;
}

bool makes_anew(std::uint64_t open_flags) {
  constexpr std::uint64_t kMade = O_CREAT | O_EXCL;
  return (open_flags & O_TRUNC) != 0 || (open_flags & kMade) == kMade;
}

}  // namespace uscope::syscalls

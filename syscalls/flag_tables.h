// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tables of flag_names.cpp, which alone includes this. The names are the kernel's, from its UAPI headers or the C
// library's copies of them; numbers stand where the C library's headers have none.
#pragma once

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "syscalls/flag_names.h"

namespace uscope::syscalls {

#define N(constant)                                 \
  FlagName {                                        \
    static_cast<std::uint64_t>(constant), #constant \
  }

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kLargeFile = 0100000;  // the kernel's O_LARGEFILE: glibc's is 0 here

constexpr FlagName kAccessModes[] = {N(O_RDONLY), N(O_WRONLY), N(O_RDWR)};
constexpr FlagName kOpenFlags[] = {
    N(O_TMPFILE),   N(O_SYNC),     N(O_CREAT),   N(O_EXCL),    N(O_NOCTTY), N(O_TRUNC),
    N(O_APPEND),    N(O_NONBLOCK), N(O_DSYNC),   N(O_ASYNC),   N(O_DIRECT), {kLargeFile, "O_LARGEFILE"},
    N(O_DIRECTORY), N(O_NOFOLLOW), N(O_NOATIME), N(O_CLOEXEC), N(O_PATH)};
constexpr FlagSet kOpen{O_ACCMODE, kAccessModes, kOpenFlags};
constexpr FlagSet kOpenFlagsOnly{0, {}, kOpenFlags};  // pipe2, dup3

constexpr FlagName kAccessNumbers[] = {N(F_OK)};
constexpr FlagName kAccessFlags[] = {N(R_OK), N(W_OK), N(X_OK)};
constexpr FlagSet kAccess{0, kAccessNumbers, kAccessFlags};

constexpr FlagName kAtFlags[] = {N(AT_SYMLINK_NOFOLLOW), N(AT_SYMLINK_FOLLOW),  N(AT_NO_AUTOMOUNT), N(AT_EMPTY_PATH),
                                 N(AT_STATX_FORCE_SYNC), N(AT_STATX_DONT_SYNC), N(AT_RECURSIVE)};
constexpr FlagSet kAt{0, {}, kAtFlags};
constexpr FlagName kUnlinkFlags[] = {N(AT_REMOVEDIR)};
constexpr FlagSet kUnlink{0, {}, kUnlinkFlags};
constexpr FlagName kEaccessFlags[] = {N(AT_EACCESS), N(AT_SYMLINK_NOFOLLOW), N(AT_EMPTY_PATH)};
constexpr FlagSet kEaccess{0, {}, kEaccessFlags};
constexpr FlagName kRenameFlags[] = {{1, "RENAME_NOREPLACE"}, {2, "RENAME_EXCHANGE"}, {4, "RENAME_WHITEOUT"}};
constexpr FlagSet kRename{0, {}, kRenameFlags};
constexpr FlagName kStatxFlags[] = {N(STATX_ALL),
                                    N(STATX_BASIC_STATS),
                                    N(STATX_TYPE),
                                    N(STATX_MODE),
                                    N(STATX_NLINK),
                                    N(STATX_UID),
                                    N(STATX_GID),
                                    N(STATX_ATIME),
                                    N(STATX_MTIME),
                                    N(STATX_CTIME),
                                    N(STATX_INO),
                                    N(STATX_SIZE),
                                    N(STATX_BLOCKS),
                                    N(STATX_BTIME),
                                    {0x1000, "STATX_MNT_ID"},
                                    {0x2000, "STATX_DIOALIGN"}};
constexpr FlagSet kStatx{0, {}, kStatxFlags};

constexpr FlagName kProtZero[] = {N(PROT_NONE)};
constexpr FlagName kProtFlags[] = {N(PROT_READ), N(PROT_WRITE), N(PROT_EXEC), N(PROT_GROWSDOWN), N(PROT_GROWSUP)};
constexpr FlagSet kProt{0, kProtZero, kProtFlags};
constexpr FlagName kMapTypes[] = {{0, "MAP_FILE"}, N(MAP_SHARED), N(MAP_PRIVATE), {3, "MAP_SHARED_VALIDATE"}};
constexpr FlagName kMapFlags[] = {N(MAP_FIXED),          N(MAP_ANONYMOUS),
                                  {0x40, "MAP_32BIT"},   N(MAP_GROWSDOWN),
                                  N(MAP_DENYWRITE),      N(MAP_EXECUTABLE),
                                  N(MAP_LOCKED),         N(MAP_NORESERVE),
                                  N(MAP_POPULATE),       N(MAP_NONBLOCK),
                                  N(MAP_STACK),          N(MAP_HUGETLB),
                                  {0x80000, "MAP_SYNC"}, {0x100000, "MAP_FIXED_NOREPLACE"}};
constexpr FlagSet kMap{3, kMapTypes, kMapFlags};
constexpr FlagName kMremapFlags[] = {N(MREMAP_MAYMOVE), N(MREMAP_FIXED), {4, "MREMAP_DONTUNMAP"}};
constexpr FlagSet kMremap{0, {}, kMremapFlags};
constexpr FlagName kAdvices[] = {N(MADV_NORMAL),     N(MADV_RANDOM),    N(MADV_SEQUENTIAL),  N(MADV_WILLNEED),
                                 N(MADV_DONTNEED),   N(MADV_FREE),      N(MADV_REMOVE),      N(MADV_DONTFORK),
                                 N(MADV_DOFORK),     N(MADV_MERGEABLE), N(MADV_UNMERGEABLE), N(MADV_HUGEPAGE),
                                 N(MADV_NOHUGEPAGE), N(MADV_DONTDUMP),  N(MADV_DODUMP),      N(MADV_WIPEONFORK),
                                 N(MADV_KEEPONFORK), N(MADV_COLD),      N(MADV_PAGEOUT)};
constexpr FlagSet kMadvise{kAll, kAdvices, {}};
constexpr FlagName kMsyncFlags[] = {N(MS_ASYNC), N(MS_INVALIDATE), N(MS_SYNC)};
constexpr FlagSet kMsync{0, {}, kMsyncFlags};

constexpr FlagName kWhences[] = {N(SEEK_SET), N(SEEK_CUR), N(SEEK_END), N(SEEK_DATA), N(SEEK_HOLE)};
constexpr FlagSet kWhence{kAll, kWhences, {}};

constexpr FlagName kFamilies[] = {N(AF_UNSPEC), N(AF_UNIX),      N(AF_INET),    N(AF_INET6),   N(AF_NETLINK),
                                  N(AF_PACKET), N(AF_BLUETOOTH), N(AF_CAN),     N(AF_TIPC),    N(AF_ALG),
                                  N(AF_VSOCK),  N(AF_KCM),       N(AF_QIPCRTR), {44, "AF_XDP"}};
constexpr FlagSet kFamily{kAll, kFamilies, {}};
constexpr FlagName kSocketTypes[] = {N(SOCK_STREAM),    N(SOCK_DGRAM), N(SOCK_RAW),   N(SOCK_RDM),
                                     N(SOCK_SEQPACKET), N(SOCK_DCCP),  N(SOCK_PACKET)};
constexpr FlagName kSocketFlags[] = {N(SOCK_CLOEXEC), N(SOCK_NONBLOCK)};
constexpr FlagSet kSocketType{0xf, kSocketTypes, kSocketFlags};
constexpr FlagSet kAccept{0, {}, kSocketFlags};
constexpr FlagName kMessageFlags[] = {
    N(MSG_OOB),      N(MSG_PEEK),     N(MSG_DONTROUTE),   N(MSG_CTRUNC), N(MSG_PROXY),      N(MSG_TRUNC),
    N(MSG_DONTWAIT), N(MSG_EOR),      N(MSG_WAITALL),     N(MSG_FIN),    N(MSG_SYN),        N(MSG_CONFIRM),
    N(MSG_RST),      N(MSG_ERRQUEUE), N(MSG_NOSIGNAL),    N(MSG_MORE),   N(MSG_WAITFORONE), N(MSG_BATCH),
    N(MSG_ZEROCOPY), N(MSG_FASTOPEN), N(MSG_CMSG_CLOEXEC)};
constexpr FlagSet kMessage{0, {}, kMessageFlags};
constexpr FlagName kReadWrites[] = {{1, "RWF_HIPRI"},   {2, "RWF_DSYNC"},     {4, "RWF_SYNC"},   {8, "RWF_NOWAIT"},
                                    {16, "RWF_APPEND"}, {32, "RWF_NOAPPEND"}, {64, "RWF_ATOMIC"}};
constexpr FlagSet kReadWrite{0, {}, kReadWrites};
constexpr FlagName kShutdowns[] = {N(SHUT_RD), N(SHUT_WR), N(SHUT_RDWR)};
constexpr FlagSet kShutdown{kAll, kShutdowns, {}};
constexpr FlagName kLevels[] = {{0, "SOL_IP"},   N(SOL_SOCKET),        {6, "SOL_TCP"},
                                {17, "SOL_UDP"}, {41, "SOL_IPV6"},     {255, "SOL_RAW"},
                                N(SOL_PACKET),   {270, "SOL_NETLINK"}, {282, "SOL_TLS"}};
constexpr FlagSet kLevel{kAll, kLevels, {}};
constexpr FlagName kSocketOptions[] = {
    N(SO_DEBUG),        N(SO_REUSEADDR),    N(SO_TYPE),          N(SO_ERROR),     N(SO_DONTROUTE),  N(SO_BROADCAST),
    N(SO_SNDBUF),       N(SO_RCVBUF),       N(SO_KEEPALIVE),     N(SO_OOBINLINE), N(SO_PRIORITY),   N(SO_LINGER),
    N(SO_REUSEPORT),    N(SO_PASSCRED),     N(SO_PEERCRED),      N(SO_RCVLOWAT),  N(SO_SNDLOWAT),   N(SO_RCVTIMEO),
    N(SO_SNDTIMEO),     N(SO_BINDTODEVICE), N(SO_ATTACH_FILTER), N(SO_TIMESTAMP), N(SO_ACCEPTCONN), N(SO_PEERSEC),
    N(SO_SNDBUFFORCE),  N(SO_RCVBUFFORCE),  N(SO_MARK),          N(SO_PROTOCOL),  N(SO_DOMAIN),     N(SO_BUSY_POLL),
    N(SO_INCOMING_CPU), N(SO_ZEROCOPY)};
constexpr FlagSet kSocketOption{kAll, kSocketOptions, {}};
constexpr FlagName kTcpOptions[] = {N(TCP_NODELAY),   N(TCP_MAXSEG),     N(TCP_CORK),         N(TCP_KEEPIDLE),
                                    N(TCP_KEEPINTVL), N(TCP_KEEPCNT),    N(TCP_DEFER_ACCEPT), N(TCP_INFO),
                                    N(TCP_QUICKACK),  N(TCP_CONGESTION), N(TCP_USER_TIMEOUT), N(TCP_FASTOPEN)};
constexpr FlagSet kTcpOption{kAll, kTcpOptions, {}};

constexpr FlagName kFcntls[] = {
    N(F_DUPFD),          N(F_GETFD),           N(F_SETFD),      N(F_GETFL),     N(F_SETFL),
    N(F_GETLK),          N(F_SETLK),           N(F_SETLKW),     N(F_SETOWN),    N(F_GETOWN),
    N(F_SETSIG),         N(F_GETSIG),          N(F_SETOWN_EX),  N(F_GETOWN_EX), {36, "F_OFD_GETLK"},
    {37, "F_OFD_SETLK"}, {38, "F_OFD_SETLKW"}, N(F_SETLEASE),   N(F_GETLEASE),  N(F_NOTIFY),
    N(F_DUPFD_CLOEXEC),  N(F_SETPIPE_SZ),      N(F_GETPIPE_SZ), N(F_ADD_SEALS), N(F_GET_SEALS)};
constexpr FlagSet kFcntl{kAll, kFcntls, {}};
constexpr FlagName kFdFlags[] = {N(FD_CLOEXEC)};
constexpr FlagSet kFdFlagSet{0, {}, kFdFlags};
constexpr FlagName kFlocks[] = {N(LOCK_SH), N(LOCK_EX), N(LOCK_UN)};
constexpr FlagName kFlockFlags[] = {N(LOCK_NB)};
constexpr FlagSet kFlock{0xb, kFlocks, kFlockFlags};
constexpr FlagName kFallocateFlags[] = {{1, "FALLOC_FL_KEEP_SIZE"},      {2, "FALLOC_FL_PUNCH_HOLE"},
                                        {8, "FALLOC_FL_COLLAPSE_RANGE"}, {16, "FALLOC_FL_ZERO_RANGE"},
                                        {32, "FALLOC_FL_INSERT_RANGE"},  {64, "FALLOC_FL_UNSHARE_RANGE"}};
constexpr FlagSet kFallocate{0, {}, kFallocateFlags};
constexpr FlagName kIoctls[] = {N(TCGETS),     N(TCSETS),    N(TCSETSW),   N(TCSETSF),   N(TIOCGWINSZ),
                                N(TIOCSWINSZ), N(TIOCGPGRP), N(TIOCSPGRP), N(TIOCSCTTY), N(TIOCNOTTY),
                                N(FIONREAD),   N(FIONBIO),   N(FIOASYNC),  N(FIOCLEX),   N(FIONCLEX)};
constexpr FlagSet kIoctl{kAll, kIoctls, {}};

constexpr FlagName kFutexOps[] = {
    N(FUTEX_WAIT),         N(FUTEX_WAKE),        N(FUTEX_REQUEUE),         N(FUTEX_CMP_REQUEUE),
    N(FUTEX_WAKE_OP),      N(FUTEX_LOCK_PI),     N(FUTEX_UNLOCK_PI),       N(FUTEX_TRYLOCK_PI),
    N(FUTEX_WAIT_BITSET),  N(FUTEX_WAKE_BITSET), N(FUTEX_WAIT_REQUEUE_PI), N(FUTEX_CMP_REQUEUE_PI),
    {13, "FUTEX_LOCK_PI2"}};
constexpr FlagName kFutexFlags[] = {N(FUTEX_PRIVATE_FLAG), N(FUTEX_CLOCK_REALTIME)};
constexpr FlagSet kFutex{0x7f, kFutexOps, kFutexFlags};

constexpr FlagName kCloneFlags[] = {N(CLONE_VM),
                                    N(CLONE_FS),
                                    N(CLONE_FILES),
                                    N(CLONE_SIGHAND),
                                    N(CLONE_PIDFD),
                                    N(CLONE_PTRACE),
                                    N(CLONE_VFORK),
                                    N(CLONE_PARENT),
                                    N(CLONE_THREAD),
                                    N(CLONE_NEWNS),
                                    N(CLONE_SYSVSEM),
                                    N(CLONE_SETTLS),
                                    N(CLONE_PARENT_SETTID),
                                    N(CLONE_CHILD_CLEARTID),
                                    N(CLONE_DETACHED),
                                    N(CLONE_UNTRACED),
                                    N(CLONE_CHILD_SETTID),
                                    N(CLONE_NEWCGROUP),
                                    N(CLONE_NEWUTS),
                                    N(CLONE_NEWIPC),
                                    N(CLONE_NEWUSER),
                                    N(CLONE_NEWPID),
                                    N(CLONE_NEWNET),
                                    N(CLONE_IO)};
constexpr FlagName kCloneSignals[] = {{0, "0"}, {17, "SIGCHLD"}};
constexpr FlagSet kClone{0xff, kCloneSignals, kCloneFlags, true};
constexpr FlagSet kNamespaces{0, {}, kCloneFlags};

constexpr FlagName kMaskHows[] = {{0, "SIG_BLOCK"}, {1, "SIG_UNBLOCK"}, {2, "SIG_SETMASK"}};
constexpr FlagSet kMaskHow{kAll, kMaskHows, {}};
constexpr FlagName kWaitFlags[] = {N(WNOHANG),
                                   N(WUNTRACED),
                                   N(WEXITED),
                                   N(WCONTINUED),
                                   N(WNOWAIT),
                                   {0x20000000, "__WNOTHREAD"},
                                   {0x40000000, "__WALL"},
                                   {0x80000000, "__WCLONE"}};
constexpr FlagSet kWait{0, {}, kWaitFlags};
constexpr FlagName kIdTypes[] = {{0, "P_ALL"}, {1, "P_PID"}, {2, "P_PGID"}, {3, "P_PIDFD"}};
constexpr FlagSet kIdType{kAll, kIdTypes, {}};

constexpr FlagName kEpollOps[] = {N(EPOLL_CTL_ADD), N(EPOLL_CTL_DEL), N(EPOLL_CTL_MOD)};
constexpr FlagSet kEpollOp{kAll, kEpollOps, {}};
constexpr FlagName kEventFdFlags[] = {{1, "EFD_SEMAPHORE"}, {O_CLOEXEC, "EFD_CLOEXEC"}, {O_NONBLOCK, "EFD_NONBLOCK"}};
constexpr FlagSet kEventFd{0, {}, kEventFdFlags};
constexpr FlagName kEpollFlags[] = {N(EPOLL_CLOEXEC)};
constexpr FlagSet kEpoll{0, {}, kEpollFlags};
constexpr FlagName kPollEventFlags[] = {N(POLLIN),     N(POLLPRI),    N(POLLOUT),  N(POLLRDNORM), N(POLLRDBAND),
                                        N(POLLWRNORM), N(POLLWRBAND), N(POLLMSG),  N(POLLERR),    N(POLLHUP),
                                        N(POLLNVAL),   N(POLLREMOVE), N(POLLRDHUP)};
constexpr FlagSet kPollEvents{0, {}, kPollEventFlags};
constexpr FlagName kEpollEventFlags[] = {N(EPOLLIN),     N(EPOLLPRI),     N(EPOLLOUT),    N(EPOLLRDNORM),
                                         N(EPOLLRDBAND), N(EPOLLWRNORM),  N(EPOLLWRBAND), N(EPOLLMSG),
                                         N(EPOLLERR),    N(EPOLLHUP),     N(EPOLLRDHUP),  N(EPOLLEXCLUSIVE),
                                         N(EPOLLWAKEUP), N(EPOLLONESHOT), N(EPOLLET)};
constexpr FlagSet kEpollEvents{0, {}, kEpollEventFlags};
constexpr FlagName kChildCodeNumbers[] = {N(CLD_EXITED),  N(CLD_KILLED),  N(CLD_DUMPED),
                                          N(CLD_TRAPPED), N(CLD_STOPPED), N(CLD_CONTINUED)};
constexpr FlagSet kChildCodes{kAll, kChildCodeNumbers, {}};
constexpr FlagName kTimerFdFlags[] = {{O_CLOEXEC, "TFD_CLOEXEC"}, {O_NONBLOCK, "TFD_NONBLOCK"}};
constexpr FlagSet kTimerFd{0, {}, kTimerFdFlags};
constexpr FlagName kSignalFdFlags[] = {{O_CLOEXEC, "SFD_CLOEXEC"}, {O_NONBLOCK, "SFD_NONBLOCK"}};
constexpr FlagSet kSignalFd{0, {}, kSignalFdFlags};
constexpr FlagName kInotifyFlags[] = {{O_CLOEXEC, "IN_CLOEXEC"}, {O_NONBLOCK, "IN_NONBLOCK"}};
constexpr FlagSet kInotify{0, {}, kInotifyFlags};
constexpr FlagName kWatchFlags[] = {
    N(IN_ALL_EVENTS), N(IN_ACCESS),     N(IN_MODIFY),      N(IN_ATTRIB),      N(IN_CLOSE_WRITE), N(IN_CLOSE_NOWRITE),
    N(IN_OPEN),       N(IN_MOVED_FROM), N(IN_MOVED_TO),    N(IN_CREATE),      N(IN_DELETE),      N(IN_DELETE_SELF),
    N(IN_MOVE_SELF),  N(IN_ONLYDIR),    N(IN_DONT_FOLLOW), N(IN_EXCL_UNLINK), N(IN_MASK_ADD),    N(IN_ONESHOT)};
constexpr FlagSet kWatch{0, {}, kWatchFlags};
constexpr FlagName kMemfdFlags[] = {
    N(MFD_CLOEXEC), N(MFD_ALLOW_SEALING), N(MFD_HUGETLB), {8, "MFD_NOEXEC_SEAL"}, {16, "MFD_EXEC"}};
constexpr FlagSet kMemfd{0, {}, kMemfdFlags};
constexpr FlagName kRandomFlags[] = {N(GRND_NONBLOCK), N(GRND_RANDOM), N(GRND_INSECURE)};
constexpr FlagSet kRandom{0, {}, kRandomFlags};
constexpr FlagName kCloseRangeFlags[] = {N(CLOSE_RANGE_UNSHARE), N(CLOSE_RANGE_CLOEXEC)};
constexpr FlagSet kCloseRange{0, {}, kCloseRangeFlags};

constexpr FlagName kClocks[] = {N(CLOCK_REALTIME),
                                N(CLOCK_MONOTONIC),
                                N(CLOCK_PROCESS_CPUTIME_ID),
                                N(CLOCK_THREAD_CPUTIME_ID),
                                N(CLOCK_MONOTONIC_RAW),
                                N(CLOCK_REALTIME_COARSE),
                                N(CLOCK_MONOTONIC_COARSE),
                                N(CLOCK_BOOTTIME),
                                N(CLOCK_REALTIME_ALARM),
                                N(CLOCK_BOOTTIME_ALARM),
                                N(CLOCK_TAI)};
constexpr FlagSet kClock{kAll, kClocks, {}};
constexpr FlagName kTimerFlags[] = {N(TIMER_ABSTIME)};
constexpr FlagSet kTimer{0, {}, kTimerFlags};
constexpr FlagName kItimers[] = {{0, "ITIMER_REAL"}, {1, "ITIMER_VIRTUAL"}, {2, "ITIMER_PROF"}};
constexpr FlagSet kItimer{kAll, kItimers, {}};
constexpr FlagName kLimits[] = {
    {0, "RLIMIT_CPU"},       {1, "RLIMIT_FSIZE"}, {2, "RLIMIT_DATA"},    {3, "RLIMIT_STACK"},
    {4, "RLIMIT_CORE"},      {5, "RLIMIT_RSS"},   {6, "RLIMIT_NPROC"},   {7, "RLIMIT_NOFILE"},
    {8, "RLIMIT_MEMLOCK"},   {9, "RLIMIT_AS"},    {10, "RLIMIT_LOCKS"},  {11, "RLIMIT_SIGPENDING"},
    {12, "RLIMIT_MSGQUEUE"}, {13, "RLIMIT_NICE"}, {14, "RLIMIT_RTPRIO"}, {15, "RLIMIT_RTTIME"}};
constexpr FlagSet kLimit{kAll, kLimits, {}};
constexpr FlagName kUsages[] = {{0, "RUSAGE_SELF"}, {0xffffffff, "RUSAGE_CHILDREN"}, {1, "RUSAGE_THREAD"}};
constexpr FlagSet kUsage{kAll, kUsages, {}};
constexpr FlagName kPolicies[] = {N(SCHED_OTHER), N(SCHED_FIFO), N(SCHED_RR),
                                  N(SCHED_BATCH), N(SCHED_IDLE), {6, "SCHED_DEADLINE"}};
constexpr FlagSet kPolicy{kAll, kPolicies, {}};
constexpr FlagName kArchPrctls[] = {N(ARCH_SET_GS), N(ARCH_SET_FS),    N(ARCH_GET_FS),
                                    N(ARCH_GET_GS), N(ARCH_GET_CPUID), N(ARCH_SET_CPUID)};
constexpr FlagSet kArchPrctl{kAll, kArchPrctls, {}};
constexpr FlagName kPrctls[] = {N(PR_SET_PDEATHSIG),       N(PR_GET_DUMPABLE),     N(PR_SET_DUMPABLE),
                                N(PR_SET_KEEPCAPS),        N(PR_SET_NAME),         N(PR_GET_NAME),
                                N(PR_GET_SECCOMP),         N(PR_SET_SECCOMP),      N(PR_CAPBSET_READ),
                                N(PR_CAPBSET_DROP),        N(PR_SET_TIMERSLACK),   N(PR_SET_MM),
                                N(PR_SET_CHILD_SUBREAPER), N(PR_SET_NO_NEW_PRIVS), N(PR_GET_NO_NEW_PRIVS),
                                N(PR_SET_THP_DISABLE),     N(PR_CAP_AMBIENT),      N(PR_SET_VMA),
                                N(PR_SET_PTRACER)};
constexpr FlagSet kPrctl{kAll, kPrctls, {}};
constexpr FlagName kMountFlags[] = {{1, "MS_RDONLY"},         {2, "MS_NOSUID"},           {4, "MS_NODEV"},
                                    {8, "MS_NOEXEC"},         {16, "MS_SYNCHRONOUS"},     {32, "MS_REMOUNT"},
                                    {64, "MS_MANDLOCK"},      {128, "MS_DIRSYNC"},        {1024, "MS_NOATIME"},
                                    {2048, "MS_NODIRATIME"},  {4096, "MS_BIND"},          {8192, "MS_MOVE"},
                                    {16384, "MS_REC"},        {32768, "MS_SILENT"},       {1 << 17, "MS_UNBINDABLE"},
                                    {1 << 18, "MS_PRIVATE"},  {1 << 19, "MS_SLAVE"},      {1 << 20, "MS_SHARED"},
                                    {1 << 21, "MS_RELATIME"}, {1 << 24, "MS_STRICTATIME"}};
constexpr FlagSet kMount{0, {}, kMountFlags};
constexpr FlagName kUmountFlags[] = {{1, "MNT_FORCE"}, {2, "MNT_DETACH"}, {4, "MNT_EXPIRE"}, {8, "UMOUNT_NOFOLLOW"}};
constexpr FlagSet kUmount{0, {}, kUmountFlags};
constexpr FlagName kXattrFlags[] = {{1, "XATTR_CREATE"}, {2, "XATTR_REPLACE"}};
constexpr FlagSet kXattr{0, {}, kXattrFlags};

#undef N

}  // namespace uscope::syscalls

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The sets of flag_names.cpp and command_arguments.cpp, which alone include this. Names are those of kernel_names.h;
// lists stand here only of what the kernel's UAPI headers do not have, since the C library defines it or the kernel
// keeps it to itself.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "syscalls/flag_names.h"
#include "syscalls/kernel_names.h"

namespace uscope::syscalls {

#define N(constant)                                 \
  FlagName {                                        \
    static_cast<std::uint64_t>(constant), #constant \
  }

constexpr std::uint64_t kAll = ~std::uint64_t{0};

// An enumeration, and flags.
constexpr FlagSet one_of(std::span<const FlagName> numbers) {
  return {kAll, numbers, {}};
}
constexpr FlagSet any_of(std::span<const FlagName> flags) {
  return {0, {}, flags};
}

// The page size of a huge mapping, as the power of two of it; MFD_ and SHM_ have the same place.
constexpr unsigned kHugeShift = 26;
constexpr std::uint64_t kHugeMask = 0x3f;

constexpr FlagSet kOpen{O_ACCMODE, kernel::kOpenMode, kernel::kOpenFlag};
constexpr FlagSet kOpenFlagsOnly = any_of(kernel::kOpenFlag);  // pipe2, dup3

constexpr FlagName kAccessNumbers[] = {N(F_OK)};
constexpr FlagName kAccessFlags[] = {N(R_OK), N(W_OK), N(X_OK)};
constexpr FlagSet kAccess{0, kAccessNumbers, kAccessFlags};

constexpr FlagSet kAtPath = any_of(kernel::kAtPath);
constexpr FlagSet kAtStatx = any_of(kernel::kAtStatx);
constexpr FlagSet kAtHandle = any_of(kernel::kAtHandle);
constexpr FlagSet kAtExec = any_of(kernel::kAtExec);
constexpr FlagSet kAtUnlink = any_of(kernel::kAtUnlink);
constexpr FlagSet kAtAccess = any_of(kernel::kAtAccess);
constexpr FlagSet kAtTree = any_of(kernel::kAtTree);
constexpr FlagSet kRename = any_of(kernel::kRename);
constexpr FlagSet kStatx = any_of(kernel::kStatx);

constexpr FlagName kProtNone[] = {{0, "PROT_NONE"}};
constexpr FlagSet kProt{0, kProtNone, kernel::kProt};
constexpr FlagSet kMap{0xf, kernel::kMapKind, kernel::kMap, false, {}, {kHugeShift, kHugeMask, "MAP_HUGE_SHIFT"}};
constexpr FlagSet kMremap = any_of(kernel::kMremap);
constexpr FlagSet kMadvise = one_of(kernel::kMadvise);
constexpr FlagSet kMsync = any_of(kernel::kMsync);
constexpr FlagSet kMlock = any_of(kernel::kMlock);
constexpr FlagSet kMlockAll = any_of(kernel::kMlockAll);
constexpr FlagSet kMpol{~std::uint64_t{0xe000}, kernel::kMpol, kernel::kMpolMode};
constexpr FlagSet kMpolGet = any_of(kernel::kMpolGet);
constexpr FlagSet kMpolMove = any_of(kernel::kMpolMove);
constexpr FlagSet kPkey = any_of(kernel::kPkey);
constexpr FlagSet kWhence = one_of(kernel::kWhence);

constexpr FlagName kFamilies[] = {
    N(AF_UNSPEC),   N(AF_UNIX),       N(AF_INET),    N(AF_AX25),      N(AF_IPX),     N(AF_APPLETALK), N(AF_NETROM),
    N(AF_BRIDGE),   N(AF_ATMPVC),     N(AF_X25),     N(AF_INET6),     N(AF_ROSE),    N(AF_DECnet),    N(AF_NETBEUI),
    N(AF_SECURITY), N(AF_KEY),        N(AF_NETLINK), N(AF_PACKET),    N(AF_ASH),     N(AF_ECONET),    N(AF_ATMSVC),
    N(AF_RDS),      N(AF_SNA),        N(AF_IRDA),    N(AF_PPPOX),     N(AF_WANPIPE), N(AF_LLC),       N(AF_IB),
    N(AF_MPLS),     N(AF_CAN),        N(AF_TIPC),    N(AF_BLUETOOTH), N(AF_IUCV),    N(AF_RXRPC),     N(AF_ISDN),
    N(AF_PHONET),   N(AF_IEEE802154), N(AF_CAIF),    N(AF_ALG),       N(AF_NFC),     N(AF_VSOCK),     N(AF_KCM),
    N(AF_QIPCRTR),  N(AF_SMC),        N(AF_XDP),     {45, "AF_MCTP"}};
constexpr FlagSet kFamily = one_of(kFamilies);
constexpr FlagName kSocketTypes[] = {N(SOCK_STREAM),    N(SOCK_DGRAM), N(SOCK_RAW),   N(SOCK_RDM),
                                     N(SOCK_SEQPACKET), N(SOCK_DCCP),  N(SOCK_PACKET)};
constexpr FlagName kSocketFlags[] = {N(SOCK_CLOEXEC), N(SOCK_NONBLOCK)};
constexpr FlagSet kSocketType{0xf, kSocketTypes, kSocketFlags};
constexpr FlagSet kAccept = any_of(kSocketFlags);
constexpr FlagSet kIpProtocol = one_of(kernel::kIpProtocol);
constexpr FlagSet kNetlinkProtocol = one_of(kernel::kNetlinkProtocol);
constexpr FlagName kMessageFlags[] = {N(MSG_OOB),          N(MSG_PEEK),
                                      N(MSG_DONTROUTE),    N(MSG_CTRUNC),
                                      {16, "MSG_PROBE"},   N(MSG_TRUNC),
                                      N(MSG_DONTWAIT),     N(MSG_EOR),
                                      N(MSG_WAITALL),      N(MSG_FIN),
                                      N(MSG_SYN),          N(MSG_CONFIRM),
                                      N(MSG_RST),          N(MSG_ERRQUEUE),
                                      N(MSG_NOSIGNAL),     N(MSG_MORE),
                                      N(MSG_WAITFORONE),   {0x40000, "MSG_BATCH"},
                                      N(MSG_ZEROCOPY),     N(MSG_FASTOPEN),
                                      N(MSG_CMSG_CLOEXEC), {0x2000000, "MSG_SOCK_DEVMEM"}};
constexpr FlagSet kMessage = any_of(kMessageFlags);
constexpr FlagSet kReadWrite = any_of(kernel::kReadWrite);
constexpr FlagName kShutdowns[] = {N(SHUT_RD), N(SHUT_WR), N(SHUT_RDWR)};
constexpr FlagSet kShutdown = one_of(kShutdowns);
constexpr FlagName kLevels[] = {
    {0, "SOL_IP"},        {1, "SOL_SOCKET"},     {6, "SOL_TCP"},         {17, "SOL_UDP"},      {41, "SOL_IPV6"},
    {58, "SOL_ICMPV6"},   {132, "SOL_SCTP"},     {136, "SOL_UDPLITE"},   {255, "SOL_RAW"},     {256, "SOL_IPX"},
    {257, "SOL_AX25"},    {258, "SOL_ATALK"},    {259, "SOL_NETROM"},    {260, "SOL_ROSE"},    {261, "SOL_DECNET"},
    {262, "SOL_X25"},     {263, "SOL_PACKET"},   {264, "SOL_ATM"},       {265, "SOL_AAL"},     {266, "SOL_IRDA"},
    {267, "SOL_NETBEUI"}, {268, "SOL_LLC"},      {269, "SOL_DCCP"},      {270, "SOL_NETLINK"}, {271, "SOL_TIPC"},
    {272, "SOL_RXRPC"},   {273, "SOL_PPPOL2TP"}, {274, "SOL_BLUETOOTH"}, {275, "SOL_PNPIPE"},  {276, "SOL_RDS"},
    {277, "SOL_IUCV"},    {278, "SOL_CAIF"},     {279, "SOL_ALG"},       {280, "SOL_NFC"},     {281, "SOL_KCM"},
    {282, "SOL_TLS"},     {283, "SOL_XDP"},      {284, "SOL_MPTCP"},     {285, "SOL_MCTP"},    {286, "SOL_SMC"},
    {287, "SOL_VSOCK"}};
constexpr FlagSet kLevel = one_of(kLevels);
constexpr FlagSet kSocketOption = one_of(kernel::kSolSocket);
constexpr FlagSet kSocketOptionGet = one_of(kernel::kSolSocketGet);
constexpr FlagSet kIpOption = one_of(kernel::kSolIp);
constexpr FlagSet kIpv6Option = one_of(kernel::kSolIpv6);
constexpr FlagSet kTcpOption = one_of(kernel::kSolTcp);
constexpr FlagSet kUdpOption = one_of(kernel::kSolUdp);
constexpr FlagSet kNetlinkOption = one_of(kernel::kSolNetlink);
constexpr FlagSet kPacketOption = one_of(kernel::kSolPacket);
constexpr FlagSet kTlsOption = one_of(kernel::kSolTls);
constexpr FlagSet kAlgOption = one_of(kernel::kSolAlg);
constexpr FlagSet kXdpOption = one_of(kernel::kSolXdp);

constexpr FlagSet kFcntl = one_of(kernel::kFcntl);
constexpr FlagSet kFdFlag = any_of(kernel::kFdFlag);
constexpr FlagSet kLease = one_of(kernel::kLeaseType);
constexpr FlagSet kSeal = any_of(kernel::kSeal);
constexpr FlagSet kWriteHint = one_of(kernel::kWriteHint);
constexpr FlagSet kNotify = any_of(kernel::kNotify);
constexpr FlagSet kFlock{0xb, kernel::kFlock, kernel::kFlockFlag};
constexpr FlagSet kFallocate = any_of(kernel::kFallocate);
constexpr FlagSet kIoctl = one_of(kernel::kIoctl);
constexpr FlagSet kFadvise = one_of(kernel::kFadvise);
constexpr FlagSet kSyncRange = any_of(kernel::kSyncRange);
constexpr FlagName kSpliceFlags[] = {N(SPLICE_F_MOVE), N(SPLICE_F_NONBLOCK), N(SPLICE_F_MORE), N(SPLICE_F_GIFT)};
constexpr FlagSet kSplice = any_of(kSpliceFlags);

constexpr FlagSet kFutex{0x7f, kernel::kFutex, kernel::kFutexFlag};
constexpr FlagSet kFutex2{3, kernel::kFutex2Size, kernel::kFutex2};

constexpr FlagName kCloneSignals[] = {{0, "0"},        {10, "SIGUSR1"}, {12, "SIGUSR2"}, {15, "SIGTERM"},
                                      {17, "SIGCHLD"}, {18, "SIGCONT"}, {9, "SIGKILL"}};
constexpr FlagSet kClone{0xff, kCloneSignals, kernel::kClone, true};
constexpr FlagSet kNamespaces = any_of(kernel::kNamespace);

constexpr FlagSet kMaskHow = one_of(kernel::kSigMask);
constexpr FlagSet kWait = any_of(kernel::kWait);
constexpr FlagSet kWaitId = any_of(kernel::kWaitId);
constexpr FlagSet kIdType = one_of(kernel::kWaitIdType);

constexpr FlagSet kEpollOp = one_of(kernel::kEpollOp);
constexpr FlagSet kEventFd = any_of(kernel::kEventFd);
constexpr FlagSet kEpoll = any_of(kernel::kEpoll);
constexpr FlagSet kPollEvents = any_of(kernel::kPollEvent);
constexpr FlagSet kEpollEvents = any_of(kernel::kEpollEvent);
constexpr FlagSet kChildCodes = one_of(kernel::kChildCode);
constexpr FlagSet kTimerFd = any_of(kernel::kTimerFd);
constexpr FlagSet kTimerFdSet = any_of(kernel::kTimerFdSet);
constexpr FlagSet kSignalFd = any_of(kernel::kSignalFd);
constexpr FlagSet kInotify = any_of(kernel::kInotify);
constexpr FlagSet kWatch = any_of(kernel::kWatch);
constexpr FlagSet kFanotifyInit{0xc, kernel::kFanotifyClass, kernel::kFanotifyInit};
constexpr FlagSet kFanotifyMark = any_of(kernel::kFanotifyMark);
constexpr FlagSet kFanotifyEvent = any_of(kernel::kFanotifyEvent);
constexpr FlagName kNoDescriptors[] = {{0xffffffff, "FAN_NOFD"}};
constexpr FlagSet kNoDescriptor = one_of(kNoDescriptors);
constexpr FlagName kFutexBitsets[] = {{0xffffffff, "FUTEX_BITSET_MATCH_ANY"}};
constexpr FlagSet kFutexBitset = one_of(kFutexBitsets);
constexpr FlagSet kMemfd{0, {}, kernel::kMemfd, false, {}, {kHugeShift, kHugeMask, "MFD_HUGE_SHIFT"}};
constexpr FlagSet kRandom = any_of(kernel::kRandom);
constexpr FlagSet kCloseRange = any_of(kernel::kCloseRange);
constexpr FlagSet kPidFd = any_of(kernel::kPidFd);
constexpr FlagSet kPidFdSignal = any_of(kernel::kPidFdSignal);
constexpr FlagSet kUserfault = any_of(kernel::kUserfault);

constexpr FlagSet kClock = one_of(kernel::kClock);
constexpr FlagSet kTimer = any_of(kernel::kTimer);
constexpr FlagSet kItimer = one_of(kernel::kItimer);
constexpr FlagSet kLimit = one_of(kernel::kRlimit);
constexpr FlagSet kUsage = one_of(kernel::kRusage);
constexpr FlagSet kPolicy{~std::uint64_t{0x40000000}, kernel::kSched, kernel::kSchedReset};
constexpr FlagSet kPriority = one_of(kernel::kPriority);
constexpr FlagSet kIoPriorityWho = one_of(kernel::kIoPriorityWho);
constexpr FlagSet kArchPrctl = one_of(kernel::kArchPrctl);
constexpr FlagSet kPrctl = one_of(kernel::kPrctl);
constexpr FlagSet kPersonality{0xff, kernel::kPersonality, kernel::kPersonalityFlag};

constexpr FlagSet kMount{0, {}, kernel::kMount, false, {0xffff0000, {0xc0ed0000, "MS_MGC_VAL"}}};
constexpr FlagName kUmountFlags[] = {{1, "MNT_FORCE"}, {2, "MNT_DETACH"}, {4, "MNT_EXPIRE"}, {8, "UMOUNT_NOFOLLOW"}};
constexpr FlagSet kUmount = any_of(kUmountFlags);
constexpr FlagSet kFsOpen = any_of(kernel::kFsOpen);
constexpr FlagSet kFsConfig = one_of(kernel::kFsConfig);
constexpr FlagSet kFsMount = any_of(kernel::kFsMount);
constexpr FlagSet kFsPick = any_of(kernel::kFsPick);
constexpr FlagSet kMountAttr = any_of(kernel::kMountAttr);
constexpr FlagSet kStatmount = any_of(kernel::kStatmountFlag);
constexpr FlagSet kListmount = any_of(kernel::kListmount);
constexpr FlagSet kMoveMount = any_of(kernel::kMoveMount);
constexpr FlagSet kOpenTree = any_of(kernel::kOpenTree);
constexpr FlagSet kXattr = any_of(kernel::kXattr);

constexpr FlagSet kIpcGet{0777, {}, kernel::kIpcFlag, false, {}, {}, true};
constexpr FlagSet kShmGet{0777, {}, kernel::kShmFlag, false, {}, {kHugeShift, kHugeMask, "SHM_HUGE_SHIFT"}, true};
constexpr FlagSet kIpcOperation = any_of(kernel::kIpcFlag);
constexpr FlagSet kShmAttach = any_of(kernel::kShmAttach);
constexpr FlagSet kMsgFlag = any_of(kernel::kMsgFlag);
constexpr FlagName kIpc64[] = {{0x100, "IPC_64"}};  // what the kernel takes for the layout of 64 bits
constexpr FlagSet kShmCommand{~std::uint64_t{0x100}, kernel::kShmCommand, kIpc64};
constexpr FlagSet kSemCommand{~std::uint64_t{0x100}, kernel::kSemCommand, kIpc64};
constexpr FlagSet kMsgCommand{~std::uint64_t{0x100}, kernel::kMsgCommand, kIpc64};
constexpr FlagName kIpcPrivate[] = {{0, "IPC_PRIVATE"}};
constexpr FlagSet kIpcKey = one_of(kIpcPrivate);

constexpr FlagSet kPtrace = one_of(kernel::kPtrace);
constexpr FlagSet kPtraceOption = any_of(kernel::kPtraceOption);
constexpr FlagSet kSeccomp = one_of(kernel::kSeccomp);
constexpr FlagSet kSeccompFlag = any_of(kernel::kSeccompFlag);
constexpr FlagSet kSeccompMode = one_of(kernel::kSeccompMode);
constexpr FlagSet kBpfCommand = one_of(kernel::kBpfCommand);
constexpr FlagSet kPerf = any_of(kernel::kPerf);
constexpr FlagSet kKcmp = one_of(kernel::kKcmp);
constexpr FlagSet kKeyctl = one_of(kernel::kKeyctl);
constexpr FlagSet kKeyring = one_of(kernel::kKeyring);
constexpr FlagSet kKeyRequest = one_of(kernel::kKeyRequest);
constexpr FlagSet kKexec{0xffff0000, kernel::kKexecArchitecture, kernel::kKexec};
constexpr FlagSet kKexecFile = any_of(kernel::kKexecFile);
constexpr FlagSet kModule = any_of(kernel::kModule);
constexpr FlagSet kLandlockCreate = any_of(kernel::kLandlockCreate);
constexpr FlagSet kLandlockRule = one_of(kernel::kLandlockRule);
constexpr FlagSet kLandlockAddRule = any_of(kernel::kLandlockAddRule);
constexpr FlagSet kLandlockRestrict = any_of(kernel::kLandlockRestrict);
constexpr FlagSet kLsmAttr = one_of(kernel::kLsmAttr);
constexpr FlagSet kLsmFlag = any_of(kernel::kLsmFlag);
constexpr FlagSet kMembarrier = one_of(kernel::kMembarrier);
constexpr FlagSet kMembarrierFlag = any_of(kernel::kMembarrierFlag);
constexpr FlagName kIoUringRegistered[] = {{0x80000000, "IORING_REGISTER_USE_REGISTERED_RING"}};
constexpr FlagSet kIoUringRegister{0x7fffffff, kernel::kIoUringRegister, kIoUringRegistered};
constexpr FlagSet kIoUringEnter = any_of(kernel::kIoUringEnter);
// The kernel keeps the actions to itself; syslog(2) has their names without the prefix.
constexpr FlagName kSyslogActions[] = {
    {0, "SYSLOG_ACTION_CLOSE"},       {1, "SYSLOG_ACTION_OPEN"},        {2, "SYSLOG_ACTION_READ"},
    {3, "SYSLOG_ACTION_READ_ALL"},    {4, "SYSLOG_ACTION_READ_CLEAR"},  {5, "SYSLOG_ACTION_CLEAR"},
    {6, "SYSLOG_ACTION_CONSOLE_OFF"}, {7, "SYSLOG_ACTION_CONSOLE_ON"},  {8, "SYSLOG_ACTION_CONSOLE_LEVEL"},
    {9, "SYSLOG_ACTION_SIZE_UNREAD"}, {10, "SYSLOG_ACTION_SIZE_BUFFER"}};
constexpr FlagSet kSyslog = one_of(kSyslogActions);
constexpr FlagSet kQuotaFormat = one_of(kernel::kQuotaFormat);
constexpr FlagSet kQuota = one_of(kernel::kQuota);
constexpr FlagSet kReboot = one_of(kernel::kReboot);
constexpr FlagSet kRebootMagic = one_of(kernel::kRebootMagic);
constexpr FlagSet kRseq = any_of(kernel::kRseq);
constexpr FlagSet kCapability = one_of(kernel::kCapability);
constexpr FlagSet kSecureBit = any_of(kernel::kSecureBit);
constexpr FlagSet kPrctlMm = one_of(kernel::kPrctlMm);
constexpr FlagSet kPrctlVma = one_of(kernel::kPrctlVma);
constexpr FlagSet kPrctlAmbient = one_of(kernel::kPrctlAmbient);
constexpr FlagSet kPrctlTsc = one_of(kernel::kPrctlTsc);
constexpr FlagSet kPrctlMceKill = one_of(kernel::kPrctlMceKill);
constexpr FlagSet kPrctlMdwe = any_of(kernel::kPrctlMdwe);
constexpr FlagSet kPrctlSpec = one_of(kernel::kPrctlSpec);
constexpr FlagSet kPrctlSpecControl = any_of(kernel::kPrctlSpecControl);
constexpr FlagSet kPrctlDispatch = one_of(kernel::kPrctlDispatch);
constexpr FlagSet kPrctlCore = one_of(kernel::kPrctlCore);
constexpr FlagSet kPrctlTiming = one_of(kernel::kPrctlTiming);

#undef N

}  // namespace uscope::syscalls

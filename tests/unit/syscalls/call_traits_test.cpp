// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/call_traits.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "syscalls/syscall_table.h"

namespace uscope::syscalls {
namespace {

ObjectArgs of(std::string_view name, usc_abi abi = USC_ABI_X86_64) {
  const auto nr = syscall_number(abi, name);
  EXPECT_TRUE(nr) << name;
  return object_args(abi, nr.value_or(0));
}

TEST(CallTraits, WaitsAreKnownByName) {
  for (const char* name : {"poll", "epoll_wait", "accept4", "futex", "wait4", "vfork", "nanosleep", "io_getevents",
                           "rt_sigtimedwait", "select", "futex_time64", "ppoll_time64"})
    EXPECT_TRUE(waits(name)) << name;
  for (const char* name : {"read", "openat", "signalfd", "", "poll_"}) EXPECT_FALSE(waits(name)) << name;
}

TEST(CallTraits, RelativesDoTheSame) {
  for (const auto& [one, other] : std::vector<std::pair<const char*, const char*>>{{"fsync", "fdatasync"},
                                                                                   {"syncfs", "msync"},
                                                                                   {"open", "openat2"},
                                                                                   {"read", "preadv"},
                                                                                   {"fstat", "statx"},
                                                                                   {"poll", "epoll_pwait2"},
                                                                                   {"ppoll_time64", "select"},
                                                                                   {"fork", "clone3"}}) {
    EXPECT_TRUE(are_related(one, other)) << one << " " << other;
    EXPECT_TRUE(are_related(other, one)) << one << " " << other;
  }
  EXPECT_FALSE(are_related("read", "write"));
  EXPECT_FALSE(are_related("poll", "futex"));    // both wait, but for something else
  EXPECT_FALSE(are_related("stat", "fstatfs"));  // whole names only
  EXPECT_FALSE(are_related("", ""));
  EXPECT_FALSE(are_related("getpid", "getpid"));
}

TEST(CallTraits, TransfersHaveADirection) {
  EXPECT_TRUE(transfer_of("read").reads);
  EXPECT_FALSE(transfer_of("read").writes);
  EXPECT_TRUE(transfer_of("sendmsg").writes);
  EXPECT_TRUE(transfer_of("pwritev2").counts_bytes);
  EXPECT_TRUE(transfer_of("recvmmsg_time64").reads);
  EXPECT_FALSE(transfer_of("recvmmsg").counts_bytes);  // messages
  EXPECT_FALSE(transfer_of("openat").reads);
  const Transfer sendfile = transfer_of("sendfile");
  EXPECT_TRUE(sendfile.reads && sendfile.writes);
  EXPECT_EQ(sendfile.source, 1);
  EXPECT_EQ(sendfile.target, 0);
  EXPECT_EQ(transfer_of("copy_file_range").target, 2);
}

TEST(CallTraits, EveryTransferIsACallWithADescriptor) {
  for (std::uint32_t nr = 0; nr < kSyscallNumbers; nr++) {
    const std::string name = syscall_name(USC_ABI_X86_64, nr);
    const Transfer transfer = transfer_of(name);
    if (!transfer.reads && !transfer.writes) continue;
    const ObjectArgs args = object_args(USC_ABI_X86_64, nr);
    EXPECT_GE(args.descriptor, 0) << name;
    EXPECT_EQ(args.source, transfer.source) << name;
  }
}

TEST(CallTraits, ACallIsAboutItsPathItsAddressOrItsDescriptor) {
  EXPECT_EQ(of("open").path, 0);
  EXPECT_EQ(of("open").folder, -1);
  EXPECT_EQ(of("openat").path, 1);
  EXPECT_EQ(of("openat").folder, 0);
  EXPECT_EQ(of("execve").path, 0);
  EXPECT_EQ(of("symlinkat").path, 2);  // the link, not what it holds
  EXPECT_EQ(of("symlinkat").folder, 1);
  EXPECT_EQ(of("read").descriptor, 0);
  EXPECT_EQ(of("read").path, -1);
  EXPECT_EQ(of("fgetxattr").descriptor, 0);  // its text is an attribute's name
  EXPECT_EQ(of("mmap").descriptor, 4);
  EXPECT_EQ(of("connect").address, 1);
  EXPECT_EQ(of("sendto").address, 4);
  EXPECT_EQ(of("recvfrom").address, -1);  // the kernel writes that one
  EXPECT_EQ(of("sendfile").descriptor, 0);
  EXPECT_EQ(of("sendfile").source, 1);
  for (const char* name : {"getpid", "getcwd", "futex", "fork", "memfd_create"}) EXPECT_FALSE(of(name).any()) << name;
  EXPECT_EQ(of("fstatat64", USC_ABI_I386).path, 1);
  EXPECT_EQ(of("read", USC_ABI_I386).descriptor, 0);
}

TEST(CallTraits, ARenameAndALinkGiveANewName) {
  EXPECT_EQ(of("rename").path, 0);
  EXPECT_EQ(of("rename").target, 1);
  EXPECT_EQ(of("rename").target_folder, -1);
  EXPECT_EQ(of("renameat2").path, 1);
  EXPECT_EQ(of("renameat2").target, 3);
  EXPECT_EQ(of("renameat2").target_folder, 2);
  EXPECT_EQ(of("linkat", USC_ABI_I386).target, 3);
  for (const char* name : {"openat", "symlinkat", "mount", "read"}) EXPECT_EQ(of(name).target, -1) << name;
}

TEST(CallTraits, SomeCallsChangeTheirObject) {
  for (const char* name : {"write", "sendfile", "ftruncate", "rename", "symlink", "unlinkat", "creat", "fchmod"})
    EXPECT_TRUE(of(name).changes) << name;
  for (const char* name : {"read", "openat", "link", "stat", "close", "fsync"}) EXPECT_FALSE(of(name).changes) << name;
  EXPECT_EQ(of("open").open_flags, 1);
  EXPECT_EQ(of("openat", USC_ABI_I386).open_flags, 2);
  EXPECT_TRUE(makes_anew(O_WRONLY | O_TRUNC));
  EXPECT_TRUE(makes_anew(O_RDWR | O_CREAT | O_EXCL));
  EXPECT_FALSE(makes_anew(O_RDWR | O_CREAT));
}

TEST(CallTraits, SomeCallsOpen) {
  EXPECT_TRUE(opens("openat2"));
  EXPECT_TRUE(opens("connect"));
  EXPECT_FALSE(opens("read"));
}

}  // namespace
}  // namespace uscope::syscalls

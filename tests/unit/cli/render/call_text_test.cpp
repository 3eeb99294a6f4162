// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/call_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "syscalls/flag_names.h"
#include "syscalls/syscall_table.h"
#include "tests/unit/cli/render/call_row.h"

namespace uscope::cli {
namespace {

using analyzer::EventRow;
using Source = analyzer::EventString::Source;

// As strace 6.1 writes them, but for | between all parts.
TEST(CallText, NamesFlags) {
  EXPECT_EQ(arguments_text(row_of("mmap", {0, 4096, 3, 0x22, -1, 0})),
            "NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0");
  EXPECT_EQ(arguments_text(row_of("socket", {2, SOCK_STREAM | SOCK_CLOEXEC, 0})),
            "AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP");
  EXPECT_EQ(arguments_text(row_of("lseek", {3, -1, 2})), "3, -1, SEEK_END");
  EXPECT_EQ(arguments_text(row_of("futex", {16, 129, 1})), "0x10, FUTEX_WAKE|FUTEX_PRIVATE_FLAG, 1");
  EXPECT_EQ(arguments_text(row_of("clone", {0x1200011, 0, 0, 0, 0})),
            "SIGCHLD|CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID, NULL, NULL, NULL, 0");
  EXPECT_EQ(arguments_text(row_of("kill", {7, 9})), "7, SIGKILL");
  EXPECT_EQ(arguments_text(row_of("access", {0, 0})), "NULL, F_OK");
  EXPECT_EQ(arguments_text(row_of("fcntl", {3, F_SETFD, 1})), "3, F_SETFD, FD_CLOEXEC");
  EXPECT_EQ(arguments_text(row_of("fcntl", {3, F_GETFL, 12345})), "3, F_GETFL");
  EXPECT_EQ(arguments_text(row_of("setsockopt", {3, 1, 2, 0, 4})), "3, SOL_SOCKET, SO_REUSEADDR, NULL, 4");
  EXPECT_EQ(arguments_text(row_of("mknod", {0, 0010644, 0})), "NULL, S_IFIFO|0644");
  EXPECT_EQ(arguments_text(row_of("madvise", {0, 0, 4242})), "NULL, 0, 0x1092");
}

TEST(CallText, WhatWasLoggedHasNumbers) {
  EventRow row = row_of("vfs_read", {11, -12});
  row.abi = "none";
  row.how = "logged";
  row.nr = 1;  // not write()
  EXPECT_TRUE(is_call(row));
  row.source = "stap";
  EXPECT_FALSE(is_call(row));
  EXPECT_EQ(arguments_text(row), "11, -12, 0, 0, 0, 0");
  row.how = "returned";
  EXPECT_EQ(arguments_text(row), "11, -12, 0, 0, 0, 0");
}

TEST(CallText, HasTheModeWhereOpenCreates) {
  EXPECT_EQ(arguments_text(row_of("openat", {-100, 0, O_WRONLY | O_CREAT | O_TRUNC, 0644})),
            "AT_FDCWD, NULL, O_WRONLY|O_CREAT|O_TRUNC, 0644");
  EXPECT_EQ(arguments_text(row_of("openat", {-100, 0, 0x10000000 | O_CLOEXEC, 77})),
            "AT_FDCWD, NULL, O_RDONLY|O_CLOEXEC|0x10000000");
}

TEST(CallText, EscapesStrings) {
  EventRow open = row_of("openat", {7, 1, 0});
  open.strings = {{0, "/a<b>\x1b", false, Source::kDescriptor}, {1, "say \"hi\"\n\\\\", false, Source::kProgram}};
  EXPECT_EQ(arguments_text(open), R"(7</a\x3cb\x3e\x1b>, "say \"hi\"\x0a\\", O_RDONLY)");
  EventRow exec = row_of("execve", {1, 2, 3});
  exec.strings = {{0, "/bin/a", false, Source::kProgram},
                  {1, R"(["a","b \"c\"","\u001b","…","d…",null])", false, Source::kProgram}};
  EXPECT_EQ(arguments_text(exec), R"("/bin/a", ["a", "b \"c\"", "\x1b", "…", "d"…, …], 0x3)");
  EventRow connect = row_of("connect", {3, 1, 16});
  connect.strings = {{1, "unix:}{", false, Source::kProgram}};
  EXPECT_EQ(arguments_text(connect), R"(3, {unix:\x7d\x7b}, 16)");
}

TEST(CallText, ListsOfBuffersThatALookFound) {
  EventRow write = row_of("writev", {4, 0x7ffc0000, 2});
  write.strings = {{0, "pipe:[77]", false, Source::kDescriptor}};
  EXPECT_EQ(arguments_text(write), "4<pipe:[77]>, 0x7ffc0000, 2");
  write.buffers = {1, 2, 65536};
  EXPECT_EQ(arguments_text(write), "4<pipe:[77]>, [2 parts, 65536 bytes], 2");
  EventRow send = row_of("sendmsg", {5, 0x7ffc0000, 0});
  send.strings = {{1, "unix:/run/x", false, Source::kProgram}};
  send.buffers = {1, 1, 1};
  EXPECT_EQ(arguments_text(send), "5, {msg_name={unix:/run/x}} [1 part, 1 byte], 0");
}

TEST(CallText, DescriptorsInMessages) {
  EventRow row = row_of("recvmsg", {4, 0x7ffc0000, 0});
  row.descriptors = {{1, 5, "passed", "/etc/hosts", false}, {1, 6, "pidfd", "anon_inode:[pidfd]", false}};
  EXPECT_EQ(arguments_text(row),
            "4, {msg_control=[{cmsg_type=SCM_RIGHTS, cmsg_data=[5</etc/hosts>]}, "
            "{cmsg_type=SCM_PIDFD, cmsg_data=[6<anon_inode:[pidfd]>]}]}, 0");
}

// What a call without a flag does not look at is left out; a signal that does not exist is a number.
TEST(CallText, WhatFlagsAskFor) {
  EXPECT_EQ(arguments_text(row_of("openat", {-1, 16, 020000000, 0640})), "-1, 0x10, O_RDONLY|__O_TMPFILE, 0640");
  EXPECT_EQ(arguments_text(row_of("openat", {-1, 16, 0200000, 0640})), "-1, 0x10, O_RDONLY|O_DIRECTORY");
  EXPECT_EQ(arguments_text(row_of("mq_open", {16, 0, 0640, 0})), "0x10, O_RDONLY");
  EXPECT_EQ(arguments_text(row_of("membarrier", {0, 0, 3})), "MEMBARRIER_CMD_QUERY, 0");
  EXPECT_EQ(arguments_text(row_of("tkill", {1, -64206})), "1, -64206");
  EXPECT_EQ(arguments_text(row_of("ptrace", {999, 0x5000004d2, 0, 0})), "0x3e7, 1234, NULL, NULL");
  EXPECT_EQ(
      arguments_text(row_of("futex", {16, 5, 1, 2, 32, 0x94fff003})),
      "0x10, FUTEX_WAKE_OP, 1, 2, 0x20, FUTEX_OP_OPARG_SHIFT<<28|FUTEX_OP_ADD<<28|0xfff<<12|FUTEX_OP_CMP_GT<<24|0x3");
}

TEST(CallText, Results) {
  EventRow row = row_of("mmap", {});
  row.how = "returned";
  row.result = 0x7f0000001000;
  EXPECT_EQ(result_text(row), "0x7f0000001000");
  row.result = -12;
  row.error = "ENOMEM";
  EXPECT_EQ(result_text(row), "-1 ENOMEM (Cannot allocate memory)");
}

// glibc passes the high half of an offset to calls that take it whole; 32-bit programs pass two halves.
TEST(CallText, OffsetsInHalvesAreOneNumber) {
  EXPECT_EQ(arguments_text(row_of("preadv2", {3, 16, 1, 5 << 20, 0, 1})), "3, 0x10, 1, 5242880, RWF_HIPRI");
  EXPECT_EQ(arguments_text(row_of("pwritev2", {3, 16, 1, -1, 0xffffffff, 0})), "3, 0x10, 1, -1, 0");
  EXPECT_EQ(arguments_text(row_of("pwritev2", {3, 16, 1, 5LL << 32, 5, 0x12})),
            "3, 0x10, 1, 21474836480, RWF_DSYNC|RWF_APPEND");
  const auto narrow = [](const char* call, std::initializer_list<std::int64_t> args) {
    EventRow row = row_of(call, args);
    row.abi = "i386";
    row.nr = syscalls::syscall_number(USC_ABI_I386, call).value_or(9999);
    return arguments_text(row);
  };
  EXPECT_EQ(narrow("preadv2", {3, 16, 1, 7, 1, 8}), "3, 0x10, 1, 4294967303, RWF_NOWAIT");
  EXPECT_EQ(narrow("preadv2", {3, 16, 1, 0xffffffff, 0xffffffff, 0}), "3, 0x10, 1, -1, 0");
  EXPECT_EQ(narrow("pwritev", {3, 16, 1, 0, 2}), "3, 0x10, 1, 8589934592");
  EXPECT_EQ(narrow("pread64", {3, 16, 9, 1, 1}), "3, 0x10, 9, 4294967297");
}

// Every place of the table is an argument that the call has, and one for flags.
TEST(CallText, FlagsAreOfArgumentsThatCallsHave) {
  std::size_t places = 0;
  for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++) {
    const auto letters = syscalls::syscall_arguments(USC_ABI_X86_64, nr);
    const std::string name = syscalls::syscall_name(USC_ABI_X86_64, nr);
    for (std::size_t arg = 0; arg < 6; arg++) {
      if (!syscalls::flags_of(name, arg)) continue;
      places++;
      ASSERT_TRUE(letters && arg < letters->size()) << name << " " << arg;
      EXPECT_NE(std::string("fFiuzdDo").find((*letters)[arg]), std::string::npos) << name << " " << arg;
    }
  }
  EXPECT_GE(places, 80U);
}

}  // namespace
}  // namespace uscope::cli

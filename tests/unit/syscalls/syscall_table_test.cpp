// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The table against the kernel's own headers and against strace: numbers, classes, numbers of arguments.
#include "syscalls/syscall_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "syscalls/call_set.h"
#include "syscalls/errno_names.h"
#include "syscalls/kernel_layouts.h"
#include "syscalls/structures.h"
#include "uscope/descriptor_calls.h"

namespace uscope::syscalls {
namespace {

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  std::FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr) << command;
  if (pipe == nullptr) return lines;
  char* line = nullptr;
  std::size_t room = 0;
  while (getline(&line, &room, pipe) > 0) lines.emplace_back(line, std::string(line).find_last_not_of('\n') + 1);
  std::free(line);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return lines;
}

// Name → number of every __NR_ macro of a header, without the x32 bit.
std::map<std::string, std::uint32_t> header_numbers(const std::string& header) {
  std::map<std::string, std::uint32_t> numbers;
  const std::string macro = "#define __NR_";
  for (const std::string& line : lines_of("echo '#include <asm/" + header + ">' | cc -E -dM -")) {
    if (!line.starts_with(macro)) continue;
    std::istringstream fields(line.substr(macro.size()));
    std::string name;
    std::string value;
    fields >> name;
    std::getline(fields, value);
    const std::size_t digits = value.find_last_of(' ');
    numbers[name] = static_cast<std::uint32_t>(std::stoul(value.substr(digits + 1)));
  }
  return numbers;
}

void expect_complete(const std::string& header, usc_abi abi, std::size_t least) {
  const auto numbers = header_numbers(header);
  EXPECT_GE(numbers.size(), least);
  for (const auto& [name, nr] : numbers) {
    EXPECT_EQ(syscall_name(abi, nr), name) << header;
    EXPECT_EQ(syscall_number(abi, name), nr) << name;
  }
}

TEST(SyscallTable, HasEveryCallOfTheKernelHeaders) {
  expect_complete("unistd_64.h", USC_ABI_X86_64, 362);
  expect_complete("unistd_32.h", USC_ABI_I386, 440);
  expect_complete("unistd_x32.h", USC_ABI_X32, 350);
}

TEST(SyscallTable, NumbersOfLaterKernels) {
  EXPECT_EQ(syscall_name(USC_ABI_X86_64, 335), "uretprobe");
  EXPECT_EQ(syscall_name(USC_ABI_X86_64, 451), "cachestat");
  EXPECT_EQ(syscall_name(USC_ABI_X86_64, 462), "mseal");
  EXPECT_EQ(syscall_number(USC_ABI_I386, "fchmodat2"), 452u);
}

TEST(ErrnoNames, AnErrorIsWhatAProgramSeesAsOne) {
  EXPECT_FALSE(is_error(0));
  EXPECT_FALSE(is_error(1));
  EXPECT_TRUE(is_error(-1));
  EXPECT_TRUE(is_error(-511));
  EXPECT_FALSE(is_error(-512));  // ERESTARTSYS
  EXPECT_FALSE(is_error(-516));
  EXPECT_TRUE(is_error(-517));
  EXPECT_TRUE(is_error(-kLastErrno));
  EXPECT_FALSE(is_error(-kLastErrno - 1));  // an address
}

TEST(SyscallTable, UnknownNumbers) {
  EXPECT_EQ(syscall_name(USC_ABI_X86_64, 400), "syscall_400");
  EXPECT_EQ(syscall_name(USC_ABI_I386, 4294967295u), "syscall_4294967295");
  EXPECT_EQ(syscall_classes(USC_ABI_X86_64, 400), 0);
  EXPECT_EQ(syscall_arguments(USC_ABI_X86_64, 400), std::nullopt);
  EXPECT_EQ(syscall_number(USC_ABI_X86_64, "mmap2"), std::nullopt);
}

TEST(SyscallTable, TheThreeAbis) {
  EXPECT_EQ(syscall_name(USC_ABI_X86_64, 5), "fstat");
  EXPECT_EQ(syscall_name(USC_ABI_I386, 5), "open");
  EXPECT_EQ(syscall_name(USC_ABI_X32, 0x40000000 + 1), "write");
  EXPECT_EQ(syscall_name(USC_ABI_X32, 1), "write");
  EXPECT_EQ(syscall_name(USC_ABI_X32, 0x40000000 + 514), "ioctl");
  EXPECT_EQ(syscall_name(USC_ABI_X86_64, 514), "syscall_514");
  EXPECT_EQ(syscall_number(USC_ABI_X32, "ioctl"), 514u);
  EXPECT_EQ(syscall_classes(USC_ABI_X32, 0x40000000 + 514), kClassDesc);
  EXPECT_EQ(syscall_classes(USC_ABI_I386, 192), kClassMemory | kClassDesc);  // mmap2
  EXPECT_EQ(syscall_arguments(USC_ABI_X32, 520), "xvp");
  EXPECT_EQ(syscall_arguments(USC_ABI_X32, 546), "dEzlf");
  EXPECT_EQ(syscall_arguments(USC_ABI_X86_64, 327), "dEzlHf");
  EXPECT_EQ(syscall_arguments(USC_ABI_I386, 180), "dBzlH");
  EXPECT_EQ(syscall_arguments(USC_ABI_I386, 295), "Dsfm");
}

TEST(SyscallTable, Strings) {
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 39), 0U);              // getpid
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 2), USC_STRING_TEXT);  // open
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 316),
            usc_string_slot(1, USC_STRING_TEXT) | usc_string_slot(3, USC_STRING_TEXT));  // renameat2
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 59), USC_STRING_EXEC | usc_string_slot(1, USC_STRING_ARGUMENTS));  // execve
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 44), usc_string_slot(4, USC_STRING_ADDRESS));                      // sendto
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 89),
            (USC_STRING_TEXT | usc_string_slot(1, USC_STRING_RESULT)));  // readlink
  for (const std::uint32_t nr : {202, 449, 454, 455}) EXPECT_EQ(syscall_strings(USC_ABI_X86_64, nr), USC_STRING_FUTEX);
  for (const std::uint32_t nr : {240, 422, 449, 454, 455})
    EXPECT_EQ(syscall_strings(USC_ABI_I386, nr), USC_STRING_FUTEX);
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 5), USC_STRING_TEXT);                        // open
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 195), USC_STRING_TEXT);                      // stat64
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 300), usc_string_slot(1, USC_STRING_TEXT));  // fstatat64
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 412), usc_string_slot(1, USC_STRING_TEXT));  // utimensat_time64
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 102), 0U);                                   // socketcall: in memory
  EXPECT_EQ(syscall_strings(USC_ABI_X32, 0x40000000 + 2), USC_STRING_TEXT);
  EXPECT_EQ(syscall_strings(USC_ABI_X32, 518), 0U);  // its struct msghdr is another one
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 511), 0U);
}

// Structures of known size have it in a word beside the kinds; of i386 calls only those of the same layout.
TEST(SyscallTable, SizesOfStructures) {
  EXPECT_EQ(syscall_structures(USC_ABI_X86_64, 160), usc_structure_slot(1, 16));  // setrlimit
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 160), usc_string_slot(1, USC_STRING_FIXED));
  EXPECT_EQ(usc_structure_bytes(syscall_structures(USC_ABI_X86_64, 63), 0), 390U);  // uname
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 75), 0U);                                 // setrlimit: numbers of 32 bits
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 340),
            usc_string_slot(2, USC_STRING_FIXED) | usc_string_slot(3, USC_STRING_FIXED_OUT));  // prlimit64
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 437),
            usc_string_slot(1, USC_STRING_TEXT) | usc_string_slot(2, USC_STRING_SIZED));  // openat2
}

// Commands of devices have a size in their number, and the tables what lies there.
TEST(SyscallTable, StructuresOfDevices) {
  const auto name_of = [](std::uint32_t command) {
    const Layout* layout = ioctl_structure(command);
    return layout == nullptr ? std::string() : std::string(layout->name);
  };
  EXPECT_EQ(name_of(0x5401), "termios");              // TCGETS
  EXPECT_EQ(name_of(0x5413), "winsize");              // TIOCGWINSZ
  EXPECT_EQ(name_of(0x541b), "int");                  // FIONREAD
  EXPECT_EQ(name_of(0x8933), "ifreq");                // SIOCGIFINDEX
  EXPECT_EQ(name_of(0xc020aa00), "uffdio_register");  // UFFDIO_REGISTER
  EXPECT_EQ(name_of(0x80086601), "signed_32");        // FS_IOC_GETFLAGS, though its number says 64
  EXPECT_EQ(name_of(0x540e), "");                     // TIOCSCTTY takes a number
  std::uint32_t before = 0;
  for (const CommandLayout& one : layouts::kIoctls) {
    EXPECT_LT(before, one.command);
    EXPECT_GE(usc_ioctl_bytes(one.command), one.layout->bytes) << std::hex << one.command;
    before = one.command;
  }
  for (const std::uint32_t plain : {0x5401U, 0x5413U, 0x541bU, 0x8933U})
    EXPECT_EQ(usc_ioctl_bytes(plain), ioctl_structure(plain)->bytes) << std::hex << plain;
  EXPECT_TRUE(usc_ioctl_gets(0x5401) && !usc_ioctl_sets(0x5401) && usc_ioctl_sets(0x5402) && !usc_ioctl_gets(0x5402));
  EXPECT_TRUE(usc_ioctl_gets(0xc020aa00) && usc_ioctl_sets(0xc020aa00) && !usc_ioctl_gets(0x40088a01));
}

// How long a structure is that says so itself.
TEST(SyscallTable, StructuresThatSayHowLongTheyAre) {
  const Layout* handle = structure_of("open_by_handle_at", 1);
  const std::string three("\3\0\0\0\1\0\0\0abc", 11);
  EXPECT_EQ(length_in(*handle, three), 11U);
  EXPECT_EQ(length_in(*handle, std::string(8, '\xff')), std::size_t{handle->bytes});
  EXPECT_EQ(length_in(*structure_of("perf_event_open", 0), std::string(64, '\0')), 64U);
  EXPECT_EQ(length_in(*structure_of("perf_event_open", 0), "abc"), std::nullopt);
  EXPECT_EQ(length_in(*structure_of("setrlimit", 1), std::string(16, '\0')), std::nullopt);
}

// The second kinds of a call's arguments are those of its first ones.
TEST(SyscallTable, SecondKindsHaveASlot) {
  for (std::uint32_t nr = 0; nr < kSyscallNumbers; nr++) {
    const std::string_view letters = syscall_arguments(USC_ABI_X86_64, nr).value_or("");
    const std::size_t last = letters.find_last_of("nNU");
    EXPECT_TRUE(last == std::string_view::npos || last < USC_STRING_SECOND_ARGS) << nr;
  }
}

TEST(SyscallTable, ContentsAreOnDemand) {
  const auto slot = [](std::uint32_t number, std::uint32_t kind) { return usc_string_slot(number, kind); };
  for (const std::uint32_t nr : {0, 1, 7, 19, 230, 232}) EXPECT_EQ(syscall_strings(USC_ABI_X86_64, nr), 0U) << nr;
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 0, true), slot(1, USC_STRING_DATA_OUT));
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 1, true), slot(1, USC_STRING_DATA));
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 44, true), slot(1, USC_STRING_DATA) | slot(4, USC_STRING_ADDRESS));
  // Two kinds of one argument: a poll is asked and answers; a struct msghdr has an address and buffers.
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 7, true), slot(0, USC_STRING_POLL) | slot(6, USC_STRING_POLL_OUT));
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 46, true), slot(1, USC_STRING_MESSAGE) | slot(7, USC_STRING_BUFFERS));
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 47, true),
            slot(1, USC_STRING_MESSAGE_OUT) | slot(7, USC_STRING_BUFFERS_OUT));
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 202, true), slot(0, USC_STRING_FUTEX) | slot(3, USC_STRING_TIME));
  EXPECT_EQ(syscall_strings(USC_ABI_X86_64, 22, true), syscall_strings(USC_ABI_X86_64, 22));  // pipe's pair: always
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 3, true), slot(1, USC_STRING_DATA_OUT));
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 162, true), 0U);                        // nanosleep: of 32 bits
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 195, true), slot(0, USC_STRING_TEXT));  // stat64: another layout
  EXPECT_EQ(syscall_strings(USC_ABI_I386, 240, true), slot(0, USC_STRING_FUTEX));
}

TEST(SyscallTable, ArgumentsAreOfKnownKinds) {
  for (std::uint32_t nr = 0; nr < kSyscallNumbers; nr++) {
    const auto arguments = syscall_arguments(USC_ABI_X86_64, nr);
    if (!arguments) continue;
    EXPECT_LE(arguments->size(), 6u);
    EXPECT_EQ(arguments->find_first_not_of("dDspiulzfFmMgoOHGJcCKLQVRZ12345678xvraAnNwPqbBeEUyYtTkhjWISX"),
              std::string_view::npos)
        << nr;
  }
}

// A program that makes every call there is. A seccomp filter keeps each from being done; strace sees them before that.
// 335 and 336 kill a process that no probe made them for.
constexpr char kEveryCall[] = R"(
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
static void call64(long nr, long v) {
  register long d asm("r10") = v, e asm("r8") = v, f asm("r9") = v;
  asm volatile("syscall" : "+a"(nr) : "D"(v), "S"(v), "d"(v), "r"(d), "r"(e), "r"(f) : "rcx", "r11", "memory");
}
static void call32(long nr, long v) {
  asm volatile("push %%rbp; mov %%rbx, %%rbp; int $0x80; pop %%rbp"
               : "+a"(nr) : "b"(v), "c"(v), "d"(v), "S"(v), "D"(v) : "memory", "r8", "r9", "r10", "r11");
}
int main(int argc, char** argv) {
  enum { kMark = 7777 };
  struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMark, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 38)};
  struct sock_fprog program = {4, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
  int legacy = argc > 1 && atoi(argv[1]) == 32;
  for (int nr = 0; nr <= 450; nr++) {
    if (legacy) call32(nr, -100);
    else if (nr != 335 && nr != 336) call64(nr, -100);
  }
  call64(231, kMark);
  return 2;
}
)";

class AgainstStrace : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v strace > /dev/null && strace -e trace=getpid -o /dev/null true 2> /dev/null") != 0)
      GTEST_SKIP() << "strace cannot run here";
    std::string pattern = (std::filesystem::temp_directory_path() / "uscope-syscalls-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(folder_ + "/every.c") << kEveryCall;
    lines_of("cc -O1 -static -o " + folder_ + "/every " + folder_ + "/every.c");
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // Name → number of arguments, of the calls that strace shows.
  std::map<std::string, std::size_t> seen(const std::string& options, int bits) {
    std::map<std::string, std::size_t> calls;
    const std::string program = folder_ + "/every " + std::to_string(bits);
    lines_of("strace -o " + folder_ + "/out " + options + " " + program + " || test $? = 97");
    std::ifstream out(folder_ + "/out");
    for (std::string line; std::getline(out, line);) {
      const std::size_t open = line.find('(');
      const std::size_t close = line.find(')');
      if (open == std::string::npos || close == std::string::npos || line.starts_with("syscall_")) continue;
      const std::string arguments = line.substr(open + 1, close - open - 1);
      const auto commas = static_cast<std::size_t>(std::count(arguments.begin(), arguments.end(), ','));
      calls[line.substr(0, open)] = arguments.empty() ? 0 : commas + 1;
    }
    return calls;
  }

  std::string folder_;
};

TEST_F(AgainstStrace, ClassesAreThoseOfStrace) {
  const std::map<std::string, std::uint16_t> classes = {
      {"%file", kClassFile},     {"%process", kClassProcess}, {"%network", kClassNetwork}, {"%desc", kClassDesc},
      {"%memory", kClassMemory}, {"%signal", kClassSignal},   {"%ipc", kClassIpc}};
  for (const int bits : {64, 32}) {
    const usc_abi abi = bits == 64 ? USC_ABI_X86_64 : USC_ABI_I386;
    const auto all = seen("-e raw=all", bits);
    ASSERT_GE(all.size(), 360u);
    for (const auto& [name, mask] : classes) {
      const auto members = seen("-e raw=all -e trace=" + name, bits);
      EXPECT_GE(members.size(), 12u) << name;
      for (const auto& [call, arguments] : all) {
        const auto nr = syscall_number(abi, call);
        if (!nr) continue;  // calls of the 64-bit ABI that the 32-bit program makes at its start and end
        EXPECT_EQ((syscall_classes(abi, *nr) & mask) != 0, members.contains(call))
            << name << " " << call << " " << bits;
      }
    }
  }
}

TEST_F(AgainstStrace, ArgumentsAreAsMany) {
  std::size_t compared = 0;
  for (const auto& [call, arguments] : seen("-e raw=all", 64)) {
    const auto nr = syscall_number(USC_ABI_X86_64, call);
    ASSERT_TRUE(nr) << call;
    EXPECT_EQ(syscall_arguments(USC_ABI_X86_64, *nr)->size(), arguments) << call;
    compared++;
  }
  EXPECT_GE(compared, 360u);
}

SyscallSet parsed(const std::string& text) {
  const auto set = parse_syscall_set(text);
  EXPECT_TRUE(set) << (set ? "" : set.error().what);
  return set ? *set : SyscallSet{};
}

// The names of a set's 64-bit calls.
std::set<std::string> names(const std::string& text) {
  std::set<std::string> result;
  const SyscallSet set = parsed(text);
  for (std::uint32_t nr = 0; nr < kSyscallNumbers; nr++)
    if (set.tables[USC_CALLS_NATIVE][nr]) result.insert(syscall_name(USC_ABI_X86_64, nr));
  return result;
}

TEST(SyscallSets, NamesAndClasses) {
  EXPECT_EQ(names("openat"), std::set<std::string>({"openat"}));
  EXPECT_EQ(names("openat,read,openat"), std::set<std::string>({"openat", "read"}));
  EXPECT_EQ(names("%ipc"), std::set<std::string>({"msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop",
                                                  "semtimedop", "shmat", "shmctl", "shmdt", "shmget"}));
  EXPECT_EQ(names("%sync"),
            std::set<std::string>({"fdatasync", "fsync", "msync", "sync", "sync_file_range", "syncfs"}));
  EXPECT_TRUE(names("%wait").contains("epoll_wait"));
  EXPECT_FALSE(names("%wait").contains("read"));
  EXPECT_TRUE(parsed("%wait").contains(USC_ABI_I386, 422));  // futex_time64
  EXPECT_TRUE(names("%file").contains("openat"));
  EXPECT_FALSE(names("%file").contains("read"));
  EXPECT_EQ(parsed("all").tables[USC_CALLS_NATIVE].count(), kSyscallNumbers);
}

TEST(SyscallSets, HoldTheSameNamesInEveryAbi) {
  const SyscallSet set = parsed("open,mmap2");
  EXPECT_TRUE(set.contains(USC_ABI_X86_64, 2));
  EXPECT_TRUE(set.contains(USC_ABI_I386, 5));
  EXPECT_TRUE(set.contains(USC_ABI_I386, 192));
  EXPECT_EQ(set.tables[USC_CALLS_NATIVE].count(), 1u);
  EXPECT_EQ(set.tables[USC_CALLS_COMPAT].count(), 2u);
  EXPECT_TRUE(parsed("ioctl").contains(USC_ABI_X32, 0x40000000 + 514));
  EXPECT_FALSE(parsed("ioctl").contains(USC_ABI_X32, 0x40000000 + 16 + 1));
}

TEST(SyscallSets, ExclamationMarks) {
  const auto count = kSyscallNumbers;
  EXPECT_EQ(parsed("!read").tables[USC_CALLS_NATIVE].count(), count - 1);
  EXPECT_FALSE(parsed("!read").contains(USC_ABI_X86_64, 0));
  EXPECT_EQ(parsed("!read,write").tables[USC_CALLS_NATIVE].count(), count - 2);
  EXPECT_EQ(parsed("!read,!write"), parsed("!read,write"));
  EXPECT_EQ(parsed("all,!read"), parsed("!read"));
  EXPECT_EQ(parsed("!read"), parsed("all,!read,!read"));
  EXPECT_EQ(names("%ipc,!semctl,getpid,!msgget").size(), 11u);
  EXPECT_EQ(names("read,!read,write"), std::set<std::string>({"write"}));
  EXPECT_EQ(names("%file,!%file,getpid"), std::set<std::string>({"getpid"}));
}

TEST(SyscallSets, NoneIsTheOnlyEmptySet) {
  EXPECT_EQ(parsed("none").tables[USC_CALLS_NATIVE].count() + parsed("none").tables[USC_CALLS_COMPAT].count(), 0u);
  EXPECT_EQ(parsed("none,read"), parsed("read"));
  EXPECT_FALSE(parse_call_set("none"));
}

TEST(SyscallSets, CallsWithoutAName) {
  EXPECT_TRUE(parsed("all").contains(USC_ABI_X86_64, 400));
  EXPECT_TRUE(parsed("!read").contains(USC_ABI_X86_64, 100000));
  EXPECT_FALSE(parsed("%file").contains(USC_ABI_X86_64, 400));
  EXPECT_FALSE(parsed("read").contains(USC_ABI_I386, 100000));
}

TEST(SyscallSets, ErrorsOfferTheNearestNames) {
  const auto fail = [](const std::string& text) {
    const auto set = parse_syscall_set(text);
    return set ? Error{"no error for " + text, ""} : set.error();
  };
  EXPECT_EQ(fail("opnat").what, "'opnat' is not a system call");
  EXPECT_TRUE(fail("opnat").remedy.starts_with("did you mean openat")) << fail("opnat").remedy;
  EXPECT_TRUE(fail("read,clsoe").remedy.starts_with("did you mean close")) << fail("read,clsoe").remedy;
  EXPECT_EQ(fail("network").remedy, "did you mean %network?");
  EXPECT_EQ(fail("%fiel").what, "'%fiel' is not a class of system calls");
  EXPECT_EQ(fail("%fiel").remedy, "did you mean %file?");
  EXPECT_EQ(fail("somethingquitedifferent").remedy,
            "give names of system calls, %file, %process, %network, %desc, %memory, %signal, %ipc, %wait, %sync, all "
            "or none");
  EXPECT_EQ(fail("").what, "an empty name in a set of system calls");
  EXPECT_EQ(fail("read,,write").what, "an empty name in a set of system calls");
  EXPECT_EQ(fail("read,").what, "an empty name in a set of system calls");
  EXPECT_EQ(fail("!all").what, "'!all' names no system call");
  EXPECT_EQ(fail("read,!read").what, "'read,!read' names no system call");
  EXPECT_EQ(fail("!none").what, "'none' is not a system call");
  EXPECT_EQ(fail(std::string(100000, 'x')).what.size(), 100000 + std::string("'' is not a system call").size());
}

TEST(ErrnoNames, OfLinux) {
  EXPECT_EQ(errno_name(ENOENT), "ENOENT");
  EXPECT_EQ(errno_name(EAGAIN), "EAGAIN");
  EXPECT_EQ(errno_name(EOPNOTSUPP), "EOPNOTSUPP");
  EXPECT_EQ(errno_name(EDEADLK), "EDEADLK");
  EXPECT_EQ(errno_name(512), "ERESTARTSYS");
  EXPECT_EQ(errno_name(513), "ERESTARTNOINTR");
  EXPECT_EQ(errno_name(514), "ERESTARTNOHAND");
  EXPECT_EQ(errno_name(515), "ENOIOCTLCMD");
  EXPECT_EQ(errno_name(516), "ERESTART_RESTARTBLOCK");
  for (const int none : {0, -1, -2, 41, 58, 134, 511, 517, 4095}) EXPECT_EQ(errno_name(none), "") << none;
}

TEST(SignalNames, AsTheKernelCountsThem) {
  EXPECT_EQ(signal_name(SIGINT), "SIGINT");
  EXPECT_EQ(signal_name(SIGCHLD), "SIGCHLD");
  EXPECT_EQ(signal_name(SIGIO), "SIGIO");
  EXPECT_EQ(signal_name(31), "SIGSYS");
  EXPECT_EQ(signal_name(32), "SIGRTMIN");
  EXPECT_EQ(signal_name(33), "SIGRT_1");
  EXPECT_EQ(signal_name(64), "SIGRT_32");
  for (const int none : {0, -1, 65, 128}) EXPECT_EQ(signal_name(none), "") << none;
}

}  // namespace
}  // namespace uscope::syscalls

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The system calls that each sandbox allows, compared with tests/golden/sandbox_calls.txt. This program has a
// seccomp_load of its own, which can hand the filter's BPF program over instead of loading it. The test then runs that
// program for every call number and for arguments on both sides of each condition. USCOPE_UPDATE_GOLDEN=1 writes the
// file anew.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/sandbox/confine.h"
#include "support/sandbox/renounce.h"
#include "support/unique_fd.h"
#include "tests/support/paths.h"

namespace {
int export_to = -1;  // where seccomp_load writes the program; it loads the filter if there is none
}

extern "C" int seccomp_load(const scmp_filter_ctx context) {
  if (export_to >= 0) return seccomp_export_bpf(context, export_to);
  const auto load = reinterpret_cast<decltype(&seccomp_load)>(dlsym(RTLD_NEXT, "seccomp_load"));
  return load != nullptr ? load(context) : -ENOSYS;
}

namespace uscope {
namespace {

using Program = std::vector<sock_filter>;

// The program that `enter` would load, in a process of its own; empty if it failed.
Program program_of(const std::function<bool()>& enter) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    export_to = to.get();
    _exit(enter() ? 0 : 1);
  }
  to.reset();
  Program program;
  sock_filter instruction{};
  while (read(from.get(), &instruction, sizeof(instruction)) == static_cast<ssize_t>(sizeof(instruction)))
    program.push_back(instruction);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? program : Program();
}

// What a filter's program returns for a call, as the kernel runs it; SECCOMP_RET_KILL_PROCESS for a program that ends
// in another way than by returning.
std::uint32_t run(const Program& program, const seccomp_data& call) {
  std::uint32_t value = 0;
  for (std::size_t at = 0; at < program.size(); at++) {
    const sock_filter& is = program[at];
    switch (is.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&value, reinterpret_cast<const char*>(&call) + is.k, sizeof(value));
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        value &= is.k;
        break;
      case BPF_JMP | BPF_JA:
        at += is.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += value == is.k ? is.jt : is.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += value >= is.k ? is.jt : is.jf;
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        at += value > is.k ? is.jt : is.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (value & is.k) != 0 ? is.jt : is.jf;
        break;
      case BPF_RET | BPF_K:
        return is.k;
      default:
        return SECCOMP_RET_KILL_PROCESS;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

std::string action_text(std::uint32_t answer) {
  if (answer == SECCOMP_RET_ALLOW) return "allowed";
  std::ostringstream text;
  if ((answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
    text << "errno " << (answer & SECCOMP_RET_DATA);
  else
    text << "0x" << std::hex << answer;
  return text.str();
}

constexpr std::uint64_t kForkFlags = 0x1200011;
constexpr std::uint64_t kHigh = std::uint64_t{1} << 32;
constexpr std::array<std::uint64_t, 19> kArguments = {0,
                                                      1,
                                                      2,
                                                      3,
                                                      4,
                                                      5,
                                                      7,
                                                      kForkFlags,
                                                      kForkFlags | 0x100,
                                                      kForkFlags - 1,
                                                      0x10000000,  // CLONE_NEWUSER
                                                      0xffffffff,
                                                      kHigh,
                                                      kHigh + 1,
                                                      kHigh + 2,
                                                      kHigh + 4,
                                                      kHigh + 8,
                                                      kHigh + kForkFlags,
                                                      ~std::uint64_t{0}};
constexpr int kNumbers = 1024;  // more than the kernel has

struct Abi {
  const char* name;
  std::uint32_t arch;
  int bit;  // set in each number
};
constexpr std::array<Abi, 3> kOtherAbis = {
    {{"i386", AUDIT_ARCH_I386, 0}, {"arm64", AUDIT_ARCH_AARCH64, 0}, {"x32", AUDIT_ARCH_X86_64, 0x40000000}}};

// The answer to a call whose arguments are 0, and behind it each single argument that makes another one.
std::string answer_text(const Program& program, std::uint32_t arch, int number) {
  seccomp_data call{};
  call.nr = number;
  call.arch = arch;
  const std::uint32_t plain = run(program, call);
  std::ostringstream text;
  text << action_text(plain);
  for (std::size_t i = 0; i < std::size(call.args); i++)
    for (const std::uint64_t value : kArguments) {
      call.args[i] = value;
      const std::uint32_t answer = run(program, call);
      call.args[i] = 0;
      if (answer != plain) text << "; argument " << i << " = 0x" << std::hex << value << ": " << action_text(answer);
    }
  return text.str();
}

std::string name_of(int number) {
  char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, number);
  std::string text = name != nullptr ? name : std::to_string(number);
  std::free(name);
  return text;
}

// A line for each call that the sandbox does not treat as it treats most calls.
std::string sandbox_text(const std::string& title, const Program& program) {
  std::map<std::string, int> answers;
  std::map<int, std::string> calls;
  for (int number = -2; number < kNumbers; number++)
    answers[calls[number] = answer_text(program, AUDIT_ARCH_X86_64, number)]++;
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const std::string usual = std::max_element(answers.begin(), answers.end(), fewer)->first;
  std::ostringstream text;
  text << title << "\n  any other call: " << usual << '\n';
  for (const auto& [number, answer] : calls)
    if (answer != usual) text << "  " << name_of(number) << ": " << answer << '\n';
  for (const Abi& abi : kOtherAbis) {
    answers.clear();
    for (int number = 0; number < kNumbers; number++) answers[answer_text(program, abi.arch, number | abi.bit)]++;
    for (const auto& [answer, count] : answers)
      text << "  " << count << " calls of " << abi.name << ": " << answer << '\n';
  }
  return text.str();
}

TEST(SandboxCalls, AreThoseOfTheGoldenFile) {
  const auto reader = program_of([] { return static_cast<bool>(renounce({0, 16})); });
  const auto loader = program_of([] { return static_cast<bool>(confine({})); });
  const auto downloader = program_of([] { return static_cast<bool>(confine({{}, true})); });
  ASSERT_FALSE(reader.empty() || loader.empty() || downloader.empty());
  const std::string now = sandbox_text("renounce", reader) + sandbox_text("confine", loader) +
                          sandbox_text("confine, with network", downloader);
  const std::string path = std::string(paths::kSourceFolder) + "/tests/golden/sandbox_calls.txt";
  if (std::getenv("USCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << now;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(golden.str(), now);
}

}  // namespace
}  // namespace uscope

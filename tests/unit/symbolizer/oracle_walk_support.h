// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs a program or a function under ptrace and hands over each system call's registers, stack and mappings, as a
// tracer would sample them. For x86-64.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "support/unique_fd.h"
#include "symbolizer/oracle/oracle.h"

namespace uscope::symbolizer {

struct Stop {
  pid_t tid = 0;
  std::uint64_t call = 0;
  OracleSample sample;
  std::vector<std::byte> stack;
  std::string maps;  // /proc/TID/maps
};

constexpr std::size_t kStackCopy = 256 * 1024;

inline std::string read_text(const std::string& path) {
  std::string text;
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char room[65536];
  for (ssize_t got; fd && (got = read(fd.get(), room, sizeof(room))) > 0;)
    text.append(room, static_cast<std::size_t>(got));
  return text;
}

inline OracleSample sample_of(const user_regs_struct& regs) {
  OracleSample sample;
  sample.registers = {regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi, regs.rbp, regs.rsp,
                      regs.r8,  regs.r9,  regs.r10, regs.r11, regs.r12, regs.r13, regs.r14, regs.r15};
  sample.pc = regs.rip;
  sample.behind = true;
  return sample;
}

// A copy from rsp - 128 on, up to the end of what can be read there.
inline std::vector<std::byte> copy_stack(pid_t tid, std::uint64_t from) {
  std::vector<std::byte> bytes(kStackCopy);
  std::vector<iovec> remote;
  for (std::uint64_t at = from; at < from + kStackCopy;) {
    const std::uint64_t next = std::min<std::uint64_t>((at & ~std::uint64_t{4095}) + 4096, from + kStackCopy);
    remote.push_back({reinterpret_cast<void*>(at), next - at});
    at = next;
  }
  iovec local{bytes.data(), bytes.size()};
  const ssize_t got = process_vm_readv(tid, &local, 1, remote.data(), remote.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

// Runs `child` in a forked process under ptrace, with all threads and processes it makes; `on_call` at each system
// call's entry. Returns the first process's wait status.
inline int trace_calls(const std::function<void()>& child, const std::function<void(const Stop&)>& on_call) {
  std::fflush(nullptr);
  const pid_t leader = fork();
  if (leader == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    child();
    _exit(0);
  }
  int status = 0;
  waitpid(leader, &status, __WALL);
  constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                            PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  ptrace(PTRACE_SETOPTIONS, leader, nullptr, kOptions);
  ptrace(PTRACE_SYSCALL, leader, nullptr, nullptr);
  std::set<pid_t> known = {leader};
  std::map<pid_t, bool> inside;
  int leader_status = -1;
  for (;;) {
    const pid_t tid = waitpid(-1, &status, __WALL);
    if (tid < 0) break;
    if (!WIFSTOPPED(status)) {
      if (tid == leader) leader_status = status;
      continue;
    }
    const int signal = WSTOPSIG(status);
    long deliver = 0;
    if (signal == (SIGTRAP | 0x80)) {
      inside[tid] = !inside[tid];
      user_regs_struct regs{};
      if (inside[tid] && ptrace(PTRACE_GETREGS, tid, nullptr, &regs) == 0) {
        Stop stop;
        stop.tid = tid;
        stop.call = regs.orig_rax;
        stop.sample = sample_of(regs);
        stop.stack = copy_stack(tid, regs.rsp - 128);
        stop.sample.base = regs.rsp - 128;
        stop.sample.stack = stop.stack;
        stop.maps = read_text("/proc/" + std::to_string(tid) + "/maps");
        on_call(stop);
      }
    } else if (status >> 16 == 0) {
      deliver = signal == SIGSTOP && known.insert(tid).second ? 0 : signal;
    }
    ptrace(PTRACE_SYSCALL, tid, nullptr, deliver);
  }
  return leader_status;
}

struct MapLine {
  std::uint64_t start = 0, end = 0, offset = 0, inode = 0;
  bool executable = false;
  std::string path;
};

inline std::vector<MapLine> parse_maps(const std::string& text) {
  std::vector<MapLine> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    MapLine out;
    char flags[8] = {};
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %lu %n", &out.start, &out.end, flags, &out.offset, &out.inode,
                    &path_at) < 5)
      continue;
    out.executable = std::strchr(flags, 'x') != nullptr;
    if (path_at > 0) out.path = line.substr(static_cast<std::size_t>(path_at));
    lines.push_back(out);
  }
  return lines;
}

}  // namespace uscope::symbolizer

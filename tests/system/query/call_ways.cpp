// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tests/system/query/call_ways.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "uscope/record.h"

namespace uscope::test {

bool sleeps(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string pid, name, state;
  stat >> pid >> name >> state;
  return state == "S";
}

namespace {

constexpr long kThreads = 3;
constexpr long kBefore = 2000;  // calls of a thread until a filter denies them
constexpr long kDenied = 1000;  // and from then on
constexpr long kForks = 10;
constexpr long kOfFork = 7;
constexpr long kOfExec = 5;
constexpr long kSecondNs = 1'000'000'000;
// Errors that the kernel keeps to itself: the call goes on as restart_syscall, or anew if no handler runs.
constexpr std::int64_t kRestartBlock = 516;

void check(bool is_so) {
  if (!is_so) std::abort();
}

// The answer is 0 in the session or group that the kernel itself began, whose init has begun no other one, and where
// its leader is outside of the caller's PID namespace.
void ask_for(long session_or_group) {
  check(syscall(session_or_group, 0) >= 0);
}

// getppid gives an error of the filter's, in all threads of the process.
void deny_parents() {
  std::array<sock_filter, 4> code{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{code.size(), code.data()};
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  check(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
}

// Threads that make no call between an allowed call and a denied one: they wait for the filter by looking at a
// variable.
void call_until_denied() {
  std::atomic<long> ready{0};
  std::atomic<bool> is_denied{false};
  std::vector<std::thread> threads;
  for (long i = 0; i < kThreads; i++)
    threads.emplace_back([&] {
      for (long call = 0; call < kBefore; call++) check(syscall(SYS_getppid) > 0);
      ready++;
      while (!is_denied)
        ;
      for (long call = 0; call < kDenied; call++) check(syscall(SYS_getppid) == -1);
    });
  while (ready != kThreads) sched_yield();
  deny_parents();
  is_denied = true;
  for (std::thread& thread : threads) thread.join();
}

// Runs it in a child, and returns that.
template <typename Work>
pid_t in_child(const Work& work) {
  const pid_t child = fork();
  check(child >= 0);
  if (child == 0) {
    work();
    _exit(0);
  }
  return child;
}

void expect_end(pid_t child) {
  int status = 0;
  check(waitpid(child, &status, 0) == child && status == 0);
}

// A call that is stopped in the middle goes on as restart_syscall, and is told under its own number.
void sleep_through_a_stop() {
  const pid_t child = in_child([] {
    timespec a_second{1, 0};
    check(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &a_second, nullptr) == 0);
    ask_for(SYS_getpgid);
  });
  while (!sleeps(child)) sched_yield();
  check(kill(child, SIGSTOP) == 0);
  int status = 0;
  check(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
  check(kill(child, SIGCONT) == 0);
  expect_end(child);
}

// A call that a signal interrupts, which a handler takes; and one that a signal ends with its thread.
void wait_for_signals() {
  std::array<int, 2> ends{};
  check(pipe(ends.data()) == 0);
  const pid_t child = in_child([&] {
    std::signal(SIGUSR1, [](int) {});
    check(syscall(SYS_pause) == -1);
    check(write(ends[1], "", 1) == 1);
    syscall(SYS_pause);
  });
  while (!sleeps(child)) sched_yield();
  check(kill(child, SIGUSR1) == 0);
  char byte = 0;
  check(read(ends[0], &byte, 1) == 1);
  while (!sleeps(child)) sched_yield();
  check(kill(child, SIGKILL) == 0);
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

// The child runs in its parent's memory, while the parent is in its call.
void run_in_parents_memory() {
  const pid_t child = vfork();
  if (child == 0) {
    syscall(SYS_getpgrp);
    _exit(0);
  }
  expect_end(child);
}

}  // namespace

std::vector<CallEnds> ends_in_all_ways() {
  return {{SYS_getppid, USC_HOW_RETURNED, 0, kThreads * kBefore},
          {SYS_getppid, USC_HOW_NO_ENTRY, EPERM, kThreads * kDenied},
          {SYS_getsid, USC_HOW_RETURNED, 0, kForks * kOfFork + kOfExec},
          {SYS_clock_nanosleep, USC_HOW_RETURNED, kRestartBlock, 1},  // it is stopped,
          {SYS_clock_nanosleep, USC_HOW_RETURNED, 0, 1},              // and goes on
          {SYS_getpgid, USC_HOW_RETURNED, 0, 1},
          {SYS_tkill, USC_HOW_RETURNED, 0, 1},
          {SYS_pause, USC_HOW_RETURNED, EINTR, 1},
          {SYS_pause, USC_HOW_KILLED, 0, 1},
          {SYS_rt_sigreturn, USC_HOW_RETURNED, 0, 1},
          {SYS_nanosleep, USC_HOW_RETURNED, 0, 1},
          {SYS_vfork, USC_HOW_RETURNED, 0, 1},
          {SYS_getpgrp, USC_HOW_RETURNED, 0, 1},
          {SYS_exit, USC_HOW_NORETURN, 0, kThreads}};
}

std::map<long, long> calls_in_all_ways() {
  std::map<long, long> calls{{SYS_restart_syscall, 0}};
  for (const CallEnds& ends : ends_in_all_ways()) calls[ends.number] += ends.calls;
  return calls;
}

int call_in_all_ways(bool again) {
  if (again) {
    for (long call = 0; call < kOfExec; call++) ask_for(SYS_getsid);
    syscall(SYS_tkill, syscall(SYS_gettid), SIGKILL);
    return 1;
  }
  const pid_t sleeper = in_child([] {
    const timespec time{kLongSleepNs / kSecondNs, kLongSleepNs % kSecondNs};
    check(syscall(SYS_nanosleep, &time, nullptr) == 0);
  });
  sleep_through_a_stop();
  wait_for_signals();
  run_in_parents_memory();
  for (long i = 0; i < kForks; i++)
    expect_end(in_child([] {
      for (long call = 0; call < kOfFork; call++) ask_for(SYS_getsid);
    }));
  // Another thread than the first executes the program anew, and goes on under the first one's number.
  const pid_t child =
      in_child([] { std::thread([] { execl("/proc/self/exe", "kernel_sums", "ways-again", nullptr); }).join(); });
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  call_until_denied();
  expect_end(sleeper);
  return 0;
}

}  // namespace uscope::test

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/end_signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace uscope {
namespace {

// A signal mask and an action as the kernel has them: glibc's functions leave out the two signals that it uses for
// itself, which end a program like any other where it does not use them.
using Mask = std::uint64_t;
struct KernelAction {
  void (*handler)(int) = SIG_DFL;
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  Mask mask = 0;
};
constexpr int kLastSignal = 64;

constexpr Mask bit_of(int number) {
  return Mask{1} << (number - 1);
}

Mask set_mask(int how, Mask mask) {
  Mask before = 0;
  syscall(SYS_rt_sigprocmask, how, &mask, &before, sizeof(mask));
  return before;
}

KernelAction set_action(int number, const KernelAction* action) {
  KernelAction before;
  syscall(SYS_rt_sigaction, number, action, &before, sizeof(Mask));
  return before;
}

// Signals of glibc's own, which its functions do not block. Threads may need them, so they are ignored instead.
bool is_of_library(int number) {
  sigset_t all;
  sigfillset(&all);
  return number != SIGKILL && number != SIGSTOP && sigismember(&all, number) != 1;
}

struct Inherited {
  bool is_noted = false;
  bool is_held = false;
  Mask mask = 0;
  std::array<KernelAction, kLastSignal + 1> of_library{};  // by number; those that is_of_library()
};
Inherited inherited;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void note() {
  if (inherited.is_noted) return;
  inherited.is_noted = true;
  inherited.mask = set_mask(SIG_BLOCK, 0);
  for (int number = 1; number <= kLastSignal; number++)
    if (is_of_library(number)) inherited.of_library.at(static_cast<std::size_t>(number)) = set_action(number, nullptr);
}

}  // namespace

bool end_is_asked_for() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return false;
  return std::any_of(std::begin(kEndSignals), std::end(kEndSignals),
                     [&](int number) { return sigismember(&pending, number) == 1; });
}

void note_inherited_signals() {
  note();
  set_mask(SIG_BLOCK, bit_of(SIGXFSZ));
}

Result<void> hold_signals() {
  note();
  inherited.is_held = true;
  const KernelAction ignored{SIG_IGN};
  for (int number = 1; number <= kLastSignal; number++)
    if (is_of_library(number)) set_action(number, &ignored);
  sigset_t held;
  sigfillset(&held);
  for (const int number : {SIGTSTP, SIGTTIN, SIGTTOU}) sigdelset(&held, number);
  if (sigprocmask(SIG_BLOCK, &held, nullptr) != 0) return errno_error("cannot block signals", errno);
  return {};
}

SignalsLetThrough::SignalsLetThrough(std::span<const int> numbers) {
  Mask mask = 0;
  for (const int number : numbers) mask |= bit_of(number);
  before_ = set_mask(SIG_UNBLOCK, inherited.is_held ? mask & ~inherited.mask : 0);
}

SignalsLetThrough::~SignalsLetThrough() {
  set_mask(SIG_SETMASK, before_);
}

void give_signals_back() {
  if (!inherited.is_noted) return;
  for (int number = 1; number <= kLastSignal; number++)
    if (inherited.is_held && is_of_library(number))
      set_action(number, &inherited.of_library.at(static_cast<std::size_t>(number)));
  set_mask(SIG_SETMASK, inherited.mask);
}

void end_by_signal(int number) {
  const KernelAction plain;
  set_action(number, &plain);
  set_mask(SIG_UNBLOCK, bit_of(number));
  syscall(SYS_tgkill, getpid(), gettid(), number);
}

}  // namespace uscope

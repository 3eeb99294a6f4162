// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/interruption.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace uscope::cli {
namespace {

volatile std::sig_atomic_t interrupted_by = 0;

// For the handler, which only reads it.
std::vector<std::uint32_t>& ignored_senders() {
  static std::vector<std::uint32_t> pids;
  return pids;
}

void note_signal(int number, siginfo_t* info, void* /*context*/) {
  const std::vector<std::uint32_t>& ignored = ignored_senders();
  const bool is_sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
  if (is_sent && std::binary_search(ignored.begin(), ignored.end(), static_cast<std::uint32_t>(info->si_pid))) return;
  interrupted_by = number;
}

}  // namespace

Interruption::Interruption() {
  interrupted_by = 0;
  (void)ignored_senders();
  for (std::size_t i = 0; i < kEndSignals.size(); i++) {
    struct sigaction action {};
    sigaction(kEndSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) continue;
    action.sa_sigaction = note_signal;
    action.sa_flags = SA_SIGINFO;
    sigaction(kEndSignals[i], &action, nullptr);
  }
  let_through_.emplace(kEndSignals);
}

Interruption::~Interruption() {
  let_through_.reset();
  for (std::size_t i = 0; i < kEndSignals.size(); i++) sigaction(kEndSignals[i], &before_[i], nullptr);
}

int Interruption::signal() {
  return interrupted_by;
}

void Interruption::ignore_senders(std::vector<std::uint32_t> pids) {
  ignored_senders() = std::move(pids);
}

}  // namespace uscope::cli

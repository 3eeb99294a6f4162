// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/interruption.h"

#include <cstddef>

namespace uscope::cli {
namespace {

volatile std::sig_atomic_t interrupted_by = 0;

}  // namespace

Interruption::Interruption() {
  interrupted_by = 0;
  for (std::size_t i = 0; i < kSignals.size(); i++) {
    struct sigaction action {};
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) continue;
    action.sa_handler = [](int number) { interrupted_by = number; };
    sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); i++) sigaction(kSignals[i], &before_[i], nullptr);
}

int Interruption::signal() {
  return interrupted_by;
}

}  // namespace uscope::cli

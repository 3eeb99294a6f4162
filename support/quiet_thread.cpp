// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/quiet_thread.h"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace uscope {
namespace {

// Blocks all signals of this thread, and so of those that it begins.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

std::thread quiet_thread(std::function<void()> work) {
  const SignalsBlocked blocked;
  return std::thread(std::move(work));
}

}  // namespace uscope

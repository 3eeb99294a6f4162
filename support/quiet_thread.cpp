// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/quiet_thread.h"

#include <pthread.h>

#include <csignal>
#include <exception>
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

Result<void> run_on_large_stack(const std::function<void()>& work) {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  struct Task {
    const std::function<void()>& work;
    std::exception_ptr thrown;
  } task{work, {}};
  const auto run = [](void* given) -> void* {
    auto& own = *static_cast<Task*>(given);
    try {
      own.work();
    } catch (...) {
      own.thrown = std::current_exception();
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kBytes);
  pthread_t thread{};
  int error = 0;
  {
    const SignalsBlocked blocked;
    error = pthread_create(&thread, &attributes, run, &task);
  }
  pthread_attr_destroy(&attributes);
  if (error != 0)
    return errno_error("cannot begin a thread with a stack of 8 MiB", error,
                       "raise the limits ulimit -v and ulimit -u");
  pthread_join(thread, nullptr);
  if (task.thrown) std::rethrow_exception(task.thrown);
  return {};
}

}  // namespace uscope

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads that no signal reaches: signals are for the main thread.
#pragma once

#include <functional>
#include <thread>

#include "support/result.h"

namespace uscope {

// Begins a thread in which all signals are blocked. Throws std::system_error where there can be no more threads.
[[nodiscard]] std::thread quiet_thread(std::function<void()> work);

// Does the work in such a thread, whose stack has room for what a main thread's has elsewhere, and waits for it:
// RLIMIT_STACK may leave this thread little (ulimit -s).
[[nodiscard]] Result<void> run_on_large_stack(const std::function<void()>& work);

}  // namespace uscope

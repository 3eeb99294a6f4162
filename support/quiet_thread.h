// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads that no signal reaches: signals are for the main thread.
#pragma once

#include <functional>
#include <thread>

namespace uscope {

// Begins a thread in which all signals are blocked. Throws std::system_error where there can be no more threads.
[[nodiscard]] std::thread quiet_thread(std::function<void()> work);

}  // namespace uscope

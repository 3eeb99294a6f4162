// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a process without privileges needs that looks for targets in files, and who asks it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tracer/host/host.h"
#include "tracer/targets/target.h"

namespace uscope::tracer {

constexpr std::size_t kMostAnswerBytes = std::size_t{256} << 20;

[[nodiscard]] bool is_in_binaries(const Target& target);

// Linux 6.18 makes a call of a nop of five bytes, which writes below the stack pointer (symbolizer/code/probe_place.h).
[[nodiscard]] bool may_use_nop5(const Host& host);

// In a child process: gives up its privileges, works, and writes the answer to `fd`. Returns the process's exit code.
[[nodiscard]] int answer_confined(int fd, const std::function<std::string()>& work);

}  // namespace uscope::tracer

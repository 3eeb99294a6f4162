// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The signals with which a user asks a recording to end.
#pragma once

#include <array>
#include <csignal>

namespace uscope {

inline constexpr std::array kEndSignals{SIGINT, SIGTERM, SIGQUIT, SIGHUP};

// Whether one of them is pending. A recording keeps them blocked.
[[nodiscard]] bool end_is_asked_for();

}  // namespace uscope

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of what signals come with, and of the kinds of their events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uscope::syscalls {

// Of a kind of the source `signal` (uscope/records/signal.h): "SIGTERM sent", "SIGTERM delivered".
[[nodiscard]] std::string signal_kind_name(std::uint32_t kind);

// The word of a SET that stands for all signals. (An i386 call has this name, too.)
constexpr const char* kAllSignals = "signal";

// Both kinds of a signal: "SIGTERM" gives the names of its sending and of its delivery; `kAllSignals` those of every
// signal. Nothing if no signal has that name.
[[nodiscard]] std::vector<std::string> kinds_of_signal(const std::string& name);

// Whether `kAllSignals` is in the SET of `record -e`.
[[nodiscard]] bool asks_for_signals(std::string_view set);

// An si_code of a signal: "SI_USER", "SEGV_MAPERR"; its digits where it has no name.
[[nodiscard]] std::string signal_code_name(int number, int code);

}  // namespace uscope::syscalls

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a kind of calls, as a matrix names it, waits (syscalls/call_traits.h), and which results only mean "later".
#pragma once

#include <cstdint>
#include <string_view>

#include "syscalls/call_traits.h"

namespace uscope::analyzer {

// Whether it is a system call, and no hit of a probe, signal or logged event.
[[nodiscard]] bool is_call_kind(std::string_view kind);

// Whether the call's count and duration depend on when other threads and peers act.
[[nodiscard]] bool waits(std::string_view kind);

// Whether the call waits for processes or threads, whose time is known, too.
[[nodiscard]] bool waits_for_tasks(std::string_view kind);

// Whether an error only means "not yet": EAGAIN, EINTR, EINPROGRESS, EALREADY; for calls that wait also ETIMEDOUT.
[[nodiscard]] bool is_passing(std::string_view kind, std::int64_t error);

// Whether an error may explain why a run went wrong: it is neither passing nor one of normal work (usual_error.h).
[[nodiscard]] bool is_telling(std::string_view kind, std::int64_t error);

// Whether events of this kind only show what other things led to: that a thread was off the CPU follows from the call
// that blocked it, or from other load of the machine.
[[nodiscard]] bool is_consequence(std::string_view kind);

// What the call transfers through descriptors (syscalls/call_traits.h).
[[nodiscard]] syscalls::Transfer transfer_of_kind(std::string_view kind);

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The causes of loss and what each leaves out of a trace: the one place that the tracer, the loader and the readers
// ask.
#pragma once

#include <cstdint>
#include <string_view>

#include "uscope/record.h"

namespace uscope::trace {

// Named and explained in include/uscope/lists/loss_class.def.
enum class LossClass : std::uint8_t {
#define USC_X(name, loses_events, counts_events, meaning) name,
#include "uscope/lists/loss_class.def"
#undef USC_X
};

// The only cause that the loader alone finds, beside those of loss.def.
constexpr std::string_view kFileChanged = "file_changed";

// The cause's name in the database; empty for a number that this version does not know.
[[nodiscard]] std::string_view loss_name(std::uint32_t cause);
// The cause's meaning, by its name; empty for a name that this version does not know.
[[nodiscard]] std::string_view loss_meaning(std::string_view cause);

// What a user can do about it, as a sentence without a capital letter; empty for a name that this version does not
// know.
[[nodiscard]] std::string_view loss_remedy(std::string_view cause);

// What a cause leaves out. Nothing is known of a cause of a later version, so it counts as EVENTS.
[[nodiscard]] LossClass loss_class(std::uint32_t cause);
[[nodiscard]] LossClass loss_class(std::string_view cause);

// True if events are missing, or may be: the trace is not complete.
[[nodiscard]] bool loses_events(LossClass missing);
// True if anything is missing at all: events, stacks, strings, names. False for work that only took longer.
[[nodiscard]] bool leaves_out(LossClass missing);
// True if the count of such a loss is part of the number that is shown as lost.
[[nodiscard]] bool counts_events(LossClass missing);

}  // namespace uscope::trace

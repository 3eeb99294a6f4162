// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The trigger of a stack: the frame of the application that asked for the call. The loader and `uscope top` choose it
// by this one rule.
//
// It is the innermost frame in a module of the application that is no run-time module. A loader or libc that was itself
// executed (ldd) makes its module an application's; a frame of it is the trigger only of stacks in which no other
// application module is. A stack without any application frame has a fallback: its innermost frame outside run-time
// modules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

namespace uscope::trace {

// What the rule asks of a frame's module.
struct TriggerModule {
  bool app = false;      // of the application: by its class, or since it was executed
  bool runtime = false;  // is_runtime() of its path, or the vdso
};

struct Trigger {
  std::size_t position = 0;  // of the frame, the innermost is 0
  bool fallback = false;     // no frame of the application is in the stack
};

// Chooses among `frames`, innermost first. `module_of` returns the TriggerModule of a frame. Empty if no frame is one.
template <typename Frames, typename ModuleOf>
[[nodiscard]] std::optional<Trigger> find_trigger(const Frames& frames, const ModuleOf& module_of) {
  const auto first = [&](bool app, bool runtime, bool fallback) -> std::optional<Trigger> {
    const auto found = std::find_if(std::begin(frames), std::end(frames), [&](const auto& frame) {
      const TriggerModule module = module_of(frame);
      return module.app == app && module.runtime == runtime;
    });
    if (found == std::end(frames)) return std::nullopt;
    return Trigger{static_cast<std::size_t>(std::distance(std::begin(frames), found)), fallback};
  };
  if (const auto trigger = first(true, false, false)) return trigger;
  if (const auto trigger = first(true, true, false)) return trigger;
  return first(false, false, true);
}

}  // namespace uscope::trace

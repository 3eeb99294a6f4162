// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The trigger of a stack: the frame of the application that asked for the call. This is the one home of the rule: the
// loader, `uscope top`, and the readers with --app-module choose by it.
//
// A module is the application's if it was executed, is named by --app-module, is a library of an executable's own
// (own_libraries.h), or holds the program's main() (main_library() below). The trigger is the innermost frame in such a
// module. Two kinds of frames do not count:
// - those of the C run time, also if the loader or libc was itself executed (ldd); such a frame is the trigger only
//   where no other module of the application is in the stack;
// - the entry point (_start), which asks for nothing: it is the trigger only if nothing but the run time is inside it.
// So the choice never depends on how far out the stack goes. If the budget of frames cut the stack before any frame of
// the application, the trigger is not known, and is said to be cut. A whole stack without a frame of the application
// has a fallback: its innermost frame outside of the run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "trace/names.h"
#include "uscope/record.h"

namespace uscope::trace {

// What the rule asks of a frame's module.
struct TriggerModule {
  bool app = false;      // of the application, except by main_library()
  bool runtime = false;  // is_runtime() of its path, or the vdso
  bool program = false;  // it was executed
};

// What the rule asks of how the stack ended.
enum class StackEnd : std::uint8_t {
  kRoot,    // at the root of its thread
  kBudget,  // the budget of frames cut it
  kOther,   // at the scope, or the walk broke
};

// By usc_stack.ended, and by its name.
[[nodiscard]] inline StackEnd stack_end(std::uint8_t ended) {
  if (ended == USC_ENDED_ROOT) return StackEnd::kRoot;
  return ended == USC_ENDED_BUDGET ? StackEnd::kBudget : StackEnd::kOther;
}
[[nodiscard]] inline StackEnd stack_end(std::string_view ended) {
  if (ended == ended_name(USC_ENDED_ROOT)) return StackEnd::kRoot;
  return ended == ended_name(USC_ENDED_BUDGET) ? StackEnd::kBudget : StackEnd::kOther;
}

enum class TriggerKind : std::uint8_t {
  kApplication,
  kFallback,  // no frame of the application is in the stack
  kCut,       // nor may be known: `position` is that of the innermost frame outside of the run time, or else 0
};

// How a trigger that was cut is called: a function of that name stands for it.
constexpr const char* kCutName = "(cut)";

struct Trigger {
  std::size_t position = 0;  // of the frame, the innermost is 0
  TriggerKind kind = TriggerKind::kApplication;
};

// Whether the outermost of these frames is the entry point of its program, which the C run time calls main() for.
template <typename Frames, typename ModuleOf>
[[nodiscard]] bool ends_in_entry(const Frames& frames, const ModuleOf& module_of, StackEnd end) {
  const auto count = std::size(frames);
  if (end != StackEnd::kRoot || count < 2) return false;
  const TriggerModule outermost = module_of(frames[count - 1]);
  return outermost.program && !outermost.runtime && module_of(frames[count - 2]).runtime;
}

// The position of a frame of main() in a library: the one that glibc called, by two functions, for an executable's
// entry point. (At exit, libc calls handlers through more functions; constructors are called through fewer.)
template <typename Frames, typename ModuleOf>
[[nodiscard]] std::optional<std::size_t> main_library(const Frames& frames, const ModuleOf& module_of, StackEnd end) {
  constexpr std::size_t kOutside = 3;  // __libc_start_call_main, __libc_start_main, _start
  const auto count = std::size(frames);
  if (count <= kOutside || !ends_in_entry(frames, module_of, end)) return std::nullopt;
  const std::size_t position = count - kOutside - 1;
  const TriggerModule main = module_of(frames[position]);
  if (main.app || main.runtime || !module_of(frames[position + 1]).runtime) return std::nullopt;
  return position;
}

// Chooses among `frames`, innermost first. `module_of` returns the TriggerModule of a frame. Empty if no frame is one.
template <typename Frames, typename ModuleOf>
[[nodiscard]] std::optional<Trigger> find_trigger(const Frames& frames, const ModuleOf& module_of, StackEnd end) {
  const auto count = std::size(frames);
  const bool entry = ends_in_entry(frames, module_of, end);
  const auto first = [&](bool app, bool runtime) -> std::optional<std::size_t> {
    for (std::size_t position = 0; position < count - (entry ? 1 : 0); position++) {
      const TriggerModule module = module_of(frames[position]);
      if (module.app == app && module.runtime == runtime) return position;
    }
    return std::nullopt;
  };
  if (const auto position = first(true, false)) return Trigger{*position, TriggerKind::kApplication};
  const auto library = first(false, false);
  if (end == StackEnd::kBudget && count != 0) return Trigger{library.value_or(0), TriggerKind::kCut};
  if (!entry)
    if (const auto position = first(true, true)) return Trigger{*position, TriggerKind::kApplication};
  if (library) return Trigger{*library, TriggerKind::kFallback};
  if (entry) return Trigger{count - 1, TriggerKind::kApplication};
  return std::nullopt;
}

}  // namespace uscope::trace

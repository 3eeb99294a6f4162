// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The trigger of a stack: the frame of the application that asked for the call. This is the one home of the rule: the
// loader, `uscope top`, and the readers with --app-module and --app-runtime choose by it.
//
// A module is the application's if it was executed, is named by --app-module, is a library of an executable's own
// (own_libraries.h), or holds the program (main_library(), ends_in_other_program()). Generated code whose functions
// have names is the application's, too. The trigger is the innermost frame of the application's own functions
// (function_origin.h), inlined calls included. What does not count:
// - the C run time, also if the loader or libc was itself executed (ldd); if --app-module names it, its functions count
//   where there are no others of the application;
// - functions of the run-time system and of packages that were linked into the application's module;
// - where a virtual machine runs the program, and its functions have names (a perf map): the machine itself, which is
//   the executable and its own libraries;
// - the entry point (_start), by its name, and where anything else is inside of it.
// So the choice never depends on how far out the stack goes. If the budget of frames cut the stack before any frame
// that counts, the trigger is not known, and is said to be cut. A whole stack without such a frame has a fallback: the
// innermost frame of other libraries and packages; or else of run-time systems; or else the entry point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "trace/function_origin.h"
#include "trace/names.h"
#include "uscope/record.h"

namespace uscope::trace {

// What the rule asks of a frame. Inlined calls are frames of their own.
struct TriggerFrame {
  bool app = false;        // its module is the application's, except by main_library()
  bool named = false;      // the same by --app-module
  bool runtime = false;    // is_runtime() of its module's path, or the vdso
  bool program = false;    // its module was executed, or is a program that was run otherwise
  bool generated = false;  // code without a file whose function has a name
  FunctionOrigin origin = FunctionOrigin::kOwn;
  FunctionRole role = FunctionRole::kNone;
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

// What the rule asks of a stack beside its frames.
struct TriggerStack {
  StackEnd end = StackEnd::kOther;
  // It is of an address space with generated code whose names have the form of a managed language (GeneratedFunction),
  // or it has frames of a module that is the application's and has frames in such a stack.
  bool managed = false;
  bool with_runtime = false;  // --app-runtime: all functions of the application's modules count
};

enum class TriggerKind : std::uint8_t {
  kApplication,
  kFallback,  // no frame of the application is in the stack
  kCut,       // nor may be known: `position` is that of the innermost frame of another library, or else 0
};

// How a trigger that was cut is called: a function of that name stands for it.
constexpr const char* kCutName = "(cut)";

struct Trigger {
  std::size_t position = 0;  // of the frame, the innermost is 0
  TriggerKind kind = TriggerKind::kApplication;
};

// How near a frame is to the application. The trigger is the innermost of the nearest.
enum class TriggerRank : std::uint8_t {
  kApplication,
  kNamed,     // the C run time, where --app-module names it
  kLibrary,   // of others
  kStandard,  // the run-time system of the language, in the application's module or as generated code
  kMachine,   // of a managed stack: what runs it
  kNone,      // the C run time
};

[[nodiscard]] inline TriggerRank rank_of(const TriggerFrame& frame, const TriggerStack& stack) {
  if (frame.runtime && frame.named) return TriggerRank::kNamed;
  if (frame.runtime) return frame.app ? TriggerRank::kStandard : TriggerRank::kNone;
  if (!frame.app && !frame.generated) return TriggerRank::kLibrary;
  if (frame.app && stack.with_runtime) return TriggerRank::kApplication;
  if (frame.app && stack.managed && !frame.named) return TriggerRank::kMachine;
  if (frame.origin == FunctionOrigin::kPackage || frame.origin == FunctionOrigin::kPart) return TriggerRank::kLibrary;
  return frame.origin == FunctionOrigin::kRuntime ? TriggerRank::kStandard : TriggerRank::kApplication;
}

// Whether the outermost of these frames is the entry point of a program that was not executed, but is run by one that
// was: by the loader (`ld.so PROGRAM`), by an emulator.
template <typename Frames, typename FrameOf>
[[nodiscard]] bool ends_in_other_program(const Frames& frames, const FrameOf& frame_of, StackEnd end) {
  if (end != StackEnd::kRoot || std::size(frames) == 0) return false;
  const TriggerFrame outermost = frame_of(frames[std::size(frames) - 1]);
  return outermost.role == FunctionRole::kEntry && !outermost.program && !outermost.runtime && !outermost.generated;
}

// Whether the outermost of these frames is the entry point of its program, which the C run time calls main() for.
template <typename Frames, typename FrameOf>
[[nodiscard]] bool ends_in_entry(const Frames& frames, const FrameOf& frame_of, StackEnd end) {
  const auto count = std::size(frames);
  if (end != StackEnd::kRoot || count < 2) return false;
  const TriggerFrame outermost = frame_of(frames[count - 1]);
  return outermost.program && !outermost.runtime && frame_of(frames[count - 2]).runtime;
}

// The position of a frame in the library that holds the program. glibc calls main() by two functions for an
// executable's entry point. (At exit, libc calls handlers through more functions; constructors are called through
// fewer.) The library is that of main(), or, where main() hands its arguments over, the one that it called.
template <typename Frames, typename FrameOf>
[[nodiscard]] std::optional<std::size_t> main_library(const Frames& frames, const FrameOf& frame_of, StackEnd end) {
  constexpr std::size_t kOutside = 3;  // __libc_start_call_main, __libc_start_main, _start
  const auto count = std::size(frames);
  if (count <= kOutside || !ends_in_entry(frames, frame_of, end)) return std::nullopt;
  std::size_t position = count - kOutside - 1;
  if (!frame_of(frames[position + 1]).runtime) return std::nullopt;
  if (const TriggerFrame main = frame_of(frames[position]);
      main.program && main.role == FunctionRole::kHandsOver && position != 0)
    position--;
  const TriggerFrame holder = frame_of(frames[position]);
  return holder.app || holder.runtime || holder.generated ? std::nullopt : std::optional(position);
}

// Chooses among `frames`, innermost first. `frame_of` returns the TriggerFrame of one. Empty if no frame is one.
template <typename Frames, typename FrameOf>
[[nodiscard]] std::optional<Trigger> find_trigger(const Frames& frames, const FrameOf& frame_of,
                                                  const TriggerStack& stack) {
  const auto count = std::size(frames);
  const bool entry = ends_in_entry(frames, frame_of, stack.end);
  auto nearest = TriggerRank::kNone;
  std::size_t position = 0;
  for (std::size_t at = 0; at < count - (entry ? 1 : 0) && nearest != TriggerRank::kApplication; at++) {
    const TriggerRank rank = rank_of(frame_of(frames[at]), stack);
    if (rank >= nearest) continue;
    nearest = rank;
    position = at;
  }
  if (nearest == TriggerRank::kApplication) return Trigger{position, TriggerKind::kApplication};
  if (stack.end == StackEnd::kBudget && count != 0)
    return Trigger{nearest == TriggerRank::kLibrary ? position : 0, TriggerKind::kCut};
  if (nearest == TriggerRank::kNamed) return Trigger{position, TriggerKind::kApplication};
  if (nearest != TriggerRank::kNone) return Trigger{position, TriggerKind::kFallback};
  if (!entry) return std::nullopt;
  // The first function of a coroutine looks the same, but for its name.
  const bool is_start = frame_of(frames[count - 1]).origin == FunctionOrigin::kRuntime;
  return Trigger{count - 1, is_start ? TriggerKind::kFallback : TriggerKind::kApplication};
}

}  // namespace uscope::trace

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which events are meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uscope::analyzer {

struct Kind;

// An event must match every member that is set; values of one list are alternatives. GLOBs are SQLite's: * ? [a-z],
// case-sensitive.
struct EventFilter {
  std::vector<std::int64_t> pids{};  // of the initial namespace
  std::vector<std::int64_t> tids{};
  std::vector<std::string> threads{};               // GLOB on the name that the thread had when the event began
  std::vector<std::string> processes{};             // GLOB on any name of the image
  std::optional<std::vector<std::string>> calls{};  // names of calls and signals; an empty list matches nothing
  std::vector<std::string> targets{};               // with `calls`, also these: a class, or class:GLOB of names in it
  std::vector<std::string> kinds{};                 // likewise: GLOBs on any name of what is no call
  bool failed = false;                              // only events whose result is an error number
  std::vector<std::int64_t> errors{};               // errno, positive
  std::optional<std::int64_t> slower_ns{};          // least duration; calls that never returned have none
  std::vector<std::string> hows{};                  // "open", "killed", …
  std::vector<std::string> paths{};                 // GLOB on an argument's text, or what a descriptor refers to
  std::vector<std::string> triggers{};              // GLOB on the trigger's function
  std::vector<std::string> functions{};             // GLOB on any function of the stack
  std::optional<std::int64_t> since_ns{};           // entry time, since the trace's start
  std::optional<std::int64_t> until_ns{};
  std::optional<std::uint64_t> limit{};  // only this many events, from the first on
};

// Whether a kind is one of a filter's targets.
[[nodiscard]] bool is_target(const std::vector<std::string>& targets, const Kind& kind);

// The names by which a kind that is no call can be meant: its name, and that without its system, file or provider
// ("sched:sched_switch", "sched_switch"). Of calls and signals: none.
[[nodiscard]] std::vector<std::string> names_of(const Kind& kind);

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The text of a target (record -t, uscope list): a class of events, and the names of what is meant in it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"
#include "tracer/probes/probe_plan.h"

namespace uscope::tracer {

enum class TargetClass : std::uint8_t { kSample, kOffcpu, kTracepoint, kUsdt, kUfunction, kKfunction };

// Each class as it is written, and the form of its targets.
struct TargetForm {
  TargetClass what;
  const char* name;  // "tracepoint"
  const char* form;  // "tracepoint:SYSTEM:NAME"; of functions without %return
  const char* text;  // what an event of it is
};
extern const std::array<TargetForm, 6> kTargetForms;
[[nodiscard]] const TargetForm& form_of(TargetClass what);
// "sample", "offcpu" …
[[nodiscard]] std::vector<std::string> class_names();

constexpr std::uint32_t kUsualSampleHz = 99;

struct Target {
  TargetClass what = TargetClass::kSample;
  std::string text;      // as given
  std::uint32_t hz = 0;  // kSample
  // Patterns (support/glob.h); what the class has not is empty.
  std::string binary;  // kUsdt, kUfunction
  std::string group;   // kTracepoint: the system; kUsdt: the provider
  std::string name;
  bool with_return = false;  // kUfunction, kKfunction: from entry to return
  std::string word;          // `list WORD`: a part of the name, whatever its letters' case
};

// "sample:99", "tracepoint:sched:*", "ufunction:libssl*:SSL_*%return". A function's name may hold colons.
[[nodiscard]] Result<Target> parse_target(const std::string& text);

// What `uscope list PATTERN` means: a target, of which names may be left out at the end ("tracepoint",
// "ufunction:nginx"), or a word that is looked for in all names; or, if the text is an absolute path, or begins with a
// dot and has a slash: all that can be probed in that file. An empty text is everything.
[[nodiscard]] Result<std::vector<Target>> parse_list_pattern(const std::string& text);

// What a target of a function ends with that is told from entry to return.
constexpr std::string_view kReturnSuffix = "%return";

// Whether a class is one of functions.
[[nodiscard]] bool is_of_functions(TargetClass what);

// Whether a name holds characters that mean others.
[[nodiscard]] bool is_pattern(std::string_view name);

// Whether a target holds no pattern.
[[nodiscard]] bool names_one(const Target& target);

}  // namespace uscope::tracer

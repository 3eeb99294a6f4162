// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/target.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "support/nearest.h"

namespace uscope::tracer {

const std::array<TargetForm, 6> kTargetForms = {{
    {TargetClass::kSample, "sample", "sample:HZ", "time on a CPU, looked at HZ times a second"},
    {TargetClass::kOffcpu, "offcpu", "offcpu", "time off the CPU, from switch to switch"},
    {TargetClass::kTracepoint, "tracepoint", "tracepoint:SYSTEM:NAME", "events that the kernel announces"},
    {TargetClass::kUsdt, "usdt", "usdt:BINARY:PROVIDER:NAME", "probes that a program's authors put into it"},
    {TargetClass::kUfunction, "ufunction", "ufunction:BINARY:FUNCTION", "functions of programs and libraries"},
    {TargetClass::kKfunction, "kfunction", "kfunction:FUNCTION", "functions of the kernel"},
}};

const TargetForm& form_of(TargetClass what) {
  return *std::find_if(kTargetForms.begin(), kTargetForms.end(),
                       [&](const TargetForm& form) { return form.what == what; });
}

std::vector<std::string> class_names() {
  std::vector<std::string> names;
  names.reserve(kTargetForms.size());
  for (const TargetForm& form : kTargetForms) names.emplace_back(form.name);
  return names;
}

namespace {

const TargetForm* form_named(std::string_view name) {
  const auto found =
      std::find_if(kTargetForms.begin(), kTargetForms.end(), [&](const TargetForm& form) { return form.name == name; });
  return found == kTargetForms.end() ? nullptr : &*found;
}

// Takes the part up to the next colon off `rest`; nothing if `rest` is used up.
std::optional<std::string> take_part(std::optional<std::string_view>& rest) {
  if (!rest) return std::nullopt;
  const std::size_t colon = rest->find(':');
  std::string part(rest->substr(0, colon));
  rest = colon == std::string_view::npos ? std::nullopt : std::optional(rest->substr(colon + 1));
  return part;
}

std::string all_forms() {
  std::string text;
  for (const TargetForm& form : kTargetForms) text += fmt::format("{}{}", text.empty() ? "" : ", ", form.form);
  return text;
}

Error unknown_class(const std::string& text, std::string_view name) {
  const std::string meant = did_you_mean(name, class_names());
  return {fmt::format("'{}' is not a target: no class of events is called '{}'", text, name),
          meant.empty() ? "targets are " + all_forms() : meant};
}

Error wrong_form(const std::string& text, const TargetForm& form) {
  return {fmt::format("'{}' is not a target", text),
          fmt::format("write {}; `uscope list {}` shows what there is", form.form, form.name)};
}

Result<std::uint32_t> parse_hz(const std::string& text, std::optional<std::string_view> rest) {
  if (!rest) return kUsualSampleHz;
  std::uint32_t hz = 0;
  const char* end = rest->data() + rest->size();
  const auto [stop, problem] = std::from_chars(rest->data(), end, hz);
  if (problem != std::errc() || stop != end || hz == 0 || hz > kMostSampleHz)
    return Error{fmt::format("'{}': '{}' is not a number of samples a second", text, *rest),
                 fmt::format("give a whole number from 1 to {}: sample:{}", kMostSampleHz, kUsualSampleHz)};
  return hz;
}

// What follows a function's name: no name of a function holds a '%'.
Result<bool> take_suffix(const std::string& text, std::optional<std::string_view>& rest, const TargetForm& form) {
  const std::size_t at = text.rfind('%');
  if (at == std::string::npos || !rest) return false;
  const std::string suffix = text.substr(at);
  if (!is_of_functions(form.what)) {
    if (suffix != kReturnSuffix) return false;
    return Error{fmt::format("'{}' is not a target: only functions return", text),
                 fmt::format("leave {} out, or give it to a ufunction or a kfunction", kReturnSuffix)};
  }
  if (suffix != kReturnSuffix)
    return Error{fmt::format("'{}' is not a target: '{}' means nothing behind a function", text, suffix),
                 fmt::format("write {} for events from a function's entry to its return", kReturnSuffix)};
  rest->remove_suffix(std::min(suffix.size(), rest->size()));
  return true;
}

// `open`: names that are missing at the end mean all.
Result<Target> parse(const std::string& text, bool open) {
  std::optional<std::string_view> rest(text);
  const std::string name = *take_part(rest);
  const TargetForm* form = form_named(name);
  if (form == nullptr) return unknown_class(text, name);
  Target target;
  target.what = form->what;
  target.text = text;
  const auto with_return = take_suffix(text, rest, *form);
  if (!with_return) return with_return.error();
  target.with_return = *with_return;
  const auto take = [&](std::string& out, bool may_be_missing) {
    auto part = take_part(rest);
    if (!part && may_be_missing) part = "*";
    out = part.value_or("");
    return !out.empty();
  };
  // A function's name is all that is left.
  const auto take_rest = [&](std::string& out) {
    out = rest ? std::string(*rest) : open ? "*" : "";
    rest.reset();
    return !out.empty();
  };
  bool right = true;
  switch (form->what) {
    case TargetClass::kSample: {
      const auto hz = parse_hz(text, rest);
      if (!hz) return hz.error();
      target.hz = *hz;
      return target;
    }
    case TargetClass::kOffcpu:
      break;
    case TargetClass::kTracepoint:
      right = take(target.group, open) && take(target.name, true);
      break;
    case TargetClass::kUsdt:
      right = take(target.binary, open) && take(target.group, open) && take(target.name, open);
      break;
    case TargetClass::kUfunction:
      right = take(target.binary, open) && take_rest(target.name);
      break;
    case TargetClass::kKfunction:
      right = take_rest(target.name);
      break;
  }
  if (!right || rest) return wrong_form(text, *form);
  return target;
}

Target everything_of(TargetClass what, const std::string& text) {
  Target target;
  target.what = what;
  target.text = text;
  target.hz = what == TargetClass::kSample ? kUsualSampleHz : 0;
  target.binary = target.group = target.name = "*";
  return target;
}

}  // namespace

Result<Target> parse_target(const std::string& text) {
  return parse(text, false);
}

Result<std::vector<Target>> parse_list_pattern(const std::string& text) {
  const std::string first = text.substr(0, text.find(':'));
  if (form_named(first) != nullptr) {
    auto target = parse(text, true);
    if (!target) return target.error();
    return std::vector{std::move(*target)};
  }
  std::vector<Target> targets;
  // Go's names of functions have slashes, too.
  const bool has_folder = text.find('/') != std::string::npos;
  std::error_code error;
  const bool is_path = text.starts_with('/') || text.starts_with('.') || std::filesystem::is_regular_file(text, error);
  if (has_folder && is_path) {
    for (const TargetClass what : {TargetClass::kUsdt, TargetClass::kUfunction})
      targets.push_back(everything_of(what, text));
    for (Target& target : targets) target.binary = text;
    return targets;
  }
  if (text.find(':') != std::string::npos) return unknown_class(text, first);
  for (const TargetForm& form : kTargetForms) {
    targets.push_back(everything_of(form.what, text));
    if (is_pattern(text))
      targets.back().name = text;
    else
      targets.back().word = text;
  }
  return targets;
}

bool is_of_functions(TargetClass what) {
  return what == TargetClass::kUfunction || what == TargetClass::kKfunction;
}

bool is_pattern(std::string_view name) {
  return name.find_first_of("*?[") != std::string_view::npos;
}

bool names_one(const Target& target) {
  return !is_pattern(target.binary) && !is_pattern(target.group) && !is_pattern(target.name);
}

}  // namespace uscope::tracer

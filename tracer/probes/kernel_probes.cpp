// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/probes/kernel_probes.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace uscope::tracer {
namespace {

constexpr std::array kMeanings{
#define USC_X(name, meaning) meaning,
    USC_PROBE_ERRORS(USC_X)
#undef USC_X
};

constexpr const char* kFault = "this is a fault of uscope: please report it with `uscope doctor`";

usc_argument_from from_of(ProbeArgument::From from) {
  switch (from) {
    case ProbeArgument::From::kRegister:
      return USC_FROM_REGISTER;
    case ProbeArgument::From::kMemory:
      return USC_FROM_MEMORY;
    case ProbeArgument::From::kRecord:
      return USC_FROM_RECORD;
    case ProbeArgument::From::kConstant:
      return USC_FROM_CONSTANT;
  }
  return USC_FROM_COUNT;
}

// N of "char[N]"; 0: the type is none of a fixed length.
std::uint16_t array_length(std::string_view type) {
  const std::size_t at = type.find('[');
  if (at == std::string_view::npos) return 0;
  std::uint16_t length = 0;
  const std::string_view number = type.substr(at + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), length);
  return error == std::errc() && end != number.data() + number.size() && *end == ']' ? length : std::uint16_t{0};
}

// Of a tracepoint's argument its type, as tracefs has it, says where its text is.
usc_argument_text text_of(const ProbeArgument& argument) {
  if (!argument.is_string) return USC_TEXT_NONE;
  if (argument.from == ProbeArgument::From::kRecord) {
    if (argument.type.starts_with("__data_loc")) return USC_TEXT_LOCATED;
    if (argument.type.starts_with("__rel_loc")) return USC_TEXT_RELATIVE;
    if (array_length(argument.type) != 0) return USC_TEXT_INSIDE;
  }
  return USC_TEXT_POINTED;
}

usc_probe_argument kernel_argument(const ProbeArgument& from) {
  usc_probe_argument to{};
  to.from = static_cast<__u8>(from_of(from.from));
  to.offset = from.offset;
  if (to.from == USC_FROM_REGISTER || to.from == USC_FROM_MEMORY) to.reg = from.reg;
  to.bytes = from.bytes;
  to.is_signed = static_cast<__u8>(from.is_signed);
  to.text = static_cast<__u8>(text_of(from));
  if (to.text == USC_TEXT_INSIDE) {
    to.text_bytes = array_length(from.type);
    to.bytes = 1;  // it has no number
  }
  return to;
}

Result<usc_probe> kernel_probe(const Probe& from) {
  if (from.arguments.size() > USC_PROBE_ARGUMENTS)
    return Error{fmt::format("{} has {} arguments, and a probe takes at most {}", from.name, from.arguments.size(),
                             USC_PROBE_ARGUMENTS),
                 kFault};
  usc_probe to{};
  to.kind = from.kind;
  to.source = from.source;
  if (from.with_return) {
    to.role = USC_PROBE_WITH_RETURN;
    to.result = static_cast<__u8>(from.result_bytes | (from.result_is_signed ? USC_RESULT_SIGNED : 0));
  }
  for (const ProbeArgument& argument : from.arguments) to.argument[to.arguments++] = kernel_argument(argument);
  __u32 at = 0;
  const usc_probe_error error = usc_probe_check(&to, &at);
  if (error == USC_PROBE_BAD_SOUND) return to;
  const std::string argument =
      error >= USC_PROBE_BAD_FROM && at < from.arguments.size() ? "argument " + from.arguments[at].name + " " : "";
  return Error{fmt::format("{} cannot be probed: {}{}", from.name, argument, kMeanings.at(error)), kFault};
}

}  // namespace

Result<std::vector<usc_probe>> kernel_probes(const ProbePlan& plan) {
  if (plan.probes.size() > USC_PROBES_MOST)
    return Error{fmt::format("{} probes are too many: there is room for {}", plan.probes.size(), USC_PROBES_MOST),
                 "name fewer targets, or a pattern that fits fewer (`uscope list PATTERN` shows which)"};
  std::vector<usc_probe> probes;
  probes.reserve(plan.probes.size());
  for (const Probe& probe : plan.probes) {
    const auto made = kernel_probe(probe);
    if (!made) return made.error();
    probes.push_back(*made);
  }
  return probes;
}

std::vector<usc_jump> kernel_jumps(const ProbePlan& plan) {
  std::vector<usc_jump> jumps;
  for (const Probe& probe : plan.probes)
    for (const ProbeJump& jump : probe.jumps)
      if (jump.indirect) jumps.push_back(*jump.indirect);
  return jumps;
}

}  // namespace uscope::tracer

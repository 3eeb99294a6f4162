// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/probes/plan_kinds.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "trace/hit.h"

namespace uscope::tracer {
namespace {

using NameAndType = std::pair<std::string_view, std::string_view>;

trace::RecordBuilder<usc_kind> kind_record(std::uint8_t source, std::uint32_t number, std::string_view name,
                                           const std::vector<NameAndType>& arguments) {
  std::string text(name);
  text += '\0';
  for (const auto& [argument, type] : arguments) {
    text.append(argument).append(":").append(type);
    text += '\0';
  }
  usc_kind kind{};
  kind.kind = number;
  kind.source = source;
  kind.args = static_cast<__u8>(arguments.size());
  kind.text_bytes = static_cast<__u16>(text.size());
  return std::move(trace::RecordBuilder<usc_kind>(kind).add(text));
}

}  // namespace

Result<void> write_kinds(trace::RecordSink& sink, const ProbePlan& plan, std::uint64_t now_ns,
                         const std::function<void(const usc_kind&)>& told) {
  const auto write = [&](std::uint8_t source, std::uint32_t number, std::string_view name,
                         const std::vector<NameAndType>& arguments) {
    trace::RecordBuilder<usc_kind> record = kind_record(source, number, name, arguments);
    record.head().time = now_ns;
    if (told) told(record.record());
    return sink.append_own(std::move(record));
  };
  if (plan.sample_hz != 0)
    for (const auto& [number, name] : {std::pair(USC_SAMPLE_USER, "user"), std::pair(USC_SAMPLE_KERNEL, "kernel")})
      if (auto done = write(USC_SOURCE_SAMPLE, number, name, {{"cpu", "unsigned int"}, {"period_ns", "unsigned long"}});
          !done)
        return done;
  if (plan.offcpu)
    for (const auto& [number, name] :
         {std::pair(USC_OFFCPU_PREEMPTED, "preempted"), std::pair(USC_OFFCPU_SLEEPING, "sleeping"),
          std::pair(USC_OFFCPU_BLOCKED, "blocked"), std::pair(USC_OFFCPU_STOPPED, "stopped")})
      if (auto done = write(USC_SOURCE_OFFCPU, number, name,
                            {{"waker_tid", "unsigned int"},
                             {"waker_pid", "unsigned int"},
                             {"queued_ns", "unsigned long"},
                             {"state", "unsigned int"}});
          !done)
        return done;
  for (const Probe& probe : plan.probes) {
    std::vector<NameAndType> arguments;
    for (const ProbeArgument& argument : probe.arguments) arguments.emplace_back(argument.name, argument.type);
    if (auto done = write(probe.source, probe.kind, probe.name, arguments); !done) return done;
    if (!probe.with_return || probe.result_type.empty()) continue;
    if (auto done = write(probe.source, probe.kind, probe.name, {{trace::kResultName, probe.result_type}}); !done)
      return done;
  }
  return {};
}

}  // namespace uscope::tracer

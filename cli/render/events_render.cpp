// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/events_render.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/read/catalog.h"
#include "cli/render/call_text.h"
#include "cli/render/content_text.h"
#include "cli/render/hit_text.h"
#include "cli/render/json.h"
#include "cli/render/signal_text.h"
#include "cli/render/units.h"
#include "cli/render/wall_time.h"
#include "support/text.h"
#include "trace/names.h"

namespace uscope::cli {
namespace {

using analyzer::EventContent;
using analyzer::EventRow;
using analyzer::EventString;
using analyzer::StackFrame;

const char* source_name(EventString::Source source) {
  switch (source) {
    case EventString::Source::kKernel:
      return "kernel";
    case EventString::Source::kDescriptor:
      return "descriptor";
    default:
      return "program";
  }
}

// Why an event has no stack, if that is known.
std::string no_stack(const EventRow& event) {
  const auto& signal = event.signal;
  if (!signal || signal->delivered) return "no stack";
  if (!signal->sender_pid) return "no stack: the kernel sent it";
  const bool traced = *signal->sender_pid == event.pid && signal->sender_tid == event.tid;
  return traced ? "no stack" : "no stack: the sender is not traced";
}

// What an event came to: an error's name stands out, and that a call or hit did not come to its end.
std::string end_text(const EventRow& event, const std::string& text, Paint paint) {
  if (event.error.empty()) return paint(event.result || event.dur_ns ? Ink::kPlain : Ink::kDoubt, text);
  const std::size_t end = std::min(text.find(" ("), text.size());
  return paint(Ink::kBad, text.substr(0, end)) + text.substr(end);
}

}  // namespace

std::string TimeColumn::text(std::int64_t ts_ns) {
  if (times_ == Times::kWall) return time_of_day(moment(ts_ns).value_or(0));
  if (times_ == Times::kRelative) return seconds(ts_ns);
  const std::int64_t since = analyzer::difference(ts_ns, before_.value_or(ts_ns));
  before_ = ts_ns;
  return seconds(since);
}

std::optional<std::int64_t> TimeColumn::moment(std::int64_t ts_ns) const {
  if (!began_ns_) return std::nullopt;
  return analyzer::difference(*began_ns_, analyzer::difference(0, ts_ns));
}

std::string event_text(const EventRow& event, const std::string& time, Paint paint) {
  const std::string name = event.process.empty() ? "?" : printable(event.process);
  if (event.signal)
    return fmt::format("{}[{}/{}] {} {}\n", name, event.pid, event.tid, time,
                       paint(Ink::kHeading, signal_text(*event.signal)));
  const std::string call = paint(Ink::kHeading, printable(event.call));
  if (analyzer::is_of_probes(event.source))
    return fmt::format("{}[{}/{}] {} {} {}({}){}\n", name, event.pid, event.tid, time, printable(event.source), call,
                       hit_arguments_text(event), end_text(event, hit_end_text(event), paint));
  std::string out = fmt::format("{}[{}/{}] {} {}", name, event.pid, event.tid, time, call);
  if (!is_call(event)) return fmt::format("{}({}) [{}]\n", out, arguments_text(event), printable(event.how));
  if (!trace::is_native_abi(event.abi) && !event.abi.empty()) out += fmt::format("[{}]", printable(event.abi));
  out += fmt::format("({}) = {}", arguments_text(event), end_text(event, result_text(event), paint));
  if (event.dur_ns) out += fmt::format(" <{}>", human_duration(static_cast<double>(*event.dur_ns)));
  return out + "\n";
}

std::string frames_text(const std::vector<StackFrame>& frames, const EventRow& event, Paint paint) {
  std::string out;
  for (const StackFrame& frame : frames) {
    const std::string within =
        frame.inlined ? " [inlined]" : "+" + hex_number(static_cast<std::uint64_t>(frame.function_offset));
    out += fmt::format(" > {}({}{}) [{}]", printable(frame.module), paint(Ink::kHeading, printable(frame.function)),
                       within, hex_number(static_cast<std::uint64_t>(frame.rel_pc)));
    if (frame.kernel) out += " [kernel]";
    if (!frame.file.empty()) out += " " + printable(frame.file);
    if (!frame.file.empty() && frame.line > 0) out += fmt::format(":{}", frame.line);
    out += "\n";
  }
  const auto note = [&](const std::string& text) { return " > " + paint(Ink::kDoubt, "(" + text + ")") + "\n"; };
  if (frames.empty()) return note(no_stack(event));
  if (event.guessed) out += note("callers of code without unwind data may be missing");
  if (event.ended != "root") out += note(printable(event.ended));
  return out;
}

nlohmann::ordered_json event_json(const EventRow& event, std::optional<std::int64_t> moment_ns) {
  nlohmann::ordered_json args = nlohmann::ordered_json::array();
  for (const auto& arg : event.args)
    args.push_back(arg ? nlohmann::ordered_json(hex_number(static_cast<std::uint64_t>(*arg))) : nullptr);
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const auto& argument : event.arguments)
    names.push_back({{"name", json_value(argument.name)}, {"type", json_value(argument.type)}});
  nlohmann::ordered_json strings = nlohmann::ordered_json::array();
  for (const auto& string : event.strings)
    strings.push_back({{"arg", string.arg},
                       {"value", json_value(string.value)},
                       {"late", string.late},
                       {"source", source_name(string.source)}});
  nlohmann::ordered_json contents = nlohmann::ordered_json::array();
  for (const auto& content : event.contents)
    contents.push_back({{"arg", content.arg},
                        {"holds", content.holds == EventContent::Holds::kData ? "data" : "structure"},
                        {"text", json_value(content_text(event, content))},
                        {"bytes", content.bytes ? nlohmann::ordered_json(hex_of(*content.bytes)) : nullptr},
                        {"cut", content.cut},
                        {"late", content.late},
                        {"source", source_name(content.source)}});
  nlohmann::ordered_json descriptors = nlohmann::ordered_json::array();
  for (const auto& one : event.descriptors)
    descriptors.push_back({{"arg", one.arg},
                           {"fd", one.fd},
                           {"name", one.name ? nlohmann::ordered_json(json_value(*one.name)) : nullptr},
                           {"wants", json_value(one.wants)},
                           {"late", one.late}});
  return {{"id", event.id.value()},
          {"ts_ns", event.ts_ns},
          {"time", moment_ns ? nlohmann::ordered_json(iso_time(*moment_ns)) : nlohmann::ordered_json()},
          {"dur_ns", json_value(event.dur_ns)},
          {"how", json_value(event.how)},
          {"pid", event.pid},
          {"tid", event.tid},
          {"process", json_value(event.process)},
          {"thread", json_value(event.thread)},
          {"call", json_value(event.call)},
          {"class", json_value(event.source)},
          {"abi", json_value(event.abi)},
          {"nr", event.nr},
          {"result", json_value(event.result)},
          {"error", json_value(event.error)},
          {"result_type", json_value(event.result_type)},
          {"args", args},
          {"argument_names", names},
          {"arguments", json_value(arguments_text(event))},
          {"strings", strings},
          {"contents", contents},
          {"descriptors", descriptors},
          {"buffers", event.buffers ? nlohmann::ordered_json{{"arg", event.buffers->arg},
                                                             {"parts", event.buffers->parts},
                                                             {"bytes", event.buffers->bytes}}
                                    : nlohmann::ordered_json()},
          {"signal", event.signal ? signal_json(*event.signal) : nlohmann::ordered_json()},
          {"stack_id", json_value(event.stack_id)},
          {"depth", event.depth},
          {"ended", json_value(event.ended)},
          {"trigger", json_value(event.trigger)},
          {"trigger_module", json_value(event.trigger_module)},
          {"trigger_fallback", event.trigger_fallback},
          {"guessed", event.guessed}};
}

nlohmann::ordered_json frames_json(const std::vector<StackFrame>& frames) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StackFrame& frame : frames)
    list.push_back({{"position", frame.position},
                    {"inline_depth", frame.inline_depth},
                    {"space", frame.kernel ? "kernel" : "user"},
                    {"inlined", frame.inlined},
                    {"module", json_value(frame.module)},
                    {"function", json_value(frame.function)},
                    {"function_offset", frame.function_offset},
                    {"rel_pc", frame.rel_pc},
                    {"file", json_value(frame.file)},
                    {"line", frame.line}});
  return list;
}

}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <nlohmann/json.hpp>

#include "cli/render/deadlock_render.h"
#include "cli/render/json.h"
#include "cli/render/part_text.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostListed = 8;  // threads of one of the other waits

std::string_view standing_name(analyzer::Standing standing) {
  switch (standing) {
    case analyzer::Standing::kHeld:
      return "asleep";
    case analyzer::Standing::kTimed:
      return "timeout";
    default:
      return "uncertain";
  }
}

ordered_json stack_json(const analyzer::StackLines& lines) {
  ordered_json stack = ordered_json::array();
  for (const auto& line : lines) stack.push_back(json_value(line.function));
  return stack;
}

ordered_json thread_json(const analyzer::BlockedThread& thread) {
  const analyzer::StackLine* frame = analyzer::application_frame(thread.stack);
  return {{"pid", thread.pid},
          {"tid", thread.tid},
          {"name", json_value(thread.name)},
          {"process", thread.process.empty() ? ordered_json() : json_value(thread.process)},
          {"call", json_value(thread.call)},
          {"wait", thread.wait.empty() ? ordered_json() : json_value(thread.wait)},
          {"halted", thread.halted.empty() ? ordered_json() : json_value(thread.halted)},
          {"primitive", analyzer::primitive_name(thread.primitive)},
          {"lock", thread.lock.empty() ? ordered_json() : json_value(thread.lock)},
          {"api", thread.api.empty() ? ordered_json() : json_value(thread.api)},
          {"address", hex_number(thread.address)},
          {"waited_ns", thread.waited_ns},
          {"at_least", thread.at_least},
          {"state", standing_name(thread.standing)},
          {"held_by", thread.held_by},
          {"function", frame ? json_value(frame->function) : ordered_json()},
          {"stack", stack_json(thread.stack)}};
}

ordered_json threads_json(const std::vector<analyzer::BlockedThread>& threads) {
  ordered_json list = ordered_json::array();
  for (const auto& thread : threads) list.push_back(thread_json(thread));
  return list;
}

ordered_json openings_json(const std::vector<analyzer::Opening>& openings) {
  ordered_json list = ordered_json::array();
  for (const auto& opening : openings) {
    ordered_json steps = ordered_json::array();
    for (const auto& step : opening.steps)
      steps.push_back({{"call", json_value(step.call)},
                       {"pid", step.pid},
                       {"tid", step.tid},
                       {"descriptor", step.fd >= 0 ? ordered_json(step.fd) : ordered_json()},
                       {"ts_ns", step.ts_ns},
                       {"stack", stack_json(step.stack)}});
    list.push_back({{"pid", opening.pid},
                    {"process", opening.process.empty() ? ordered_json() : json_value(opening.process)},
                    {"descriptor", opening.fd},
                    {"object", json_value(opening.object)},
                    {"steps", steps}});
  }
  return list;
}

ordered_json computing_json(const std::vector<analyzer::ComputingThread>& threads) {
  ordered_json list = ordered_json::array();
  for (const auto& thread : threads)
    list.push_back({{"pid", thread.pid},
                    {"tid", thread.tid},
                    {"name", json_value(thread.name)},
                    {"process", thread.process.empty() ? ordered_json() : json_value(thread.process)},
                    {"idle_ns", thread.idle_ns},
                    {"waited_by", thread.waited_by}});
  return list;
}

ordered_json other_waits_json(const std::vector<analyzer::OtherWait>& waits) {
  ordered_json list = ordered_json::array();
  for (const auto& wait : waits) {
    ordered_json threads = ordered_json::array();
    for (const auto& thread : wait.threads) {
      if (threads.size() == kMostListed) break;
      threads.push_back({{"pid", thread.pid},
                         {"tid", thread.tid},
                         {"name", json_value(thread.name)},
                         {"process", thread.process.empty() ? ordered_json() : json_value(thread.process)},
                         {"waited_ns", thread.waited_ns},
                         {"at_least", thread.at_least}});
    }
    list.push_back({{"call", json_value(wait.call)},
                    {"wait", wait.wait.empty() ? ordered_json() : json_value(wait.wait)},
                    {"halted", wait.halted.empty() ? ordered_json() : json_value(wait.halted)},
                    {"object", wait.object.name.empty() ? ordered_json() : json_value(wait.object.name)},
                    {"object_doubtful", wait.object.doubtful},
                    {"descriptor", wait.object.number ? ordered_json(*wait.object.number) : ordered_json()},
                    {"function", wait.function.empty() ? ordered_json() : json_value(wait.function)},
                    {"ended_by", wait.ended_by.empty() ? ordered_json() : json_value(wait.ended_by)},
                    {"behind", wait.behind},
                    {"stack", stack_json(wait.stack)},
                    {"count", wait.threads.size()},
                    {"threads", threads}});
  }
  return list;
}

}  // namespace

ordered_json deadlock_value(const analyzer::Diagnosis& diagnosis) {
  ordered_json findings = ordered_json::array();
  for (const auto& finding : diagnosis.findings)
    findings.push_back({{"type", analyzer::finding_name(finding.type)},
                        {"verdict", analyzer::verdict_name(finding.verdict)},
                        {"explanation", json_value(finding.explanation)},
                        {"waited_ns", finding.waited_ns},
                        {"threads", threads_json(finding.threads)},
                        {"openings", openings_json(finding.openings)}});
  ordered_json edges = ordered_json::array();
  for (const auto& edge : diagnosis.edges)
    edges.push_back(
        {{"from", edge.from}, {edge.process ? "to_process" : "to_thread", edge.to}, {"label", json_value(edge.label)}});
  ordered_json warnings = ordered_json::array();
  for (const std::string& warning : diagnosis.warnings) warnings.push_back(json_value(warning));
  return {{"part", diagnosis.part ? part_json(*diagnosis.part) : ordered_json()},
          {"verdict", analyzer::verdict_name(diagnosis.verdict)},
          {"findings", findings},
          {"blocked", threads_json(diagnosis.blocked)},
          {"computing", computing_json(diagnosis.computing)},
          {"other_waits", other_waits_json(diagnosis.other_waits)},
          {"edges", edges},
          {"reason", diagnosis.reason.empty() ? ordered_json() : json_value(diagnosis.reason)},
          {"warnings", warnings}};
}

std::string deadlock_json(const analyzer::Diagnosis& diagnosis) {
  return dump(deadlock_value(diagnosis)) + "\n";
}

}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <nlohmann/json.hpp>

#include "cli/render/files_render.h"
#include "cli/render/json.h"
#include "cli/render/part_text.h"
#include "cli/render/report_render.h"
#include "cli/render/time_render.h"
#include "cli/render/wall_time.h"
#include "support/text.h"
#include "syscalls/errno_names.h"
#include "trace/loss_class.h"

namespace uscope::cli {
namespace {

using nlohmann::ordered_json;

ordered_json losses_object(const analyzer::Summary& summary) {
  ordered_json list = ordered_json::array();
  for (const auto& loss : summary.losses) {
    ordered_json processes = ordered_json::array();
    for (const auto& share : loss.processes)
      processes.push_back({{"pid", json_value(share.pid)}, {"count", share.count}});
    list.push_back({{"cause", json_value(loss.cause)},
                    {"meaning", json_value(loss.meaning)},
                    {"remedy", trace::loss_remedy(loss.cause)},
                    {"events_missing", loss.events_missing},
                    {"count", loss.count},
                    {"processes", processes}});
  }
  return list;
}

ordered_json trace(const analyzer::TraceFacts& facts) {
  ordered_json meta = ordered_json::object();
  for (const auto& [key, value] : facts.meta) meta[to_utf8(key)] = json_value(value);
  return {{"start_ns", facts.start_ns},
          {"began", facts.began_ns ? ordered_json(iso_time(*facts.began_ns)) : ordered_json()},
          {"duration_ns", facts.duration_ns},
          {"events", facts.events},
          {"errors", facts.errors},
          {"open", facts.open},
          {"processes", facts.processes},
          {"threads", facts.threads},
          {"images", facts.images},
          {"stacks", facts.stacks},
          {"events_per_second", facts.events_per_second},
          {"meta", meta}};
}

ordered_json party(const analyzer::SignalParty& party) {
  return {{"pid", json_value(party.pid)}, {"name", json_value(party.name)}};
}

ordered_json process_object(const analyzer::ProcessLine& line) {
  return {{"id", line.id.value()},
          {"pid", line.pid},
          {"ns_pid", line.ns_pid},
          {"parent_pid", json_value(line.parent_pid)},
          {"name", json_value(line.name)},
          {"path", json_value(line.path)},
          {"argv", words_json(line.argv)},
          {"start_ns", json_value(line.start_ns)},
          {"lifetime_ns", json_value(line.lifetime_ns)},
          {"exit_code", json_value(line.exit_code)},
          {"exit_signal", json_value(line.exit_signal)},
          {"stopped", line.stopped},
          {"ended_by", line.ended_by ? party(*line.ended_by) : ordered_json()},
          {"threads", line.threads},
          {"events", line.events},
          {"errors", line.errors},
          {"uses_io_uring", line.uses_io_uring},
          {"executed", line.executed ? json_value(*line.executed) : ordered_json()},
          {"uids", line.uids}};
}

ordered_json call_object(const analyzer::CallLine& line) {
  ordered_json spread = ordered_json::array();
  for (const auto& step : line.spread) spread.push_back({step.up_to_ns, step.events});
  return {{"call", json_value(line.call)},
          {"abi", json_value(line.abi)},
          {"events", line.events},
          {"errors", line.errors},
          {"open", line.open},
          {"timed", line.timed},
          {"total_ns", line.total_ns},
          {"mean_ns", line.mean_ns},
          {"p50_ns", line.p50_ns},
          {"p95_ns", line.p95_ns},
          {"p99_ns", line.p99_ns},
          {"max_ns", line.max_ns},
          {"spread", spread},
          {"bytes", line.bytes ? ordered_json(*line.bytes) : ordered_json()}};
}

ordered_json thread(const analyzer::ThreadLine& line) {
  return {{"pid", line.pid},
          {"tid", line.tid},
          {"process", json_value(line.process)},
          {"thread", json_value(line.thread)},
          {"events", line.events},
          {"errors", line.errors},
          {"total_ns", line.total_ns},
          {"wait_ns", line.wait_ns},
          {"between_ns", line.between_ns}};
}

ordered_json trigger_object(const analyzer::TriggerLine& line) {
  return {{"call", json_value(line.call)},
          {"function", json_value(line.function)},
          {"module", json_value(line.module)},
          {"fallback", line.fallback},
          {"events", line.events},
          {"errors", line.errors},
          {"total_ns", line.total_ns},
          {"open", line.open}};
}

ordered_json error_object(const analyzer::ErrorLine& line) {
  return {{"call", json_value(line.call)},
          {"errno", line.number},
          {"name", json_value(line.name)},
          {"function", json_value(line.function)},
          {"module", json_value(line.module)},
          {"fallback", line.fallback},
          {"events", line.events}};
}

ordered_json failed_object(const analyzer::FailedLine& line) {
  ordered_json objects = ordered_json::array();
  for (const auto& object : line.objects)
    objects.push_back({{"name", object.name ? json_value(*object.name) : ordered_json()}, {"events", object.events}});
  return {{"call", json_value(line.call)},  {"errno", line.number},
          {"name", json_value(line.error)}, {"object", line.name ? json_value(*line.name) : ordered_json()},
          {"events", line.events},          {"objects", objects}};
}

ordered_json instance(const analyzer::CallInstance& line) {
  return {{"event_id", line.event_id.value()},
          {"ts_ns", line.ts_ns},
          {"dur_ns", line.dur_ns},
          {"call", json_value(line.call)},
          {"how", json_value(line.how)},
          {"result", json_value(line.result)},
          {"pid", line.pid},
          {"tid", line.tid},
          {"process", json_value(line.process)},
          {"thread", json_value(line.thread)},
          {"function", json_value(line.function)},
          {"module", json_value(line.module)},
          {"fallback", line.fallback}};
}

std::string_view edge_name(analyzer::GapEdge edge) {
  switch (edge) {
    case analyzer::GapEdge::kTracing:
      return "tracing";
    case analyzer::GapEdge::kLeft:
      return "left";
    case analyzer::GapEdge::kThread:
      return "thread";
    default:
      return "call";
  }
}

ordered_json within(const std::optional<analyzer::SharedFunction>& shared) {
  if (!shared) return nullptr;
  return {{"function", json_value(shared->function)},
          {"module", json_value(shared->module)},
          {"fallback", shared->fallback}};
}

ordered_json gap_place(const analyzer::GapLine& line) {
  const auto end = [](const std::optional<analyzer::CallInstance>& call) -> ordered_json {
    if (!call) return nullptr;
    return {{"event_id", call->event_id.value()},
            {"call", json_value(call->call)},
            {"function", json_value(call->function)},
            {"module", json_value(call->module)},
            {"fallback", call->fallback}};
  };
  return {{"ts_ns", line.ts_ns},
          {"dur_ns", line.dur_ns},
          {"pid", line.pid},
          {"tid", line.tid},
          {"process", json_value(line.process)},
          {"thread", json_value(line.thread)},
          {"since", edge_name(line.since)},
          {"until", edge_name(line.until)},
          {"before", end(line.before)},
          {"after", end(line.after)},
          {"within", within(line.within)}};
}

ordered_json gap(const analyzer::GapLine& line) {
  ordered_json out = gap_place(line);
  out["doubtful"] = line.doubtful;
  return out;
}

ordered_json gap_pair(const analyzer::GapPairLine& line) {
  return {{"gaps", line.gaps}, {"total_ns", line.total_ns}, {"longest", gap_place(line.longest)}};
}

ordered_json signal(const analyzer::SignalLine& line) {
  ordered_json senders = ordered_json::array();
  for (const auto& by : line.senders)
    senders.push_back({{"pid", json_value(by.pid)}, {"name", json_value(by.name)}, {"sent", by.sent}});
  ordered_json pairs = ordered_json::array();
  for (const auto& pair : line.pairs)
    pairs.push_back({{"sender", pair.sent == 0 ? ordered_json() : party(pair.sender)},
                     {"receiver", party(pair.receiver)},
                     {"sent", pair.sent},
                     {"ignored", pair.ignored},
                     {"delivered", pair.delivered}});
  const auto places = [](const std::vector<analyzer::SignalLine::Place>& list) {
    ordered_json out = ordered_json::array();
    for (const auto& place : list)
      out.push_back({{"function", json_value(place.function)},
                     {"module", json_value(place.module)},
                     {"fallback", place.fallback},
                     {"events", place.events}});
    return out;
  };
  return {{"name", syscalls::signal_name(line.number)},
          {"number", line.number},
          {"sent", line.sent},
          {"ignored", line.ignored},
          {"delivered", line.delivered},
          {"senders", senders},
          {"pairs", pairs},
          {"sent_from", places(line.sent_from)},
          {"delivered_in", places(line.interrupted_in)}};
}

ordered_json verify(const std::optional<analyzer::VerifyResult>& result) {
  if (!result) return nullptr;
  ordered_json differences = ordered_json::array();
  for (const auto& difference : result->differences)
    differences.push_back({{"event_id", json_value(difference.event_id)},
                           {"call", json_value(difference.call)},
                           {"uscope_depth", difference.uscope_depth},
                           {"oracle_depth", difference.oracle_depth},
                           {"first_difference", json_value(difference.first_difference)},
                           {"function", json_value(difference.function)}});
  return {{"samples", result->samples}, {"equal", result->equal}, {"differences", differences}};
}

ordered_json walks(const std::optional<analyzer::WalkFigures>& figures) {
  if (!figures) return nullptr;
  return {{"walks", figures->walks}, {"deferred", figures->deferred}, {"stopped_early", figures->stopped_early}};
}

ordered_json unwind(const analyzer::UnwindTables& tables) {
  ordered_json troubles = ordered_json::array();
  for (const auto& file : tables.troubles)
    troubles.push_back(
        {{"path", json_value(file.path)}, {"state", json_value(file.state)}, {"trouble", json_value(file.trouble)}});
  return {{"files", tables.files},
          {"rows", tables.rows},
          {"bytes", tables.bytes},
          {"without", {{"total", tables.without}, {"lines", troubles}}}};
}

ordered_json debug_trouble(const analyzer::DebugTrouble& trouble) {
  return {{"path", json_value(trouble.path)}, {"why", json_value(trouble.why)}};
}

template <typename Line, typename Render>
ordered_json top_list(const analyzer::TopList<Line>& list, const Render& render) {
  ordered_json lines = ordered_json::array();
  for (const Line& line : list.lines) lines.push_back(render(line));
  return {{"total", list.total}, {"lines", lines}};
}

}  // namespace

ordered_json report_value(const analyzer::Summary& summary) {
  ordered_json ends = ordered_json::array();
  for (const auto& line : summary.stack_ends)
    ends.push_back({{"ended", json_value(line.ended)},
                    {"meaning", json_value(line.meaning)},
                    {"events", line.events},
                    {"stacks", line.stacks},
                    {"guessed", line.guessed}});
  ordered_json io_uring = ordered_json::array();
  for (const auto& line : summary.io_uring) io_uring.push_back(process_object(line));
  ordered_json gaps = top_list(summary.gaps, gap);
  gaps["calls_left_out"] = summary.calls_left_out;
  ordered_json failures = top_list(summary.failed.lines, failed_object);
  failures["left_out"] = summary.failed.left_out;
  failures["searched"] = {{"events", summary.failed.searched_events}};
  failures["searched"].update(top_list(summary.failed.searched, failed_object));
  return {{"losses", losses_object(summary)},
          {"part", summary.part ? part_json(*summary.part) : ordered_json()},
          {"trace", trace(summary.trace)},
          {"stack_ends", ends},
          {"walks", walks(summary.walks)},
          {"unwind", unwind(summary.unwind)},
          {"debug_troubles", top_list(summary.debug_troubles, debug_trouble)},
          {"verify", verify(summary.verify)},
          {"io_uring", io_uring},
          {"processes", top_list(summary.processes, process_object)},
          {"threads", top_list(summary.threads, thread)},
          {"time", summary.time.recorded.any() ? time_json(summary.time) : ordered_json()},
          {"calls", top_list(summary.calls, call_object)},
          {"waits", top_list(summary.waits, call_object)},
          {"files", top_list(summary.files, file_json)},
          {"triggers", top_list(summary.triggers, trigger_object)},
          {"errors", top_list(summary.errors, error_object)},
          {"errors_by_file", failures},
          {"slowest", top_list(summary.slowest, instance)},
          {"longest_waits", top_list(summary.longest_waits, instance)},
          {"gaps", gaps},
          {"gap_pairs", top_list(summary.gap_pairs, gap_pair)},
          {"open", top_list(summary.open, instance)},
          {"signals", top_list(summary.signals, signal)}};
}

std::string report_json(const analyzer::Summary& summary) {
  return dump(report_value(summary)) + "\n";
}

}  // namespace uscope::cli

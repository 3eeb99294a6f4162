// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/render/diff_render.h"
#include "cli/render/diff_sentences.h"
#include "cli/render/json.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using nlohmann::ordered_json;

ordered_json name_or_null(const std::string& name) {
  return name.empty() ? ordered_json() : json_value(name);
}

ordered_json runs(const std::vector<analyzer::RunFacts>& side) {
  ordered_json list = ordered_json::array();
  for (const auto& run : side) {
    ordered_json losses = ordered_json::object();
    for (const auto& loss : run.losses) losses[to_utf8(loss.cause)] = loss.count;
    list.push_back({{"file", json_value(run.file)},
                    {"events", run.events},
                    {"duration_ns", run.duration_ns},
                    {"complete", run.complete},
                    {"losses", losses}});
  }
  return list;
}

ordered_json errors_json(const std::map<std::int64_t, std::uint64_t>& counts) {
  ordered_json object = ordered_json::object();
  for (const auto& [error, events] : counts) object[analyzer::outcome_name(error)] = events;
  return object;
}

void add_example(ordered_json& entry, const analyzer::CellExample& example) {
  ordered_json threads = ordered_json::array();
  for (const std::string& thread : example.threads) threads.push_back(json_value(thread));
  ordered_json arguments = ordered_json::array();
  for (const auto& string : example.strings) arguments.push_back(json_value(string.value));
  entry["example_stack"] = name_or_null(example.stack);
  entry["first_ns"] = json_value(example.first_ns);
  entry["arguments"] = arguments;
  entry["threads"] = threads;
  entry["example_file"] = json_value(example.file);
  entry["example_event_id"] = example.event_id.value();
}

ordered_json key(const analyzer::CellKey& cell) {
  return {{"kind", json_value(cell.kind)},
          {"function", name_or_null(cell.function)},
          {"module", name_or_null(cell.module)}};
}

// As in `report`: how many there are, and those that are shown.
ordered_json limited(std::size_t total, ordered_json lines) {
  return {{"total", total}, {"lines", std::move(lines)}};
}

ordered_json effect_json(double before, double after, double effect) {
  const std::string_view nothing = effect_word(before, after);
  return nothing.empty() ? ordered_json(effect) : ordered_json(nothing);
}

ordered_json only_list(const analyzer::RankedList<analyzer::OnlyEntry>& list) {
  ordered_json entries = ordered_json::array();
  for (const auto& [cell, example, new_arguments] : list.entries) {
    ordered_json entry = key(cell.key);
    entry["what"] = cell.error ? "errors " + analyzer::outcome_name(*cell.error)
                               : std::string(cell.never_returned ? "never returned" : "calls");
    entry["events"] = cell.events;
    entry["errors"] = errors_json(cell.errors);
    entry["never_returned"] = cell.open;
    entry["runs"] = cell.runs;
    add_example(entry, example);
    ordered_json flags = ordered_json::array();
    for (const std::string& flag : example.flags) flags.push_back(json_value(flag));
    entry["flags"] = flags;
    entries.push_back(std::move(entry));
  }
  return limited(list.total, std::move(entries));
}

ordered_json side_time_object(const analyzer::TimeOfSide& time) {
  return {{"mean_ns", time.mean}, {"least_ns", time.least}, {"most_ns", time.most}};
}

ordered_json time_shift_object(const analyzer::TimeShift& time) {
  return {{"normal", side_time_object(time.normal)},
          {"abnormal", side_time_object(time.abnormal)},
          {"change_ns", time.change()},
          {"q", time.q ? ordered_json(*time.q) : ordered_json()}};
}

// A call beside a gap, or what is there instead of one.
ordered_json gap_end(const analyzer::CellKey& call, analyzer::GapEdge edge) {
  if (!call.kind.empty()) return key(call);
  if (edge == analyzer::GapEdge::kLeft) return "left";
  return edge == analyzer::GapEdge::kTracing ? "tracing" : "thread";
}

ordered_json time_lines(const analyzer::RankedList<analyzer::TimeEntry>& list) {
  ordered_json lines = ordered_json::array();
  for (const analyzer::TimeEntry& entry : list.entries) {
    const analyzer::TimePlace& place = entry.shift.place;
    const analyzer::TimeShift& time = entry.shift.time;
    ordered_json line{{"where", place.outside ? "outside" : "inside"},
                      {"call", place.outside ? ordered_json() : key(place.call)},
                      {"after", place.outside ? gap_end(place.call, place.since) : ordered_json()},
                      {"before", place.outside ? gap_end(place.next, place.until) : ordered_json()}};
    line.update(time_shift_object(time));
    line["normal"]["times"] = time.normal.times;
    line["abnormal"]["times"] = time.abnormal.times;
    line["example_stack"] = name_or_null(entry.stack);
    line["example_file"] = json_value(entry.file);
    lines.push_back(std::move(line));
  }
  return lines;
}

ordered_json time_object(const analyzer::Diff& diff) {
  return {{"notable", diff.time.notable},
          {"run", time_shift_object(diff.time.length)},
          {"inside", time_shift_object(diff.time.inside)},
          {"outside", time_shift_object(diff.time.outside)},
          {"total", diff.places.total},
          {"lines", time_lines(diff.places)}};
}

ordered_json changed_list(const analyzer::RankedList<analyzer::ChangedEntry>& list) {
  ordered_json entries = ordered_json::array();
  for (const auto& [cell, example] : list.entries) {
    ordered_json entry = key(cell.key);
    entry["what"] = shift_name(cell);
    entry["normal"] = cell.before;
    entry["abnormal"] = cell.after;
    entry["effect"] = effect_json(cell.before, cell.after, cell.effect);
    entry["normal_calls"] = cell.calls_before;
    entry["abnormal_calls"] = cell.calls_after;
    entry["q"] = cell.q ? ordered_json(*cell.q) : ordered_json();
    add_example(entry, example);
    entries.push_back(std::move(entry));
  }
  return limited(list.total, std::move(entries));
}

ordered_json arguments_list(const analyzer::RankedList<analyzer::ChangedArgument>& changes) {
  const auto side = [](const analyzer::ArgumentCalls& calls, const std::vector<std::int64_t>& numbers) {
    return ordered_json{{"calls", calls.calls}, {"examined", calls.examined}, {"numbers", numbers}};
  };
  ordered_json list = ordered_json::array();
  for (const analyzer::ChangedArgument& change : changes.entries) {
    ordered_json entry = key(change.key);
    entry["argument"] = change.arg;
    entry["flag"] = name_or_null(change.name);
    entry["normal"] = side(change.normal, change.numbers_before);
    entry["abnormal"] = side(change.abnormal, change.numbers_after);
    ordered_json objects = ordered_json::array();
    for (const std::string& object : change.objects) objects.push_back(json_value(object));
    entry["arguments"] = objects;
    entry["example_file"] = name_or_null(change.file);
    entry["example_event_id"] = change.event_id ? ordered_json(change.event_id.value()) : ordered_json();
    list.push_back(std::move(entry));
  }
  return limited(changes.total, std::move(list));
}

ordered_json settings_list(const std::vector<analyzer::ChangedSetting>& settings) {
  const auto texts = [](const std::vector<std::string>& values) {
    ordered_json list = ordered_json::array();
    for (const std::string& value : values) list.push_back(json_value(value));
    return list;
  };
  ordered_json list = ordered_json::array();
  for (const analyzer::ChangedSetting& change : settings)
    list.push_back({{"what", json_value(analyzer::setting_name(change))},
                    {"normal", texts(change.normal)},
                    {"abnormal", texts(change.abnormal)}});
  const std::size_t total = list.size();
  return limited(total, std::move(list));
}

ordered_json endings_list(const std::vector<analyzer::ChangedEnding>& endings) {
  const auto side = [](const analyzer::EndedProcesses& processes) {
    return ordered_json{{"ended", processes.ended}, {"processes", processes.processes}, {"runs", processes.runs}};
  };
  ordered_json list = ordered_json::array();
  for (const auto& change : endings)
    list.push_back({{"program", json_value(change.ending.program)},
                    {"exit_code", json_value(change.ending.exit_code)},
                    {"exit_signal", json_value(change.ending.exit_signal)},
                    {"normal", side(change.normal)},
                    {"abnormal", side(change.abnormal)}});
  const std::size_t total = list.size();
  return limited(total, std::move(list));
}

ordered_json objects_list(const analyzer::RankedList<analyzer::ChangedObject>& objects) {
  ordered_json list = ordered_json::array();
  for (const auto& change : objects.entries)
    list.push_back({{"object", json_value(change.object)},
                    {"direction", change.direction == analyzer::Direction::kRead ? "read" : "written"},
                    {"normal", change.before},
                    {"abnormal", change.after},
                    {"effect", effect_json(change.before, change.after, change.effect)}});
  return limited(objects.total, std::move(list));
}

}  // namespace

std::string shift_name(const analyzer::ChangedCell& cell) {
  switch (cell.what) {
    case analyzer::Shift::kRate:
      return "rate";
    case analyzer::Shift::kLatency:
      return "latency";
    case analyzer::Shift::kErrors:
      return "errors " + analyzer::outcome_name(cell.error.value_or(0));
    case analyzer::Shift::kBytes:
      return "bytes";
    case analyzer::Shift::kNeverReturned:
      break;
  }
  return "never returned";
}

std::string diff_json(const analyzer::Diff& diff) {
  ordered_json warnings = ordered_json::array();
  for (const std::string& warning : diff.warnings) warnings.push_back(json_value(warning));
  const ordered_json value{{"normal", runs(diff.normal)},
                           {"abnormal", runs(diff.abnormal)},
                           {"warnings", warnings},
                           {"time", time_object(diff)},
                           {"started_differently", settings_list(diff.settings)},
                           {"ended_differently", endings_list(diff.endings)},
                           {"only_in_abnormal", only_list(diff.abnormal_only)},
                           {"changed", changed_list(diff.changed)},
                           {"arguments_changed", arguments_list(diff.arguments)},
                           {"only_in_normal", only_list(diff.normal_only)},
                           {"bytes_moved", objects_list(diff.objects)}};
  return dump(value) + "\n";
}

}  // namespace uscope::cli

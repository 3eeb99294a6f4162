// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/failing_arguments.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace uscope::analyzer {
namespace {

struct FailedEvent {
  SampledEvent event;
  std::vector<std::string> strings;  // identities
};

Result<std::vector<FailedEvent>> failed_events(const Cell* cell, std::int64_t error, CellLookup& lookup) {
  std::vector<FailedEvent> failed;
  if (!cell || cell->errnos.count(error) == 0) return failed;
  auto events = lookup.events({.cell = cell, .error = error});
  if (!events) return events.error();
  for (SampledEvent& event : *events) {
    auto strings = lookup.strings(event.id);
    if (!strings) return strings.error();
    for (std::string& string : *strings) string = lookup.identity(string);
    if (!strings->empty()) failed.push_back({std::move(event), std::move(*strings)});
  }
  return failed;
}

// Arguments (their identities) that failed in no normal run, and in how many abnormal runs they failed.
using NewArguments = std::map<std::string, std::size_t>;

bool is_new(const FailedEvent& event, const NewArguments& arguments, std::size_t least_runs) {
  return std::any_of(event.strings.begin(), event.strings.end(), [&](const std::string& string) {
    const auto found = arguments.find(string);
    return found != arguments.end() && found->second >= least_runs;
  });
}

}  // namespace

Result<std::optional<OnlyEntry>> new_failing_arguments(const CellRow& row, std::int64_t error,
                                                       std::vector<CellLookup>& normal,
                                                       std::vector<CellLookup>& abnormal) {
  std::set<std::string> known;
  for (std::size_t i = 0; i < normal.size(); i++) {
    auto failed = failed_events(row.normal[i], error, normal[i]);
    if (!failed) return failed.error();
    for (const FailedEvent& event : *failed) known.insert(event.strings.begin(), event.strings.end());
  }
  NewArguments arguments;
  std::vector<std::vector<FailedEvent>> runs;
  for (std::size_t i = 0; i < abnormal.size(); i++) {
    auto failed = failed_events(row.abnormal[i], error, abnormal[i]);
    if (!failed) return failed.error();
    std::set<std::string> here;
    for (const FailedEvent& event : *failed)
      for (const std::string& string : event.strings)
        if (known.count(string) == 0) here.insert(string);
    for (const std::string& string : here) arguments[string]++;
    runs.push_back(std::move(*failed));
  }
  const std::size_t least_runs = abnormal.size() < kRunsToTest ? 1 : abnormal.size();
  OnlyEntry entry{.cell = {.key = row.key, .error = error}, .example = {}};
  std::size_t most = 0;
  for (std::size_t i = 0; i < runs.size(); i++) {
    std::vector<SampledEvent> events;
    for (FailedEvent& event : runs[i])
      if (is_new(event, arguments, least_runs)) events.push_back(std::move(event.event));
    if (events.empty()) continue;
    entry.cell.runs++;
    entry.cell.events += events.size();
    if (events.size() <= most) continue;
    most = events.size();
    auto example = abnormal[i].example_of(events.front().id);
    if (!example) return example.error();
    auto sample = abnormal[i].describe(events);
    if (!sample) return sample.error();
    // Arguments that also failed in normal runs (a folder beside the file) are not part of it.
    std::erase_if(sample->strings, [&](const auto& counted) { return known.count(counted.first) != 0; });
    describe_example(*sample, {}, *example);
    entry.example = std::move(*example);
  }
  if (entry.cell.events == 0) return std::optional<OnlyEntry>();
  entry.cell.errors[error] = entry.cell.events;
  entry.new_arguments = true;
  return std::optional(std::move(entry));
}

}  // namespace uscope::analyzer

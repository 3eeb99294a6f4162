// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/files/failures.h"

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include "analyzer/read/catalog.h"
#include "analyzer/read/usual_error.h"
#include "support/text.h"

namespace uscope::analyzer {
namespace {

enum class Telling { kNeverFound, kNormal, kSearched };

// The smaller, the more telling. The last failures of a program that failed are the nearest to its end; of another
// program, frequent ones cost most.
using Rank = std::tuple<Telling, bool, bool, bool, std::int64_t, std::int64_t>;

bool is_not_there(std::int64_t error) {
  return error == ENOENT || error == ENOTDIR;
}

Rank rank_of(const Failures::Failed& failed, Telling telling) {
  const auto events = static_cast<std::int64_t>(failed.events);
  return {telling,
          !failed.program_failed,
          !failed.named_to_program,
          !failed.by_application,
          failed.program_failed ? -failed.last_event : -events,
          failed.program_failed ? -events : -failed.last_event};
}

std::int64_t number_of(const std::optional<ProcessRowId>& process) {
  return process ? std::int64_t{process->value()} : 0;
}

struct Group {
  Rank rank;
  std::uint64_t events = 0;
  std::map<std::optional<std::string>, std::uint64_t> objects;
};

FailedLine line_of(const std::string& call, std::int64_t number, const std::optional<std::string>& base,
                   const Group& group) {
  FailedLine line{call, number, error_name(number), base, group.events, {}};
  for (const auto& [name, events] : group.objects) line.objects.push_back({name, events});
  std::stable_sort(line.objects.begin(), line.objects.end(),
                   [](const FailedObject& a, const FailedObject& b) { return a.events > b.events; });
  if (line.objects.size() == 1) line.name = line.objects.front().name;
  return line;
}

}  // namespace

std::string last_component(const std::string& name) {
  const std::size_t end = name.find_last_not_of('/');
  if (!name.starts_with('/') || end == std::string::npos) return name;
  return std::string(base_name(std::string_view(name).substr(0, end + 1)));
}

void Failures::add(Failed failed) {
  if (failed_.size() == kMost) {
    left_out_ += failed.events;
    return;
  }
  if (failed.name && is_not_there(failed.number)) found_[number_of(failed.process)][last_component(*failed.name)];
  failed_.push_back(std::move(failed));
}

void Failures::add_success(const std::optional<ProcessRowId>& process, const std::optional<std::string>& name,
                           std::int64_t last_event) {
  const auto names = found_.find(number_of(process));
  if (names == found_.end() || !name) return;
  const auto found = names->second.find(last_component(*name));
  if (found == names->second.end()) return;
  std::int64_t& last = found->second[*name];
  last = std::max(last, last_event);
}

const Failures::Found* Failures::found_for(const Failed& failed) const {
  const auto names = found_.find(number_of(failed.process));
  if (!failed.name || names == found_.end()) return nullptr;
  const auto found = names->second.find(last_component(*failed.name));
  return found == names->second.end() ? nullptr : &found->second;
}

FailureList Failures::finish(std::size_t lines) const {
  std::map<std::tuple<Telling, std::string, std::int64_t, std::optional<std::string>>, Group> groups;
  for (const Failed& failed : failed_) {
    Telling telling = is_usual_error(failed.call, failed.number) ? Telling::kNormal : Telling::kNeverFound;
    if (const Found* found = is_not_there(failed.number) ? found_for(failed) : nullptr)
      for (const auto& [name, last] : *found)
        if (last > failed.last_event) telling = name == *failed.name ? Telling::kNormal : Telling::kSearched;
    const Rank rank = rank_of(failed, telling);
    const auto base = failed.name ? std::optional(last_component(*failed.name)) : std::nullopt;
    const auto [at, is_new] = groups.try_emplace({telling, failed.call, failed.number, base}, Group{rank, 0, {}});
    Group& group = at->second;
    group.rank = std::min(group.rank, rank);
    group.events += failed.events;
    group.objects[failed.name] += failed.events;
  }
  FailureList list;
  list.left_out = left_out_;
  std::vector<std::pair<Rank, FailedLine>> told;
  std::vector<std::pair<Rank, FailedLine>> searched;
  for (const auto& [key, group] : groups) {
    const auto& [telling, call, number, base] = key;
    const bool is_searched = telling == Telling::kSearched;
    (is_searched ? searched : told).emplace_back(group.rank, line_of(call, number, base, group));
    if (is_searched) list.searched_events += group.events;
  }
  const auto first = [lines](std::vector<std::pair<Rank, FailedLine>> all) {
    auto kept = top(std::move(all), lines, [](const auto& a, const auto& b) {
      return std::tie(a.first, a.second.call, a.second.number, a.second.name) <
             std::tie(b.first, b.second.call, b.second.number, b.second.name);
    });
    TopList<FailedLine> result{{}, kept.total};
    for (auto& [rank, line] : kept.lines) result.lines.push_back(std::move(line));
    return result;
  };
  list.lines = first(std::move(told));
  list.searched = first(std::move(searched));
  return list;
}

}  // namespace uscope::analyzer

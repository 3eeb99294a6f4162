// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/no_match.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/read/path_filter.h"
#include "analyzer/read/query.h"
#include "support/glob.h"
#include "support/text.h"
#include "syscalls/call_traits.h"
#include "syscalls/signal_names.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kMostRelatives = 5;
constexpr std::size_t kMostProcesses = 20;
constexpr std::array<std::string_view, 6> kSendSignals{
    "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"};

bool are_signals(const std::vector<std::string>& calls) {
  const std::vector<std::string> all = syscalls::kinds_of_signal(syscalls::kAllSignals);
  const std::set<std::string> kinds(all.begin(), all.end());
  return std::all_of(calls.begin(), calls.end(), [&](const std::string& call) { return kinds.contains(call); });
}

// Empty if one of the calls occurs.
Result<std::string> missing_calls(const store::Database& database, const Catalog& catalog,
                                  const std::vector<std::string>& calls) {
  std::vector<std::pair<std::string, std::uint64_t>> relatives;
  bool occurs = false;
  const bool signals = are_signals(calls);
  auto done = each_row(
      database,
      "SELECT kind.name, sum(cell.events) FROM cell JOIN kind ON kind.id = cell.kind_id GROUP BY 1 ORDER BY 2 DESC, 1",
      [&](const SqlRow& row) {
        const std::string name = text(row, 0);
        occurs = occurs || std::find(calls.begin(), calls.end(), name) != calls.end();
        const bool sends = std::find(kSendSignals.begin(), kSendSignals.end(), name) != kSendSignals.end();
        if (signals ? sends : std::any_of(calls.begin(), calls.end(), [&](const std::string& call) {
              return syscalls::are_related(call, name);
            }))
          relatives.emplace_back(name, static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(1))));
      });
  if (!done) return done.error();
  if (occurs) return std::string();
  std::string out = "the trace has " + (calls.size() == 1 ? "no " + calls.front() : std::string("none of these calls"));
  if (signals) {
    const auto kept = catalog.meta.find("signals");
    const bool recorded = kept != catalog.meta.end() && kept->second == "1";
    out =
        recorded ? "the trace has none of these signals" : "the trace has no signals: `record --signals` records them";
  }
  if (const auto recorded = catalog.meta.find("calls"); recorded != catalog.meta.end() && recorded->second != "all")
    out += " (it was recorded with -e " + recorded->second + ")";
  for (std::size_t i = 0; i < std::min(relatives.size(), kMostRelatives); i++)
    out += fmt::format("{}{} ({})",
                       i == 0 ? (signals ? "; calls in it that send some: " : "; related calls in it: ") : ", ",
                       relatives[i].first, group_digits(relatives[i].second));
  return out;
}

// Empty if some kind of them occurs.
std::string missing_targets(const Catalog& catalog, const std::vector<std::string>& targets) {
  std::set<std::string> classes;
  for (const Kind& kind : catalog.kinds) {
    if (is_target(targets, kind)) return "";
    classes.insert(kind.source);
  }
  std::string out = "the trace has no event of " + (targets.size() == 1 ? targets.front() : "these classes");
  for (const std::string& one : classes)
    out += (&one == &*classes.begin() ? "; its events are of the class" : ",") + (" " + one);
  return out;
}

// Empty if a name matches.
Result<std::string> missing_paths(const store::Database& database, const std::vector<std::string>& globs) {
  NearPaths near(globs);
  bool occurs = false;
  auto done = each_path(database, [&](const std::string& name, const PathIds&) {
    if (path_matches(globs, name))
      occurs = true;
    else
      near.add(name);
  });
  if (!done) return done.error();
  return occurs ? std::string() : no_such_path(globs, near.found());
}

// Empty if one of the processes occurs.
std::string missing_pids(const Catalog& catalog, const std::vector<std::int64_t>& pids) {
  std::vector<std::string> others;
  for (const Process& process : catalog.processes) {
    if (std::find(pids.begin(), pids.end(), process.pid) != pids.end()) return "";
    const Image* image = catalog.last_image(process);
    others.push_back(fmt::format("{} {}", process.pid, image ? image->name : "?"));
  }
  std::string out =
      "the trace has " + (pids.size() == 1 ? fmt::format("no process {}", pids.front()) : "none of these processes");
  for (std::size_t i = 0; i < std::min(others.size(), kMostProcesses); i++)
    out += (i == 0 ? "; those in it: " : ", ") + others[i];
  if (others.size() > kMostProcesses) out += fmt::format(" and {} more", group_digits(others.size() - kMostProcesses));
  return out;
}

// Empty if a thread has one of the numbers.
std::string missing_tids(const Catalog& catalog, const std::vector<std::int64_t>& tids) {
  for (const Thread& thread : catalog.threads)
    if (std::find(tids.begin(), tids.end(), thread.tid) != tids.end()) return "";
  return "the trace has " + (tids.size() == 1 ? fmt::format("no thread {}", tids.front()) : "none of these threads") +
         ": `uscope report --top 0` lists them";
}

// Empty if a thread had such a name.
std::string missing_threads(const Catalog& catalog, const std::vector<std::string>& globs) {
  std::set<std::string> names;
  for (const Thread& thread : catalog.threads) {
    names.insert(thread.name);
    for (const auto& [since, name] : thread.names) names.insert(name);
  }
  const auto fits = [&](const std::string& name) {
    return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_matches(glob, name); });
  };
  if (std::any_of(names.begin(), names.end(), fits)) return "";
  std::string out = "the trace has no thread with such a name";
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown == kMostProcesses) break;
    out += (shown++ == 0 ? "; names in it: " : ", ") + name;
  }
  return names.size() > shown ? out + fmt::format(" and {} more", group_digits(names.size() - shown)) : out;
}

// Empty if the time begins before the trace ends.
std::string begins_late(const Catalog& catalog, std::int64_t since_ns) {
  const std::int64_t length = difference(catalog.end_ns, catalog.start_ns);
  if (since_ns <= length) return "";
  return fmt::format("--since is after the end of the trace, which is {:.6f} s long",
                     static_cast<double>(length) / 1e9);
}

}  // namespace

Result<std::vector<std::string>> why_none_match(const store::Database& database, const Catalog& catalog,
                                                const EventFilter& filter) {
  std::vector<std::string> reasons;
  const auto keep = [&](Result<std::string> reason) -> Result<void> {
    if (!reason) return reason.error();
    if (!reason->empty()) reasons.push_back(std::move(*reason));
    return {};
  };
  const bool names_calls = (filter.calls && !filter.calls->empty()) || !filter.kinds.empty();
  if (!filter.targets.empty() && !names_calls)
    if (auto done = keep(missing_targets(catalog, filter.targets)); !done) return done.error();
  if (filter.calls && filter.targets.empty() && filter.kinds.empty())
    if (auto done = keep(missing_calls(database, catalog, *filter.calls)); !done) return done.error();
  if (!filter.paths.empty())
    if (auto done = keep(missing_paths(database, filter.paths)); !done) return done.error();
  if (!filter.pids.empty())
    if (auto done = keep(missing_pids(catalog, filter.pids)); !done) return done.error();
  if (!filter.tids.empty())
    if (auto done = keep(missing_tids(catalog, filter.tids)); !done) return done.error();
  if (!filter.threads.empty())
    if (auto done = keep(missing_threads(catalog, filter.threads)); !done) return done.error();
  if (filter.since_ns)
    if (auto done = keep(begins_late(catalog, *filter.since_ns)); !done) return done.error();
  return reasons;
}

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/endings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "analyzer/diff/diff_cells.h"
#include "analyzer/diff/rates.h"

namespace uscope::analyzer {
namespace {

std::uint64_t processes_of(const RunFacts& run, const std::string& program) {
  std::uint64_t sum = 0;
  for (auto at = run.endings.lower_bound({program}); at != run.endings.end() && at->first.program == program; ++at)
    sum += at->second;
  return sum;
}

std::uint64_t ended_so(const RunFacts& run, const Ending& ending) {
  const auto found = run.endings.find(ending);
  return found == run.endings.end() ? 0 : found->second;
}

// Shares of processes by run; fills in what is shown of the side.
Counts shares_of(const std::vector<RunFacts>& runs, const Ending& ending, EndedProcesses& shown) {
  Counts counts;
  for (const RunFacts& run : runs) {
    const std::uint64_t ended = ended_so(run, ending);
    const std::uint64_t processes = processes_of(run, ending.program);
    shown.ended += ended;
    shown.processes += processes;
    shown.runs += ended != 0 ? 1 : 0;
    counts.events.push_back(static_cast<double>(ended));
    counts.exposure.push_back(static_cast<double>(processes));
  }
  return counts;
}

double ended_share(const EndedProcesses& processes) {
  return static_cast<double>(processes.ended) / static_cast<double>(processes.processes);
}

// What is shown first has the lowest rank.
std::tuple<int, double> rank_of(const ChangedEnding& change) {
  const double more = ended_share(change.abnormal) - ended_share(change.normal);
  if (more <= 0) return {3, more};
  if (change.ending.exit_signal.value_or(0) != 0) return {0, -more};
  return {change.ending.exit_code.value_or(0) != 0 ? 1 : 2, -more};
}

}  // namespace

std::vector<ChangedEnding> compare_endings(const std::vector<RunFacts>& normal, const std::vector<RunFacts>& abnormal) {
  std::set<Ending> endings;
  for (const auto* side : {&normal, &abnormal})
    for (const RunFacts& run : *side)
      for (const auto& [ending, processes] : run.endings) endings.insert(ending);
  std::vector<ChangedEnding> changed;
  for (const Ending& ending : endings) {
    ChangedEnding change{.ending = ending, .normal = {}, .abnormal = {}};
    Rates shares{shares_of(normal, ending, change.normal), shares_of(abnormal, ending, change.abnormal)};
    if (!shares.drop_unexposed()) continue;
    const double ratio = shares.nearest_ratio();
    const bool one_sided = (change.normal.ended == 0) != (change.abnormal.ended == 0);
    const bool shifted = is_large_ratio(ratio) && shares.excess() >= kLeastEvents;
    if (one_sided || shifted) changed.push_back(std::move(change));
  }
  std::stable_sort(changed.begin(), changed.end(),
                   [](const ChangedEnding& a, const ChangedEnding& b) { return rank_of(a) < rank_of(b); });
  return changed;
}

}  // namespace uscope::analyzer

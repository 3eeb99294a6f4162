// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/inherited_numbers.h"

#include <algorithm>
#include <optional>

namespace uscope::analyzer {

InheritedNumbers::InheritedNumbers(const LastCalls& calls)
    : calls_(calls),
      family_(calls.processes.size()),
      carries_(calls.processes.size()),
      anything_(calls.processes.size()) {
  find_families();
  for (const LastCall& thread : calls.threads) known_.emplace(thread.ns_tid, family_[thread.process]);
  for (std::size_t i = 0; i < calls.processes.size(); i++)
    for (const auto& [inner_tid, tid] : calls.processes[i].gone) known_.emplace(inner_tid, family_[i]);
  find_carriers();
}

bool InheritedNumbers::is_copy(std::size_t process) const {
  const Origin origin = calls_.processes[process].origin;
  return origin == Origin::kClone || origin == Origin::kUnknown;
}

// Each process is visited once; a circle of parents in a damaged store is cut where it is met again.
void InheritedNumbers::find_families() {
  std::unordered_map<ProcessRowId, std::size_t> by_id;
  for (std::size_t i = 0; i < calls_.processes.size(); i++) by_id[calls_.processes[i].id] = i;
  std::vector<bool> seen(calls_.processes.size());
  for (std::size_t start = 0; start < calls_.processes.size(); start++) {
    std::vector<std::size_t> way;
    std::size_t at = start;
    std::optional<std::size_t> family;
    while (!family && !seen[at]) {
      seen[at] = true;
      way.push_back(at);
      const auto parent = by_id.find(calls_.processes[at].parent_id);
      if (!is_copy(at) || parent == by_id.end()) {
        family = at;
      } else {
        at = parent->second;
      }
    }
    const bool circle = !family && std::find(way.begin(), way.end(), at) != way.end();
    const std::size_t found = family ? *family : circle ? at : family_[at];
    for (const std::size_t member : way) family_[member] = found;
  }
}

void InheritedNumbers::find_carriers() {
  for (const LastCall& thread : calls_.threads) {
    const LastProcess& process = calls_.processes[thread.process];
    if (thread.tid != process.pid || !is_copy(thread.process) || carries_[thread.process]) continue;
    carries_[thread.process] = true;
    anything_[thread.process] = process.attached || family_[thread.process] == thread.process;
    (anything_[thread.process] ? of_anything_ : carriers_[family_[thread.process]]).push_back(process.until_ns);
  }
  std::sort(of_anything_.begin(), of_anything_.end());
  for (auto& [family, ends] : carriers_) std::sort(ends.begin(), ends.end());
}

bool InheritedNumbers::written_in(std::size_t process, std::int64_t inner_tid) const {
  if (!carries_[process] || anything_[process]) return carries_[process];
  const auto [first, last] = known_.equal_range(inner_tid);
  return std::any_of(first, last, [&](const auto& known) { return known.second == family_[process]; });
}

bool InheritedNumbers::one_ends_with(const Ends& ends, std::size_t process) const {
  const std::int64_t until_ns = calls_.processes[process].until_ns;
  const auto next = std::lower_bound(ends.begin(), ends.end(), until_ns);
  return (next != ends.end() && ended_together(*next, until_ns)) ||
         (next != ends.begin() && ended_together(*std::prev(next), until_ns));
}

bool InheritedNumbers::written_beside(std::size_t process, std::int64_t inner_tid) const {
  if (one_ends_with(of_anything_, process)) return true;
  const auto [first, last] = known_.equal_range(inner_tid);
  return std::any_of(first, last, [&](const auto& known) {
    const auto carriers = carriers_.find(known.second);
    return carriers != carriers_.end() && one_ends_with(carriers->second, process);
  });
}

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/wait_owners.h"

#include <algorithm>

#include "analyzer/read/catalog.h"

namespace uscope::analyzer {
namespace {

constexpr int kGenerations = 1000;  // parent links may form a cycle

bool is_initial(const LastProcess& process) {
  return process.pid == process.ns_pid;
}

}  // namespace

WaitOwners::WaitOwners(const LastCalls& calls) : calls_(calls) {
  for (std::size_t i = 0; i < calls.processes.size(); i++) processes_[calls.processes[i].id] = i;
  for (std::size_t i = 0; i < calls.threads.size(); i++) {
    const LastCall& thread = calls.threads[i];
    by_tid_.emplace(thread.ns_tid, i);
    by_space_[{calls.processes[thread.process].space, thread.ns_tid}][thread.process] = i;
  }
  find_sharers();
}

// Sorted by end time: if any other process ended together with this one, one next to it in this order did.
void WaitOwners::find_sharers() {
  shares_.resize(calls_.processes.size());
  for (auto [space, processes] : calls_.spaces) {
    std::sort(processes.begin(), processes.end(), [&](std::size_t a, std::size_t b) {
      return calls_.processes[a].until_ns < calls_.processes[b].until_ns;
    });
    for (std::size_t i = 1; i < processes.size(); i++)
      if (ended_together(calls_.processes[processes[i - 1]], calls_.processes[processes[i]]))
        shares_[processes[i - 1]] = shares_[processes[i]] = true;
  }
}

bool WaitOwners::shares_space(const LastCall& waiter) const {
  const bool known_to_others = waiter.wait->of_one_space() && waiter.wait->untraced_sharers.value_or(0) != 0;
  return known_to_others || shares_[waiter.process];
}

FoundOwner WaitOwners::within(std::size_t index, std::uint32_t inner_tid) const {
  FoundOwner owner;
  const LastProcess& process = calls_.processes[index];
  std::size_t candidates = 0;
  if (const auto found = by_space_.find({process.space, inner_tid}); found != by_space_.end())
    for (const auto& [other, thread] : found->second) {
      if (other != index && !ended_together(process, calls_.processes[other])) continue;
      owner.thread = thread;
      candidates++;
    }
  if (candidates == 1) owner.state = FoundOwner::State::kFound;
  if (candidates != 0 || calls_.tasks_missing || shares_[index]) return owner;
  owner.state = FoundOwner::State::kGone;
  if (const auto gone = process.gone.find(inner_tid); gone != process.gone.end()) {
    owner.old_tid = gone->second;
  } else if (is_initial(process)) {
    owner.old_tid = inner_tid;
  }
  return owner;
}

// A process and its ancestors in inner namespaces. Two processes with a common one were made within one container, most
// likely in one namespace; that suffices to look for a tid there, but not to conclude that it is absent.
std::vector<ProcessRowId> WaitOwners::inner_ancestors(std::size_t process) const {
  std::vector<ProcessRowId> ids;
  for (int i = 0; i < kGenerations; i++) {
    const LastProcess& at = calls_.processes[process];
    if (is_initial(at)) break;
    ids.push_back(at.id);
    const auto parent = processes_.find(at.parent_id);
    if (parent == processes_.end()) break;
    process = parent->second;
  }
  return ids;
}

bool WaitOwners::same_namespace(std::size_t a, std::size_t b) const {
  if (a == b) return true;
  const bool initial = is_initial(calls_.processes[a]);
  if (initial != is_initial(calls_.processes[b])) return false;
  if (initial) return true;
  const auto above = inner_ancestors(a);
  const auto others = inner_ancestors(b);
  return std::any_of(above.begin(), above.end(),
                     [&](ProcessRowId id) { return std::find(others.begin(), others.end(), id) != others.end(); });
}

// A thread with the same number in another namespace may be meant, or one of an untraced process. So an owner is gone
// only if every process that has the futex is in the trace, and none of their namespaces knows the number.
FoundOwner WaitOwners::across(const LastCall& waiter, std::uint32_t inner_tid) const {
  FoundOwner owner;
  const LastProcess& own = calls_.processes[waiter.process];
  if (waiter.wait->untraced_sharers.value_or(0) != 0) return owner;
  std::size_t candidates = 0;
  const auto [first, last] = by_tid_.equal_range(inner_tid);
  for (auto at = first; at != last; ++at) {
    const std::size_t process = calls_.threads[at->second].process;
    if (!ended_together(own, calls_.processes[process])) continue;
    candidates++;
    owner.thread = at->second;
  }
  if (candidates == 1 && same_namespace(waiter.process, calls_.threads[owner.thread].process))
    owner.state = FoundOwner::State::kFound;
  if (candidates == 0 && waiter.wait->untraced_sharers && !calls_.tasks_missing) {
    owner.state = FoundOwner::State::kGone;
    if (is_initial(own)) owner.old_tid = inner_tid;
  }
  return owner;
}

FoundOwner WaitOwners::find(const LastCall& waiter, std::uint32_t inner_tid, bool joins) const {
  if (joins || waiter.wait->of_one_space()) return within(waiter.process, inner_tid);
  if (waiter.wait->key.empty()) return {};
  return across(waiter, inner_tid);
}

}  // namespace uscope::analyzer

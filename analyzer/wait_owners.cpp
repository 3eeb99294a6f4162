#include "analyzer/wait_owners.h"

#include <algorithm>

#include "analyzer/catalog.h"

namespace uscope::analyzer {
namespace {

constexpr int kGenerations = 1000;                 // parent links may form a circle
constexpr std::int64_t kTogether = 1'000'000'000;  // processes that are killed at once end this close to each other

bool is_initial(const LastProcess& process) {
  return process.pid == process.ns_pid;
}

}  // namespace

WaitOwners::WaitOwners(const LastCalls& calls) : calls_(calls) {
  for (std::size_t i = 0; i < calls.processes.size(); i++) processes_[calls.processes[i].id] = i;
  for (std::size_t i = 0; i < calls.threads.size(); i++) {
    const LastCall& thread = calls.threads[i];
    by_process_[{thread.process, thread.ns_tid}] = i;
    by_tid_.emplace(thread.ns_tid, i);
  }
}

FoundOwner WaitOwners::within(const LastProcess& process, std::size_t index, std::uint32_t inner_tid) const {
  FoundOwner owner;
  if (const auto found = by_process_.find({index, inner_tid}); found != by_process_.end()) {
    owner.state = FoundOwner::State::kFound;
    owner.thread = found->second;
    return owner;
  }
  if (calls_.tasks_missing) return owner;
  owner.state = FoundOwner::State::kGone;
  if (const auto gone = process.gone.find(inner_tid); gone != process.gone.end()) {
    owner.old_tid = gone->second;
  } else if (is_initial(process)) {
    owner.old_tid = inner_tid;
  }
  return owner;
}

// A process and those above it that are in inner namespaces, too. Who has one of them in common was made within one
// container, most likely in one namespace; that is enough to look for a tid there, not to say that it is not there.
std::vector<std::int64_t> WaitOwners::inner_ancestors(std::size_t process) const {
  std::vector<std::int64_t> ids;
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
                     [&](std::int64_t id) { return std::find(others.begin(), others.end(), id) != others.end(); });
}

// Gone is an owner only where every process that has the futex is in the trace, and none of their namespaces knows it.
FoundOwner WaitOwners::across(const LastCall& waiter, std::uint32_t inner_tid) const {
  FoundOwner owner;
  const LastProcess& own = calls_.processes[waiter.process];
  std::size_t candidates = 0;
  std::size_t others = 0;
  const auto [first, last] = by_tid_.equal_range(inner_tid);
  for (auto at = first; at != last; ++at) {
    const std::size_t process = calls_.threads[at->second].process;
    if (difference(own.until_ns, calls_.processes[process].until_ns) > kTogether) continue;
    others++;
    if (!same_namespace(waiter.process, process)) continue;
    candidates++;
    owner.thread = at->second;
  }
  if (candidates == 1) owner.state = FoundOwner::State::kFound;
  const bool all_traced = waiter.wait->strangers == 0 && !calls_.tasks_missing;
  if (others == 0 && all_traced) {
    owner.state = FoundOwner::State::kGone;
    if (is_initial(own)) owner.old_tid = inner_tid;
  }
  return owner;
}

FoundOwner WaitOwners::find(const LastCall& waiter, std::uint32_t inner_tid, bool joins) const {
  if (joins || waiter.wait->of_one_space()) return within(calls_.processes[waiter.process], waiter.process, inner_tid);
  if (waiter.wait->key.empty()) return {};
  return across(waiter, inner_tid);
}

}  // namespace uscope::analyzer

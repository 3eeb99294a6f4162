// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The order of the rules. Owners first: a cycle of them needs no further evidence. Then condition variables: a waiter
// whose wakers all wait, through owners, for the waiter itself. Threads that are stuck and not behind one of these are
// a stall, which lists only those that do not wait for another listed thread.
#include "analyzer/deadlock/wait_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "support/clock.h"

namespace uscope::analyzer {
namespace {

// The threads that are not stuck, grouped by what they can reach: for each group only those last seen latest matter.
class FreeThreads {
 public:
  FreeThreads(const std::vector<Waiter>& threads, const std::vector<bool>& stuck) : threads_(threads) {
    for (std::size_t i = 0; i < threads.size(); i++) {
      if (stuck[i]) continue;
      add(all_, i);
      add(by_process_[threads[i].process], i);
      add(by_space_[threads[i].space], i);
    }
  }

  // Whether any thread other than the waiter can release it, by can_reach().
  [[nodiscard]] bool any_reaches(std::size_t waiter) const {
    const Waiter& it = threads_[waiter];
    const auto space = by_space_.find(it.space);
    const auto process = by_process_.find(it.process);
    return (process != by_process_.end() && reaches(process->second, waiter)) ||
           (space != by_space_.end() && reaches(space->second, waiter)) || reaches(all_, waiter);
  }

 private:
  // The two that were seen last; one of them may be the waiter itself.
  using Latest = std::vector<std::size_t>;

  void add(Latest& latest, std::size_t thread) const {
    latest.push_back(thread);
    std::sort(latest.begin(), latest.end(),
              [&](std::size_t a, std::size_t b) { return threads_[a].until_ns > threads_[b].until_ns; });
    if (latest.size() > 2) latest.pop_back();
  }
  [[nodiscard]] bool reaches(const Latest& latest, std::size_t waiter) const {
    return std::any_of(latest.begin(), latest.end(),
                       [&](std::size_t i) { return i != waiter && can_reach(threads_[i], threads_[waiter]); });
  }

  const std::vector<Waiter>& threads_;
  Latest all_;
  std::map<std::size_t, Latest> by_process_;
  std::map<std::size_t, Latest> by_space_;
};

// The strongly connected components of a graph from which no edge leads out: those that the first `count` nodes lead
// to. Tarjan's algorithm, without recursion. A component with one node counts only if it has an edge to itself.
std::vector<std::vector<std::size_t>> closed_components(const std::vector<std::vector<std::size_t>>& edges,
                                                        std::size_t count) {
  std::vector<std::vector<std::size_t>> out;
  std::vector<std::size_t> order(edges.size());  // 0 = not met
  std::vector<std::size_t> low(edges.size());
  std::vector<bool> open(edges.size());
  std::vector<std::size_t> component(edges.size());  // 0 = none yet
  std::vector<std::size_t> stack;
  std::vector<std::pair<std::size_t, std::size_t>> todo;  // node, next edge
  std::size_t met = 0;
  std::size_t components = 0;
  const auto finish = [&](std::size_t root) {
    std::vector<std::size_t> members;
    components++;
    do {
      members.push_back(stack.back());
      stack.pop_back();
      open[members.back()] = false;
      component[members.back()] = components;
    } while (members.back() != root);
    std::size_t inner = 0;
    for (const std::size_t i : members)
      for (const std::size_t to : edges[i]) {
        if (component[to] != components) return;
        inner++;
      }
    if (inner == 0) return;
    std::sort(members.begin(), members.end());
    out.push_back(std::move(members));
  };
  for (std::size_t start = 0; start < count; start++) {
    if (order[start] != 0) continue;
    todo.emplace_back(start, 0);
    while (!todo.empty()) {
      const std::size_t i = todo.back().first;
      const std::size_t edge = todo.back().second;
      if (edge == 0 && order[i] == 0) {
        order[i] = low[i] = ++met;
        open[i] = true;
        stack.push_back(i);
      }
      if (edge < edges[i].size()) {
        todo.back().second++;
        const std::size_t to = edges[i][edge];
        if (order[to] == 0) {
          todo.emplace_back(to, 0);
        } else if (open[to]) {
          low[i] = std::min(low[i], order[to]);
        }
        continue;
      }
      todo.pop_back();
      if (!todo.empty()) low[todo.back().first] = std::min(low[todo.back().first], low[i]);
      if (low[i] == order[i]) finish(i);
    }
  }
  return out;
}

class Graph {
 public:
  Graph(const std::vector<Waiter>& threads, bool wakes_known)
      : threads_(threads),
        wakes_known_(wakes_known),
        stuck_(stuck_threads(threads)),
        free_(threads, stuck_),
        accused_(threads.size()) {}

  std::vector<GraphFinding> find() {
    owner_cycles();
    gone_owners();
    holder_cycles();
    for (std::size_t i = 0; i < threads_.size(); i++) signal_cycle(i);
    halted();
    stalls();
    return std::move(findings_);
  }

 private:
  [[nodiscard]] const Waiter& at(std::size_t i) const { return threads_[i]; }
  [[nodiscard]] bool has_owner(std::size_t i) const { return at(i).held && at(i).releaser == Releaser::kOwner; }
  [[nodiscard]] bool is_root(std::size_t i) const {
    return stuck_[i] && (at(i).releaser == Releaser::kSpace || at(i).releaser == Releaser::kAnyone);
  }
  void accuse(GraphFinding finding);

  [[nodiscard]] bool somebody_is_free(std::size_t waiter) const;
  [[nodiscard]] bool is_weak(const std::vector<std::size_t>& cycle) const;
  void owner_cycles();
  [[nodiscard]] bool heir_is_free(std::size_t i) const { return at(i).lenient && at(i).heir && !stuck_[*at(i).heir]; }
  void gone_owners();
  void holder_cycles();
  void holder_cycle(const std::vector<std::size_t>& members, const std::vector<std::vector<std::size_t>>& edges);
  void halted();
  void signal_cycle(std::size_t waiter);
  std::vector<std::size_t> chain(std::size_t from, std::size_t to, bool joins) const;
  std::vector<std::size_t> expected_wakers(std::size_t waiter) const;
  void stalls();
  [[nodiscard]] std::vector<bool> behind_others() const;
  void stall(const std::vector<std::size_t>& roots);

  const std::vector<Waiter>& threads_;
  bool wakes_known_;
  std::vector<bool> stuck_;
  FreeThreads free_;
  std::vector<bool> accused_;
  std::set<std::size_t> dead_spaces_;  // address spaces with a finding that rests on owners
  std::vector<GraphFinding> findings_;
};

void Graph::accuse(GraphFinding finding) {
  for (const std::size_t i : finding.threads) {
    accused_[i] = true;
    dead_spaces_.insert(at(i).space);
  }
  findings_.push_back(std::move(finding));
}

// Whether some thread could release a lenient waiter without being the owner.
bool Graph::somebody_is_free(std::size_t waiter) const {
  return at(waiter).outsiders || free_.any_reaches(waiter);
}

// A thread of the process may cancel one that joins; a waiter for a lock behind it may wait for a wake that is no
// unlock.
bool Graph::is_weak(const std::vector<std::size_t>& cycle) const {
  const auto joins = [&](std::size_t i) { return at(i).joins; };
  const auto is_open = [&](std::size_t i) { return (at(i).joins || at(i).lenient) && somebody_is_free(i); };
  return std::any_of(cycle.begin(), cycle.end(), joins) && std::any_of(cycle.begin(), cycle.end(), is_open);
}

// Each thread has at most one owner, so a walk along owners ends or meets a thread that it has passed.
void Graph::owner_cycles() {
  std::vector<std::size_t> walk(threads_.size());  // number of the walk that passed it, 0 = none
  for (std::size_t start = 0; start < threads_.size(); start++) {
    std::size_t i = start;
    while (has_owner(i) && walk[i] == 0) {
      walk[i] = start + 1;
      i = at(i).owner;
    }
    if (!has_owner(i) || walk[i] != start + 1) continue;
    GraphFinding finding;
    finding.threads.push_back(i);
    for (std::size_t next = at(i).owner; next != i; next = at(next).owner) finding.threads.push_back(next);
    finding.type = finding.threads.size() == 1 ? FindingType::kSelfDeadlock : FindingType::kCycle;
    if (finding.threads.size() == 1 && at(i).lenient && somebody_is_free(i)) continue;
    const auto is_unsure = [&](std::size_t member) { return at(member).unsure; };
    finding.weak = is_weak(finding.threads) || std::any_of(finding.threads.begin(), finding.threads.end(), is_unsure);
    accuse(std::move(finding));
  }
}

void Graph::gone_owners() {
  std::map<std::uint64_t, GraphFinding> by_thing;
  for (std::size_t i = 0; i < threads_.size(); i++) {
    if (!at(i).held || at(i).releaser != Releaser::kNobody || heir_is_free(i)) continue;
    GraphFinding& finding = by_thing[at(i).thing];
    finding.type = FindingType::kOwnerGone;
    finding.weak = finding.weak || (at(i).lenient && somebody_is_free(i));
    finding.threads.push_back(i);
  }
  for (auto& [thing, finding] : by_thing) accuse(std::move(finding));
}

// Circles through holders lie in the strongly connected components of the stuck threads from which no edge leads out:
// all that could release a member is a member. The nodes behind the threads are groups: processes, address spaces, and
// all threads.
void Graph::holder_cycles() {
  const auto is_holder_wait = [&](std::size_t i) { return stuck_[i] && at(i).releaser == Releaser::kProcesses; };
  bool some = false;
  for (std::size_t i = 0; i < threads_.size(); i++) some = some || is_holder_wait(i);
  if (!some) return;
  std::vector<std::vector<std::size_t>> edges(threads_.size());
  std::map<std::size_t, std::size_t> processes;
  std::map<std::size_t, std::size_t> spaces;
  const auto group = [&](std::map<std::size_t, std::size_t>& groups, std::size_t number) {
    const auto [place, is_new] = groups.emplace(number, edges.size());
    if (is_new) edges.emplace_back();
    return place->second;
  };
  const std::size_t all = edges.size();
  edges.emplace_back();
  for (std::size_t i = 0; i < threads_.size(); i++) {
    const std::size_t process = group(processes, at(i).process);
    const std::size_t space = group(spaces, at(i).space);
    edges[all].push_back(i);
    edges[process].push_back(i);
    edges[space].push_back(i);
  }
  for (std::size_t i = 0; i < threads_.size(); i++) {
    if (!stuck_[i]) continue;
    const Waiter& it = at(i);
    if (it.releaser == Releaser::kOwner) edges[i].push_back(it.owner);
    if (it.releaser == Releaser::kSpace) edges[i].push_back(group(spaces, it.space));
    if (it.releaser == Releaser::kAnyone) edges[i].push_back(all);
    if (it.releaser == Releaser::kProcesses)
      for (const std::size_t holder : it.holders) edges[i].push_back(group(processes, holder));
  }
  for (const auto& members : closed_components(edges, threads_.size())) {
    const auto ours = [&](std::size_t i) { return i < threads_.size() && is_holder_wait(i); };
    const auto bad = [&](std::size_t i) { return i < threads_.size() && (!stuck_[i] || accused_[i]); };
    if (std::any_of(members.begin(), members.end(), ours) && std::none_of(members.begin(), members.end(), bad))
      holder_cycle(members, edges);
  }
}

// The shortest circle through a waiter for holders, then the other members.
void Graph::holder_cycle(const std::vector<std::size_t>& members, const std::vector<std::vector<std::size_t>>& edges) {
  constexpr std::size_t kTried = 64;
  std::vector<std::size_t> best;
  std::size_t tried = 0;
  for (const std::size_t start : members) {
    if (start >= threads_.size() || at(start).releaser != Releaser::kProcesses || tried++ == kTried) continue;
    std::map<std::size_t, std::size_t> from;
    std::vector<std::size_t> queue{start};
    for (std::size_t next = 0; next < queue.size() && from.count(start) == 0; next++)
      for (const std::size_t to : edges[queue[next]])
        if (from.emplace(to, queue[next]).second && to != start) queue.push_back(to);
    std::vector<std::size_t> circle;
    for (std::size_t i = start; from.count(start) != 0;) {
      i = from.at(i);
      if (i < threads_.size()) circle.push_back(i);
      if (i == start) break;
    }
    std::reverse(circle.begin(), circle.end());
    if (!circle.empty() && (best.empty() || circle.size() < best.size())) best = circle;
  }
  GraphFinding finding;
  finding.by_processes = true;
  finding.circle = best.size();
  finding.threads = best;
  for (const std::size_t i : members)
    if (i < threads_.size() && std::find(best.begin(), best.end(), i) == best.end()) finding.threads.push_back(i);
  finding.type = finding.threads.size() == 1 ? FindingType::kSelfDeadlock : FindingType::kCycle;
  const auto is_open = [&](std::size_t i) {
    const Waiter& it = at(i);
    return it.releaser == Releaser::kSpace || it.releaser == Releaser::kAnyone || it.may_open ||
           (it.lenient && somebody_is_free(i));
  };
  finding.weak = std::any_of(finding.threads.begin(), finding.threads.end(), is_open) || is_weak(finding.threads);
  accuse(std::move(finding));
}

// Waits that only stopped threads could end: stuck if these count as stuck. Whoever sends SIGCONT ends them.
void Graph::halted() {
  std::map<std::size_t, std::vector<std::size_t>> stopped;  // by process
  std::vector<Waiter> waiters = threads_;
  for (std::size_t i = 0; i < waiters.size(); i++) {
    if (!waiters[i].stopped) continue;
    stopped[waiters[i].process].push_back(i);
    waiters[i].held = true;
    waiters[i].lenient = false;
    waiters[i].releaser = Releaser::kNobody;
  }
  if (stopped.empty()) return;
  const std::vector<bool> stuck = stuck_threads(waiters);
  for (const auto& [process, threads] : stopped) {
    GraphFinding finding;
    finding.type = FindingType::kStopped;
    finding.weak = true;
    finding.by_processes = true;
    for (std::size_t i = 0; i < waiters.size(); i++) {
      if (!waiters[i].held || !stuck[i] || stuck_[i] || accused_[i]) continue;
      const auto& holders = waiters[i].holders;
      const bool of_process = waiters[i].releaser == Releaser::kProcesses &&
                              std::find(holders.begin(), holders.end(), process) != holders.end();
      const bool of_thread = waiters[i].releaser == Releaser::kOwner && waiters[waiters[i].owner].stopped &&
                             waiters[waiters[i].owner].process == process;
      if (of_process || of_thread) finding.threads.push_back(i);
    }
    finding.circle = finding.threads.size();
    if (finding.threads.empty()) continue;
    for (const std::size_t i : threads)
      if (!accused_[i]) finding.threads.push_back(i);
    accuse(std::move(finding));
  }
}

// The threads along owners from `from` up to, but not including, `to`; empty if the owners do not lead there.
std::vector<std::size_t> Graph::chain(std::size_t from, std::size_t to, bool joins) const {
  std::vector<std::size_t> passed;
  for (std::size_t i = from; i != to; i = at(i).owner) {
    if (!has_owner(i) || (at(i).joins && !joins) || passed.size() > threads_.size()) return {};
    passed.push_back(i);
  }
  return passed;
}

// Without any wake in the trace: all threads that could wake it, except those that only wait for another thread's end.
std::vector<std::size_t> Graph::expected_wakers(std::size_t waiter) const {
  if (!at(waiter).wakers.empty() || at(waiter).wakers_gone) return at(waiter).wakers;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < threads_.size(); i++) {
    const bool reaches = at(waiter).releaser == Releaser::kAnyone || can_reach(at(i), at(waiter));
    if (i == waiter || !reaches || (at(i).held && at(i).joins)) continue;
    if (!has_owner(i)) return {};  // not blocked by an owner: nothing can be concluded
    others.push_back(i);
  }
  return others;
}

void Graph::signal_cycle(std::size_t waiter) {
  const Waiter& it = at(waiter);
  if (!it.held || it.release_event != ReleaseEvent::kSignal || accused_[waiter]) return;
  if (it.releaser != Releaser::kSpace && it.releaser != Releaser::kAnyone) return;
  const bool stuck = stuck_[waiter];
  // If some thread is left that could wake it, only actual former wakers count, and only if they wait for a lock that
  // the waiter holds: a thread that joins it may have left the waking to another.
  if (!stuck && (it.wakers.empty() || it.wakers_gone || !wakes_known_ || it.waited_ns < kSecondNs)) return;
  const std::vector<std::size_t> wakers = expected_wakers(waiter);
  if (wakers.empty()) return;
  GraphFinding finding;
  finding.type = FindingType::kCycle;
  finding.signal = true;
  finding.by_history = !stuck;
  finding.weak = !stuck;
  finding.threads.push_back(waiter);
  std::vector<bool> member(threads_.size());
  for (const std::size_t waker : wakers) {
    if (waker == waiter) continue;
    const auto passed = chain(waker, waiter, stuck);
    if (passed.empty() || (!stuck && at(waker).waited_ns < kSecondNs)) return;
    for (const std::size_t i : passed) {
      if (member[i]) break;
      member[i] = true;
      finding.threads.push_back(i);
    }
  }
  if (finding.threads.size() > 1) accuse(std::move(finding));
}

// The stuck roots that lead, through owners and former wakers, to roots that do not lead back: Tarjan's strongly
// connected components, without recursion; a component is finished after those that it leads to.
std::vector<bool> Graph::behind_others() const {
  const std::size_t count = threads_.size();
  std::vector<std::size_t> order(count);  // 0 = not met
  std::vector<std::size_t> low(count);
  std::vector<bool> open(count);
  std::vector<bool> leads(count);   // its component, or one that it leads to, has a root
  std::vector<bool> behind(count);  // it leads to another component that does
  std::vector<std::size_t> stack;
  std::vector<std::pair<std::size_t, std::size_t>> todo;  // thread, next edge
  std::size_t met = 0;
  const auto next_of = [&](std::size_t i, std::size_t edge) -> std::optional<std::size_t> {
    if (at(i).releaser == Releaser::kOwner) return edge == 0 ? std::optional(at(i).owner) : std::nullopt;
    return edge < at(i).wakers.size() ? std::optional(at(i).wakers[edge]) : std::nullopt;
  };
  const auto finish = [&](std::size_t root) {
    std::vector<std::size_t> members;
    bool has_root = false;
    bool leads_on = false;
    do {
      members.push_back(stack.back());
      stack.pop_back();
      open[members.back()] = false;
      has_root = has_root || is_root(members.back());
    } while (members.back() != root);
    for (const std::size_t i : members)
      for (std::size_t edge = 0; const auto to = next_of(i, edge); edge++)
        leads_on = leads_on || (stuck_[*to] && low[*to] != low[root] && leads[*to]);
    for (const std::size_t i : members) {
      leads[i] = has_root || leads_on;
      behind[i] = leads_on;
    }
  };
  for (std::size_t start = 0; start < count; start++) {
    if (!stuck_[start] || order[start] != 0) continue;
    todo.emplace_back(start, 0);
    while (!todo.empty()) {
      const std::size_t i = todo.back().first;
      if (todo.back().second == 0 && order[i] == 0) {
        order[i] = low[i] = ++met;
        open[i] = true;
        stack.push_back(i);
      }
      const auto to = next_of(i, todo.back().second);
      if (to) {
        todo.back().second++;
        if (!stuck_[*to]) continue;
        if (order[*to] == 0) {
          todo.emplace_back(*to, 0);
        } else if (open[*to]) {
          low[i] = std::min(low[i], low[*to]);
        }
        continue;
      }
      todo.pop_back();
      if (!todo.empty()) low[todo.back().first] = std::min(low[todo.back().first], low[i]);
      if (low[i] == order[i]) {
        for (auto member = stack.rbegin(); *member != i; ++member) low[*member] = low[i];
        finish(i);
      }
    }
  }
  return behind;
}

void Graph::stall(const std::vector<std::size_t>& roots) {
  GraphFinding finding;
  finding.threads = roots;
  const auto all = [&](auto rule) { return std::all_of(roots.begin(), roots.end(), rule); };
  const bool signals = all([&](std::size_t i) { return at(i).release_event == ReleaseEvent::kSignal; });
  const bool one = all(
      [&](std::size_t i) { return at(i).release_event != ReleaseEvent::kLock && at(i).thing == at(roots[0]).thing; });
  finding.type = signals || one ? FindingType::kLostWakeup : FindingType::kStall;
  findings_.push_back(std::move(finding));
}

// One finding for each address space, and one for the futexes that processes share.
void Graph::stalls() {
  const std::vector<bool> behind = behind_others();
  // A stuck thread that waits for another process explains its own: nothing is amiss with those that wait for it.
  if (!dead_spaces_.empty())
    for (std::size_t i = 0; i < threads_.size(); i++)
      if (stuck_[i] && at(i).releaser == Releaser::kProcesses) dead_spaces_.insert(at(i).space);
  std::map<std::size_t, std::vector<std::size_t>> private_roots;
  std::vector<std::size_t> shared_roots;
  for (std::size_t i = 0; i < threads_.size(); i++) {
    if (!is_root(i) || behind[i] || accused_[i] || at(i).idle) continue;
    if (at(i).releaser == Releaser::kAnyone) {
      if (dead_spaces_.empty()) shared_roots.push_back(i);
    } else if (!dead_spaces_.contains(at(i).space)) {
      private_roots[at(i).space].push_back(i);
    }
  }
  for (const auto& [space, roots] : private_roots) stall(roots);
  if (!shared_roots.empty()) stall(shared_roots);
}

}  // namespace

bool can_reach(const Waiter& other, const Waiter& waiter) {
  const bool both = waiter.shared || waiter.releaser == Releaser::kAnyone || other.space == waiter.space;
  return other.process == waiter.process || (both && other.until_ns >= waiter.until_ns - kSecondNs);
}

namespace {

// Finds the stuck threads by freeing the others: each thread is freed once, and then frees those that wait for it alone
// and those that it can release by can_reach(): in its process, in its address space, or in all with shared memory.
class Freeing {
 public:
  explicit Freeing(const std::vector<Waiter>& threads) : threads_(threads), stuck_(threads.size()) {
    for (std::size_t i = 0; i < threads.size(); i++) {
      const Waiter& it = threads[i];
      stuck_[i] = it.held && it.releaser != Releaser::kUnknown && !(it.lenient && it.outsiders);
      if (!stuck_[i]) {
        todo_.push_back(i);
      } else if (it.releaser == Releaser::kOwner) {
        of_owner_[it.owner].push_back(i);
      } else if (it.releaser == Releaser::kProcesses) {
        for (const std::size_t holder : it.holders) of_holder_[holder].push_back(i);
      } else if (it.releaser != Releaser::kNobody) {
        of_process_[it.process].push_back(i);
        (it.shared || it.releaser == Releaser::kAnyone ? of_anyone_ : of_space_[it.space]).waiters.push_back(i);
      }
    }
    sort(of_anyone_);
    for (auto& [space, line] : of_space_) sort(line);
  }

  std::vector<bool> run() {
    while (!todo_.empty()) {
      const std::size_t i = todo_.back();
      todo_.pop_back();
      free_all(of_owner_, i);
      free_all(of_holder_, threads_[i].process);
      free_all(of_process_, threads_[i].process);
      free_until(of_anyone_, threads_[i].until_ns);
      const auto space = of_space_.find(threads_[i].space);
      if (space != of_space_.end()) free_until(space->second, threads_[i].until_ns);
    }
    return std::move(stuck_);
  }

 private:
  using Lists = std::map<std::size_t, std::vector<std::size_t>>;
  struct Line {
    std::vector<std::size_t> waiters;  // ordered by the time when they were last seen
    std::size_t freed = 0;             // how many of them are freed, from the first on
  };

  void sort(Line& line) const {
    std::sort(line.waiters.begin(), line.waiters.end(),
              [&](std::size_t a, std::size_t b) { return threads_[a].until_ns < threads_[b].until_ns; });
  }
  void free(std::size_t i) {
    if (!stuck_[i]) return;
    stuck_[i] = false;
    todo_.push_back(i);
  }
  void free_all(Lists& lists, std::size_t key) {
    const auto found = lists.find(key);
    if (found == lists.end()) return;
    for (const std::size_t i : found->second) free(i);
    lists.erase(found);
  }
  void free_until(Line& line, std::int64_t until_ns) {
    for (; line.freed < line.waiters.size(); line.freed++) {
      if (until_ns < threads_[line.waiters[line.freed]].until_ns - kSecondNs) break;
      free(line.waiters[line.freed]);
    }
  }

  const std::vector<Waiter>& threads_;
  std::vector<bool> stuck_;
  std::vector<std::size_t> todo_;
  Lists of_owner_;
  Lists of_holder_;
  Lists of_process_;
  std::map<std::size_t, Line> of_space_;
  Line of_anyone_;
};

}  // namespace

std::vector<bool> stuck_threads(const std::vector<Waiter>& threads) {
  return Freeing(threads).run();
}

std::vector<GraphFinding> find_stuck(const std::vector<Waiter>& threads, bool wakes_known) {
  return Graph(threads, wakes_known).find();
}

}  // namespace uscope::analyzer

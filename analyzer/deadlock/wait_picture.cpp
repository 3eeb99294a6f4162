// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/wait_picture.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace uscope::analyzer {
namespace {

using What = PictureNode::What;

// An edge between single threads, or from a thread to a process.
struct ThreadEdge {
  std::int64_t from = 0;  // tid
  std::int64_t to = 0;    // tid, or pid if `process`
  bool process = false;
  std::string label;
  bool circle = false;
};

// Equal for threads that wait alike.
struct Likeness {
  std::string process;
  std::int64_t pid = 0;  // 0: processes may differ
  What what = What::kWaits;
  std::string waits_for;
  std::string halted;
  std::uint64_t address = 0;
  std::optional<std::size_t> finding;
  std::vector<std::string> stack;
  std::set<std::tuple<bool, std::int64_t, std::string>> outgoing;
  std::set<std::int64_t> incoming;

  [[nodiscard]] auto tied() const {
    return std::tie(process, pid, what, waits_for, halted, address, finding, stack, outgoing, incoming);
  }
  friend bool operator<(const Likeness& a, const Likeness& b) { return a.tied() < b.tied(); }
};

class Painter {
 public:
  explicit Painter(const Diagnosis& diagnosis) : diagnosis_(diagnosis) {
    add_threads();
    add_edges();
  }

  WaitPicture paint() {
    group();
    join_groups();
    return chosen();
  }

 private:
  void add(PictureNode node, std::int64_t pid, std::int64_t tid) {
    node.tids = {tid};
    if (pid != 0) node.pids = {pid};
    if (place_.try_emplace(tid, threads_.size()).second) threads_.push_back(std::move(node));
  }

  void add(const BlockedThread& thread, std::optional<std::size_t> finding, bool circle) {
    PictureNode node;
    node.name = thread.name;
    node.process = thread.process;
    node.waits_for = thread.wait.empty() ? thread.lock : thread.wait;
    node.halted = thread.halted;
    node.api = thread.api;
    node.address = thread.address;
    node.waited_ns = thread.waited_ns;
    node.at_least = thread.at_least;
    node.finding = finding;
    node.circle = circle;
    node.stack = thread.stack;
    add(std::move(node), thread.pid, thread.tid);
  }

  void add_threads() {
    for (std::size_t i = 0; i < diagnosis_.findings.size(); i++) {
      const Finding& finding = diagnosis_.findings[i];
      for (std::size_t at = 0; at < finding.threads.size(); at++) add(finding.threads[at], i, at < finding.circle);
    }
    for (const BlockedThread& thread : diagnosis_.blocked) add(thread, std::nullopt, false);
    for (const OtherWait& wait : diagnosis_.other_waits) {
      for (const OtherWait::Waiting& thread : wait.threads) {
        PictureNode node;
        node.name = thread.name;
        node.process = thread.process;
        node.waits_for = wait.wait.empty() ? wait.call : wait.wait;
        node.halted = wait.halted;
        node.waited_ns = thread.waited_ns;
        node.at_least = thread.at_least;
        node.stack = wait.stack;
        add(std::move(node), thread.pid, thread.tid);
      }
    }
    for (const ComputingThread& thread : diagnosis_.computing) {
      PictureNode node;
      node.what = What::kComputes;
      node.name = thread.name;
      node.process = thread.process;
      node.waited_ns = thread.idle_ns;
      add(std::move(node), thread.pid, thread.tid);
    }
  }

  bool has_edge(std::int64_t from, std::int64_t to) const {
    return std::any_of(edges_.begin(), edges_.end(),
                       [&](const ThreadEdge& edge) { return !edge.process && edge.from == from && edge.to == to; });
  }

  // Owners that are no edge of the diagnosis: those that have ended, and the former wakers of a condition variable.
  void add_owners(const Finding& finding) {
    for (const BlockedThread& thread : finding.threads) {
      if (!thread.wait.empty()) continue;  // its holders are processes
      for (const std::int64_t tid : thread.held_by) {
        if (has_edge(thread.tid, tid)) continue;
        if (place_.count(tid) == 0) {
          PictureNode gone;
          gone.what = finding.type == FindingType::kOwnerGone ? What::kEnded : What::kUnknown;
          gone.process = thread.process;
          add(std::move(gone), thread.pid, tid);
        }
        edges_.push_back({thread.tid, tid, false, thread.lock, false});
      }
    }
  }

  void mark_circle(const Finding& finding) {
    for (std::size_t i = 0; i < finding.circle; i++) {
      const BlockedThread& from = finding.threads[i];
      const BlockedThread& to = finding.threads[(i + 1) % finding.circle];
      for (ThreadEdge& edge : edges_) {
        if (edge.from != from.tid || edge.to != (edge.process ? to.pid : to.tid)) continue;
        edge.circle = true;
        edge.process = false;
        edge.to = to.tid;
      }
    }
  }

  void add_edges() {
    for (const WaitEdge& edge : diagnosis_.edges) {
      if (!edge.process && place_.count(edge.to) == 0) {
        PictureNode node;
        node.what = What::kUnknown;
        add(std::move(node), 0, edge.to);
      }
      if (place_.count(edge.from) != 0) edges_.push_back({edge.from, edge.to, edge.process, edge.label, false});
    }
    for (const Finding& finding : diagnosis_.findings) {
      add_owners(finding);
      mark_circle(finding);
    }
  }

  // Threads that wait alike become one node: group_of_ has for each thread its node in nodes_.
  void group() {
    std::map<std::int64_t, std::set<std::int64_t>> incoming;
    std::map<std::int64_t, std::set<std::tuple<bool, std::int64_t, std::string>>> outgoing;
    std::set<std::int64_t> awaited;  // processes
    for (const ThreadEdge& edge : edges_) {
      outgoing[edge.from].insert({edge.process, edge.to, edge.label});
      if (edge.process)
        awaited.insert(edge.to);
      else
        incoming[edge.to].insert(edge.from);
    }
    std::map<Likeness, std::size_t> known;
    for (const PictureNode& thread : threads_) {
      const std::int64_t tid = thread.tids[0];
      const std::int64_t pid = thread.pids.empty() ? 0 : thread.pids[0];
      std::size_t place = nodes_.size();
      if (!thread.circle) {
        Likeness like{thread.process, thread.address != 0 || awaited.count(pid) != 0 ? pid : 0,
                      thread.what,    thread.waits_for,
                      thread.halted,  thread.address,
                      thread.finding, {},
                      outgoing[tid],  incoming[tid]};
        for (const StackLine& line : thread.stack) like.stack.push_back(line.function);
        place = known.try_emplace(std::move(like), place).first->second;
      }
      group_of_.push_back(place);
      if (place == nodes_.size())
        nodes_.push_back(thread);
      else
        add_like(thread, nodes_[place]);
    }
  }

  static void add_like(const PictureNode& thread, PictureNode& node) {
    node.tids.insert(std::upper_bound(node.tids.begin(), node.tids.end(), thread.tids[0]), thread.tids[0]);
    for (const std::int64_t pid : thread.pids)
      if (const auto at = std::lower_bound(node.pids.begin(), node.pids.end(), pid);
          at == node.pids.end() || *at != pid)
        node.pids.insert(at, pid);
    if (thread.waited_ns <= node.waited_ns) return;
    node.waited_ns = thread.waited_ns;
    node.at_least = thread.at_least;
  }

  // The node that stands for any thread of a process.
  std::size_t node_of_process(std::int64_t pid) {
    const auto [known, is_new] = process_nodes_.try_emplace(pid, nodes_.size());
    if (!is_new) return known->second;
    std::vector<std::size_t> members;
    PictureNode node;
    node.what = What::kProcess;
    node.pids = {pid};
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      if (nodes_[i].what == What::kProcess || !std::binary_search(nodes_[i].pids.begin(), nodes_[i].pids.end(), pid))
        continue;
      members.push_back(i);
      if (node.process.empty()) node.process = nodes_[i].process;
    }
    if (members.size() == 1) return known->second = members[0];
    nodes_.push_back(std::move(node));
    for (const std::size_t member : members) drawn_.push_back({known->second, member, "", false, 1});
    return known->second;
  }

  // The edges between nodes, each once.
  void join_groups() {
    std::map<std::tuple<std::size_t, std::size_t, std::string>, std::size_t> known;
    for (const ThreadEdge& edge : edges_) {
      const std::size_t from = group_of_[place_.at(edge.from)];
      const std::size_t to = edge.process ? node_of_process(edge.to) : group_of_[place_.at(edge.to)];
      const auto [at, is_new] = known.try_emplace({from, to, edge.label}, drawn_.size());
      if (is_new) {
        drawn_.push_back({from, to, edge.label, edge.circle, 1});
      } else {
        drawn_[at->second].count++;
        drawn_[at->second].circle |= edge.circle;
      }
    }
  }

  WaitPicture chosen() {
    std::vector<bool> tied(nodes_.size());
    for (const PictureEdge& edge : drawn_) tied[edge.from] = tied[edge.to] = true;
    std::vector<std::size_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](std::size_t i) { return !tied[i] && !nodes_[i].finding; });
    const auto rank = [this](std::size_t i) { return nodes_[i].circle ? 0 : nodes_[i].finding ? 1 : 2; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    WaitPicture picture;
    std::map<std::size_t, std::size_t> places;
    for (const std::size_t i : order) {
      if (picture.nodes.size() == WaitPicture::kMostNodes) {
        picture.left_out += nodes_[i].tids.size();
        continue;
      }
      places.emplace(i, picture.nodes.size());
      picture.nodes.push_back(std::move(nodes_[i]));
    }
    for (PictureEdge& edge : drawn_) {
      if (places.count(edge.from) == 0 || places.count(edge.to) == 0) continue;
      picture.edges.push_back({places[edge.from], places[edge.to], std::move(edge.label), edge.circle, edge.count});
    }
    return picture;
  }

  const Diagnosis& diagnosis_;
  std::vector<PictureNode> threads_;           // one for each thread
  std::map<std::int64_t, std::size_t> place_;  // by tid, in threads_
  std::vector<ThreadEdge> edges_;
  std::vector<std::size_t> group_of_;  // of each of threads_, in nodes_
  std::vector<PictureNode> nodes_;
  std::map<std::int64_t, std::size_t> process_nodes_;  // by pid, in nodes_
  std::vector<PictureEdge> drawn_;                     // between nodes_
};

}  // namespace

WaitPicture picture_of(const Diagnosis& diagnosis) {
  return Painter(diagnosis).paint();
}

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads are nodes, in the boxes of their processes; an edge goes to what a thread waits for: another thread, an
// object that a process holds, or a process. Names are text that traced programs chose: they stand in quotes only, with
// what could end these, or mean something to graphviz, escaped.
#include <fmt/core.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "cli/render/deadlock_render.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

struct Node {
  std::string label;
  bool accused = false;
};

struct Box {
  std::string name;
  std::map<std::int64_t, Node> threads;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string thread_name(std::int64_t tid, const std::string& name) {
  return name.empty() ? fmt::format("thread {}", tid) : fmt::format("thread {} {}", tid, name);
}

class Drawing {
 public:
  explicit Drawing(const analyzer::Diagnosis& diagnosis) {
    for (const auto& finding : diagnosis.findings)
      for (const auto& thread : finding.threads) add(thread, true);
    for (const auto& thread : diagnosis.blocked) add(thread, false);
    for (const auto& wait : diagnosis.other_waits)
      for (const auto& thread : wait.threads)
        add(thread, wait.wait.empty() ? wait.call : wait.wait, wait.halted, false);
  }

  std::string draw(const analyzer::Diagnosis& diagnosis) const {
    std::string out = "digraph waits {\n  rankdir=LR;\n  node [shape=box];\n";
    for (const auto& [pid, box] : boxes_) {
      const std::string title =
          box.name.empty() ? fmt::format("pid {}", pid) : fmt::format("{} (pid {})", box.name, pid);
      out += fmt::format("  subgraph cluster_{} {{\n    label={};\n    p{} [shape=point];\n", pid, quoted(title), pid);
      for (const auto& [tid, node] : box.threads)
        out += fmt::format("    t{} [label={}{}];\n", tid, quoted(node.label), node.accused ? ", color=red" : "");
      out += "  }\n";
    }
    std::set<std::string> drawn;
    for (const auto& edge : diagnosis.edges) {
      std::string line;
      if (edge.process && boxes_.count(edge.to) != 0)
        line = fmt::format("  t{} -> p{} [label={}, lhead=cluster_{}];\n", edge.from, edge.to, quoted(edge.label),
                           edge.to);
      else
        line = fmt::format("  t{} -> {}{} [label={}];\n", edge.from, edge.process ? "p" : "t", edge.to,
                           quoted(edge.label));
      if (drawn.insert(line).second) out += line;
    }
    return out + "  compound=true;\n}\n";
  }

 private:
  void add(const analyzer::BlockedThread& thread, bool accused) {
    const std::string wait = thread.wait.empty() ? thread.lock : thread.wait;
    add(thread, wait, thread.halted, accused);
  }
  template <typename Thread>
  void add(const Thread& thread, const std::string& wait, const std::string& halted, bool accused) {
    Box& box = boxes_[thread.pid];
    if (box.name.empty()) box.name = thread.process;
    const std::string text = thread_name(thread.tid, thread.name) + ": " + (halted.empty() ? wait : halted);
    box.threads.emplace(thread.tid, Node{text, accused});
  }

  std::map<std::int64_t, Box> boxes_;  // by pid
};

}  // namespace

std::string deadlock_dot(const analyzer::Diagnosis& diagnosis) {
  return Drawing(diagnosis).draw(diagnosis);
}

}  // namespace uscope::cli

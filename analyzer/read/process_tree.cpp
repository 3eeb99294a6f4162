// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tree is built from parent links by three passes without recursion: nodes, links, then a walk from the roots that
// marks the nodes it reaches. An unreached node lies on or behind a cycle; one node of each cycle becomes a root.
#include "analyzer/read/process_tree.h"

#include <algorithm>
#include <utility>

#include "analyzer/read/catalog.h"
#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

ProcessNode make_node(const Catalog& catalog, const Process& process) {
  ProcessNode node;
  node.id = process.id;
  node.pid = process.pid;
  node.ns_pid = process.ns_pid;
  const Process* parent = catalog.processes.find(process.parent_id);
  if (parent) node.parent_pid = parent->pid;
  node.parent_missing = process.parent_id && !parent;
  if (const Image* image = catalog.inherited_image(process)) {
    node.inherited_path = image->path;
    node.inherited_name = node.name = image->name;
  }
  if (!process.images.empty()) node.name = catalog.last_image(process)->name;
  for (const ImageRowId id : process.images) {
    const Image& image = *catalog.images.find(id);
    node.images.push_back({image.id, catalog.since_start(image.ts_ns), image.path, image.argv, image.name, 0});
  }
  node.start_ns = catalog.since_start(process.start_ns);
  node.end_ns = catalog.since_start(process.end_ns);
  node.exit_code = process.exit_code;
  node.exit_signal = process.exit_signal;
  node.stopped = process.stopped;
  node.uses_io_uring = process.uses_io_uring;
  node.threads = process.threads;
  return node;
}

// An image that is not the process's own is its parent's.
void count_events(ProcessNode& node, ImageRowId image, std::uint64_t events) {
  const auto at =
      std::find_if(node.images.begin(), node.images.end(), [image](const ImageSpan& own) { return own.id == image; });
  (at == node.images.end() ? node.inherited_events : at->events) += events;
}

void mark_reached(const ProcessTree& tree, std::size_t root, std::vector<bool>& reached) {
  std::vector<std::size_t> todo{root};
  while (!todo.empty()) {
    const std::size_t at = todo.back();
    todo.pop_back();
    if (reached[at]) continue;
    reached[at] = true;
    for (const std::size_t child : tree.nodes[at].children) todo.push_back(child);
  }
}

// Cuts `node` off its parent.
void cut(ProcessTree& tree, std::size_t node, std::size_t parent) {
  std::vector<std::size_t>& siblings = tree.nodes[parent].children;
  siblings.erase(std::remove(siblings.begin(), siblings.end(), node), siblings.end());
  tree.nodes[node].in_circle = true;
  tree.roots.push_back(node);
}

// From an unreached node, parents lead into a cycle: the first node met twice is on it.
std::size_t on_circle(const std::vector<std::size_t>& parents, std::size_t from) {
  std::vector<bool> seen(parents.size());
  while (!seen[from]) {
    seen[from] = true;
    from = parents[from];
  }
  return from;
}

void link(const Catalog& catalog, ProcessTree& tree) {
  std::vector<std::size_t> parents(tree.nodes.size());
  for (const Process& process : catalog.processes) {
    const std::size_t index = catalog.processes.index_of(process);
    const Process* parent = catalog.processes.find(process.parent_id);
    if (!parent) {
      tree.roots.push_back(index);
      continue;
    }
    parents[index] = catalog.processes.index_of(*parent);
    tree.nodes[parents[index]].children.push_back(index);
  }
  std::vector<bool> reached(tree.nodes.size());
  for (const std::size_t root : tree.roots) mark_reached(tree, root, reached);
  for (std::size_t node = 0; node < tree.nodes.size(); node++) {
    if (reached[node]) continue;
    const std::size_t first = on_circle(parents, node);
    cut(tree, first, parents[first]);
    mark_reached(tree, first, reached);
  }
}

}  // namespace

Result<ProcessTree> build_tree(const store::Database& database) {
  auto catalog = read_catalog(database);
  if (!catalog) return catalog.error();
  ProcessTree tree;
  tree.start_ns = catalog->start_ns;
  tree.end_ns = difference(catalog->end_ns, catalog->start_ns);
  for (const Process& process : catalog->processes) tree.nodes.push_back(make_node(*catalog, process));
  const auto node_of = [&](const SqlRow& row) -> ProcessNode* {
    const Thread* thread = catalog->threads.find(ThreadRowId(row.integer(0)));
    const Process* process = thread ? catalog->processes.find(thread->process_id) : nullptr;
    return process ? &tree.nodes[catalog->processes.index_of(*process)] : nullptr;
  };
  auto done = each_row(database, "SELECT thread_id, events FROM thread_total", [&](const SqlRow& row) {
    if (ProcessNode* node = node_of(row)) node->events += static_cast<std::uint64_t>(row.integer(1));
  });
  if (!done) return done.error();
  done = each_row(database, "SELECT thread_id, image_id, events FROM program_total", [&](const SqlRow& row) {
    if (ProcessNode* node = node_of(row))
      count_events(*node, ImageRowId(row.integer(1)), static_cast<std::uint64_t>(row.integer(2)));
  });
  if (!done) return done.error();
  link(*catalog, tree);
  const auto earlier = [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) { return std::pair(tree.nodes[i].start_ns, tree.nodes[i].id); };
    return key(a) < key(b);
  };
  std::sort(tree.roots.begin(), tree.roots.end(), earlier);
  for (ProcessNode& node : tree.nodes) std::sort(node.children.begin(), node.children.end(), earlier);
  return tree;
}

}  // namespace uscope::analyzer

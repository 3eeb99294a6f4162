// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/merged_stacks.h"

#include <algorithm>
#include <numeric>

#include "analyzer/diff/call_traits.h"
#include "analyzer/diff/matrix.h"
#include "analyzer/diff/stack_identity.h"
#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

constexpr std::string_view kNoStack = "[no stack]";
constexpr std::string_view kUnknown = "[unknown]";

// A store may hold any numbers.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  return std::min(kMost, a + std::min(kMost, b));
}

// The largest share that a node has of a side's events or time.
double largest_share(const MergedNode& node, const MergedNode& all) {
  double most = 0;
  for (const auto& [part, whole] : {std::pair{node.events, all.events}, std::pair{node.ns, all.ns}})
    for (std::size_t side = 0; side < part.size(); side++)
      if (whole.at(side) != 0)
        most = std::max(most, static_cast<double>(part.at(side)) / static_cast<double>(whole.at(side)));
  return most;
}

}  // namespace

StackMerger::StackMerger() {
  tree_.nodes.push_back({.parent = 0, .name = name("all")});
}

std::uint32_t StackMerger::name(std::string_view text, std::string_view module) {
  std::string key(text);
  (key += '\0') += module;
  const auto [at, is_new] = names_.try_emplace(std::move(key), static_cast<std::uint32_t>(tree_.names.size()));
  if (is_new) tree_.names.push_back({std::string(text), std::string(module)});
  return at->second;
}

std::uint32_t StackMerger::child(std::uint32_t parent, std::uint32_t name) {
  const std::uint64_t key = std::uint64_t{parent} << 32U | name;
  const auto [at, is_new] = children_.try_emplace(key, static_cast<std::uint32_t>(tree_.nodes.size()));
  if (is_new) tree_.nodes.push_back({.parent = parent, .name = name});
  return at->second;
}

void StackMerger::count(std::uint32_t node, RunSide side, std::uint64_t events, std::uint64_t ns) {
  const auto place = static_cast<std::size_t>(side);
  while (true) {
    MergedNode& at = tree_.nodes[node];
    at.events.at(place) = sum(at.events.at(place), events);
    at.ns.at(place) = sum(at.ns.at(place), ns);
    if (node == 0) return;
    node = at.parent;
  }
}

// By stack; those without one under the id 0.
Result<StackMerger::Groups> StackMerger::read_groups(const store::Database& database) {
  const auto kinds = read_kinds(database);
  if (!kinds) return kinds.error();
  std::unordered_map<ImageRowId, std::uint32_t> programs;
  auto done = each_row(database, "SELECT id, name FROM image",
                       [&](const SqlRow& row) { programs[ImageRowId(row.integer(0))] = name(row.text(1)); });
  if (!done) return done.error();
  Groups groups;
  done = each_row(database,
                  "SELECT image_id, stack_id, kind_id, count(*), min(total(dur_ns), 4e18) FROM event GROUP BY 1, 2, 3",
                  [&](const SqlRow& row) {
                    const auto program = programs.find(ImageRowId(row.integer(0)));
                    const auto kind = kinds->find(KindRowId(row.integer(2)));
                    const std::string_view call = kind == kinds->end() ? kUnknown : std::string_view(kind->second);
                    const double ns = is_call_kind(call) ? std::max(0.0, row.real(4)) : 0;
                    groups[StackRowId(row.integer(1))].push_back(
                        {program == programs.end() ? name(kUnknown) : program->second, name(call),
                         static_cast<std::uint64_t>(row.integer(3)), static_cast<std::uint64_t>(ns)});
                  });
  if (!done) return done.error();
  return groups;
}

Result<void> StackMerger::add(const store::Database& database, const ModuleNames& names, const OffsetTrust& trust,
                              RunSide side) {
  auto groups = read_groups(database);
  if (!groups) return groups.error();
  std::unordered_map<StackRowId, std::uint32_t> broken;
  auto done = each_row(database, "SELECT id, ended FROM stack WHERE ended GLOB 'broken:*'",
                       [&](const SqlRow& row) { broken[StackRowId(row.integer(0))] = name("[" + text(row, 1) + "]"); });
  if (!done) return done;
  const auto enter = [&](const std::vector<Group>& of_stack, const std::vector<std::uint32_t>& path) {
    for (const Group& group : of_stack) {
      std::uint32_t node = child(0, group.program);
      for (const std::uint32_t part : path) node = child(node, part);
      count(child(node, group.call), side, group.events, group.ns);
    }
  };
  StackIdentity identity(database, names, trust);
  if (auto read = identity.read_modules(); !read) return read;
  std::vector<std::uint32_t> known;  // by index of the caller: its name + 1; 0: not yet
  std::vector<std::uint32_t> path;
  done = identity.each_stack([&](StackRowId id, const std::vector<std::uint32_t>& frames) {
    const auto of_stack = groups->find(id);
    if (of_stack == groups->end()) return;
    known.resize(identity.callers().size());
    path.clear();
    if (const auto why = broken.find(id); why != broken.end()) path.push_back(why->second);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      std::uint32_t& number = known[*frame];
      const Caller& caller = identity.callers()[*frame];
      if (number == 0) number = name(caller.function, caller.module) + 1;
      path.push_back(number - 1);
    }
    enter(of_stack->second, path);
    groups->erase(of_stack);
  });
  if (!done) return done;
  for (const auto& [id, of_stack] : *groups) {
    const auto why = broken.find(id);
    enter(of_stack, {why != broken.end() ? why->second : name(kNoStack)});
  }
  return {};
}

MergedStacks StackMerger::finish(std::size_t most) {
  std::vector<std::uint32_t> order(tree_.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() > most) {
    // No node has a larger share than the node below it, so what is kept is a tree.
    std::vector<double> shares(order.size());
    for (const std::uint32_t i : order) shares[i] = largest_share(tree_.nodes[i], tree_.nodes[0]);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return shares[a] != shares[b] ? shares[a] > shares[b] : a < b; });
    order.resize(std::max<std::size_t>(1, most));
    std::sort(order.begin(), order.end());
  }
  MergedStacks kept;
  kept.left_out = tree_.nodes.size() - order.size();
  std::vector<std::uint32_t> places(tree_.nodes.size());
  std::unordered_map<std::uint32_t, std::uint32_t> names;
  for (const std::uint32_t i : order) {
    MergedNode node = tree_.nodes[i];
    places[i] = static_cast<std::uint32_t>(kept.nodes.size());
    node.parent = places[node.parent];
    const auto [at, is_new] = names.try_emplace(node.name, static_cast<std::uint32_t>(kept.names.size()));
    if (is_new) kept.names.push_back(tree_.names[node.name]);
    node.name = at->second;
    kept.nodes.push_back(node);
  }
  *this = StackMerger();
  return kept;
}

}  // namespace uscope::analyzer

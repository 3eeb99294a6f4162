// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/tree_render.h"

#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "analyzer/read/catalog.h"
#include "cli/render/json.h"
#include "cli/render/text_table.h"
#include "cli/render/units.h"
#include "support/text.h"

namespace uscope::cli {

using analyzer::ProcessNode;
using analyzer::ProcessTree;

namespace {

// The programs that a process was, one after the other, with the number of events that it made as each.
std::vector<std::pair<std::string, std::uint64_t>> programs_with_events(const ProcessNode& node) {
  std::vector<std::pair<std::string, std::uint64_t>> programs;
  if (!node.inherited_path.empty()) programs.emplace_back(node.inherited_name, node.inherited_events);
  for (const auto& image : node.images) {
    if (programs.empty() || programs.back().first != image.name) programs.emplace_back(image.name, 0);
    programs.back().second += image.events;
  }
  return programs;
}

std::string events_cell(const ProcessNode& node) {
  const auto programs = programs_with_events(node);
  std::string text;
  std::uint64_t sum = 0;
  std::size_t with_events = 0;
  for (const auto& [name, events] : programs) {
    text += (text.empty() ? "" : " → ") + group_digits(events);
    sum += events;
    with_events += events != 0 ? 1 : 0;
  }
  return with_events > 1 && sum == node.events ? text : group_digits(node.events);
}

}  // namespace

std::string programs(const ProcessNode& node) {
  std::string text;
  for (const auto& [name, events] : programs_with_events(node)) text += (text.empty() ? "" : " → ") + name;
  return text.empty() ? "?" : text;
}

std::string notes(const ProcessNode& node) {
  std::string text;
  const auto add = [&](const char* note) { text += (text.empty() ? "" : ", ") + std::string(note); };
  if (node.parent_missing) add("parent unknown");
  if (node.in_circle) add("parents in a circle");
  if (node.uses_io_uring) add("uses io_uring");
  return text;
}

std::string ended(const ProcessNode& node) {
  if (!node.exit_code && !node.exit_signal && node.end_ns) return "not known";
  return node.stopped ? "stopped" : describe_exit(node.exit_code, node.exit_signal);
}

namespace {

std::vector<std::string> process_row(const ProcessNode& node, const std::string& prefix) {
  const std::string lived =
      node.start_ns && node.end_ns
          ? human_duration(static_cast<double>(*node.end_ns) - static_cast<double>(*node.start_ns))
          : "";
  return {fmt::format("{}{} {}", prefix, node.pid, programs(node)),
          node.start_ns ? seconds(*node.start_ns) : "",
          lived,
          ended(node),
          node.threads ? group_digits(node.threads) : "",
          events_cell(node),
          notes(node),
          node.images.empty() ? "" : command_line(node.images.back().argv)};
}

// One process to be printed, with the prefixes of its line and of the lines below it.
struct TreeLine {
  std::size_t node;
  std::size_t depth;
  std::string prefix;
  std::string below;
};

constexpr std::size_t kIndented = 12;  // generations drawn as a tree; deeper ones show their number instead

void add_children(const ProcessTree& tree, const TreeLine& line, std::vector<TreeLine>& todo) {
  const auto& children = tree.nodes[line.node].children;
  for (std::size_t i = children.size(); i-- > 0;) {
    const bool last = i + 1 == children.size();
    const std::size_t depth = line.depth + 1;
    if (depth > kIndented) {
      todo.push_back({children[i], depth, fmt::format("[generation {}] ", depth), ""});
      continue;
    }
    todo.push_back({children[i], depth, line.below + (last ? "└─ " : "├─ "), line.below + (last ? "   " : "│  ")});
  }
}

void add_images(const ProcessNode& node, const std::string& below, TextTable& table) {
  const std::string bar = below + (node.children.empty() ? "   " : "│  ");
  for (const auto& image : node.images)
    table.add_row({bar + "exec " + image.path, image.ts_ns ? seconds(*image.ts_ns) : "", "", "", "",
                   group_digits(image.events), "", command_line(image.argv)});
}

nlohmann::ordered_json node_json(const ProcessTree& tree, const ProcessNode& node) {
  nlohmann::ordered_json images = nlohmann::ordered_json::array();
  for (const auto& image : node.images)
    images.push_back({{"id", image.id.value()},
                      {"ts_ns", json_value(image.ts_ns)},
                      {"path", json_value(image.path)},
                      {"argv", words_json(image.argv)},
                      {"events", image.events}});
  nlohmann::ordered_json children = nlohmann::ordered_json::array();
  for (const std::size_t child : node.children) children.push_back(tree.nodes[child].id.value());
  return {{"id", node.id.value()},
          {"pid", node.pid},
          {"ns_pid", node.ns_pid},
          {"parent_pid", json_value(node.parent_pid)},
          {"parent_missing", node.parent_missing},
          {"in_circle", node.in_circle},
          {"name", json_value(node.name)},
          {"inherited_path", json_value(node.inherited_path)},
          {"inherited_events", node.inherited_events},
          {"images", images},
          {"start_ns", json_value(node.start_ns)},
          {"end_ns", json_value(node.end_ns)},
          {"exit_code", json_value(node.exit_code)},
          {"exit_signal", json_value(node.exit_signal)},
          {"stopped", node.stopped},
          {"uses_io_uring", node.uses_io_uring},
          {"threads", node.threads},
          {"events", node.events},
          {"children", children}};
}

}  // namespace

std::string tree_text(const ProcessTree& tree, bool images, TextWidth width) {
  TextTable table({{"process", Align::kLeft, Shrink::kEnd, 48},
                   {"started", Align::kRight, Shrink::kNever, 0, 2},
                   {"lived", Align::kRight},
                   {"ended"},
                   {"threads", Align::kRight, Shrink::kNever, 0, 1},
                   {"events", Align::kRight},
                   {"note"},
                   {"command", Align::kLeft, Shrink::kEnd}});
  table.set_ink("ended", ending_ink);
  table.set_ink("note", Ink::kDoubt);
  std::vector<TreeLine> todo;
  for (auto root = tree.roots.rbegin(); root != tree.roots.rend(); ++root) todo.push_back({*root, 0, "", ""});
  while (!todo.empty()) {
    const TreeLine line = std::move(todo.back());
    todo.pop_back();
    table.add_row(process_row(tree.nodes[line.node], line.prefix));
    if (images) add_images(tree.nodes[line.node], line.below, table);
    add_children(tree, line, todo);
  }
  return table.empty() ? "no process\n" : table.render(width);
}

std::string tree_json(const ProcessTree& tree) {
  nlohmann::ordered_json processes = nlohmann::ordered_json::array();
  for (const ProcessNode& node : tree.nodes) processes.push_back(node_json(tree, node));
  nlohmann::ordered_json roots = nlohmann::ordered_json::array();
  for (const std::size_t root : tree.roots) roots.push_back(tree.nodes[root].id.value());
  const nlohmann::ordered_json out{
      {"start_ns", tree.start_ns}, {"end_ns", tree.end_ns}, {"roots", roots}, {"processes", processes}};
  return dump(out) + "\n";
}

}  // namespace uscope::cli

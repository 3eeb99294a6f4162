// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Long lists are columns of numbers, one array for each: a fifth of the size that objects would have.
#include "cli/pages/report_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/picture/picture.h"
#include "analyzer/read/catalog.h"
#include "analyzer/read/part.h"
#include "analyzer/read/process_tree.h"
#include "analyzer/summary/summary.h"
#include "cli/render/json.h"
#include "cli/render/report_render.h"
#include "cli/render/tree_render.h"
#include "cli/render/units.h"

namespace uscope::cli {
namespace {

using analyzer::Catalog;
using analyzer::Picture;
using nlohmann::ordered_json;

template <typename List, typename Value>
ordered_json column(const List& list, const Value& value) {
  ordered_json out = ordered_json::array();
  for (const auto& item : list) out.push_back(value(item));
  return out;
}

// Names that many rows share, each once.
class Names {
 public:
  std::size_t number(const std::string& name) {
    const auto [at, is_new] = numbers_.try_emplace(name, list_.size());
    if (is_new) list_.push_back(json_value(name));
    return at->second;
  }
  [[nodiscard]] const ordered_json& list() const { return list_; }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  ordered_json list_ = ordered_json::array();
};

std::string_view group_name(analyzer::CallGroup group) {
  static constexpr std::string_view kNames[] = {"lock", "timer",   "process", "peer",
                                                "file", "network", "memory",  "other"};
  const auto place = static_cast<std::size_t>(group);
  return place < std::size(kNames) ? kNames[place] : "none";
}

ordered_json kinds(const Catalog& catalog) {
  return column(catalog.kinds, [](const analyzer::Kind& kind) -> ordered_json {
    return {{"name", json_value(kind.label())},
            {"call", kind.is_call() ? json_value(kind.name) : ordered_json()},
            {"source", json_value(kind.source)},
            {"group", group_name(analyzer::group_of(kind))}};
  });
}

ordered_json cells(const Picture& picture) {
  Names names;
  const auto function = column(picture.cells, [&](const auto& cell) { return names.number(cell.function); });
  const auto module = column(picture.cells, [&](const auto& cell) { return names.number(cell.module); });
  return {{"names", names.list()},
          {"kind", column(picture.cells, [](const auto& cell) { return cell.kind; })},
          {"function", function},
          {"module", module},
          {"fallback", column(picture.cells, [](const auto& cell) { return cell.fallback ? 1 : 0; })},
          {"events", column(picture.cells, [](const auto& cell) { return cell.events; })},
          {"errors", column(picture.cells, [](const auto& cell) { return cell.errors; })},
          {"open", column(picture.cells, [](const auto& cell) { return cell.open; })},
          {"total", column(picture.cells, [](const auto& cell) { return cell.total_ns; })},
          {"longest", column(picture.cells, [](const auto& cell) { return cell.longest_ns; })},
          {"inCube", column(picture.cells, [](const auto& cell) { return cell.in_cube ? 1 : 0; })}};
}

// Of each part: its place, events, errors, then the sums, without the zeroes at the end.
ordered_json bucket(const analyzer::TimeBucket& bucket) {
  std::vector<std::uint64_t> numbers{bucket.place, bucket.events, bucket.errors};
  numbers.insert(numbers.end(), bucket.call_ns.begin(), bucket.call_ns.end());
  numbers.insert(numbers.end(), bucket.cpu_ns.begin(), bucket.cpu_ns.end());
  while (numbers.size() > 3 && numbers.back() == 0) numbers.pop_back();
  return numbers;
}

ordered_json lane(const Catalog& catalog, const analyzer::Thread& thread, const analyzer::ThreadLane& lane) {
  const analyzer::Process* process = catalog.processes.find(thread.process_id);
  const analyzer::Image* image = process == nullptr ? nullptr : catalog.last_image(*process);
  return {{"pid", process == nullptr ? ordered_json() : ordered_json(process->pid)},
          {"tid", thread.tid},
          {"process", image == nullptr ? ordered_json() : json_value(image->name)},
          {"name", json_value(thread.name)},
          {"begin", lane.begin_ns},
          {"end", lane.end_ns},
          {"events", lane.events},
          {"all", lane.all},
          {"part", lane.part_ns},
          {"parts", column(lane.buckets, bucket)},
          {"ts", column(lane.marks, [](const auto& mark) { return mark.ts_ns; })},
          {"dur", column(lane.marks, [](const auto& mark) { return mark.dur_ns; })},
          {"cell", column(lane.marks, [](const auto& mark) { return mark.cell; })},
          {"error", column(lane.marks, [](const auto& mark) { return mark.error; })},
          {"open", column(lane.marks, [](const auto& mark) { return mark.open ? 1 : 0; })},
          {"id", column(lane.marks, [](const auto& mark) { return mark.event.value(); })}};
}

// Threads that are not in the part have none.
std::vector<std::size_t> lane_numbers(const Catalog& catalog, const analyzer::Part& part) {
  std::vector<std::size_t> numbers;
  std::size_t lanes = 0;
  for (const analyzer::Thread& thread : catalog.threads) numbers.push_back(part.has(thread) ? lanes++ : 0);
  numbers.push_back(lanes);  // events without a thread
  return numbers;
}

ordered_json lanes(const Catalog& catalog, const analyzer::Part& part, const Picture& picture) {
  ordered_json out = ordered_json::array();
  for (const analyzer::Thread& thread : catalog.threads)
    if (part.has(thread)) out.push_back(lane(catalog, thread, picture.threads[catalog.threads.index_of(thread)]));
  return out;
}

ordered_json heat(const Picture& picture) {
  return {{"kind", column(picture.heat, [](const auto& count) { return count.kind; })},
          {"time", column(picture.heat, [](const auto& count) { return count.time; })},
          {"step", column(picture.heat, [](const auto& count) { return count.step; })},
          {"events", column(picture.heat, [](const auto& count) { return count.events; })},
          {"leftOut", picture.heat_left_out}};
}

ordered_json cube(const Picture& picture, const std::vector<std::size_t>& lanes) {
  return {
      {"cell", column(picture.cube, [](const auto& count) { return count.cell; })},
      {"thread",
       column(picture.cube, [&](const auto& count) { return lanes[std::min(count.thread, lanes.size() - 1)]; })},
      {"time", column(picture.cube, [](const auto& count) { return count.time; })},
      {"step", column(picture.cube, [](const auto& count) { return count.step ? static_cast<int>(*count.step) : -1; })},
      {"events", column(picture.cube, [](const auto& count) { return count.events; })},
      {"total", column(picture.cube, [](const auto& count) { return count.total_ns; })}};
}

ordered_json stack_tree_object(const analyzer::StackTree& tree) {
  ordered_json sums = ordered_json::array();
  for (std::size_t weight = 0; weight < analyzer::kStackWeights; weight++)
    sums.push_back(column(tree.leaves, [&](const auto& leaf) { return leaf.sums[weight]; }));
  return {{"names", column(tree.names, [](const std::string& name) { return json_value(name); })},
          {"parent", column(tree.nodes, [](const auto& node) { return node.parent; })},
          {"name", column(tree.nodes, [](const auto& node) { return node.name; })},
          {"leaf", column(tree.leaves, [](const auto& leaf) { return leaf.node; })},
          {"cell", column(tree.leaves, [](const auto& leaf) { return leaf.cell; })},
          {"others", column(tree.leaves, [](const auto& leaf) { return leaf.others; })},
          {"sums", sums}};
}

// In the order of a tree, each with its depth.
ordered_json processes(const analyzer::ProcessTree& tree, const Catalog& catalog, const analyzer::Part& part) {
  ordered_json out = ordered_json::array();
  std::vector<std::pair<std::size_t, std::size_t>> todo;  // node, depth
  for (auto root = tree.roots.rbegin(); root != tree.roots.rend(); ++root) todo.emplace_back(*root, 0);
  while (!todo.empty()) {
    const auto [place, depth] = todo.back();
    todo.pop_back();
    const analyzer::ProcessNode& node = tree.nodes[place];
    const analyzer::Process* process = catalog.processes.find(node.id);
    const bool is_in_part = process == nullptr || part.has(*process);
    const std::size_t below = is_in_part ? depth + 1 : depth;
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) todo.emplace_back(*child, below);
    if (!is_in_part) continue;
    ordered_json images = ordered_json::array();
    for (const auto& image : node.images)
      images.push_back({{"ts", json_value(image.ts_ns)},
                        {"path", json_value(image.path)},
                        {"command", json_value(command_line(image.argv))}});
    out.push_back({{"depth", depth},
                   {"pid", node.pid},
                   {"programs", json_value(programs(node))},
                   {"start", json_value(node.start_ns)},
                   {"end", json_value(node.end_ns)},
                   {"ended", ended(node)},
                   {"failed", node.exit_code.value_or(0) != 0 || node.exit_signal.has_value()},
                   {"threads", process == nullptr ? node.threads : part.threads_of(*process)},
                   {"events", node.events},
                   {"notes", notes(node)},
                   {"images", images}});
  }
  return out;
}

ordered_json lines_of(std::string_view text) {
  ordered_json lines = ordered_json::array();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Result<ordered_json> report_page(const store::Database& database, const std::string& file,
                                 const analyzer::EventFilter& filter, std::size_t lines) {
  auto summary = analyzer::summarize(database, {.lines = lines, .part = filter});
  if (!summary) return summary.error();
  auto catalog = analyzer::read_catalog(database);
  if (!catalog) return catalog.error();
  const analyzer::Part part(*catalog, filter);
  auto tree = analyzer::build_tree(database);
  if (!tree) return tree.error();
  auto picture = analyzer::read_picture(database, *catalog, part);
  if (!picture) return picture.error();
  constexpr std::size_t kHeadColumns = 130;
  ordered_json report = report_value(*summary);
  report.erase("triggers");  // they are the cells
  return ordered_json{{"file", json_value(file)},
                      {"head", lines_of(report_head(*summary, {kHeadColumns, false}))},
                      {"report", report},
                      {"duration", picture->duration_ns},
                      {"timeSteps", analyzer::kTimeSteps},
                      {"kinds", kinds(*catalog)},
                      {"cells", cells(*picture)},
                      {"threads", lanes(*catalog, part, *picture)},
                      {"heat", heat(*picture)},
                      {"cube", cube(*picture, lane_numbers(*catalog, part))},
                      {"stacks", stack_tree_object(picture->stacks)},
                      {"processes", processes(*tree, *catalog, part)}};
}

}  // namespace uscope::cli

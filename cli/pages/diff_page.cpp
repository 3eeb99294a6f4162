// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/pages/diff_page.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "cli/render/diff_sentences.h"
#include "cli/render/json.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using nlohmann::ordered_json;

ordered_json runs(const std::vector<analyzer::RunFacts>& side) {
  ordered_json list = ordered_json::array();
  for (const auto& run : side) {
    ordered_json losses = ordered_json::array();
    for (const auto& loss : run.losses) losses.push_back({json_value(loss.cause), loss.count});
    list.push_back({{"file", json_value(run.file)},
                    {"events", run.events},
                    {"duration_ns", run.duration_ns},
                    {"complete", run.complete && run.lost == 0},
                    {"losses", losses}});
  }
  return list;
}

ordered_json texts(const std::vector<std::string>& list) {
  ordered_json out = ordered_json::array();
  for (const std::string& text : list) out.push_back(json_value(text));
  return out;
}

// Texts that many lines have, each once.
class Numbered {
 public:
  std::size_t of(const std::string& text, ordered_json shown) {
    const auto [at, is_new] = numbers_.try_emplace(text, list_.size());
    if (is_new) list_.push_back(std::move(shown));
    return at->second;
  }
  [[nodiscard]] ordered_json list() const { return list_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  ordered_json list_ = ordered_json::array();
};

// Numbers and objects by position: of many thousands, names would be most of the page.
ordered_json side_json(const analyzer::SideOfCell& side) {
  ordered_json errors = ordered_json::object();
  for (const auto& [error, events] : side.errors) errors[analyzer::outcome_name(error)] = events;
  return {side.events, side.open, side.timed, side.total_ns, side.runs, errors};
}

// The functions of a folded stack, innermost first, as debuggers have them.
ordered_json frames(const std::string& folded) {
  ordered_json list = ordered_json::array();
  for (std::size_t end = folded.size(); !folded.empty();) {
    const std::size_t before = end == 0 ? std::string::npos : folded.rfind(';', end - 1);
    const std::size_t start = before == std::string::npos ? 0 : before + 1;
    list.push_back(json_value(short_function(folded.substr(start, end - start))));
    if (before == std::string::npos) break;
    end = before;
  }
  return list;
}

class DiffPageData {
 public:
  explicit DiffPageData(const analyzer::Diff& diff) : diff_(diff) {}

  ordered_json data() {
    ordered_json cells = ordered_json::array();
    for (const auto& cell : diff_.picture->cells) {
      places_.emplace(cell.key, cells.size());
      cells.push_back({kinds_.of(cell.key.kind, json_value(cell.key.kind)), function(cell.key), side_json(cell.normal),
                       side_json(cell.abnormal)});
    }
    ordered_json value{{"normal", runs(diff_.normal)},
                       {"abnormal", runs(diff_.abnormal)},
                       {"warnings", texts(diff_.warnings)},
                       {"tested", diff_.tested},
                       {"time", time()},
                       {"settings", settings()},
                       {"asked", {{"total", diff_.arguments.total}, {"lines", asked()}}},
                       {"endings", endings()},
                       {"moved", {{"total", diff_.objects.total}, {"lines", moved()}}},
                       {"totals",
                        {{"abnormal", diff_.abnormal_only.total},
                         {"changed", diff_.changed.total},
                         {"normal", diff_.normal_only.total}}},
                       {"findings", findings()}};
    value["kinds"] = kinds_.list();
    value["functions"] = functions_.list();
    value["cells"] = std::move(cells);
    value["cells_left_out"] = diff_.picture->cells_left_out;
    value["stacks"] = stacks(diff_.picture->stacks);
    return value;
  }

 private:
  // [as it is shown, module, whole name].
  std::size_t function(const analyzer::CellKey& key) {
    return functions_.of(key.function + '\0' + key.module,
                         {json_value(short_function(key.function)), json_value(key.module), json_value(key.function)});
  }

  ordered_json place(const analyzer::CellKey& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? ordered_json() : ordered_json(found->second);
  }

  ordered_json finding(const char* list, const std::string& text, const analyzer::CellKey& key,
                       const analyzer::CellExample& example) const {
    ordered_json arguments = ordered_json::array();
    for (const auto& string : example.strings) arguments.push_back({json_value(string.value), string.events});
    ordered_json stacks = ordered_json::array();
    for (const auto& common : example.stacks) stacks.push_back({frames(common.stack), common.events});
    if (example.stacks.empty() && !example.stack.empty()) stacks.push_back({frames(example.stack), nullptr});
    return {{"list", list},
            {"text", json_value(text)},
            {"cell", place(key)},
            {"kind", json_value(key.kind)},
            {"arguments", arguments},
            {"looked_at", example.looked_at},
            {"stacks", stacks},
            {"threads", texts(example.threads)},
            {"first_ns", json_value(example.first_ns)},
            {"file", json_value(example.file)},
            {"event_id", example.event_id.value()}};
  }

  ordered_json findings() const {
    ordered_json list = ordered_json::array();
    for (const auto& entry : diff_.abnormal_only.entries)
      list.push_back(finding("abnormal", only_sentence(diff_, entry, true), entry.cell.key, entry.example));
    for (const auto& entry : diff_.changed.entries)
      list.push_back(finding("changed", changed_sentence(diff_, entry.cell), entry.cell.key, entry.example));
    for (const auto& entry : diff_.normal_only.entries)
      list.push_back(finding("normal", only_sentence(diff_, entry, false), entry.cell.key, entry.example));
    return list;
  }

  ordered_json time() const {
    ordered_json lines = ordered_json::array();
    for (const auto& entry : diff_.places.entries) {
      const analyzer::TimePlace& where = entry.shift.place;
      lines.push_back({{"text", json_value(time_sentence(diff_, entry.shift))},
                       {"stack", frames(entry.stack)},
                       {"cell", where.outside ? ordered_json() : place(where.call)}});
    }
    return {{"notable", diff_.time.notable},
            {"length", diff_.time.notable ? length_sentence(diff_) : no_change_sentence(diff_)},
            {"threads", threads_sentence(diff_)},
            {"rest", rest_sentence(diff_)},
            {"total", diff_.places.total},
            {"lines", lines}};
  }

  ordered_json asked() const {
    ordered_json list = ordered_json::array();
    for (const auto& change : diff_.arguments.entries) list.push_back(json_value(argument_sentence(change)));
    return list;
  }

  ordered_json settings() const {
    ordered_json list = ordered_json::array();
    for (const auto& change : diff_.settings) list.push_back(json_value(setting_sentence(change)));
    return list;
  }

  ordered_json endings() const {
    ordered_json list = ordered_json::array();
    for (const auto& change : diff_.endings) list.push_back(json_value(ending_sentence(diff_, change)));
    return list;
  }

  ordered_json moved() const {
    ordered_json list = ordered_json::array();
    for (const auto& change : diff_.objects.entries) list.push_back(json_value(object_sentence(diff_, change)));
    return list;
  }

  static ordered_json stacks(const analyzer::MergedStacks& tree) {
    ordered_json names = ordered_json::array();
    for (const auto& name : tree.names)
      names.push_back({json_value(short_function(name.text)), json_value(name.module)});
    ordered_json nodes = ordered_json::array();
    for (const auto& node : tree.nodes)
      nodes.push_back({node.parent, node.name, node.events[0], node.events[1], node.ns[0], node.ns[1]});
    return {{"names", names}, {"nodes", nodes}, {"left_out", tree.left_out}};
  }

  const analyzer::Diff& diff_;
  Numbered kinds_;
  Numbered functions_;
  std::map<analyzer::CellKey, std::size_t> places_;  // in cells
};

}  // namespace

nlohmann::ordered_json diff_page(const analyzer::Diff& diff) {
  return DiffPageData(diff).data();
}

}  // namespace uscope::cli

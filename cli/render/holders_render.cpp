// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/holders_render.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/render/diff_sentences.h"
#include "cli/render/files_render.h"
#include "cli/render/json.h"
#include "cli/render/trigger_cell.h"
#include "cli/render/units.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using analyzer::Holder;
using analyzer::HolderGroup;
using analyzer::HolderList;

constexpr std::size_t kDescriptorsOfGroup = 8;
constexpr std::size_t kHoldersOfObject = 3;

std::string pid_text(const Holder& holder) {
  return holder.pid ? std::to_string(*holder.pid) : "?";
}

std::string holder_name(const Holder& holder) {
  return fmt::format("{}[{}]", holder.process.empty() ? "?" : holder.process, pid_text(holder));
}

// "the end", "exit at 3.021100".
std::string until_cell(const Holder& holder) {
  if (!holder.until_ns) return "the end";
  return fmt::format("{} at {}", holder.until == "left" ? "left" : holder.until, seconds(*holder.until_ns));
}

std::string opened_cell(const Holder& holder) {
  return holder.opened_ns ? seconds(*holder.opened_ns) : "before";
}

std::string opening(const Holder& holder) {
  if (holder.call.empty()) return "open before tracing, or opened by a call that is not in the trace";
  std::string out = "opened by " + holder.call;
  if (!holder.function.empty()) out += " from " + printable(trigger_cell(holder));
  if (!holder.module.empty()) out += " (" + printable(base_name(holder.module)) + ")";
  if (!holder.opener.empty()) out += " of " + printable(holder.opener) + ", and inherited";
  return out;
}

std::string ending(const Holder& holder, bool is_one) {
  if (holder.until == "exit") return is_one ? "never closed: its process ended" : "never closed: the processes ended";
  if (holder.until == "tracing") return "still open when tracing ended";
  return is_one ? "open when its process left the trace" : "open when the processes left the trace";
}

std::string group_text(const HolderGroup& group, TextWidth width) {
  const Holder& first = group.holders.front();
  const bool is_one = group.processes == 1;
  const std::string of =
      is_one ? holder_name(first) : fmt::format("{} processes of {}", group.processes, first.process);
  std::string out = paragraph("  ",
                              fmt::format("{} of {}, {}; {}", plural(group.holders.size(), "descriptor"), printable(of),
                                          opening(first), ending(first, is_one)),
                              width.columns);
  if (!first.stack.empty()) out += paragraph("      stack  ", printable(short_stack(first.stack)), width.columns);
  std::vector<TableColumn> columns{
      {"fd", Align::kRight}, {"opened", Align::kRight}, {"path, address or kind", Align::kLeft, Shrink::kMiddle, 32}};
  if (!is_one) columns.insert(columns.begin(), {"pid", Align::kRight});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < std::min(group.holders.size(), kDescriptorsOfGroup); i++) {
    const Holder& holder = group.holders[i];
    std::vector<std::string> row{std::to_string(holder.fd), opened_cell(holder), holder.name.value_or(kUnknownObject)};
    if (!is_one) row.insert(row.begin(), pid_text(holder));
    table.add_row(std::move(row));
  }
  out += table.render(width);
  if (group.holders.size() > kDescriptorsOfGroup)
    out += fmt::format("  … and {} more (all of them: --format json)\n",
                       group_digits(group.holders.size() - kDescriptorsOfGroup));
  return out;
}

std::string unknown_text(const HolderList& list, TextWidth width) {
  if (list.unknown.empty()) return "";
  std::string names;
  for (std::size_t i = 0; i < std::min(list.unknown.size(), kDescriptorsOfGroup); i++)
    names += (names.empty() ? "" : ", ") + printable(list.unknown[i]);
  if (list.unknown.size() > kDescriptorsOfGroup)
    names += fmt::format(" and {} more", list.unknown.size() - kDescriptorsOfGroup);
  return paragraph("  ! ",
                   "not all is known of " + names + ": events were lost, or their descriptors may change unseen",
                   width.columns);
}

}  // namespace

std::string left_open_text(const HolderList& list, TextWidth width) {
  const std::string head = width.paint(Ink::kHeading, "OPEN");
  if (list.descriptors == 0) return head + "  nothing was left open\n" + unknown_text(list, width);
  std::string out = fmt::format("{}  {} left open, in {}", head, plural(list.descriptors, "descriptor"),
                                plural(list.groups.total, "group"));
  if (list.groups.lines.size() < list.groups.total)
    out += fmt::format(", the {} with most descriptors of one process:", list.groups.lines.size());
  else if (list.groups.total > 1)
    out += ", those with most descriptors of one process first:";
  out += "\n";
  for (const HolderGroup& group : list.groups.lines) out += "\n" + group_text(group, width);
  return out + unknown_text(list, width);
}

std::string held_by_text(const HolderList& list, bool each, TextWidth width) {
  std::map<std::string, std::vector<const Holder*>> by_name;
  for (const HolderGroup& group : list.groups.lines)
    for (const Holder& holder : group.holders) by_name[holder.name.value_or(kUnknownObject)].push_back(&holder);
  if (by_name.empty()) return "";
  std::string out = "\n" + width.paint(Ink::kHeading, "HELD OPEN") +
                    "  who had sockets with an address, locked and removed files open:\n";
  TextTable table({{"by", Align::kLeft, Shrink::kMiddle, 16},
                   {"fd", Align::kRight},
                   {"opened", Align::kRight, Shrink::kNever, 0, 2},
                   {"until"},
                   {"inherited from", Align::kLeft, Shrink::kMiddle, 8, 1},
                   {"path, address or kind", Align::kLeft, Shrink::kMiddle, 32}});
  for (auto& [name, holders] : by_name) {
    // Those that had it longest come first.
    std::stable_sort(holders.begin(), holders.end(), [](const Holder* a, const Holder* b) {
      const auto rank = [](const Holder* one) {
        return std::pair(one->until_ns.has_value(), -one->until_ns.value_or(0));
      };
      return rank(a) < rank(b);
    });
    std::size_t shown = 0;
    for (const Holder* holder : holders) {
      if (!each && shown++ == kHoldersOfObject) {
        table.add_row({fmt::format("and {} more", holders.size() - kHoldersOfObject), "", "", "", "", name});
        break;
      }
      table.add_row({holder_name(*holder), std::to_string(holder->fd), opened_cell(*holder), until_cell(*holder),
                     holder->opener, name});
    }
  }
  return out + table.render(width);
}

nlohmann::ordered_json held_json(const HolderList& list) {
  auto groups = nlohmann::ordered_json::array();
  for (const HolderGroup& group : list.groups.lines) {
    const Holder& first = group.holders.front();
    auto descriptors = nlohmann::ordered_json::array();
    for (const Holder& holder : group.holders)
      descriptors.push_back({{"pid", json_value(holder.pid)},
                             {"fd", holder.fd},
                             {"name", holder.name ? json_value(*holder.name) : nlohmann::ordered_json()},
                             {"opened_ns", json_value(holder.opened_ns)},
                             {"until_ns", json_value(holder.until_ns)}});
    groups.push_back({{"process", json_value(first.process)},
                      {"processes", group.processes},
                      {"until", first.until},
                      {"call", json_value(first.call)},
                      {"inherited_from", json_value(first.opener)},
                      {"function", json_value(first.function)},
                      {"module", json_value(first.module)},
                      {"fallback", first.fallback},
                      {"stack", json_value(first.stack)},
                      {"descriptors", std::move(descriptors)}});
  }
  auto unknown = nlohmann::ordered_json::array();
  for (const std::string& name : list.unknown) unknown.push_back(json_value(name));
  return {{"descriptors", list.descriptors},
          {"total", list.groups.total},
          {"groups", std::move(groups)},
          {"unknown", std::move(unknown)}};
}

}  // namespace uscope::cli

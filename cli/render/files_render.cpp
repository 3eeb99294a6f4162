// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/files_render.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/render/holders_render.h"
#include "cli/render/json.h"
#include "cli/render/part_text.h"
#include "cli/render/text_table.h"
#include "cli/render/trigger_cell.h"
#include "cli/render/units.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

// Zero is left blank, as by count_cell().
std::string bytes(std::uint64_t count) {
  return count == 0 ? "" : human_bytes(count);
}

std::string file_user_cell(const analyzer::FileUser& user) {
  const std::string pid = user.pid ? std::to_string(*user.pid) : "?";
  return fmt::format("{}[{}]", user.process.empty() ? "?" : user.process, pid);
}

std::vector<std::string> file_cells(const analyzer::FileCounts& line, const std::string& by, const std::string& name) {
  return {count_cell(line.calls),
          count_cell(line.failures),
          count_cell(line.opens),
          count_cell(line.reads),
          count_cell(line.writes),
          count_cell(line.changes),
          bytes(line.bytes_read),
          bytes(line.bytes_written),
          time_cell(line.total_ns - line.wait_ns),
          time_cell(line.wait_ns),
          by,
          name};
}

// "socket:[from inet:10.0.0.7]  97 clients", "/etc/hostname (mount namespace 4026532345)": one path may lead to several
// files.
std::string name_cell(const analyzer::FileLine& line) {
  std::string name = line.name.value_or(kUnknownObject);
  if (line.space) name += fmt::format(" (mount namespace {})", *line.space);
  return line.peers == 0 ? name : fmt::format("{}  {}", name, plural(line.peers, "client"));
}

// A path that is cut has room for this much of its end, whatever columns must go.
constexpr std::size_t kPathWidth = 32;

TextTable callers_table(const analyzer::TopList<analyzer::FileCaller>& callers, bool several_objects) {
  TextTable table({{"calls", Align::kRight},
                   {"failed", Align::kRight, Shrink::kNever, 0, 2},
                   {"changes", Align::kRight},
                   {"read", Align::kRight, Shrink::kNever, 0, 3},
                   {"written", Align::kRight, Shrink::kNever, 0, 4},
                   {"time", Align::kRight, Shrink::kNever, 0, 1},
                   {"waiting", Align::kRight, Shrink::kNever, 0, 5},
                   {"by", Align::kLeft, Shrink::kMiddle},
                   {"call"},
                   {"from function", Align::kLeft, Shrink::kMiddle},
                   {"in", Align::kLeft, Shrink::kMiddle, 8, 6},
                   {"path, address or kind", Align::kLeft, Shrink::kMiddle, kPathWidth}});
  table.set_ink("failed", Ink::kBad);
  for (const auto& line : callers.lines)
    table.add_row({count_cell(line.calls), count_cell(line.failures), count_cell(line.changes), bytes(line.bytes_read),
                   bytes(line.bytes_written), time_cell(line.total_ns - line.wait_ns), time_cell(line.wait_ns),
                   file_user_cell(line), line.call, trigger_cell(line), std::string(base_name(line.module)),
                   several_objects ? line.name.value_or(kUnknownObject) : ""});
  return table;
}

nlohmann::ordered_json counts_json(const analyzer::FileCounts& line) {
  return {{"calls", line.calls},           {"failures", line.failures},
          {"opens", line.opens},           {"reads", line.reads},
          {"writes", line.writes},         {"changes", line.changes},
          {"bytes_read", line.bytes_read}, {"bytes_written", line.bytes_written},
          {"total_ns", line.total_ns},     {"wait_ns", line.wait_ns}};
}

nlohmann::ordered_json caller_json(const analyzer::FileCaller& line) {
  nlohmann::ordered_json value{{"name", line.name ? json_value(*line.name) : nlohmann::ordered_json()},
                               {"pid", json_value(line.pid)},
                               {"process", json_value(line.process)},
                               {"call", json_value(line.call)},
                               {"function", json_value(line.function)},
                               {"module", json_value(line.module)},
                               {"fallback", line.fallback}};
  value.update(counts_json(line));
  return value;
}

// Whether every line is of one and the same process.
bool have_one_user(const analyzer::TopList<analyzer::FileLine>& files) {
  return std::all_of(files.lines.begin(), files.lines.end(), [&](const auto& line) {
    return line.users.size() == 1 &&
           file_user_cell(line.users.front()) == file_user_cell(files.lines.front().users.front());
  });
}

template <typename Line>
void keep_failures(analyzer::TopList<Line>& list) {
  std::erase_if(list.lines, [](const Line& line) { return line.failures == 0; });
}

}  // namespace

TextTable files_table(const analyzer::TopList<analyzer::FileLine>& files, bool several_processes) {
  TextTable table({{"calls", Align::kRight},
                   {"failed", Align::kRight},
                   {"opens", Align::kRight, Shrink::kNever, 0, 5},
                   {"reads", Align::kRight, Shrink::kNever, 0, 7},
                   {"writes", Align::kRight, Shrink::kNever, 0, 6},
                   {"changes", Align::kRight, Shrink::kNever, 0, 3},
                   {"read", Align::kRight},
                   {"written", Align::kRight},
                   {"time", Align::kRight},
                   {"waiting", Align::kRight, Shrink::kNever, 0, 4},
                   {"by", Align::kLeft, Shrink::kMiddle, 8, have_one_user(files) ? 8 : 2},
                   {"path, address or kind", Align::kLeft, Shrink::kMiddle, kPathWidth}});
  table.set_ink("failed", Ink::kBad);
  for (const auto& line : files.lines)
    table.add_row(file_cells(line, several_processes ? first_of(line.users, file_user_cell) : "", name_cell(line)));
  return table;
}

nlohmann::ordered_json file_json(const analyzer::FileLine& line) {
  nlohmann::ordered_json processes = nlohmann::ordered_json::array();
  for (const auto& user : line.users) {
    nlohmann::ordered_json one{{"pid", json_value(user.pid)}, {"name", json_value(user.process)}};
    one.update(counts_json(user));
    processes.push_back(std::move(one));
  }
  nlohmann::ordered_json value{{"name", line.name ? json_value(*line.name) : nlohmann::ordered_json()},
                               {"mount_namespace", json_value(line.space)}};
  value.update(counts_json(line));
  value["peers"] = line.peers;
  value["processes"] = std::move(processes);
  return value;
}

std::string files_text(analyzer::FileTable table, const FilesLayout& layout, const analyzer::HolderList& held,
                       TextWidth width) {
  if (table.files.lines.empty()) return "FILES  none\n" + held_by_text(held, layout.callers, width);
  if (layout.failures_only) {
    keep_failures(table.files);
    keep_failures(table.callers);
    if (table.files.lines.empty()) return "FILES  none with a failure\n";
  }
  TextTable lines = files_table(table.files, layout.several_processes);
  if (table.files.total > 1) lines.add_row(file_cells(table.all, "", "(all " + group_digits(table.files.total) + ")"));
  std::string out = section_head("FILES", table.files, layout.order, width.paint) + lines.render(width);
  if (layout.callers)
    out += "\n" + section_head("CALLERS", table.callers, layout.callers_order, width.paint) +
           callers_table(table.callers, table.files.total > 1).render(width);
  if (layout.callers && std::any_of(table.callers.lines.begin(), table.callers.lines.end(), [](const auto& line) {
        return line.fallback && !line.function.empty() && line.function != trace::kCutName;
      }))
    out += kFallbackLegend;
  return out + held_by_text(held, layout.callers, width);
}

std::string files_json(const analyzer::FileTable& table, bool callers, const analyzer::HolderList& held,
                       const analyzer::EventFilter* part) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const auto& line : table.files.lines) lines.push_back(file_json(line));
  nlohmann::ordered_json list;
  if (callers) {
    list = {{"total", table.callers.total}, {"lines", nlohmann::ordered_json::array()}};
    for (const auto& line : table.callers.lines) list["lines"].push_back(caller_json(line));
  }
  return dump({{"part", part != nullptr ? part_json(*part) : nlohmann::ordered_json()},
               {"total", table.files.total},
               {"all", counts_json(table.all)},
               {"files", lines},
               {"callers", list},
               {"held", held_json(held)}}) +
         "\n";
}

}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/files_render.h"

#include <nlohmann/json.hpp>

#include "cli/render/json.h"
#include "cli/render/units.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

// Zero is left blank, so that other values stand out.
std::string number(std::uint64_t count) {
  return count == 0 ? "" : group_digits(count);
}

std::vector<std::string> cells(const analyzer::FileLine& line, const std::string& name) {
  const auto bytes = [](std::uint64_t count) { return count == 0 ? "" : human_bytes(count); };
  const auto time = [](std::uint64_t ns) { return ns == 0 ? "" : human_duration(static_cast<double>(ns)); };
  return {number(line.calls),        number(line.failures),
          number(line.opens),        number(line.reads),
          number(line.writes),       bytes(line.bytes_read),
          bytes(line.bytes_written), time(line.total_ns - line.wait_ns),
          time(line.wait_ns),        name};
}

nlohmann::ordered_json counts_json(const analyzer::FileLine& line) {
  return {{"calls", line.calls},
          {"failures", line.failures},
          {"opens", line.opens},
          {"reads", line.reads},
          {"writes", line.writes},
          {"bytes_read", line.bytes_read},
          {"bytes_written", line.bytes_written},
          {"total_ns", line.total_ns},
          {"wait_ns", line.wait_ns}};
}

}  // namespace

TextTable files_table(const analyzer::TopList<analyzer::FileLine>& files) {
  TextTable table({{"calls", Align::kRight},
                   {"failed", Align::kRight},
                   {"opens", Align::kRight, Shrink::kNever, 0, 1},
                   {"reads", Align::kRight, Shrink::kNever, 0, 3},
                   {"writes", Align::kRight, Shrink::kNever, 0, 2},
                   {"read", Align::kRight},
                   {"written", Align::kRight},
                   {"time", Align::kRight},
                   {"waiting", Align::kRight},
                   {"path, address or kind", Align::kLeft, Shrink::kMiddle}});
  for (const auto& line : files.lines) table.add_row(cells(line, line.name.value_or("(unknown)")));
  return table;
}

nlohmann::ordered_json file_json(const analyzer::FileLine& line) {
  nlohmann::ordered_json value{{"name", line.name ? json_value(*line.name) : nlohmann::ordered_json()}};
  value.update(counts_json(line));
  return value;
}

std::string files_text(const analyzer::FileTable& table, const std::string& order, TextWidth width) {
  if (table.files.lines.empty()) return "FILES  none\n";
  TextTable lines = files_table(table.files);
  if (table.files.total > 1) lines.add_row(cells(table.all, "(all " + group_digits(table.files.total) + ")"));
  return section_head("FILES", table.files, order) + lines.render(width);
}

std::string files_json(const analyzer::FileTable& table) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const auto& line : table.files.lines) lines.push_back(file_json(line));
  return dump({{"total", table.files.total}, {"all", counts_json(table.all)}, {"files", lines}}) + "\n";
}

}  // namespace uscope::cli

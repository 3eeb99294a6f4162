// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/query_render.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/render/json.h"
#include "cli/render/wall_time.h"
#include "cli/terminal/text_width.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

std::string head_text(const AnswerHead& head) {
  const std::string events = plural(head.events, "event");
  const std::string length = human_duration(static_cast<double>(head.until_ns - head.from_ns));
  return fmt::format("{}  {}, {}\n", time_of_day(head.from_ns + head.utc_offset_ns), length, events);
}

}  // namespace

std::string missing_text(const AnswerHead& head) {
  std::string text;
  if (head.lost != 0) text = "LOST " + plural(head.lost, "event") + ": the answer is made without them";
  if (head.without_stack != 0)
    text += fmt::format("{}{} came too late: their events have none", text.empty() ? "" : "; ",
                        plural(head.without_stack, "stack"));
  if (head.names_beyond != 0)
    text += fmt::format("{}{} or users were too many to tell apart: such threads are called ?",
                        text.empty() ? "" : "; ", plural(head.names_beyond, "thread name"));
  return text;
}

Result<void> AnswerPrinter::each_row(store::Statement& statement, const std::function<void()>& use) const {
  while (true) {
    auto more = statement.step();
    if (!more) return more.error();
    if (!*more) return {};
    if (on_row_)
      if (auto done = on_row_(statement); !done) return done;
    use();
  }
}

Result<void> AnswerPrinter::print(const AnswerHead& head, store::Statement& statement, const OnRow& on_row) {
  on_row_ = on_row;
  switch (style_.format) {
    case AnswerFormat::kCsv:
      return print_csv(head, statement);
    case AnswerFormat::kJson:
      return print_json(head, statement);
    case AnswerFormat::kTable:
      break;
  }
  return print_table(head, statement);
}

Result<void> AnswerPrinter::print_table(const AnswerHead& head, store::Statement& statement) {
  const std::string missing = missing_text(head);
  if (!style_.listing && !style_.one) write_(head_text(head));
  if (!missing.empty()) write_(style_.paint(Ink::kBad, missing) + "\n");
  if (style_.listing) {
    // The widths of columns are those of the first rows, whichever interval they are of.
    std::size_t rows = 0;
    auto done = each_row(statement, [&] {
      if (!list_) list_.emplace(statement, write_, style_.paint);
      list_->add(statement);
      rows++;
    });
    if (done && rows != 0) list_->flush();
    if (done && !list_ && style_.one) TextRows(statement, write_).flush();
    return done;
  }
  DrawnRows rows(statement, write_, style_.paint);
  if (auto done = each_row(statement, [&] { rows.add(statement); }); !done) return done;
  rows.flush();
  if (!style_.one) write_("\n");
  return {};
}

Result<void> AnswerPrinter::print_csv(const AnswerHead& head, store::Statement& statement) {
  std::string before;
  if (!std::exchange(has_titles_, true)) {
    std::string titles = style_.one ? "" : "from_ns,until_ns,lost,";
    for (int i = 0; i < statement.columns(); i++) titles += (i == 0 ? "" : ",") + csv_text(statement.column_name(i));
    write_(titles + "\n");
  }
  if (!style_.one) before = fmt::format("{},{},{},", head.from_ns, head.until_ns, head.lost);
  return each_row(statement, [&] {
    std::string line = before;
    for (int i = 0; i < statement.columns(); i++) line += (i == 0 ? "" : ",") + csv_cell(statement, i);
    write_(line + "\n");
  });
}

Result<void> AnswerPrinter::print_json(const AnswerHead& head, store::Statement& statement) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (int i = 0; i < statement.columns(); i++) columns.push_back(to_utf8(statement.column_name(i)));
  nlohmann::ordered_json line = {{"from_ns", head.from_ns},
                                 {"until_ns", head.until_ns},
                                 {"utc_offset_ns", head.utc_offset_ns},
                                 {"events", head.events},
                                 {"lost", head.lost},
                                 {"stacks_too_late", head.without_stack},
                                 {"names_beyond", head.names_beyond},
                                 {"columns", columns}};
  std::string text = dump(line, false);
  text.pop_back();
  write_(text + ",\"rows\":[");
  bool any = false;
  auto done = each_row(statement, [&] {
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (int i = 0; i < statement.columns(); i++) row.push_back(json_cell(statement, i));
    write_((any ? "," : "") + dump(row, false));
    any = true;
  });
  if (!done) return done;
  write_("]}\n");
  return {};
}

}  // namespace uscope::cli

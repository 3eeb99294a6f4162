// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The answers to a question: one table for each interval, or rows as they come.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/render/sql_rows.h"
#include "cli/terminal/paint.h"
#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::cli {

enum class AnswerFormat { kTable, kCsv, kJson };

// What stands above an answer.
struct AnswerHead {
  std::int64_t from_ns = 0;  // as v_event.ts_ns
  std::int64_t until_ns = 0;
  std::int64_t utc_offset_ns = 0;
  std::uint64_t events = 0;  // that the answer is made of, as far as that is known
  std::uint64_t lost = 0;
  std::uint64_t without_stack = 0;
  std::uint64_t names_beyond = 0;
};

struct AnswerStyle {
  AnswerFormat format = AnswerFormat::kTable;
  bool listing = false;  // rows of one answer follow those of the other
  bool one = false;      // there is one answer: nothing says of which interval
  Paint paint = {};      // of tables
};

class AnswerPrinter {
 public:
  AnswerPrinter(AnswerStyle style, WriteText write) : style_(style), write_(std::move(write)) {}

  // Is told each row that is printed.
  using OnRow = std::function<Result<void>(const store::Statement& row)>;
  // Runs the statement to its end.
  Result<void> print(const AnswerHead& head, store::Statement& statement, const OnRow& on_row = {});

 private:
  Result<void> each_row(store::Statement& statement, const std::function<void()>& use) const;
  Result<void> print_table(const AnswerHead& head, store::Statement& statement);
  Result<void> print_csv(const AnswerHead& head, store::Statement& statement);
  Result<void> print_json(const AnswerHead& head, store::Statement& statement);

  AnswerStyle style_;
  WriteText write_;
  std::optional<TextRows> list_;
  OnRow on_row_;
  bool has_titles_ = false;
};

// "LOST 12 events; 3 stacks came too late"; empty if nothing is missing.
[[nodiscard]] std::string missing_text(const AnswerHead& head);

}  // namespace uscope::cli

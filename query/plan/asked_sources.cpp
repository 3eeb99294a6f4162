// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/asked_sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "query/plan/check.h"
#include "query/plan/columns.h"
#include "query/plan/names.h"
#include "query/sql/lexer.h"
#include "store/db/reading_only.h"
#include "store/db/statement.h"
#include "trace/hit.h"
#include "trace/names.h"

namespace uscope::query {
namespace {

constexpr std::uint32_t kNoSource = USC_SOURCE_COUNT;  // its name is that of no class
constexpr std::string_view kNoClass = "\x01";

enum class Holds : std::uint8_t { kNot, kMaybe, kSurely };
using HoldsFor = std::array<Holds, USC_SOURCE_COUNT + 1>;

Result<HoldsFor> where_holds(const std::string& condition, const std::string& source) {
  auto memory = open_memory();
  if (!memory) return memory.error();
  std::string columns = "number INTEGER PRIMARY KEY, class TEXT";
  for (const Column& column : all_columns())
    if (column.name != "class") columns += fmt::format(", \"{}\"", column.name);
  if (auto done = store::execute(memory->get(), "CREATE TABLE known(" + columns + ")"); !done) return done.error();
  auto insert = store::Statement::prepare(memory->get(), "INSERT INTO known(number, class) VALUES(?1, ?2)");
  if (!insert) return insert.error();
  for (std::uint32_t number = 0; number <= kNoSource; number++)
    if (auto done = insert->run(number, number == kNoSource ? kNoClass : trace::source_name(number)); !done)
      return done.error();
  store::allow_reading_only(memory->get());
  std::string name;
  for (const char letter : source) name += letter == '"' ? "\"\"" : std::string(1, letter);
  auto query = store::Statement::prepare(
      memory->get(), fmt::format("SELECT number, CASE WHEN {0} THEN 2 WHEN ({0}) IS NULL THEN 1 ELSE 0 END "
                                 "FROM known AS \"{1}\" ORDER BY number",
                                 "(" + condition + ")", name));
  if (!query) return query.error();
  HoldsFor holds{};
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) return holds;
    holds.at(static_cast<std::size_t>(query->integer(0))) = static_cast<Holds>(query->integer(1));
  }
}

std::uint32_t named_sources(const std::string& text) {
  std::uint32_t named = 0;
  for (const Token& token : tokens_of(text)) {
    if (token.kind != TokenKind::kText) continue;
    for (std::uint32_t source = 0; source < USC_SOURCE_COUNT; source++)
      if (trace::is_of_probes(source) && token.word == trace::source_name(source)) named |= 1U << source;
  }
  return named;
}

bool names_class(const std::string& condition) {
  const std::vector<Token> tokens = tokens_of(condition);
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return (token.kind == TokenKind::kName || token.kind == TokenKind::kQuotedName) &&
           lower_case(token.word) == "class";
  });
}

}  // namespace

std::uint32_t asked_sources(const std::string& text, const Select* select) {
  if (select == nullptr) return named_sources(text);
  if (!select->where) return 0;
  const std::string condition = original_text(text, *select->where);
  if (!names_class(condition)) return 0;  // random() holds for one row and not for the next
  const auto holds = where_holds(condition, select->source_name);
  if (!holds) return named_sources(text);
  std::uint32_t asked = 0;
  for (std::uint32_t source = 0; source < USC_SOURCE_COUNT; source++)
    if (trace::is_of_probes(source) && holds->at(source) > holds->at(kNoSource)) asked |= 1U << source;
  return asked;
}

std::string names_of_sources(std::uint32_t sources) {
  std::string names;
  for (std::uint32_t source = 0; source < USC_SOURCE_COUNT; source++)
    if ((sources >> source & 1U) != 0) names += (names.empty() ? "" : ", ") + std::string(trace::source_name(source));
  return names;
}

}  // namespace uscope::query

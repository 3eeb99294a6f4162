// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/known_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "query/plan/check.h"
#include "query/plan/names.h"
#include "query/sql/lexer.h"
#include "store/db/reading_only.h"
#include "store/db/statement.h"
#include "syscalls/call_traits.h"
#include "syscalls/errno_names.h"
#include "syscalls/syscall_table.h"
#include "trace/names.h"

namespace uscope::query {
namespace {

bool is_pure(const std::string& function) {
  constexpr std::array kPure{"abs",    "char",      "coalesce", "format", "glob",    "hex",      "ifnull",
                             "iif",    "instr",     "length",   "like",   "likely",  "lower",    "ltrim",
                             "max",    "min",       "nullif",   "printf", "quote",   "replace",  "rtrim",
                             "substr", "substring", "trim",     "typeof", "unicode", "unlikely", "upper"};
  return std::any_of(kPure.begin(), kPure.end(), [&](const char* name) { return function == name; });
}

void allow(CallBits& calls, std::uint32_t nr) {
  calls.at(nr / 64) |= std::uint64_t{1} << nr % 64;
}

Result<store::SqliteHandle> all_calls() {
  auto memory = open_memory();
  if (!memory) return memory.error();
  sqlite3* database = memory->get();
  if (auto done = store::execute(database,
                                 "CREATE TABLE call(kind TEXT, class TEXT, abi INTEGER, nr INTEGER, "
                                 "has_object INTEGER, object TEXT, object_kind TEXT)");
      !done)
    return done.error();
  auto insert = store::Statement::prepare(database, "INSERT INTO call VALUES(?1, ?2, ?3, ?4, ?5, NULL, NULL)");
  if (!insert) return insert.error();
  for (std::uint32_t abi = 0; abi < USC_ABI_COUNT; abi++)
    for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++) {
      const std::string name = syscalls::syscall_name(static_cast<usc_abi>(abi), nr);
      const bool has_object = syscalls::object_args(static_cast<usc_abi>(abi), nr).any();
      auto done = insert->run(std::string_view(name), trace::source_name(USC_SOURCE_SYSCALL), abi, nr, has_object);
      if (!done) return done.error();
    }
  store::allow_reading_only(database);
  return memory;
}

// A column whose values are few. An empty name is NULL.
struct Names {
  const char* column;
  usc_query_field field;
  std::int64_t count;
  std::string_view (*name)(std::uint32_t);
};

constexpr std::array kNames{Names{"errno", USC_QUERY_ERROR, syscalls::kLastErrno + 1,
                                  [](std::uint32_t number) { return syscalls::errno_name(static_cast<int>(number)); }},
                            Names{"how", USC_QUERY_HOW, USC_HOW_COUNT, trace::how_name},
                            Names{"class", USC_QUERY_SOURCE, USC_SOURCE_COUNT, trace::source_name}};

// The numbers whose names fulfil the condition.
Result<std::vector<std::int64_t>> numbers_of(const Names& names, const std::string& condition,
                                             const std::string& source) {
  auto memory = open_memory();
  if (!memory) return memory.error();
  const std::string table = fmt::format("CREATE TABLE known(number INTEGER PRIMARY KEY, \"{}\" TEXT)", names.column);
  if (auto done = store::execute(memory->get(), table); !done) return done.error();
  auto insert = store::Statement::prepare(memory->get(), "INSERT INTO known VALUES(?1, nullif(?2, ''))");
  if (!insert) return insert.error();
  for (std::int64_t number = 0; number < names.count; number++)
    if (auto done = insert->run(number, names.name(static_cast<std::uint32_t>(number))); !done) return done.error();
  store::allow_reading_only(memory->get());
  auto query = store::Statement::prepare(
      memory->get(),
      fmt::format("SELECT number FROM known AS {} WHERE {} ORDER BY number", quoted_name(source), condition));
  if (!query) return query.error();
  std::vector<std::int64_t> numbers;
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) return numbers;
    numbers.push_back(query->integer(0));
  }
}

}  // namespace

bool is_of(const Expr& condition, const std::vector<std::string_view>& columns) {
  bool any = false;
  bool others = false;
  each(condition, [&](const Expr& part) {
    if (part.node == Node::kCall) others = others || part.filter || part.distinct || !is_pure(part.name);
    if (part.node != Node::kColumn || part.alias) return;
    const bool known = column_of(part) && std::find(columns.begin(), columns.end(), part.name) != columns.end();
    (known ? any : others) = true;
  });
  return any && !others;
}

bool is_of_kinds(const Expr& condition) {
  return is_of(condition, {"kind", "class"});
}

bool is_of_objects(const Expr& condition) {
  return is_of(condition, {"kind", "class", "object", "object_kind"});
}

std::optional<Admitted> admitted_by(const Expr& condition, const std::string& text, const std::string& source) {
  constexpr std::size_t kMost = 4;  // each value takes three instructions
  for (const Names& names : kNames) {
    if (!is_of(condition, {names.column})) continue;
    auto numbers = numbers_of(names, "(" + text + ")", source);
    if (!numbers) return std::nullopt;
    std::vector<std::int64_t> refused;
    for (std::int64_t number = 0; number < names.count; number++)
      if (!std::binary_search(numbers->begin(), numbers->end(), number)) refused.push_back(number);
    if (refused.empty()) return std::nullopt;
    if (numbers->size() <= kMost) return Admitted{names.field, *numbers, false, one_line(text)};
    if (refused.size() <= kMost) return Admitted{names.field, refused, true, one_line(text)};
    if (names.field == USC_QUERY_ERROR && refused.front() == 0)
      return Admitted{names.field, {0}, true, "errno IS NOT NULL"};
  }
  return std::nullopt;
}

Result<std::size_t> rule_out_calls(const std::string& condition, bool of_objects, const std::string& source,
                                   Plan& plan) {
  auto calls = all_calls();
  if (!calls) return calls.error();
  auto query = store::Statement::prepare(calls->get(),
                                         fmt::format("SELECT abi, nr FROM call AS {} WHERE {}({})", quoted_name(source),
                                                     of_objects ? "has_object OR " : "", condition));
  if (!query) return query.error();
  std::array<CallBits, USC_CALL_TABLES> allowed{};
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) break;
    allow(allowed.at(USC_CALL_TABLE(query->integer(0))), static_cast<std::uint32_t>(query->integer(1)));
  }
  std::size_t left = 0;
  for (std::size_t table = 0; table < allowed.size(); table++)
    for (std::size_t i = 0; i < allowed[table].size(); i++) plan.calls[table].at(i) &= allowed[table].at(i);
  for (const std::uint64_t word : plan.calls[USC_CALLS_NATIVE]) left += static_cast<std::size_t>(std::popcount(word));
  return left;
}

}  // namespace uscope::query

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/empty_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "query/plan/columns.h"
#include "query/plan/known_calls.h"
#include "query/plan/known_part.h"
#include "query/plan/names.h"
#include "query/plan/splitter.h"
#include "query/sql/lexer.h"
#include "query/sql/parser.h"
#include "store/db/statement.h"
#include "support/nearest.h"
#include "syscalls/call_traits.h"
#include "syscalls/errno_names.h"
#include "syscalls/signal_names.h"
#include "syscalls/syscall_table.h"

namespace uscope::query {
namespace {

constexpr std::size_t kMostListed = 8;        // values of a column in one sentence
constexpr std::int64_t kMostValues = 50'000;  // that are compared with the one that was asked for

// Ends SQLite's work after some seconds, while it lives.
class TimeLimit {
 public:
  explicit TimeLimit(sqlite3* database) : database_(database) {
    constexpr int kSteps = 10'000;
    sqlite3_progress_handler(
        database_, kSteps, [](void* limit) { return Clock::now() > static_cast<TimeLimit*>(limit)->end_ ? 1 : 0; },
        this);
  }
  ~TimeLimit() { sqlite3_progress_handler(database_, 0, nullptr, nullptr); }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  [[nodiscard]] bool is_over() const { return Clock::now() > end_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongest{3};
  sqlite3* database_;
  Clock::time_point end_ = Clock::now() + kLongest;
};

// A column that is compared with what stands in the question.
struct Comparison {
  const Column* column = nullptr;
  const Expr* value = nullptr;
  bool orders = false;  // by < and the like
};

// The one column that an expression names, also within functions; nullptr: none, or several.
const Column* column_in(const Expr& expr) {
  const Column* found = nullptr;
  bool several = false;
  each(expr, [&](const Expr& part) {
    const Column* column = column_of(part);
    several = several || (column && found && found != column);
    if (column) found = column;
  });
  return several ? nullptr : found;
}

bool is_constant(const Expr& expr) {
  const Node node = bare(expr).node;
  return node == Node::kText || node == Node::kInteger || node == Node::kReal;
}

// All in a condition, also below OR.
std::vector<Comparison> comparisons_of(const Expr& condition) {
  std::vector<Comparison> found;
  each(condition, [&](const Expr& part) {
    const bool orders = part.node == Node::kBetween ||
                        (part.node == Node::kBinary && (part.op.starts_with('<') || part.op.starts_with('>')) &&
                         part.op != "<>" && part.op != "<<" && part.op != ">>");
    const bool equals = (part.node == Node::kBinary && part.op == "=") || part.node == Node::kIs ||
                        part.node == Node::kIn || part.node == Node::kLike;
    if ((!orders && !equals) || part.negated) return;
    const Column* column = nullptr;
    for (const ExprPtr& child : part.children) column = column ? column : column_in(*child);
    if (!column) return;
    for (const ExprPtr& child : part.children)
      if (is_constant(*child)) found.push_back({column, &bare(*child), orders});
  });
  return found;
}

// In the order of the events; of the kinds, those of events alone.
std::vector<std::string> values_of(sqlite3* database, const std::string& column) {
  std::vector<std::string> values;
  auto query = store::Statement::prepare(
      database, fmt::format("SELECT DISTINCT {0} FROM v_event WHERE {0} IS NOT NULL LIMIT {1}", quoted_name(column),
                            kMostValues));
  if (!query) return values;
  for (auto row = query->step(); row && *row; row = query->step()) values.emplace_back(query->text(0));
  return values;
}

std::string listed(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), kMostListed); i++)
    text += (i == 0 ? "'" : ", '") + values[i] + "'";
  if (values.size() > kMostListed) text += fmt::format(" and {} more", values.size() - kMostListed);
  return text;
}

// A pattern's longest part without wildcards.
std::string plain_part(std::string_view pattern, std::string_view wild) {
  std::string_view longest;
  while (!pattern.empty()) {
    const std::size_t end = std::min(pattern.find_first_of(wild), pattern.size());
    if (end > longest.size()) longest = pattern.substr(0, end);
    pattern.remove_prefix(std::min(end + 1, pattern.size()));
  }
  return std::string(longest);
}

// What the trace has in place of a text: values that are spelt alike, or contain it; for a call, those of its family;
// of a column with few values, all of them.
std::string near_values(const std::string& column, const std::string& asked, const std::vector<std::string>& values) {
  std::vector<std::string> near = nearest(asked, values);
  const std::string lower = lower_case(asked);
  constexpr std::size_t kShortest = 3;
  for (const std::string& value : values) {
    const bool contains = lower.size() >= kShortest && lower_case(value).find(lower) != std::string::npos;
    if (contains && std::find(near.begin(), near.end(), value) == near.end()) near.push_back(value);
  }
  std::string text;
  if (!near.empty()) text = fmt::format("near it: {}", listed(near));
  if (column == "kind") {
    std::vector<std::string> family;
    for (const std::string& value : values)
      if (value != asked && std::find(near.begin(), near.end(), value) == near.end() &&
          syscalls::are_related(asked, value))
        family.push_back(value);
    if (!family.empty()) text += (text.empty() ? "related calls: " : "; related calls: ") + listed(family);
  }
  if (text.empty() && values.size() <= kMostListed)
    text = values.empty() ? fmt::format("every {} is NULL", column) : fmt::format("{} is {}", column, listed(values));
  return text;
}

// Of a number that is compared with a name.
std::string type_hint(const Comparison& comparison) {
  const std::string name(comparison.column->name);
  if (comparison.value->node == Node::kInteger && name == "errno") {
    const std::string_view error = syscalls::errno_name(static_cast<int>(comparison.value->integer));
    return error.empty() ? "errno is the name of an error, such as 'ENOENT'"
                         : fmt::format("errno is the name of an error: {} is '{}'", comparison.value->integer, error);
  }
  return "";
}

std::string range_hint(sqlite3* database, const std::string& column) {
  auto query =
      store::Statement::prepare(database, fmt::format("SELECT min({0}), max({0}) FROM v_event", quoted_name(column)));
  if (!query) return "";
  const auto row = query->step();
  if (!row || !*row) return "";
  if (query->is_null(0)) return fmt::format("every {} is NULL", column);
  return fmt::format("{} is from {} to {}", column, query->text(0), query->text(1));
}

std::string hint_for(sqlite3* database, const Comparison& comparison) {
  if (std::string hint = type_hint(comparison); !hint.empty()) return hint;
  const std::string column(comparison.column->name);
  if (comparison.value->node != Node::kText) return comparison.orders ? range_hint(database, column) : "";
  if (comparison.orders) return "";
  const std::string asked = plain_part(comparison.value->name, "*?[]%");
  return near_values(column, asked.empty() ? comparison.value->name : asked, values_of(database, column));
}

// Nothing: SQLite did not find out in time.
std::optional<bool> any_event(sqlite3* database, const std::string& source, const std::string& condition) {
  auto query = store::Statement::prepare(
      database, fmt::format("SELECT EXISTS (SELECT 1 FROM v_event AS {} WHERE {})", quoted_name(source), condition));
  if (!query) return std::nullopt;
  const auto row = query->step();
  if (!row || !*row) return std::nullopt;
  return query->integer(0) != 0;
}

bool has_no_calls(const Plan& plan, const Plan& before) {
  const auto none = [](const auto& calls) {
    return std::all_of(calls.begin(), calls.end(), [](std::uint64_t word) { return word == 0; });
  };
  return none(plan.calls[USC_CALLS_NATIVE]) && none(plan.calls[USC_CALLS_COMPAT]) &&
         !(none(before.calls[USC_CALLS_NATIVE]) && none(before.calls[USC_CALLS_COMPAT]));
}

std::vector<std::string> call_names() {
  std::set<std::string> names;
  for (std::uint32_t abi = 0; abi < USC_ABI_COUNT; abi++)
    for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++)
      names.insert(syscalls::syscall_name(static_cast<usc_abi>(abi), nr));
  return {names.begin(), names.end()};
}

// For a name that no call has.
std::string hint_for_call(const std::string& name) {
  const std::vector<std::string> signals = syscalls::kinds_of_signal(name);
  if (!signals.empty()) return fmt::format("with -e signal, kinds of signals are {}", listed(signals));
  return did_you_mean(name, call_names());
}

void add_hint(std::string& sentence, const std::string& hint) {
  if (!hint.empty()) sentence += "; " + hint;
}

}  // namespace

std::vector<std::string> impossible_conditions(const Plan& plan) {
  std::vector<std::string> found;
  auto select = parse(plan.text);
  if (!select || !select->where) return found;
  resolve(*select);
  Plan left;
  for (CallBits& calls : left.calls) calls.fill(~std::uint64_t{0});
  for (const Expr* conjunct : conjuncts_of(*select)) {
    const std::string condition = original_text(plan.text, *conjunct);
    const auto comparisons = comparisons_of(*conjunct);
    std::string sentence = "no event fulfils " + one_line(condition);
    if (is_of(*conjunct, {"errno"})) {
      const auto admitted = admitted_by(*conjunct, condition, select->source_name);
      if (!admitted || !admitted->values.empty() || admitted->others) continue;
      for (const Comparison& comparison : comparisons) {
        std::string hint = type_hint(comparison);
        if (hint.empty() && comparison.value->node == Node::kText) {
          std::vector<std::string> names;
          for (int number = 1; number <= syscalls::kLastErrno; number++)
            if (const auto name = syscalls::errno_name(number); !name.empty()) names.emplace_back(name);
          hint = did_you_mean(comparison.value->name, names);
        }
        add_hint(sentence, hint);
      }
      found.push_back(std::move(sentence));
    } else if (plan.sources == 0 && is_of_kinds(*conjunct)) {
      const Plan before = left;
      if (!rule_out_calls(condition, false, select->source_name, left) || !has_no_calls(left, before)) continue;
      sentence += ": it names no system call, and WHERE names no other class of events";
      for (const Comparison& comparison : comparisons)
        if (comparison.column->name == "kind" && comparison.value->node == Node::kText)
          add_hint(sentence, hint_for_call(comparison.value->name));
      found.push_back(std::move(sentence));
    }
  }
  return found;
}

Result<std::vector<std::string>> why_no_event(sqlite3* database, const std::string& text) {
  std::vector<std::string> reasons;
  auto select = parse(text);
  if (!select || !select->where) return reasons;
  resolve(*select);
  const TimeLimit limit(database);
  const auto any = any_event(database, select->source_name, original_text(text, *select->where));
  if (!any || *any) return reasons;
  const std::vector<const Expr*> conjuncts = conjuncts_of(*select);
  for (const Expr* conjunct : conjuncts) {
    const std::string condition = original_text(text, *conjunct);
    const auto fulfilled = any_event(database, select->source_name, condition);
    if (limit.is_over()) return reasons;
    if (!fulfilled || *fulfilled) continue;
    std::string sentence = "no event fulfils " + one_line(condition);
    std::set<std::string> hints;
    for (const Comparison& comparison : comparisons_of(*conjunct)) {
      const std::string hint = hint_for(database, comparison);
      if (!limit.is_over() && hints.insert(hint).second) add_hint(sentence, hint);
    }
    reasons.push_back(std::move(sentence));
  }
  if (reasons.empty() && conjuncts.size() > 1)
    reasons.push_back("each condition of WHERE holds for some event, but no event fulfils all of them");
  return reasons;
}

std::string hint_for_column(std::string_view name) {
  struct Named {
    std::string_view hint;
    std::vector<std::string_view> names;
  };
  static const std::vector<Named> kNamed{
      {"process is the program's name, thread the thread's (what ps calls comm)",
       {"comm", "command", "cmd", "exe", "program", "image", "execname", "name", "app"}},
      {"a0 to a5 are the arguments: a0 is the descriptor of read, write and the like; object is the file or address "
       "that "
       "it stands for",
       {"fd", "descriptor", "handle"}},
      {"object is the path, address or other thing that a call is about; object_kind says what that is",
       {"path", "file", "filename", "pathname", "address", "addr", "remote", "peer", "socket", "host", "port",
        "target"}},
      {"kind is the name of the call, signal or probe; class says which of these it is",
       {"call", "syscall", "event", "sysname", "probe", "function_called", "type", "nr"}},
      {"dur_ns is how long it took, in ns", {"duration", "latency", "elapsed", "took", "delta", "dur", "duration_ns"}},
      {"ts_ns is when it began, in ns of CLOCK_MONOTONIC", {"time", "timestamp", "ts", "start", "when", "begin"}},
      {"errno is the name of the error ('ENOENT'), NULL if the call succeeded", {"error", "err", "failed", "failure"}},
      {"result is what the call returned: of read and write a number of bytes",
       {"ret", "retval", "return", "returned", "bytes", "size", "length", "exit", "rc"}},
      {"trigger is the application's function that made the call; folded is the whole stack",
       {"function", "func", "caller", "symbol"}},
      {"folded is the whole stack, root first; trigger the application's function in it",
       {"stack", "ustack", "backtrace", "stacktrace", "kstack"}},
      {"trigger_module is the file of the trigger", {"module", "library", "lib", "dso", "binary"}},
      {"uid is the user's number", {"user", "username", "euid"}},
      {"cgroup is the path of the process's control group; container the id in it",
       {"group", "slice", "unit", "service", "pod", "container_id", "docker", "cgroup_id"}},
      {"a0 to a5 are the arguments",
       {"args", "arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "argument", "arguments"}}};
  for (const Named& named : kNamed)
    if (std::find(named.names.begin(), named.names.end(), name) != named.names.end()) return std::string(named.hint);
  return "";
}

}  // namespace uscope::query

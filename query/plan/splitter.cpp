// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/splitter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "query/plan/columns.h"
#include "query/plan/known_calls.h"
#include "query/plan/names.h"
#include "query/plan/program_maker.h"
#include "query/sql/lexer.h"

namespace uscope::query {
namespace {

struct Edit {
  Span span;
  std::string text;
};

// What only some rows of a group decide is not a matter of partial rows; nor is what is another thing at each call.
bool changes_by_call(const std::string& function) {
  constexpr std::array kChanging{"random",        "randomblob",        "changes",
                                 "total_changes", "last_insert_rowid", "sqlite_offset"};
  return std::any_of(kChanging.begin(), kChanging.end(), [&](const char* name) { return function == name; });
}

void add_conjuncts(const Expr& expr, std::vector<const Expr*>& conjuncts) {
  const Expr& inner = bare(expr);
  if (inner.node != Node::kBinary || inner.op != "and") return conjuncts.push_back(&expr);
  for (const ExprPtr& child : inner.children) add_conjuncts(*child, conjuncts);
}

// A call of any function over many rows.
bool is_over_rows(const Expr& call, const std::set<std::string>& aggregates) {
  const bool scalar = (call.name == "min" || call.name == "max") && call.children.size() != 1;
  return call.node == Node::kCall && aggregates.count(call.name) != 0 && !scalar;
}

// Whether the affinities of operands decide what this node compares.
bool compares(const Expr& expr) {
  constexpr std::array kSigns{"=", "<>", "<", "<=", ">", ">="};
  if (expr.node == Node::kIs || expr.node == Node::kIn || expr.node == Node::kBetween) return true;
  if (expr.node == Node::kCase) return expr.based;
  return expr.node == Node::kBinary &&
         std::any_of(kSigns.begin(), kSigns.end(), [&](const char* sign) { return expr.op == sign; });
}

// Has a column's affinity, INTEGER.
bool is_plain_column(const Expr& expr) {
  const Expr& inner = bare(expr);
  if (inner.alias) return is_plain_column(*inner.alias);
  return inner.node == Node::kCast || column_of(inner) != nullptr;
}

// Whether a child of a CASE or iif() is one of the values that it chooses from.
bool is_value(const Expr& choice, std::size_t child) {
  if (choice.node == Node::kCall) return child > 0;
  const std::size_t first = choice.based ? 1 : 0;
  return child >= first && ((child - first) % 2 == 1 || child + 1 == choice.children.size());
}

// CASE or iif() that chooses from integers, one of them a number of the event.
bool chooses_integers(const Expr& expr) {
  if (expr.node != Node::kCase && (expr.node != Node::kCall || expr.name != "iif")) return false;
  bool any = false;
  for (std::size_t i = 0; i < expr.children.size(); i++) {
    if (!is_value(expr, i)) continue;
    if (!is_integers(*expr.children[i])) return false;
    any = any || is_of_numbers(*expr.children[i]);
  }
  return any;
}

class Splitter {
 public:
  Splitter(const std::string& text, const Select& select, const std::set<std::string>& aggregates, Plan& plan)
      : text_(text), select_(select), aggregates_(aggregates), plan_(plan) {}

  std::string run() {
    if (std::string reason = not_cut(); !reason.empty()) return reason;
    std::vector<Edit> edits;
    for (const Expr* conjunct : conjuncts_of(select_))
      (is_of_numbers(*conjunct) ? filters_ : conditions_).push_back(conjunct);
    result_columns(edits);
    edits.push_back({select_.source, "partial AS " + quoted_name(select_.source_name)});
    where(edits);
    for (const ExprPtr& term : select_.group) edits.push_back({{term->begin, term->end}, outer(*term, Place::kFree)});
    if (select_.having)
      edits.push_back({{select_.having->begin, select_.having->end}, outer(*select_.having, Place::kFree)});
    for (const ExprPtr& term : select_.order) edits.push_back({{term->begin, term->end}, outer(*term, Place::kTerm)});
    plan_.outer = edited(edits);
    if (std::string reason = lay_out(); !reason.empty()) return reason;
    explain();
    plan_.way = Way::kSums;
    return "";
  }

 private:
  // Where an expression stands, as far as that matters for a word of the key in its place.
  enum class Place {
    kFree,
    kCompared,  // with something that is no integer: with the affinity that the expression had
    kTerm,      // a term of ORDER BY, where a name alone is an alias first
  };

  enum class Sum { kCount, kSum, kMinimum, kMaximum };  // of a measure, in a row

  struct ExpressionKey {
    const Expr* expr;
    bool in_steps;
    std::string form;
  };

  [[nodiscard]] std::string not_cut() const {
    for (const ResultColumn& column : select_.columns)
      if (!column.expr) return "it shows all columns (*)";
    std::string reason;
    for (const Expr* root : roots_of(select_))
      each(*root, [&](const Expr& part) {
        if (reason.empty()) reason = part_not_cut(part);
      });
    return reason;
  }

  [[nodiscard]] std::string part_not_cut(const Expr& part) const {
    if (part.node == Node::kColumn && !part.alias) {
      const Column* column = column_of(part);
      if (!column || column->kind == ColumnKind::kUnknown) return part.name + " is not known at the event";
    }
    if (part.node != Node::kCall) return "";
    if (changes_by_call(part.name)) return part.name + "() is another value at each call";
    if (is_over_rows(part, aggregates_) && !is_aggregate(part)) return part.name + "() needs each event";
    if (is_aggregate(part) && part.distinct && part.name == "hist") return "hist(DISTINCT x) needs each number";
    return "";
  }

  void result_columns(std::vector<Edit>& edits) {
    for (std::size_t i = 0; i < select_.columns.size(); i++) {
      const ResultColumn& column = select_.columns[i];
      std::string text = outer(*column.expr, Place::kFree);
      const bool changed = text != text_.substr(column.expr->begin, column.expr->end - column.expr->begin);
      if (changed && column.alias.empty()) text += " AS " + quoted_name(plan_.columns.at(i));
      edits.push_back({{column.expr->begin, column.expr->end}, text});
    }
  }

  void where(std::vector<Edit>& edits) {
    if (!select_.where) return;
    std::string kept;
    for (const Expr* condition : conditions_) {
      const std::string text = outer(*condition, Place::kFree);
      kept += kept.empty() ? "" : " AND ";
      kept += condition->node == Node::kParen || conditions_.size() == 1 ? text : "(" + text + ")";
    }
    edits.push_back({{select_.where_begin, select_.where->end}, kept.empty() ? "" : "WHERE " + kept});
  }

  [[nodiscard]] std::string edited(std::vector<Edit>& edits) const {
    std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
    std::string result;
    std::size_t at = 0;
    for (const Edit& edit : edits) {
      result += text_.substr(at, edit.span.begin - at) + edit.text;
      at = edit.span.end;
    }
    return result + text_.substr(at);
  }

  // The text of an expression over `partial`.
  std::string outer(const Expr& expr, Place place) {
    if (expr.alias && expr.keeps_alias) return text_.substr(expr.begin, expr.end - expr.begin);
    if (is_aggregate(expr)) return aggregate(expr);
    if (is_of_numbers(expr)) return key_text(expr, place);
    if (expr.alias) return "(" + outer(*expr.alias, place) + ")";
    if (const Column* column = column_of(expr)) words_ |= column->words;
    if (expr.node == Node::kText && text_[expr.begin] != '\'') return in_single_quotes(expr.name);
    const bool keeps_affinity = expr.node == Node::kParen || expr.node == Node::kCollate;
    const Place inside = keeps_affinity ? place : compares(expr) ? Place::kCompared : Place::kFree;
    return spliced_text(text_, expr, [&](const Expr& part) { return outer(part, inside); });
  }

  static std::string in_single_quotes(const std::string& text) {
    std::string quoted;
    for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
    return "'" + quoted + "'";
  }

  std::string key_text(const Expr& expr, Place place) {
    std::string name = key_name(expr, false);
    if (place == Place::kTerm) return "+" + name;
    if (place == Place::kCompared) return is_plain_column(expr) ? "CAST(" + name + " AS INTEGER)" : "+" + name;
    return name;
  }

  std::string key_name(const Expr& expr, bool in_steps) {
    const std::string form = normal_form(expr);
    for (std::size_t i = 0; i < keys_.size(); i++)
      if (keys_[i].form == form && keys_[i].in_steps == in_steps) return fmt::format("k{}", i);
    keys_.push_back({&expr, in_steps, form});
    return fmt::format("k{}", keys_.size() - 1);
  }

  std::size_t measure(const Expr& expr) {
    const std::string form = normal_form(expr);
    const auto found =
        std::find_if(measures_.begin(), measures_.end(), [&](const auto& m) { return m.second == form; });
    if (found != measures_.end()) return static_cast<std::size_t>(found - measures_.begin());
    measures_.emplace_back(&expr, form);
    return measures_.size() - 1;
  }

  std::string aggregate(const Expr& call) {
    const std::string filter =
        call.filter ? " FILTER (WHERE " + outer(*call.filter, Place::kFree) + ")" : std::string();
    if (call.children.empty()) return fmt::format("ifnull(sum(n){}, 0)", filter);
    const Expr& value = *call.children[0];
    if (call.distinct) return distinct(call);
    if (call.name == "quantile" || call.name == "hist") return steps(call, filter);
    if (is_integers(value)) return over_sums(call, filter, [&](Sum sum) { return column(sum, measure(value)); });
    if (chooses_integers(bare(value)))
      return over_sums(call, filter, [&](Sum sum) { return chosen(bare(value), sum); });
    return over_keys(call, outer(value, Place::kFree), filter);
  }

  // Equal for equal keys, so it is for the rows what it is for the events.
  std::string distinct(const Expr& call) {
    return spliced_text(text_, call, [&](const Expr& part) { return outer(part, Place::kFree); });
  }

  std::string steps(const Expr& call, const std::string& filter) {
    const Expr& value = *call.children[0];
    const std::string x = is_of_numbers(value) ? key_name(value, true) : outer(value, Place::kFree);
    std::string more;
    for (std::size_t i = 1; i < call.children.size(); i++) more += ", " + outer(*call.children[i], Place::kFree);
    return fmt::format("{}_of({}, n{}){}", call.name, x, more, filter);
  }

  // `over` gives what is added up of a row, or its least or greatest.
  template <typename Over>
  static std::string over_sums(const Expr& call, const std::string& filter, const Over& over) {
    if (call.name == "count") return fmt::format("ifnull(sum({}){}, 0)", over(Sum::kCount), filter);
    if (call.name == "min") return fmt::format("min({}){}", over(Sum::kMinimum), filter);
    if (call.name == "max") return fmt::format("max({}){}", over(Sum::kMaximum), filter);
    if (call.name != "avg") return fmt::format("{}_wide({}){}", call.name, over(Sum::kSum), filter);
    return fmt::format("(total_wide({}){} / nullif(sum({}){}, 0))", over(Sum::kSum), filter, over(Sum::kCount), filter);
  }

  static std::string column(Sum sum, std::size_t i) {
    switch (sum) {
      case Sum::kCount:
        return fmt::format("c{}", i);
      case Sum::kSum:
        return fmt::format("iif(c{0}, s{0}, NULL)", i);
      case Sum::kMinimum:
        return fmt::format("mn{}", i);
      default:
        return fmt::format("mx{}", i);
    }
  }

  // A choice by what follows from the key: all events of a row choose the same.
  std::string chosen(const Expr& choice, Sum sum) {
    std::size_t next = 0;
    return spliced_text(text_, choice, [&](const Expr& part) {
      if (!is_value(choice, next++)) return outer(part, compares(choice) ? Place::kCompared : Place::kFree);
      if (is_of_numbers(part)) return column(sum, measure(part));
      const std::string text = outer(part, Place::kFree);
      if (sum == Sum::kCount) return fmt::format("iif(({}) IS NULL, 0, n)", text);
      return sum == Sum::kSum ? fmt::format("times({}, n)", text) : text;
    });
  }

  static std::string over_keys(const Expr& call, const std::string& x, const std::string& filter) {
    if (call.name == "min" || call.name == "max") return fmt::format("{}({}){}", call.name, x, filter);
    const std::string count = fmt::format("sum(iif(({}) IS NULL, 0, n)){}", x, filter);
    if (call.name == "count") return fmt::format("ifnull({}, 0)", count);
    if (call.name == "avg") return fmt::format("(total_of({}, n){} / nullif({}, 0))", x, filter, count);
    return fmt::format("{}_of({}, n){}", call.name, x, filter);
  }

  std::string lay_out() {
    if (words_ & bit_of(Key::kGuise)) words_ &= ~bit_of(Key::kImage);  // a guise has one
    for (Key key : {Key::kSource, Key::kKind, Key::kAbi, Key::kHow, Key::kTask, Key::kImage, Key::kGuise, Key::kStack,
                    Key::kError})
      if (words_ & bit_of(key)) plan_.keys.push_back({key, ""});
    const std::size_t fields = plan_.keys.size();
    for (std::size_t i = 0; i < keys_.size(); i++) plan_.keys.push_back({Key::kExpression, fmt::format("k{}", i)});
    if (plan_.keys.size() > USC_QUERY_KEYS)
      return fmt::format("it groups by {} numbers, and {} is the most", plan_.keys.size(), USC_QUERY_KEYS);
    if (measures_.size() > USC_QUERY_MEASURES)
      return fmt::format("it measures {} things, and {} is the most", measures_.size(), USC_QUERY_MEASURES);
    for (const Expr* condition : conditions_)
      if (auto admitted = admitted_by(*condition, original_text(text_, *condition), select_.source_name))
        admitted_.push_back(std::move(*admitted));
    std::string trouble = make_program(fields);
    if (!trouble.empty() && !admitted_.empty()) {  // they spare rows, and are not needed
      admitted_.clear();
      trouble = make_program(fields);
    }
    return trouble;
  }

  // `fields`: so many words of the key are fields; the others are expressions.
  std::string make_program(std::size_t fields) {
    ProgramMaker maker;
    plan_.measures.clear();
    for (const Expr* filter : filters_) maker.only_if(*filter);
    for (const Admitted& admitted : admitted_) maker.only_if(admitted.field, admitted.values, admitted.others);
    for (std::uint32_t word = 0; word < fields; word++) maker.key(word, field_of(plan_.keys[word].what));
    for (std::size_t i = 0; i < keys_.size(); i++)
      maker.key(static_cast<std::uint32_t>(fields + i), *keys_[i].expr, keys_[i].in_steps);
    for (std::size_t i = 0; i < measures_.size(); i++) {
      maker.measure(static_cast<std::uint32_t>(i), *measures_[i].first);
      plan_.measures.push_back(one_line(original_text(text_, *measures_[i].first)));
    }
    if (!maker.trouble().empty()) return maker.trouble();
    plan_.program =
        maker.program(static_cast<std::uint32_t>(plan_.keys.size()), static_cast<std::uint32_t>(measures_.size()));
    if (maker.may_overflow()) plan_.whole = whole();
    plan_.needs.stack = (words_ & bit_of(Key::kStack)) != 0;
    plan_.needs.time = maker.reads_clock();
    return "";
  }

  [[nodiscard]] std::string whole() const {
    std::string columns;
    for (std::size_t i = 0; i < keys_.size(); i++)
      columns +=
          fmt::format("{}({}) AS k{}, ", keys_[i].in_steps ? "bucket" : "", original_text(text_, *keys_[i].expr), i);
    columns += "1 AS n";
    for (std::size_t i = 0; i < measures_.size(); i++)
      columns += fmt::format(", ({0}) IS NOT NULL AS c{1}, ({0}) AS s{1}, ({0}) AS mn{1}, ({0}) AS mx{1}",
                             original_text(text_, *measures_[i].first), i);
    for (const Column& column : all_columns())
      if (column.kind == ColumnKind::kDimension) columns += fmt::format(", \"{}\"", column.name);
    std::string filter;
    for (const Expr* expr : filters_)
      filter += (filter.empty() ? " WHERE (" : " AND (") + original_text(text_, *expr) + ")";
    const std::string source = text_.substr(select_.source.begin, select_.source.end - select_.source.begin);
    return "SELECT " + columns + " FROM " + source + filter;
  }

  void explain() {
    const auto text_of = [&](const Expr& expr) { return one_line(original_text(text_, expr)); };
    for (const Expr* filter : filters_) plan_.pushed.push_back("only if " + text_of(*filter));
    for (const Admitted& admitted : admitted_) plan_.pushed.push_back("only if " + admitted.text);
    for (const Column& column : all_columns())
      if (is_named(column)) plan_.pushed.push_back(fmt::format("by {}", column.name));
    for (std::size_t i = 0; i < keys_.size(); i++) {
      const std::string text = text_of(*keys_[i].expr);
      plan_.pushed.push_back(fmt::format("by k{} = {}", i, keys_[i].in_steps ? "bucket(" + text + ")" : text));
    }
    plan_.pushed.emplace_back("count the events (n)");
    for (std::size_t i = 0; i < measures_.size(); i++)
      plan_.pushed.push_back(
          fmt::format("count, sum, least and greatest of {0} (c{1}, s{1}, mn{1}, mx{1})", plan_.measures[i], i));
    plan_.left.push_back(one_line(plan_.outer));
  }

  [[nodiscard]] bool is_named(const Column& column) const {
    const auto names = [&](const Expr& part) { return column_of(part) == &column; };
    for (const Expr* root : roots_of(select_))
      if (column.kind == ColumnKind::kDimension && any_of(*root, names)) return true;
    return false;
  }

  const std::string& text_;
  const Select& select_;
  const std::set<std::string>& aggregates_;
  Plan& plan_;
  std::vector<const Expr*> filters_;     // run at the event
  std::vector<const Expr*> conditions_;  // of the outer WHERE
  std::vector<Admitted> admitted_;       // what they say of an event beforehand
  std::uint32_t words_ = 0;              // bits by Key: those of dimensions
  std::vector<ExpressionKey> keys_;
  std::vector<std::pair<const Expr*, std::string>> measures_;  // with their normal forms
};

}  // namespace

std::vector<const Expr*> conjuncts_of(const Select& select) {
  std::vector<const Expr*> conjuncts;
  if (select.where) add_conjuncts(*select.where, conjuncts);
  return conjuncts;
}

bool makes_groups(const Select& select, const std::set<std::string>& aggregates) {
  if (select.distinct || !select.group.empty()) return true;
  const std::vector<const Expr*> roots = roots_of(select);
  return std::any_of(roots.begin(), roots.end(), [&](const Expr* root) {
    return any_of(*root, [&](const Expr& part) { return is_over_rows(part, aggregates); });
  });
}

std::string split(const std::string& text, const Select& select, const std::set<std::string>& aggregates, Plan& plan) {
  return Splitter(text, select, aggregates, plan).run();
}

}  // namespace uscope::query

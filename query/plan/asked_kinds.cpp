// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/asked_kinds.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "query/plan/known_part.h"
#include "query/plan/names.h"
#include "query/sql/parser.h"
#include "trace/names.h"

namespace uscope::query {
namespace {

bool is_kind(const Expr& expr) {
  const Expr& inner = bare(expr);
  return inner.alias ? is_kind(*inner.alias) : column_of(inner) != nullptr && inner.name == "kind";
}

// A name stands for itself; in a pattern, anything may follow what is before the first wildcard.
std::string beginning_of(const std::string& text) {
  const std::size_t wild = text.find_first_of("*?[");
  return wild == std::string::npos ? text : text.substr(0, wild) + "*";
}

}  // namespace

AskedKinds::AskedKinds(const std::string& text) : text_(text) {
  auto select = parse(text_);
  if (!select) return;
  select_.emplace(std::move(*select));
  resolve(*select_);
}

std::optional<std::vector<std::string>> AskedKinds::beginnings(std::uint32_t source) const {
  return are_known() ? beginnings_of(*select_->where, source) : std::nullopt;
}

// Of a condition that holds for these alone.
AskedKinds::Beginnings AskedKinds::beginnings_of(const Expr& condition, std::uint32_t source) const {
  const Expr& inner = bare(condition);
  if (inner.node == Node::kBinary && (inner.op == "and" || inner.op == "or")) return of_both(inner, source);
  const bool compares = (inner.node == Node::kBinary && inner.op == "=") || inner.node == Node::kIs ||
                        inner.node == Node::kIn || (inner.node == Node::kLike && inner.op == "glob");
  if (!compares || inner.negated) return std::nullopt;
  const bool turned = inner.node != Node::kIn && inner.node != Node::kLike && is_kind(*inner.children[1]);
  if (!turned && !is_kind(*inner.children[0])) return std::nullopt;
  std::vector<std::string> found;
  for (std::size_t i = turned ? 0 : 1; i < (turned ? 1 : inner.children.size()); i++) {
    const Expr& value = bare(*inner.children[i]);
    if (value.node != Node::kText) return std::nullopt;
    found.push_back(beginning_of(value.name));
  }
  return found;
}

AskedKinds::Beginnings AskedKinds::of_both(const Expr& condition, std::uint32_t source) const {
  Beginnings left = beginnings_of(*condition.children[0], source);
  Beginnings right = beginnings_of(*condition.children[1], source);
  if (condition.op == "and") return left ? left : right;
  if (is_of_others(*condition.children[0], source)) return right;
  if (is_of_others(*condition.children[1], source)) return left;
  if (!left || !right) return std::nullopt;
  left->insert(left->end(), right->begin(), right->end());
  return left;
}

// Whether a condition holds for no kind of the source.
bool AskedKinds::is_of_others(const Expr& condition, std::uint32_t source) const {
  static const std::vector<std::string_view> kColumns{"class"};
  const auto holds = where_holds(known_part(text_, condition, kColumns), select_->source_name, kColumns,
                                 {{std::string(trace::source_name(source))}});
  return holds && holds->at(0) == Holds::kNot;
}

Result<std::vector<bool>> AskedKinds::admits(std::uint32_t source, const std::vector<std::string>& names) const {
  std::vector<bool> admitted(names.size(), true);
  if (!are_known()) return admitted;
  static const std::vector<std::string_view> kColumns{"class", "kind"};
  std::vector<std::vector<std::string>> rows;
  rows.reserve(names.size());
  for (const std::string& name : names) rows.push_back({std::string(trace::source_name(source)), name});
  const auto holds = where_holds(known_part(text_, *select_->where, kColumns), select_->source_name, kColumns, rows);
  if (!holds) return holds.error();
  std::transform(holds->begin(), holds->end(), admitted.begin(), [](Holds one) { return one != Holds::kNot; });
  return admitted;
}

}  // namespace uscope::query

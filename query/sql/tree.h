// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tree of one SELECT. Each part knows its place in the text, so that a text is made from the text that was asked,
// with some places of it replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace uscope::query {

enum class Node {
  kColumn,   // `name`, maybe of `table`
  kInteger,  // `integer`
  kReal,     // a number that is no integer of 64 bits
  kText,     // `name`
  kBlob,
  kNull,
  kTruth,  // TRUE or FALSE: `integer`
  kParameter,
  kParen,
  kUnary,   // `op` is -, +, ~ or not
  kBinary,  // `op`; == and != as = and <>
  kIs,      // also IS DISTINCT FROM
  kIsNull,
  kBetween,  // the value and the two bounds
  kIn,       // the value and the list
  kLike,     // `op` is like, glob, regexp or match; the value, the pattern and maybe an escape
  kCollate,
  kCall,  // `name` in lower case, over the children
  kCast,  // to `name`
  kCase,  // all its expressions as they stand
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Expr {
  Node node = Node::kNull;
  std::size_t begin = 0;  // bytes in the text
  std::size_t end = 0;
  std::string op;
  std::string name;
  std::string table;
  std::int64_t integer = 0;
  bool negated = false;   // IS NOT, NOT IN, …
  bool quoted = false;    // kColumn: the name stands in quotes
  bool based = false;     // kCase: the first child is what is compared
  bool distinct = false;  // kCall
  bool star = false;      // kCall: count(*)
  bool window = false;    // kCall: OVER follows
  std::vector<ExprPtr> children;
  ExprPtr filter;               // kCall
  const Expr* alias = nullptr;  // kColumn: what it stands for, where it is the alias of a result column (plan/names.h)
  bool keeps_alias = false;     // … and SQLite looks for an alias first: a term of ORDER BY
};

struct ResultColumn {
  ExprPtr expr;  // nothing: `*`
  std::string alias;
};

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Select {
  bool distinct = false;
  std::vector<ResultColumn> columns;
  Span source;              // the table and its alias
  std::string source_name;  // by which columns may be called: its alias, or v_event
  ExprPtr where;
  std::size_t where_begin = 0;  // the word WHERE
  std::vector<ExprPtr> group;
  ExprPtr having;
  std::vector<ExprPtr> order;
};

// The same without the brackets around it.
[[nodiscard]] inline const Expr& bare(const Expr& expr) {
  const Expr* inner = &expr;
  while (inner->node == Node::kParen) inner = inner->children[0].get();
  return *inner;
}

}  // namespace uscope::query

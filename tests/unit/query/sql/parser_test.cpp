// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/sql/parser.h"

#include <gtest/gtest.h>

#include <string>

namespace uscope::query {
namespace {

// With a bracket around each operator's operands.
std::string shape(const std::string& text, const Expr& expr) {
  std::string inner;
  for (const ExprPtr& child : expr.children) inner += (inner.empty() ? "" : " ") + shape(text, *child);
  switch (expr.node) {
    case Node::kParen:
      return inner;
    case Node::kUnary:
    case Node::kBinary:
      return "(" + expr.op + " " + inner + ")";
    case Node::kIs:
      return std::string(expr.negated ? "(isnot " : "(is ") + inner + ")";
    case Node::kIsNull:
      return std::string(expr.negated ? "(notnull " : "(isnull ") + inner + ")";
    case Node::kBetween:
      return std::string(expr.negated ? "(notbetween " : "(between ") + inner + ")";
    case Node::kIn:
      return std::string(expr.negated ? "(notin " : "(in ") + inner + ")";
    case Node::kLike:
      return std::string(expr.negated ? "(notlike " : "(like ") + inner + ")";
    case Node::kCollate:
      return "(collate " + inner + ")";
    case Node::kCast:
      return "(cast " + inner + " " + expr.name + ")";
    case Node::kCase:
      return "(case " + inner + ")";
    case Node::kCall:
      return expr.name + "(" + (expr.distinct ? "distinct " : "") + (expr.star ? "*" : inner) +
             (expr.filter ? " if " + shape(text, *expr.filter) : "") + ")";
    case Node::kInteger:
      return std::to_string(expr.integer);
    default:
      return text.substr(expr.begin, expr.end - expr.begin);
  }
}

std::string parsed(const std::string& expression) {
  const std::string text = "SELECT " + expression + " FROM v_event";
  const auto select = parse(text);
  return select ? shape(text, *select->columns.at(0).expr) : "not cut: " + select.error().what;
}

TEST(Parser, PrecedenceIsSqlites) {
  EXPECT_EQ(parsed("a + b * c - d"), "(- (+ a (* b c)) d)");
  EXPECT_EQ(parsed("a OR b AND NOT c = d"), "(or a (and b (not (= c d))))");
  EXPECT_EQ(parsed("a = b < c"), "(= a (< b c))");
  EXPECT_EQ(parsed("a & b + c << d"), "(<< (& a (+ b c)) d)");
  EXPECT_EQ(parsed("-a % ~b || c"), "(% (- a) (|| (~ b) c))");
  EXPECT_EQ(parsed("-a COLLATE nocase = b"), "(= (collate (- a)) b)");
  EXPECT_EQ(parsed("a == b != c"), "(<> (= a b) c)");
  EXPECT_EQ(parsed("a = NOT b = c AND d"), "(and (= a (not (= b c))) d)");
  EXPECT_EQ(parsed("a BETWEEN b AND c AND d"), "(and (between a b c) d)");
  EXPECT_EQ(parsed("a NOT BETWEEN b = 1 AND c = d"), "(= (notbetween a (= b 1) c) d)");
  EXPECT_EQ(parsed("a IS NOT b IS NOT NULL"), "(isnot (isnot a b) NULL)");
  EXPECT_EQ(parsed("a IS DISTINCT FROM b"), "(isnot a b)");
  EXPECT_EQ(parsed("a IS NOT DISTINCT FROM b + 1"), "(is a (+ b 1))");
  EXPECT_EQ(parsed("a NOTNULL = b NOT NULL"), "(notnull (= (notnull a) b))");
  EXPECT_EQ(parsed("a NOT IN (1, 2 + 3) OR b IN ()"), "(or (notin a 1 (+ 2 3)) (in b))");
  EXPECT_EQ(parsed("a LIKE b || '%' ESCAPE 'x' AND c NOT GLOB 'd'"), "(and (like a (|| b '%') 'x') (notlike c 'd'))");
}

TEST(Parser, LiteralsHaveTheirValues) {
  EXPECT_EQ(parsed("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(parsed("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(parsed("- ( 9223372036854775808 )"), "-9223372036854775808");
  EXPECT_EQ(parsed("9223372036854775808 + .5e3"), "(+ 9223372036854775808 .5e3)");
  EXPECT_EQ(parsed("0xffffffffffffffff + 0X0010"), "(+ -1 16)");
  EXPECT_EQ(parsed("'it''s' || x'00' /* c */ -- d\n || \"a\"\"b\""), "(|| (|| 'it''s' x'00') \"a\"\"b\")");
}

TEST(Parser, CallsCasesAndCasts) {
  EXPECT_EQ(parsed("count(*) FILTER (WHERE a > 1)"), "count(* if (> a 1))");
  EXPECT_EQ(parsed("SUM(DISTINCT a) + like('a', b)"), "(+ sum(distinct a) like('a' b))");
  EXPECT_EQ(parsed("CASE a WHEN 1 THEN b ELSE c END"), "(case a 1 b c)");
  EXPECT_EQ(parsed("CAST(a + 1 AS UNSIGNED INT)"), "(cast (+ a 1) unsignedint)");
}

TEST(Parser, ClausesAreFound) {
  const std::string text =
      "SELECT DISTINCT kind k, count(*) AS 'n n' FROM v_event AS [the events] NOT INDEXED WHERE a > 1 GROUP BY kind, "
      "2 HAVING n > 1 ORDER BY k COLLATE nocase DESC NULLS LAST, 2 LIMIT 5 OFFSET 1;";
  const auto select = parse(text);
  ASSERT_TRUE(select) << select.error().what;
  EXPECT_TRUE(select->distinct);
  EXPECT_EQ(select->columns.at(0).alias, "k");
  EXPECT_EQ(select->columns.at(1).alias, "n n");
  EXPECT_EQ(select->source_name, "the events");
  EXPECT_EQ(text.substr(select->source.begin, select->source.end - select->source.begin),
            "v_event AS [the events] NOT INDEXED");
  EXPECT_EQ(text.substr(select->where_begin, select->where->end - select->where_begin), "WHERE a > 1");
  EXPECT_EQ(select->group.size(), 2U);
  EXPECT_EQ(select->order.size(), 2U);
}

TEST(Parser, SaysWhatItDoesNotCut) {
  const auto reason = [](const std::string& text) {
    const auto select = parse(text);
    return select ? "" : select.error().what;
  };
  EXPECT_EQ(reason("SELECT 1"), "it does not read v_event");
  EXPECT_EQ(reason("SELECT 1 FROM v_event, v_event"), "it joins tables");
  EXPECT_EQ(reason("SELECT 1 FROM event"), "it reads event");
  EXPECT_EQ(reason("SELECT 1 FROM main.v_event"), "it names a database");
  EXPECT_EQ(reason("SELECT (a, b) = (c, d) FROM v_event"), "it compares rows of values");
  EXPECT_EQ(reason("SELECT a FROM v_event WHERE b = ?1"), "it has a parameter");
  EXPECT_EQ(reason("SELECT a IN t FROM v_event"), "IN reads a table");
  EXPECT_EQ(reason("VALUES (1)"), "it does not begin with SELECT");
  EXPECT_EQ(reason("SELECT " + std::string(1000, '(') + "1" + std::string(1000, ')') + " FROM v_event"),
            "its expressions are nested too deeply");
}

}  // namespace
}  // namespace uscope::query

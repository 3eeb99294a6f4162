// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "query/plan/plan.h"
#include "store/db/statement.h"
#include "trace/latency.h"

namespace uscope::query {
namespace {

class FunctionsTest : public testing::Test {
 protected:
  void SetUp() override {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(":memory:", &raw), SQLITE_OK);
    database_.reset(raw);
    ASSERT_TRUE(add_functions(raw));
    ASSERT_TRUE(store::execute(raw, "CREATE TABLE t(x, n)"));
  }

  std::string one(const std::string& sql) {
    auto query = store::Statement::prepare(database_.get(), sql);
    if (!query) return query.error().what;
    auto row = query->step();
    if (!row) return row.error().what;
    return query->is_null(0) ? "NULL" : std::string(query->text(0));
  }

  store::SqliteHandle database_;
};

TEST_F(FunctionsTest, BucketIsTheEndOfAStep) {
  EXPECT_EQ(one("SELECT bucket(NULL)"), "NULL");
  for (const char* number : {"0", "63", "-1", "127", "9223372036854775807", "-9223372036854775808"})
    EXPECT_EQ(one(std::string("SELECT bucket(") + number + ")"), number);
  EXPECT_EQ(one("SELECT bucket(128)"), "129");
  EXPECT_EQ(one("SELECT bucket(1000)"), "1007");
  EXPECT_EQ(one("SELECT bucket(-1000)"), "-1007");
  EXPECT_EQ(one("SELECT bucket(2.5)"), "3");
  EXPECT_EQ(one("SELECT bucket(1e300)"), "9223372036854775807");
  EXPECT_EQ(one("SELECT bucket('12')"), "12");
  EXPECT_EQ(one("SELECT bucket('x')"), "NULL");
  EXPECT_EQ(one("SELECT count(*) FROM t WHERE bucket(x) < 5 AND x = 'abc'"), "0");
}

TEST_F(FunctionsTest, QuantileIsTheNearestRankOfBuckets) {
  EXPECT_EQ(one("SELECT quantile(x, 0.5) FROM t"), "NULL");
  ASSERT_TRUE(store::execute(database_.get(),
                             "WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < "
                             "5000) INSERT INTO t SELECT x * 37, 1 FROM i; INSERT INTO t VALUES(NULL, 1)"));
  trace::LatencySketch sketch;
  for (std::uint64_t i = 1; i <= 5000; i++) sketch.add(i * 37);
  EXPECT_EQ(one("SELECT quantile(x, 0.5) FROM t"), std::to_string(sketch.percentile(50)));
  EXPECT_EQ(one("SELECT quantile(x, 0) FROM t"), "37");
  EXPECT_EQ(one("SELECT quantile_of(x, n, 0.99) FROM t"), std::to_string(sketch.percentile(99)));
  // A BLOB is steps in a partial row, and nowhere else.
  const std::string steps = "x'07000000000000000200000000000000'";  // twice up to 7
  EXPECT_EQ(one("SELECT quantile(" + steps + ", 0.5)"), "NULL");
  EXPECT_EQ(one("SELECT quantile_of(" + steps + ", 1, 0.5)"), "7");
  EXPECT_EQ(one("SELECT hist(" + steps + ")"), "[]");
  EXPECT_EQ(one("SELECT hist_of(" + steps + ", 1)"), "[[7,2]]");
  EXPECT_NE(one("SELECT quantile(x, 1.5) FROM t").find("from 0 to 1"), std::string::npos);
  EXPECT_NE(one("SELECT quantile(x, NULL) FROM t").find("from 0 to 1"), std::string::npos);
  EXPECT_NE(one("SELECT quantile(x, x / 1e9) FROM t").find("the same for all rows"), std::string::npos);
  EXPECT_EQ(one("SELECT quantile_of(column1, column2, 0.5) FROM (VALUES (1, 10), (2, 11))"), "2");
}

TEST_F(FunctionsTest, HistHasAStepForEachPowerOfTwo) {
  EXPECT_EQ(one("SELECT hist(x) FROM t"), "[]");
  EXPECT_EQ(one("SELECT hist(column1) FROM (VALUES (0), (1), (2), (3), (4), (7), (8), (NULL), (-1), (-5), (-4))"),
            "[[-4,2],[-1,1],[0,1],[1,1],[3,2],[7,2],[15,1]]");
  EXPECT_EQ(one("SELECT hist(column1) FROM (VALUES (-9223372036854775808), (9223372036854775807))"),
            "[[-9223372036854775808,1],[9223372036854775807,1]]");
  EXPECT_EQ(one("SELECT hist_of(column1, column2) FROM (VALUES (5, 3), (6, 4))"), "[[7,7]]");
  EXPECT_EQ(one("SELECT hist(bucket(column1)) FROM (VALUES (1023), (1024))"), "[[1023,1],[2047,1]]");
  EXPECT_EQ(one("SELECT hist('x')"), "[]");
}

TEST_F(FunctionsTest, WeightedSumsAreSqlites) {
  EXPECT_EQ(one("SELECT sum_of(x, n) FROM t"), "NULL");
  EXPECT_EQ(one("SELECT total_of(x, n) FROM t"), "0.0");
  EXPECT_EQ(one("SELECT sum_of(column1, column2) FROM (VALUES (2, 3), (NULL, 5), (-1, 4))"), "2");
  EXPECT_EQ(one("SELECT sum_of(column1, column2) FROM (VALUES (2, 3), (0.5, 4))"), "8.0");
  EXPECT_EQ(one("SELECT sum_of(column1, 2) FROM (VALUES (9223372036854775807), (-9223372036854775807))"), "0");
  EXPECT_NE(one("SELECT sum_of(9223372036854775807, 2)").find("integer overflow"), std::string::npos);
  EXPECT_EQ(one("SELECT total_of(column1, column2) FROM (VALUES (2, 3))"), "6.0");
}

// What SQLite 3.40 itself says of numbers whose sums it does not round.
TEST_F(FunctionsTest, SumsAreThoseOfSqlite) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &raw), SQLITE_OK);
  const store::SqliteHandle plain(raw);
  for (const char* values : {"(1), (2), (NULL), (-7)", "(0.5), (3), ('5')", "('abc'), (x'35'), (2)", "(NULL)", "(-0.0)",
                             "(9e999), (1)", "(9e999), (-9e999)", "(1e308), (1e308)", "(4611686018427387904), (1.5)"})
    for (const char* call : {"sum(", "total(", "avg(", "sum(DISTINCT "}) {
      const std::string sql =
          fmt::format("SELECT quote({0}column1)) || typeof({0}column1)) FROM (VALUES {1})", call, values);
      auto query = store::Statement::prepare(raw, sql);
      ASSERT_TRUE(query) << sql;
      ASSERT_TRUE(query->step());
      EXPECT_EQ(one(sql), query->text(0)) << sql;
    }
  const std::string window =
      "SELECT group_concat(quote(s)) FROM (SELECT sum(column1) OVER (ROWS 1 PRECEDING) AS s FROM ";
  EXPECT_EQ(one(window + "(VALUES (1), (NULL), (NULL), (0.5), (2), (3), ('x')))"), "1,1,NULL,0.5,2.5,5,3.0");
}

// Rounding once, and overflow at the end alone, do not depend on the order.
TEST_F(FunctionsTest, SumsAreExact) {
  EXPECT_EQ(one("SELECT sum(column1) FROM (VALUES (9223372036854775807), (1), (-2))"), "9223372036854775806");
  EXPECT_EQ(one("SELECT sum(column1) FROM (VALUES (1e300), (1), (-1e300), (0.25))"), "1.25");
  EXPECT_EQ(one("SELECT avg(column1) FROM (VALUES (9223372036854775807), (9223372036854775807))"),
            "9.22337203685478e+18");
  EXPECT_EQ(one("SELECT total(column1) = 9007199254740994 FROM (VALUES (9007199254740992), (1), (0.5), (0.25))"), "1");
  EXPECT_EQ(one("SELECT total(column1) = 9007199254740992 FROM (VALUES (9007199254740992), (1))"), "1");
  EXPECT_EQ(one("SELECT total(column1) = 5e-324 FROM (VALUES (1e10), (5e-324), (-1e10))"), "1");
  EXPECT_EQ(one("SELECT sum(column1) FROM (VALUES (-1e308), (-1e308), (1e308))"), "-1.0e+308");
  EXPECT_EQ(one("SELECT total_of(0.1, 3000000000) = 300000000.0000000166533453694 FROM (VALUES (1))"), "1");
  const std::string twice = "sum_wide(column1) FROM (SELECT times(9223372036854775807, 3) AS column1 UNION ALL SELECT ";
  EXPECT_EQ(one("SELECT " + twice + "times(-9223372036854775807, 3))"), "0");
  EXPECT_EQ(one("SELECT " + twice + "times(0.5, 2)) LIMIT 1"), "2.76701161105643e+19");
  EXPECT_NE(one("SELECT " + twice + "1)").find("integer overflow"), std::string::npos);
}

}  // namespace
}  // namespace uscope::query

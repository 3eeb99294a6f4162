// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/plan.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "query/plan/columns.h"
#include "store/db/schema.h"
#include "store/db/statement.h"
#include "syscalls/syscall_table.h"
#include "trace/names.h"

namespace uscope::query {
namespace {

Plan plan_of(const std::string& text) {
  auto made = plan(text);
  EXPECT_TRUE(made) << text << ": " << made.error().what;
  return made ? *made : Plan();
}

std::string outer(const std::string& text) {
  const Plan made = plan_of(text);
  EXPECT_EQ(made.way, Way::kSums) << text << ": " << made.reason;
  return made.outer;
}

std::string reason_of(const std::string& text) {
  const Plan made = plan_of(text);
  EXPECT_EQ(made.way, Way::kEvents) << text;
  EXPECT_EQ(made.program.length, 0U);
  return made.reason;
}

std::string error(const std::string& text) {
  const auto made = plan(text);
  return made ? "(none)" : made.error().what + " / " + made.error().remedy;
}

std::string keys(const std::string& text) {
  constexpr const char* kNames[] = {"expression", "source", "kind",  "abi",    "how",  "task", "image",
                                    "guise",      "stack",  "error", "result", "time", "took"};
  std::string names;
  for (const KeyWord& word : plan_of(text).keys) {
    names += names.empty() ? "" : " ";
    names += word.column.empty() ? kNames[static_cast<int>(word.what)] : word.column;
  }
  return names;
}

bool is_allowed(const Plan& made, usc_abi abi, const char* name) {
  const std::uint32_t nr = *syscalls::syscall_number(abi, name);
  const auto& calls = abi == USC_ABI_I386 ? made.calls[USC_CALLS_COMPAT] : made.calls[USC_CALLS_NATIVE];
  return (calls.at(nr / 64) >> nr % 64 & 1) != 0;
}

// Calls that are about nothing are left out where WHERE says that their NULL is not wanted.
TEST(Plan, ObjectsAreAskedForEventByEvent) {
  EXPECT_EQ(reason_of("SELECT object, count(*) FROM v_event GROUP BY 1"), "object is not known at the event");
  const auto needs_objects = [](const std::string& text) { return plan_of(text).needs.objects; };
  EXPECT_TRUE(needs_objects("SELECT kind FROM v_event WHERE Object_Kind = 'file'"));
  EXPECT_TRUE(needs_objects("SELECT * FROM v_event"));
  EXPECT_TRUE(needs_objects("SELECT n FROM (SELECT object AS n FROM v_event)"));
  EXPECT_FALSE(needs_objects("SELECT kind AS object FROM v_event"));
  const auto allows = [](const std::string& where, const char* call) {
    return is_allowed(plan_of("SELECT kind FROM v_event AS e WHERE " + where), USC_ABI_X86_64, call);
  };
  for (const char* where : {"object = '/a'", "object GLOB '*a' AND dur_ns > 5", "e.object_kind IN ('file', 'pipe')",
                            "(object_kind = 'file' OR kind = 'read')"}) {
    EXPECT_TRUE(allows(where, "read")) << where;
    EXPECT_FALSE(allows(where, "getpid")) << where;
  }
  for (const char* where :
       {"object IS NULL", "object IS NOT '/a'", "object = '/a' OR dur_ns > 5", "kind = 'getpid' OR object = '/a'"})
    EXPECT_TRUE(allows(where, "getpid")) << where;
  EXPECT_FALSE(allows("object = '/a' AND kind <> 'read'", "read"));
}

TEST(Plan, ColumnsAreTheViews) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &raw), SQLITE_OK);
  const store::SqliteHandle database(raw);
  ASSERT_TRUE(store::create_schema(raw));
  auto query = store::Statement::prepare(raw, "SELECT name FROM pragma_table_info('v_event')");
  ASSERT_TRUE(query);
  std::vector<std::string> names;
  while (*query->step()) names.emplace_back(query->text(0));
  std::vector<std::string> known;
  for (const Column& column : all_columns()) known.emplace_back(column.name);
  EXPECT_EQ(known, names);
}

TEST(Plan, AggregatesBecomeSums) {
  EXPECT_EQ(outer("SELECT kind, count(*) FROM v_event GROUP BY kind ORDER BY 2 DESC"),
            "SELECT kind, ifnull(sum(n), 0) AS \"count(*)\" FROM partial AS \"v_event\" GROUP BY kind ORDER BY 2 DESC");
  EXPECT_EQ(
      outer("select sum(dur_ns) t, avg(result), max(a0/2) from v_event e"),
      "select sum_wide(iif(c0, s0, NULL)) t, (total_wide(iif(c1, s1, NULL)) / nullif(sum(c1), 0)) AS \"avg(result)\", "
      "max(mx2) AS \"max(a0/2)\" from partial AS \"e\"");
  EXPECT_EQ(
      outer("SELECT count(dur_ns) FILTER (WHERE process = 'x' AND a0 > 3) FROM v_event"),
      "SELECT ifnull(sum(c0) FILTER (WHERE process = 'x' AND k0), 0) AS \"count(dur_ns) FILTER (WHERE process = 'x' "
      "AND a0 > 3)\" FROM partial AS \"v_event\"");
  EXPECT_EQ(outer("SELECT quantile(dur_ns, 0.99) AS p, hist(dur_ns) AS h FROM v_event"),
            "SELECT quantile_of(k0, n, 0.99) AS p, hist_of(k0, n) AS h FROM partial AS \"v_event\"");
  EXPECT_EQ(
      outer("SELECT sum(depth) AS s, count(errno) AS c, count(DISTINCT pid) AS d FROM v_event"),
      "SELECT sum_of(depth, n) AS s, ifnull(sum(iif((errno) IS NULL, 0, n)), 0) AS c, count(DISTINCT pid) AS d FROM "
      "partial AS \"v_event\"");
}

TEST(Plan, AChoiceByKeysIsOneOfSums) {
  EXPECT_EQ(
      outer("SELECT sum(CASE WHEN kind = 'read' THEN result ELSE 0 END) AS bytes FROM v_event"),
      "SELECT sum_wide(CASE WHEN kind = 'read' THEN iif(c0, s0, NULL) ELSE times(0, n) END) AS bytes FROM partial AS "
      "\"v_event\"");
  EXPECT_EQ(
      outer("SELECT count(iif(a0 > 5, a1, NULL)) AS c, max(CASE pid WHEN 1 THEN a1 END) AS m FROM v_event"),
      "SELECT ifnull(sum(iif(k0, c0, iif((NULL) IS NULL, 0, n))), 0) AS c, max(CASE pid WHEN 1 THEN mx0 END) AS m FROM "
      "partial AS \"v_event\"");
  EXPECT_EQ(outer("SELECT sum(CASE WHEN a0 > 5 THEN 1 ELSE 0 END) AS c FROM v_event"),
            "SELECT sum_of(CASE WHEN k0 THEN 1 ELSE 0 END, n) AS c FROM partial AS \"v_event\"");
}

TEST(Plan, ConditionsOnIntegersRunAtTheEvent) {
  const Plan made =
      plan_of("SELECT count(*) AS c FROM v_event WHERE dur_ns > 1000 AND pid = 7 AND (a0 IN (1,2) OR a1 < 0)");
  EXPECT_EQ(made.outer, "SELECT ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" WHERE pid = 7");
  EXPECT_EQ(std::count_if(made.program.insn, made.program.insn + made.program.length,
                          [](const usc_query_insn& insn) { return insn.op == USC_QUERY_UNLESS; }),
            2);
  EXPECT_EQ(made.pushed, (std::vector<std::string>{"only if dur_ns > 1000", "only if (a0 IN (1,2) OR a1 < 0)", "by pid",
                                                   "count the events (n)"}));
  EXPECT_EQ(made.whole, "");
  EXPECT_TRUE(made.needs.time);
  EXPECT_FALSE(made.needs.stack);
  EXPECT_EQ(outer("SELECT count(*) AS c FROM v_event WHERE dur_ns > 1000"),
            "SELECT ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" ");
  EXPECT_EQ(outer("SELECT count(*) AS c FROM v_event WHERE dur_ns > 1000 OR kind = 'read'"),
            "SELECT ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" WHERE k0 OR kind = 'read'");
}

TEST(Plan, DimensionsBecomeWords) {
  EXPECT_EQ(keys("SELECT class, count(*) FROM v_event GROUP BY 1"), "source");
  EXPECT_EQ(keys("SELECT kind, count(*) FROM v_event GROUP BY 1"), "source kind abi");
  EXPECT_EQ(keys("SELECT process, how, count(*) FROM v_event WHERE errno = 'EIO' GROUP BY 1"), "how task image error");
  EXPECT_EQ(keys("SELECT tid, a0 / 2, count(*) FROM v_event GROUP BY 1, A0/2"), "task k0");
  EXPECT_EQ(keys("SELECT count(*) FROM v_event ORDER BY max(folded)"), "stack");
  EXPECT_TRUE(plan_of("SELECT \"trigger\", count(*) FROM v_event GROUP BY 1").needs.stack);
}

TEST(Plan, TheNamesOfPartialAreNoAliases) {
  EXPECT_EQ(
      outer("SELECT kind, count(*) AS n FROM v_event GROUP BY kind HAVING n > 5 ORDER BY n DESC, n + 1"),
      "SELECT kind, ifnull(sum(n), 0) AS n FROM partial AS \"v_event\" GROUP BY kind HAVING (ifnull(sum(n), 0)) > 5 "
      "ORDER BY n DESC, (ifnull(sum(n), 0)) + 1");
  EXPECT_EQ(outer("SELECT kind AS k0, count(*) AS c FROM v_event GROUP BY a0 ORDER BY a0"),
            "SELECT kind AS k0, ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" GROUP BY k0 ORDER BY +k0");
  EXPECT_EQ(outer("SELECT a0 / 8 AS a0, count(*) AS c FROM v_event GROUP BY a0 ORDER BY a0"),
            "SELECT k0 AS a0, ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" GROUP BY k1 ORDER BY a0");
  EXPECT_EQ(outer("SELECT a0 / 8 AS block, count(*) AS c FROM v_event GROUP BY block"),
            "SELECT k0 AS block, ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" GROUP BY k0");
}

TEST(Plan, AffinityIsKept) {
  EXPECT_EQ(outer("SELECT count(*) AS c FROM v_event WHERE dur_ns > '5'"),
            "SELECT ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" WHERE CAST(k0 AS INTEGER) > '5'");
  EXPECT_EQ(outer("SELECT count(*) AS c FROM v_event WHERE dur_ns / 2 > '5'"),
            "SELECT ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" WHERE +k0 > '5'");
}

TEST(Plan, NamesAreFoundAsSqliteFindsThem) {
  EXPECT_EQ(outer("SELECT V_EVENT.Kind, count(*) FROM V_Event GROUP BY v_event.KIND"),
            "SELECT V_EVENT.Kind, ifnull(sum(n), 0) AS \"count(*)\" FROM partial AS \"v_event\" GROUP BY v_event.KIND");
  EXPECT_EQ(plan_of("SELECT V_EVENT.Kind, count( * ), [a0] FROM v_event").columns,
            (std::vector<std::string>{"kind", "count( * )", "a0"}));
  EXPECT_EQ(outer("SELECT trigger, count(*) AS c FROM v_event WHERE \"kind\" = \"n\" GROUP BY trigger"),
            "SELECT trigger, ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" WHERE \"kind\" = 'n' GROUP BY trigger");
}

TEST(Plan, EventsThatGoBeyond64BitsAreWhole) {
  const Plan made =
      plan_of("SELECT a0 * 2, sum(a1 + 1), quantile(a2 - 1, 0.5) FROM v_event AS e WHERE e.a3 * 2 > 5 GROUP BY 1");
  EXPECT_EQ(
      made.whole,
      "SELECT (a0 * 2) AS k0, bucket(a2 - 1) AS k1, 1 AS n, (a1 + 1) IS NOT NULL AS c0, (a1 + 1) AS s0, (a1 + 1) AS "
      "mn0, (a1 + 1) AS mx0, \"how\", \"pid\", \"tid\", \"uid\", \"process\", \"thread\", \"kind\", \"class\", "
      "\"errno\", "
      "\"stack_id\", \"depth\", \"ended\", \"trigger\", \"trigger_module\", \"folded\", \"cgroup\", \"container\" FROM "
      "v_event AS e WHERE (e.a3 * "
      "2 > 5)");
  EXPECT_EQ(plan_of("SELECT a0 / 1000, count(*) FROM v_event GROUP BY 1").whole, "");
  EXPECT_NE(plan_of("SELECT a0 / a1, count(*) FROM v_event GROUP BY 1").whole, "");
}

TEST(Plan, ConditionsOnNamesChooseCalls) {
  const Plan made = plan_of("SELECT count(*) FROM v_event WHERE kind GLOB 'open*' AND dur_ns > 5");
  EXPECT_TRUE(is_allowed(made, USC_ABI_X86_64, "openat"));
  EXPECT_TRUE(is_allowed(made, USC_ABI_I386, "open"));
  EXPECT_FALSE(is_allowed(made, USC_ABI_X86_64, "read"));
  EXPECT_FALSE(is_allowed(made, USC_ABI_I386, "read"));
  ASSERT_EQ(made.planned.size(), 1U);
  EXPECT_TRUE(made.planned[0].starts_with("kind GLOB 'open*': ")) << made.planned[0];
  const Plan signals = plan_of("SELECT count(*) FROM v_event WHERE class = 'signal'");
  EXPECT_EQ(signals.calls[USC_CALLS_NATIVE], (std::array<std::uint64_t, 8>{}));
  const Plan events = plan_of("SELECT ts_ns FROM v_event e WHERE upper(e.kind) = 'READ'");
  EXPECT_EQ(events.way, Way::kEvents);
  EXPECT_TRUE(is_allowed(events, USC_ABI_X86_64, "read"));
  EXPECT_FALSE(is_allowed(events, USC_ABI_X86_64, "write"));
  EXPECT_TRUE(
      is_allowed(plan_of("SELECT count(*) FROM v_event WHERE kind = 'read' OR pid = 1"), USC_ABI_X86_64, "write"));
}

// Other events than system calls cost something: a question names what it wants.
TEST(Plan, ClassesThatWhereChoosesAreAskedFor) {
  const auto asked = [](const std::string& where) {
    const Plan made = plan_of("SELECT class, count(*) AS c FROM v_event AS e WHERE " + where + " GROUP BY 1");
    EXPECT_EQ(made.way, Way::kSums) << where;
    std::set<std::string_view> names;
    for (std::uint32_t source = 0; source < USC_SOURCE_COUNT; source++)
      if ((made.sources >> source & 1U) != 0) names.insert(trace::source_name(source));
    return names;
  };
  using Names = std::set<std::string_view>;
  EXPECT_EQ(asked("class = 'sample'"), Names{"sample"});
  EXPECT_EQ(asked("e.class IN ('syscall', 'offcpu', 'sample') AND a1 > 5"), (Names{"offcpu", "sample"}));
  EXPECT_EQ(asked("lower(class) GLOB '*function' AND kind GLOB 'tcp_*'"), (Names{"ufunction", "kfunction"}));
  EXPECT_EQ(asked("(class = 'kfunction' AND kind GLOB 'tcp_*') OR class = 'usdt'"), (Names{"kfunction", "usdt"}));
  EXPECT_EQ(asked("class = 'tracepoint' OR kind = 'read'"), Names{"tracepoint"});
  EXPECT_EQ(asked("class = 'sample' AND class = 'offcpu'"), Names{});
  // A condition on what is not known yet may hold.
  EXPECT_EQ(asked("class = 'sample' AND pid IS NOT NULL AND a0 IS NOT NULL"), Names{"sample"});
  for (const char* where : {"class <> 'signal'", "class = 'syscall'", "class IN ('stap', 'signal')",
                            "class IS NOT NULL", "class <> 'sample'", "kind = 'sample'", "pid = 5", "class LIKE '%'"})
    EXPECT_EQ(asked(where), Names{}) << where;
  const Plan one_by_one = plan_of("SELECT ts_ns, a1 FROM v_event WHERE class = 'sample'");
  EXPECT_EQ(one_by_one.sources, 1U << USC_SOURCE_SAMPLE);
  EXPECT_EQ(one_by_one.reason, "");
  EXPECT_EQ(one_by_one.calls[USC_CALLS_NATIVE], (std::array<std::uint64_t, 8>{}));
  EXPECT_EQ(plan_of("SELECT count(*) FROM v_event").sources, 0U);
  // No SELECT that is understood: what it names in quotes.
  EXPECT_EQ(plan_of("WITH e AS (SELECT * FROM v_event WHERE class = 'offcpu') SELECT count(*) FROM e").sources,
            1U << USC_SOURCE_OFFCPU);
  EXPECT_EQ(plan_of("SELECT count(*) FROM v_event WHERE class = 'sample'").planned.at(0), "asks for events of sample");
  // Those of -t are traced whatever WHERE says.
  const auto traced = plan("SELECT count(*) FROM v_event", 1U << USC_SOURCE_USDT);
  ASSERT_TRUE(traced);
  EXPECT_EQ(traced->sources, 1U << USC_SOURCE_USDT);
}

// Kernel frames come with a hit, and a stack of sums is the user's.
TEST(Plan, SumsThatNeedTheKernelsFramesAreMadeEventByEvent) {
  const auto of_class = [](const std::string& columns, const char* name) {
    return "SELECT " + columns + ", count(*) FROM v_event WHERE class = '" + name + "' GROUP BY kind";
  };
  for (const char* name : {"sample", "offcpu", "tracepoint", "kfunction"}) {
    EXPECT_EQ(reason_of(of_class("folded", name)), "folded has the kernel's frames too, which come with each event");
    for (const char* column : {"stack_id", "depth", "ended", "max(folded)"}) reason_of(of_class(column, name));
    for (const char* column : {"\"trigger\"", "trigger_module", "kind", "a0 % 3", "hist(a1)"})
      EXPECT_EQ(plan_of(of_class(column, name)).way, Way::kSums) << column;
  }
  for (const char* name : {"ufunction", "usdt", "syscall"})
    EXPECT_EQ(plan_of(of_class("folded", name)).way, Way::kSums) << name;
}

TEST(Plan, ArgumentsAreNeededWhereTheyAreNamed) {
  const auto needs = [](const std::string& columns) { return plan_of("SELECT " + columns + " FROM v_event").needs; };
  EXPECT_TRUE(needs("*").arguments);
  EXPECT_TRUE(needs("kind, a5").arguments);
  EXPECT_TRUE(needs("sum(a0 + 1)").arguments);
  EXPECT_FALSE(needs("kind, result, ts_ns").arguments);
  EXPECT_FALSE(needs("kind, count(*), sum(dur_ns)").arguments);
  for (const char* columns : {"*", "sum(dur_ns)", "kind, max(result)"}) EXPECT_TRUE(needs(columns).returns) << columns;
  EXPECT_FALSE(needs("kind, how, ts_ns, count(*)").returns);
}

TEST(Plan, ConditionsOnFewNamesRunAtTheEvent) {
  const auto only_if = [](const std::string& condition) {
    std::string all;
    for (const std::string& line : plan_of("SELECT count(*) FROM v_event AS e WHERE " + condition).pushed)
      if (line.starts_with("only if ")) all += (all.empty() ? "" : "; ") + line.substr(8);
    return all;
  };
  EXPECT_EQ(only_if("errno = 'ENOENT' AND how <> 'open'"), "errno = 'ENOENT'; how <> 'open'");
  EXPECT_EQ(only_if("errno LIKE 'E%'"), "errno IS NOT NULL");
  EXPECT_EQ(only_if("e.errno IS NULL"), "");  // many numbers have no name
  EXPECT_EQ(only_if("class = 'nothing'"), "class = 'nothing'");
  EXPECT_EQ(only_if("class IS NOT NULL"), "");
  EXPECT_EQ(only_if("errno = process"), "");
  std::string long_list = "a0 IN (1";
  for (int i = 2; i <= 30; i++) long_list += fmt::format(", {}", i);
  long_list += ")";
  EXPECT_EQ(only_if(long_list + " AND how IN ('open', 'killed')"), long_list);  // there is no room for both
}

TEST(Plan, ExplanationsAreLines) {
  const Plan made = plan_of("SELECT count(*) AS c -- how many\n  FROM v_event\n WHERE dur_ns\n>  5 AND kind\n= 'read'");
  EXPECT_EQ(made.pushed.at(0), "only if dur_ns > 5");
  EXPECT_EQ(made.planned, (std::vector<std::string>{"kind = 'read': 1 of 512 numbers of system calls are left"}));
  EXPECT_EQ(
      made.left,
      (std::vector<std::string>{"SELECT ifnull(sum(n), 0) AS c FROM partial AS \"v_event\" WHERE kind = 'read'"}));
}

TEST(Plan, WhatIsNotCutRunsOverEvents) {
  EXPECT_EQ(reason_of("SELECT kind, dur_ns FROM v_event WHERE dur_ns > 5"), "");
  EXPECT_EQ(reason_of("SELECT count(*) FROM v_event a JOIN v_event b ON a.pid = b.pid"), "it joins tables");
  EXPECT_EQ(reason_of("SELECT count(*) FROM v_event WHERE pid = (SELECT max(pid) FROM v_event)"), "it has a subquery");
  EXPECT_EQ(reason_of("WITH e AS (SELECT * FROM v_event) SELECT count(*) FROM e"), "it begins with WITH");
  EXPECT_EQ(reason_of("SELECT count(*) FROM v_event UNION ALL SELECT 1"), "it has several SELECTs");
  EXPECT_EQ(reason_of("SELECT count(*) OVER () FROM v_event"), "it has a window");
  EXPECT_EQ(reason_of("SELECT group_concat(kind) FROM v_event"), "group_concat() needs each event");
  EXPECT_EQ(reason_of("SELECT max(id) FROM v_event"), "id is not known at the event");
  EXPECT_EQ(reason_of("SELECT count(*) FROM v_event WHERE random() % 2"), "random() is another value at each call");
  EXPECT_EQ(reason_of("SELECT count(*), * FROM v_event"), "it shows all columns (*)");
  EXPECT_EQ(reason_of("SELECT count(*) FROM v_event GROUP BY process, kind, how, errno, stack_id, a0"),
            "it groups by 9 numbers, and 8 is the most");
  EXPECT_EQ(reason_of("SELECT max(a0), max(a1), max(a2), max(a3), max(a4), max(a5), max(result) FROM v_event"),
            "it measures 7 things, and 6 is the most");
  std::string sum = "a0";
  for (int i = 0; i < 70; i++) sum += " + a1";
  EXPECT_EQ(reason_of("SELECT max(" + sum + ") FROM v_event"), "it takes more than 64 instructions");
  std::string nested = "a0";
  for (int i = 0; i < 20; i++) nested = fmt::format("(a1 + a2) - ({})", nested);
  EXPECT_EQ(reason_of("SELECT max(" + nested + ") FROM v_event"), "an expression takes more than 16 numbers at a time");
}

// Fields and literals are operands: each is no instruction of its own.
TEST(Plan, InstructionsAreFew) {
  const auto length = [](const std::string& text) { return plan_of(text).program.length; };
  EXPECT_EQ(length("SELECT kind, count(*) FROM v_event WHERE a0 >= 0 GROUP BY kind"), 5U);
  EXPECT_EQ(length("SELECT kind, count(*) FROM v_event WHERE 0 <= a0 GROUP BY kind"), 5U);
  EXPECT_EQ(length("SELECT sum(a0 + 1), sum(-a0), sum(7 - a0), sum(a0 * a1) FROM v_event"), 8U);
  EXPECT_EQ(length("SELECT count(*) FROM v_event WHERE a0 IN (1, 2) AND a1 BETWEEN 3 AND 4"), 9U);
  EXPECT_EQ(length("SELECT kind, quantile(dur_ns, 0.99) FROM v_event GROUP BY kind"), 4U);
}

TEST(Plan, NestedConditionsTakeNoTime) {
  std::string condition = "a0 = 'x'";
  for (int i = 0; i < 80; i++) condition = fmt::format("({}) <> a1", condition);
  EXPECT_EQ(plan_of("SELECT count(*) FROM v_event WHERE " + condition).way, Way::kSums);
}

TEST(Plan, ErrorsAreSqlitesWithThePlace) {
  EXPECT_EQ(error("SELECT knd, count(*) FROM v_event"),
            "SQL: no such column: knd, in line 1, column 8: knd, count(*) FROM v_event / did you mean kind?");
  EXPECT_EQ(error("SELECT e.proces\nFROM v_event e"),
            "SQL: no such column: e.proces, in line 1, column 8: e.proces / did you mean process?");
  // What a probe has beside its first six arguments.
  EXPECT_EQ(
      error("SELECT a6 FROM v_event"),
      "SQL: no such column: a6, in line 1, column 8: a6 FROM v_event / an event holds the first six arguments of a "
      "probe, as `uscope list` shows them: a0 to a5; others are not kept");
  EXPECT_NE(error("SELECT next_prio FROM v_event").find("a0 to a5; others are not kept; the columns are id, "),
            std::string::npos)
      << error("SELECT next_prio FROM v_event");
  EXPECT_EQ(error("SELECT count(*)\nFORM v_event"),
            "SQL: near \"v_event\": syntax error, in line 2, column 6: v_event / "
            "docs/cli.md, \"query\", and sqlite.org/lang_select.html have the language");
  EXPECT_EQ(error("SELECT kind FROM v_event WHERE"),
            "SQL: incomplete input, in line 1, column 31, where it ends / "
            "docs/cli.md, \"query\", and sqlite.org/lang_select.html have the language");
  EXPECT_NE(error("SELECT quantle(dur_ns, 0.5) FROM v_event").find("did you mean quantile"), std::string::npos);
  EXPECT_NE(error("SELECT * FROM event").find("no such table: event"), std::string::npos);
  EXPECT_NE(error("DELETE FROM v_event").find("not allowed"), std::string::npos);
  EXPECT_NE(error("SELECT 1; SELECT 2").find("more than one statement"), std::string::npos);
  EXPECT_NE(error(" -- nothing").find("the question is empty"), std::string::npos);
  EXPECT_NE(error("PRAGMA user_version").find("a question is a SELECT"), std::string::npos);
  EXPECT_NE(error("EXPLAIN SELECT 1").find("--explain"), std::string::npos);
  EXPECT_EQ(error("SELECT count(*) FROM v_event; -- done\n ;"), "(none)");
}

}  // namespace
}  // namespace uscope::query

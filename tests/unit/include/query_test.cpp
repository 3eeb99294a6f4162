// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "uscope/query.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "uscope/control.h"
#include "uscope/query_counts.h"
#include "uscope/query_rows.h"
#include "uscope/query_run.h"

namespace uscope::include {
namespace {

using Maybe = std::optional<std::int64_t>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
const std::vector<Maybe> kEdges{
    std::nullopt, 0,   1,   -1,  2,          -2,          7,          -7,     62,         63,        64,           65,
    -62,          -63, -64, -65, 4294967296, -4294967296, 3037000500, kLeast, kLeast + 1, kGreatest, kGreatest - 1};

usc_query_insn insn(unsigned op, unsigned d, unsigned a, unsigned b, std::int64_t value) {
  return {static_cast<__u8>(op), static_cast<__u8>(d), static_cast<__u8>(a), static_cast<__u8>(b), 0, value};
}

usc_query query_of(std::initializer_list<usc_query_insn> insns, __u32 keys = 1, __u32 measures = 1) {
  usc_query query{};
  query.version = USC_QUERY_VERSION;
  query.rows = USC_QUERY_ROWS;
  query.keys = static_cast<__u16>(keys);
  query.measures = static_cast<__u16>(measures);
  for (const usc_query_insn& one : insns) query.insn[query.length++] = one;
  query.reads = usc_query_reads(&query);
  return query;
}

usc_query_error query_error(const usc_query& query, __u32* where = nullptr) {
  __u32 at = 0;
  const usc_query_error error = usc_query_check(&query, &at);
  if (where != nullptr) *where = at;
  return error;
}

// result and dur_ns are the two fields that can be NULL.
usc_query_input input_of(Maybe result, Maybe took) {
  usc_query_input input{};
  input.field[USC_QUERY_RESULT] = result.value_or(0);
  input.field[USC_QUERY_TOOK] = took.value_or(0);
  input.nulls = (result ? 0U : 1U << USC_QUERY_RESULT) | (took ? 0U : 1U << USC_QUERY_TOOK);
  return input;
}

std::string text_of(Maybe value) {
  return value ? std::to_string(*value) : "NULL";
}

// "whole", or what the operation gives.
std::string computed(usc_query_op op, Maybe a, Maybe b) {
  const bool two = (usc_query_uses(op) & 4) != 0;
  const usc_query query =
      query_of({insn(USC_QUERY_FIELD, 3, 0, 0, USC_QUERY_RESULT), insn(USC_QUERY_FIELD, 4, 0, 0, USC_QUERY_TOOK),
                insn(op, 5, 3, two ? 4 : 0, 0), insn(USC_QUERY_MEASURE, 0, 5, 0, 0)});
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_SOUND);
  const usc_query_input input = input_of(a, b);
  usc_query_state state;
  const usc_query_end end = usc_query_run(&query, &input, &state);
  if (end == USC_QUERY_WHOLE) return "whole";
  EXPECT_EQ(end, USC_QUERY_GIVEN);
  const std::string text = text_of((state.measure_nulls & 1) != 0 ? Maybe() : Maybe(state.measure[0]));
  // The same of operands that are fields and, if it is a number, the instruction's own value.
  constexpr unsigned kResult = USC_QUERY_OF_FIELD + USC_QUERY_RESULT;
  constexpr unsigned kTook = USC_QUERY_OF_FIELD + USC_QUERY_TOOK;
  for (const bool own : {false, true}) {
    if (own && !b) continue;
    const unsigned second = !two ? 0 : own ? USC_QUERY_OWN : kTook;
    const usc_query by_fields =
        query_of({insn(op, 5, kResult, second, two && own ? *b : 0), insn(USC_QUERY_MEASURE, 0, 5, 0, 0)});
    EXPECT_EQ(query_error(by_fields), USC_QUERY_BAD_SOUND);
    EXPECT_EQ(by_fields.reads, 1U << USC_QUERY_RESULT | (two && !own ? 1U << USC_QUERY_TOOK : 0));
    EXPECT_EQ(usc_query_run(&by_fields, &input, &state), USC_QUERY_GIVEN);
    EXPECT_EQ(text_of((state.measure_nulls & 1) != 0 ? Maybe() : Maybe(state.measure[0])), text);
  }
  return text;
}

class QueryOperations : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(sqlite3_open(":memory:", &database_), SQLITE_OK); }
  void TearDown() override { sqlite3_close(database_); }

  // What SQLite gives; "whole" for a REAL.
  std::string sqlite(const std::string& expression, Maybe a, Maybe b) {
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "SELECT " + expression;
    EXPECT_EQ(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
    for (const auto& [place, value] : {std::pair(1, a), std::pair(2, b)})
      if (value) sqlite3_bind_int64(statement, place, *value);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const int type = sqlite3_column_type(statement, 0);
    std::string result = type == SQLITE_FLOAT  ? "whole"
                         : type == SQLITE_NULL ? "NULL"
                                               : std::to_string(sqlite3_column_int64(statement, 0));
    sqlite3_finalize(statement);
    return result;
  }

  sqlite3* database_ = nullptr;
};

TEST_F(QueryOperations, AreSqlites) {
  const std::vector<std::pair<usc_query_op, const char*>> operations{
      {USC_QUERY_ADD, "?1 + ?2"},  {USC_QUERY_SUB, "?1 - ?2"},         {USC_QUERY_MUL, "?1 * ?2"},
      {USC_QUERY_DIV, "?1 / ?2"},  {USC_QUERY_REM, "?1 % ?2"},         {USC_QUERY_AND, "?1 & ?2"},
      {USC_QUERY_OR, "?1 | ?2"},   {USC_QUERY_LEFT, "?1 << ?2"},       {USC_QUERY_RIGHT, "?1 >> ?2"},
      {USC_QUERY_INVERT, "~?1"},   {USC_QUERY_EQUAL, "?1 = ?2"},       {USC_QUERY_DIFFER, "?1 <> ?2"},
      {USC_QUERY_LESS, "?1 < ?2"}, {USC_QUERY_LESS_EQUAL, "?1 <= ?2"}, {USC_QUERY_IS_NULL, "?1 IS NULL"},
      {USC_QUERY_NOT, "NOT ?1"},   {USC_QUERY_BOTH, "?1 AND ?2"},      {USC_QUERY_EITHER, "?1 OR ?2"}};
  for (const auto& [op, sql] : operations)
    for (const Maybe& a : kEdges)
      for (const Maybe& b : kEdges)
        EXPECT_EQ(computed(op, a, b), sqlite(sql, a, b)) << sql << " of " << text_of(a) << " and " << text_of(b);
}

TEST_F(QueryOperations, ABucketIsAboveByOne64thAtMost) {
  EXPECT_EQ(computed(USC_QUERY_BUCKET, std::nullopt, 0), "NULL");
  for (const Maybe& edge : kEdges) {
    if (!edge) continue;
    const std::int64_t end = usc_query_bucket(*edge);
    EXPECT_EQ(usc_query_bucket(end), end) << *edge;
    if (*edge >= 0) {
      EXPECT_GE(end, *edge);
      EXPECT_LE(end - *edge, *edge / 64) << *edge;
    } else if (*edge != kLeast) {
      EXPECT_EQ(end, -usc_query_bucket(-*edge));
    }
  }
  EXPECT_EQ(usc_query_bucket(1000), 1007);
  EXPECT_EQ(usc_query_bucket(1008), 1015);
}

TEST_F(QueryOperations, AStepIsThatOfItsGroup) {
  std::set<std::pair<std::int64_t, __u32>> met;
  std::set<std::int64_t> ends;
  const auto goes_back = [&](std::int64_t number) {
    const std::int64_t end = usc_query_bucket(number);
    __u32 step = 0;
    const std::int64_t group = usc_query_group(end, &step);
    EXPECT_LT(step, static_cast<__u32>(USC_QUERY_STEPS));
    EXPECT_EQ(usc_query_end_of_step(group, step), end) << number;
    __u32 step_of_number = 0;
    EXPECT_EQ(usc_query_group(number, &step_of_number), group) << number;
    EXPECT_EQ(step_of_number, step) << number;
    met.emplace(group, step);
    ends.insert(end);
  };
  for (const Maybe& edge : kEdges)
    if (edge) goes_back(*edge);
  for (std::int64_t number = -70'000; number < 70'000; number += 3) goes_back(number);
  for (std::uint32_t bit = 0; bit < 63; bit++)
    for (std::int64_t beside = -2; beside <= 2; beside++)
      for (const std::int64_t sign : {1, -1}) goes_back(sign * ((std::int64_t{1} << bit) + beside));
  EXPECT_EQ(met.size(), ends.size()) << "two steps of one group have different ends";
}

TEST(Query, AStepIsTheKeyOfItsEnd) {
  const usc_query query = query_of({insn(USC_QUERY_KEY_STEP, 0, USC_QUERY_OF_FIELD + USC_QUERY_RESULT, 0, 1)}, 2, 0);
  EXPECT_EQ(usc_query_steps_word(&query), 2U);
  EXPECT_EQ(query.reads, 1U << USC_QUERY_RESULT);
  usc_query_state state;
  usc_query_input input = input_of(1000, 0);
  EXPECT_EQ(usc_query_run(&query, &input, &state), USC_QUERY_GIVEN);
  EXPECT_EQ(state.key.word[1], 1007);
  input = input_of(std::nullopt, 0);
  EXPECT_EQ(usc_query_run(&query, &input, &state), USC_QUERY_GIVEN);
  EXPECT_EQ(state.key.word[1], 0);
  EXPECT_EQ(state.key.nulls, 2U);
  const usc_query none = query_of({insn(USC_QUERY_KEY, 0, USC_QUERY_OF_FIELD + USC_QUERY_RESULT, 0, 1)}, 2, 0);
  EXPECT_EQ(usc_query_steps_word(&none), 0U);
}

TEST(Query, TheKeyOfANumberIsThatOfItsCalls) {
  const auto of = [](usc_query_field field) { return static_cast<unsigned>(USC_QUERY_OF_FIELD + field); };
  const usc_query query =
      query_of({insn(USC_QUERY_LESS, 1, of(USC_QUERY_ARG0), USC_QUERY_OWN, 5), insn(USC_QUERY_UNLESS, 0, 1, 0, 0),
                insn(USC_QUERY_KEY, 0, of(USC_QUERY_ABI), 0, 2), insn(USC_QUERY_KEY, 0, of(USC_QUERY_KIND), 0, 0),
                insn(USC_QUERY_KEY, 0, of(USC_QUERY_SOURCE), 0, 1)},
               3, 0);
  ASSERT_TRUE(usc_query_counts_calls(&query));
  for (const __u32 abi : {USC_ABI_X86_64, USC_ABI_I386, USC_ABI_X32})
    for (const __u32 nr : {0U, 39U, 511U}) {
      usc_event event{};
      event.kind = nr;
      event.abi = static_cast<__u8>(abi);
      event.source = USC_SOURCE_SYSCALL;
      usc_query_input input;
      usc_query_state state;
      usc_query_fill(&input, &event, 0);
      ASSERT_EQ(usc_query_run(&query, &input, &state), USC_QUERY_GIVEN);
      usc_query_key key{};
      usc_query_key_of_number(&query, abi, nr, &key);
      EXPECT_TRUE(usc_query_same_key(&key, &state.key)) << abi << " " << nr;
    }
}

TEST(Query, CallsAreOnlyCountedWhereTheirNumbersTellAll) {
  const auto counts = [](std::initializer_list<usc_query_insn> instructions, int keys = 1, int measures = 0) {
    const usc_query query = query_of(instructions, keys, measures);
    return usc_query_counts_calls(&query) != 0;
  };
  const auto key_of = [](usc_query_field field, unsigned op = USC_QUERY_KEY) {
    return insn(op, 0, static_cast<unsigned>(USC_QUERY_OF_FIELD + field), 0, 0);
  };
  EXPECT_TRUE(counts({key_of(USC_QUERY_KIND)}));
  EXPECT_TRUE(counts({insn(USC_QUERY_NUMBER, 0, 0, 0, 0)}, 0));
  EXPECT_FALSE(counts({key_of(USC_QUERY_ARG0)})) << "differs from call to call";
  EXPECT_FALSE(counts({key_of(USC_QUERY_TASK)}));
  EXPECT_FALSE(counts({key_of(USC_QUERY_HOW)})) << "is known at the end";
  EXPECT_FALSE(counts({key_of(USC_QUERY_KIND, USC_QUERY_KEY_STEP)}));
  EXPECT_FALSE(counts({insn(USC_QUERY_FIELD, 0, 0, 0, USC_QUERY_KIND), insn(USC_QUERY_KEY, 0, 0, 0, 0)}));
  EXPECT_FALSE(
      counts({insn(USC_QUERY_UNLESS, 0, static_cast<unsigned>(USC_QUERY_OF_FIELD + USC_QUERY_TASK), 0, 0)}, 0));
  EXPECT_FALSE(counts({key_of(USC_QUERY_KIND), insn(USC_QUERY_MEASURE, 0, 0, 0, 0)}, 1, 1)) << "something is summed";
}

TEST(Query, CallsAreBriefWhereNeitherArgumentsNorStackAreAsked) {
  usc_query query{};
  EXPECT_FALSE(usc_query_is_of_brief_calls(&query));
  for (std::int64_t field = 0; field < USC_QUERY_FIELD_COUNT; field++) {
    query = query_of({insn(USC_QUERY_FIELD, 0, 0, 0, USC_QUERY_TOOK), insn(USC_QUERY_FIELD, 0, 0, 0, field)}, 0, 0);
    EXPECT_NE(usc_query_is_of_brief_calls(&query) != 0,
              field == USC_QUERY_STACK || (field >= USC_QUERY_ARG0 && field <= USC_QUERY_ARG5))
        << field;
  }
  query = query_of({insn(USC_QUERY_KEY, 0, USC_QUERY_OF_FIELD + USC_QUERY_KIND, 0, 0)}, 1, 0);
  EXPECT_TRUE(usc_query_is_of_brief_calls(&query)) << "they are only counted";
  query = query_of({insn(USC_QUERY_KEY, 0, USC_QUERY_OF_FIELD + USC_QUERY_TASK, 0, 0)}, 1, 0);
  EXPECT_FALSE(usc_query_is_of_brief_calls(&query)) << "it is asked when they begin";
}

TEST(Query, EventsAreCountedByFieldsWhereTheKeyHasNothingElse) {
  __u8 word_of[USC_QUERY_FIELD_COUNT];
  const auto counts = [&word_of](std::initializer_list<usc_query_insn> instructions, __u32 keys, __u32 measures = 0) {
    const usc_query query = query_of(instructions, keys, measures);
    EXPECT_EQ(query_error(query), USC_QUERY_BAD_SOUND);
    return usc_query_counts_by_fields(&query, word_of) != 0;
  };
  const auto key = [](usc_query_field field, int word, unsigned op = USC_QUERY_KEY) {
    return insn(op, 0, static_cast<unsigned>(USC_QUERY_OF_FIELD + field), 0, word);
  };
  ASSERT_TRUE(counts({key(USC_QUERY_KIND, 2), key(USC_QUERY_ERROR, 0), key(USC_QUERY_TOOK, 1, USC_QUERY_KEY_STEP)}, 3));
  for (std::size_t field = 0; field < USC_QUERY_FIELD_COUNT; field++)
    EXPECT_EQ(word_of[field], field == USC_QUERY_KIND    ? 3
                              : field == USC_QUERY_ERROR ? 1
                              : field == USC_QUERY_TOOK  ? 2
                                                         : 0)
        << field;
  EXPECT_FALSE(counts({key(USC_QUERY_ERROR, 0)}, 2)) << "a word is given nothing";
  EXPECT_FALSE(counts({key(USC_QUERY_KIND, 0), key(USC_QUERY_HOW, 0)}, 2)) << "a word is given twice";
  EXPECT_FALSE(counts({key(USC_QUERY_ERROR, 0), key(USC_QUERY_ERROR, 1)}, 2)) << "a field is given twice";
  EXPECT_FALSE(counts({key(USC_QUERY_TOOK, 0, USC_QUERY_KEY_STEP), key(USC_QUERY_RESULT, 1, USC_QUERY_KEY_STEP)}, 2));
  for (int field = 0; field < USC_QUERY_FIELD_COUNT; field++) {
    const auto of = static_cast<usc_query_field>(field);
    const bool is_small = field < USC_QUERY_STACK || field == USC_QUERY_ERROR || field == USC_QUERY_GUISE;
    EXPECT_EQ(counts({key(of, 0), key(field == USC_QUERY_HOW ? USC_QUERY_ERROR : USC_QUERY_HOW, 1)}, 2), is_small)
        << field;
    EXPECT_EQ(counts({key(of, 0, USC_QUERY_KEY_STEP)}, 1), field == USC_QUERY_TOOK || field == USC_QUERY_RESULT)
        << field;
  }
  EXPECT_FALSE(counts({insn(USC_QUERY_KEY, 0, 3, 0, 0)}, 1)) << "a register";
  EXPECT_FALSE(counts({insn(USC_QUERY_UNLESS, 0, USC_QUERY_OF_FIELD + USC_QUERY_ERROR, 0, 0)}, 1)) << "a condition";
  EXPECT_FALSE(counts({key(USC_QUERY_ERROR, 0)}, 1, 1)) << "something is summed";
  EXPECT_FALSE(counts({key(USC_QUERY_KIND, 0)}, 1)) << "it is asked when calls begin";
  const usc_query none{};
  EXPECT_FALSE(usc_query_counts_by_fields(&none, word_of));
}

// The key of a place is that of the row which the same event would have.
TEST(Query, APlaceOfCountsStandsForARow) {
  const auto key = [](usc_query_field field, int word, unsigned op = USC_QUERY_KEY) {
    return insn(op, 0, static_cast<unsigned>(USC_QUERY_OF_FIELD + field), 0, word);
  };
  const usc_query whole = query_of({key(USC_QUERY_SOURCE, 7), key(USC_QUERY_KIND, 6), key(USC_QUERY_ABI, 5),
                                    key(USC_QUERY_HOW, 4), key(USC_QUERY_TASK, 3), key(USC_QUERY_IMAGE, 2),
                                    key(USC_QUERY_ERROR, 1), key(USC_QUERY_RESULT, 0, USC_QUERY_KEY_STEP)},
                                   8, 0);
  const usc_query some = query_of({key(USC_QUERY_ERROR, 0), key(USC_QUERY_RESULT, 1, USC_QUERY_KEY_STEP)}, 2, 0);
  const usc_query named =
      query_of({key(USC_QUERY_TASK, 0), key(USC_QUERY_GUISE, 1), key(USC_QUERY_RESULT, 2, USC_QUERY_KEY_STEP)}, 3, 0);
  for (const usc_query& query : {whole, some, named})
    for (const __s64 result : {INT64_MIN, -5000L, -4095L, -38L, -1L, 0L, 63L, 64L, 100'000L, INT64_MAX}) {
      __u8 word_of[USC_QUERY_FIELD_COUNT];
      ASSERT_TRUE(usc_query_counts_by_fields(&query, word_of));
      usc_event event{};
      event.head.task = 0xfedcba98;
      event.image = 0x89abcdef;
      event.kind = USC_SYSCALL_BITS - 1;
      event.result = result;
      event.how = USC_HOW_RETURNED;
      event.abi = USC_ABI_X86_64;
      event.source = USC_SOURCE_SYSCALL;
      usc_query_input input;
      usc_query_state state;
      usc_query_fill(&input, &event, 0);
      ASSERT_EQ(usc_query_run(&query, &input, &state), USC_QUERY_GIVEN);
      const auto error = static_cast<__u32>(input.field[USC_QUERY_ERROR]);
      __u32 step = 0;
      const __s64 group = usc_query_group(result, &step);
      usc_query_place place{};
      place.key = usc_query_count_key(event.kind, group, error, event.head.task) & usc_query_count_mask(word_of);
      place.image = word_of[USC_QUERY_IMAGE] != 0 || word_of[USC_QUERY_GUISE] != 0 ? event.image : 0;
      usc_query_row row{};
      usc_query_key_of_place(&place, word_of, &row.key);
      __s64& word = row.key.word[word_of[USC_QUERY_RESULT] - 1];
      word = usc_query_end_of_step(word, step);
      EXPECT_TRUE(usc_query_same_key(&row.key, &state.key)) << result;
    }
}

TEST(Query, UnlessEndsTheEvent) {
  const usc_query query =
      query_of({insn(USC_QUERY_FIELD, 0, 0, 0, USC_QUERY_RESULT), insn(USC_QUERY_UNLESS, 0, 0, 0, 0)}, 0, 0);
  usc_query_state state;
  for (const auto& [result, end] : std::vector<std::pair<Maybe, usc_query_end>>{
           {std::nullopt, USC_QUERY_REFUSED}, {0, USC_QUERY_REFUSED}, {1, USC_QUERY_GIVEN}, {-5, USC_QUERY_GIVEN}}) {
    const usc_query_input input = input_of(result, 0);
    EXPECT_EQ(usc_query_run(&query, &input, &state), end) << text_of(result);
  }
}

TEST(Query, NothingIsLeftOfTheEventBefore) {
  const usc_query query = query_of({insn(USC_QUERY_FIELD, 1, 0, 0, USC_QUERY_RESULT), insn(USC_QUERY_KEY, 0, 1, 0, 1),
                                    insn(USC_QUERY_MEASURE, 0, 1, 0, 0)},
                                   2, 1);
  usc_query_state state;
  usc_query_input input = input_of(std::nullopt, 0);
  EXPECT_EQ(usc_query_run(&query, &input, &state), USC_QUERY_GIVEN);
  EXPECT_EQ(state.key.nulls, 2U);
  EXPECT_EQ(state.measure_nulls & 1, 1U);
  const usc_query_key null = state.key;
  input = input_of(0, 0);
  EXPECT_EQ(usc_query_run(&query, &input, &state), USC_QUERY_GIVEN);
  EXPECT_EQ(state.key.nulls, 0U);
  EXPECT_EQ(state.measure_nulls & 1, 0U);
  EXPECT_FALSE(usc_query_same_key(&null, &state.key));
  EXPECT_NE(usc_query_hash(&null), usc_query_hash(&state.key));
}

TEST(Query, WhatNothingWasPutIntoIsNull) {
  const usc_query query = query_of({insn(USC_QUERY_INVERT, 1, 2, 0, 0), insn(USC_QUERY_KEY, 0, 1, 0, 0),
                                    insn(USC_QUERY_IS_NULL, 3, 2, 0, 0), insn(USC_QUERY_MEASURE, 0, 3, 0, 1)},
                                   1, 2);
  const usc_query_input input = input_of(1, 1);
  usc_query_state state;
  __builtin_memset(&state, 0x5a, sizeof(state));
  EXPECT_EQ(usc_query_run(&query, &input, &state), USC_QUERY_GIVEN);
  EXPECT_EQ(state.key.nulls, 1U);
  EXPECT_EQ(state.key.word[0], 0);
  EXPECT_EQ(state.measure_nulls & 3, 1U);
  EXPECT_EQ(state.measure[1], 1);
}

TEST(Query, TheLastValueOfAPlaceCounts) {
  const usc_query query = query_of({insn(USC_QUERY_KEY, 0, 0, 0, 0), insn(USC_QUERY_MEASURE, 0, 0, 0, 0),
                                    insn(USC_QUERY_NUMBER, 0, 0, 0, 7), insn(USC_QUERY_KEY, 0, 0, 0, 0),
                                    insn(USC_QUERY_MEASURE, 0, 0, 0, 0)});
  const usc_query_input input = input_of(1, 1);
  usc_query_state state;
  EXPECT_EQ(usc_query_run(&query, &input, &state), USC_QUERY_GIVEN);
  EXPECT_EQ(state.key.nulls, 0U);
  EXPECT_EQ(state.key.word[0], 7);
  EXPECT_EQ(state.measure_nulls & 1, 0U);
  EXPECT_EQ(state.measure[0], 7);
}

TEST(Query, RowsAddUp) {
  usc_query_state state{};
  usc_query_row row{};
  row.sum[0].count = 99;  // an empty row may hold anything
  for (const Maybe& value : {Maybe(5), Maybe(), Maybe(-3)}) {
    state.measure[0] = value.value_or(0);
    state.measure_nulls = value ? 0 : 1;
    EXPECT_FALSE(usc_query_sums_overflow(&row, &state, 1));
    usc_query_add(&row, &state, 1);
  }
  EXPECT_EQ(row.events, 3U);
  EXPECT_EQ(row.sum[0].count, 2U);
  EXPECT_EQ(row.sum[0].sum, 2);
  EXPECT_EQ(row.sum[0].least, -3);
  EXPECT_EQ(row.sum[0].greatest, 5);
  state.measure[0] = kGreatest;
  EXPECT_TRUE(usc_query_sums_overflow(&row, &state, 1));
  EXPECT_FALSE(usc_query_sums_overflow(&row, &state, 0));
  state.measure_nulls = 1;
  EXPECT_FALSE(usc_query_sums_overflow(&row, &state, 1));
}

TEST(Query, AnArgumentThatCouldNotBeReadIsNull) {
  const usc_event event{};
  usc_query_input input;
  usc_query_fill(&input, &event, 1U << 2U);
  const usc_query_state state{};
  const usc_query_insn none{};
  for (__u32 arg = 0; arg < 6; arg++) {
    int null = 0;
    EXPECT_EQ(usc_query_operand(&none, USC_QUERY_OF_FIELD | (USC_QUERY_ARG0 + arg), &input, &state, &null), 0);
    EXPECT_EQ(null, arg == 2 ? 1 : 0) << arg;
    EXPECT_EQ(input.nulls >> (USC_QUERY_ARG0 + arg) & 1, arg == 2 ? 1U : 0U) << arg;
  }
}

TEST(Query, AnEventIsReadAsTheLoaderReadsIt) {
  usc_event event{};
  event.entry_ns = 100;
  event.head.time = 350;
  event.head.task = 4;
  event.result = -2;
  event.args[5] = ~0ULL;
  event.how = USC_HOW_RETURNED;
  usc_query_input input;
  usc_query_fill(&input, &event, 0);
  EXPECT_EQ(input.field[USC_QUERY_TOOK], 250);
  EXPECT_EQ(input.field[USC_QUERY_ERROR], 2);
  EXPECT_EQ(input.field[USC_QUERY_ARG5], -1);
  EXPECT_EQ(input.field[USC_QUERY_TASK], 4);
  EXPECT_EQ(input.nulls, 0U);
  event.flags = USC_EVENT_NO_RESULT | USC_EVENT_ATTACHED;
  usc_query_fill(&input, &event, 0);
  EXPECT_EQ(input.field[USC_QUERY_HOW], USC_HOW_ATTACHED);
  EXPECT_EQ(input.field[USC_QUERY_ERROR], 0);
  EXPECT_EQ(input.nulls, 1U << USC_QUERY_RESULT);
  event.flags = 0;
  event.how = USC_HOW_OPEN;
  usc_query_fill(&input, &event, 0);
  EXPECT_EQ(input.nulls, 1U << USC_QUERY_RESULT | 1U << USC_QUERY_TOOK);
  EXPECT_EQ(input.field[USC_QUERY_RESULT], 0);
  // What a function returns is no error.
  event.how = USC_HOW_RETURNED;
  event.source = USC_SOURCE_UFUNCTION;
  usc_query_fill(&input, &event, 0);
  EXPECT_EQ(input.field[USC_QUERY_RESULT], -2);
  EXPECT_EQ(input.field[USC_QUERY_ERROR], 0);
}

TEST(Query, OnlyWhatIsReadIsFilled) {
  usc_event event{};
  event.kind = 39;
  event.args[2] = 7;
  event.how = USC_HOW_OPEN;
  usc_query_input input;
  __builtin_memset(&input, 0x5a, sizeof(input));
  const std::int64_t before = input.field[USC_QUERY_ARG1];
  usc_query_fill_some(&input, &event, 0, 1U << USC_QUERY_KIND | 1U << USC_QUERY_ARG2 | 1U << USC_QUERY_RESULT);
  EXPECT_EQ(input.field[USC_QUERY_KIND], 39);
  EXPECT_EQ(input.field[USC_QUERY_ARG2], 7);
  EXPECT_EQ(input.field[USC_QUERY_RESULT], 0);
  EXPECT_EQ(input.field[USC_QUERY_ARG1], before);
  EXPECT_EQ(input.nulls, 1U << USC_QUERY_RESULT | 1U << USC_QUERY_TOOK);
}

TEST(Query, AnEndIsAskedForByItsFields) {
  usc_query query{};
  EXPECT_FALSE(usc_query_is_of_beginnings(&query));
  for (std::int64_t field = 0; field < USC_QUERY_FIELD_COUNT; field++) {
    query = query_of({insn(USC_QUERY_FIELD, 0, 0, 0, USC_QUERY_KIND), insn(USC_QUERY_FIELD, 0, 0, 0, field)}, 0, 0);
    const bool of_end =
        field == USC_QUERY_HOW || field == USC_QUERY_TOOK || field == USC_QUERY_RESULT || field == USC_QUERY_ERROR;
    EXPECT_NE(usc_query_is_of_beginnings(&query) != 0, of_end) << field;
  }
}

TEST(Query, BriefHitsHaveNeitherArgumentsNorStack) {
  usc_query query{};
  EXPECT_FALSE(usc_query_is_of_brief_hits(&query));
  for (std::int64_t field = 0; field < USC_QUERY_FIELD_COUNT; field++) {
    query = query_of({insn(USC_QUERY_FIELD, 0, 0, 0, USC_QUERY_TOOK), insn(USC_QUERY_FIELD, 0, 0, 0, field)}, 0, 0);
    EXPECT_NE(usc_query_is_of_brief_hits(&query) != 0,
              field == USC_QUERY_STACK || (field >= USC_QUERY_ARG0 && field <= USC_QUERY_ARG5))
        << field;
  }
}

TEST(Query, AKeyHasSoManyWords) {
  usc_query_key a{};
  usc_query_key b{};
  a.word[2] = 5;
  EXPECT_TRUE(usc_query_same_words(&a, &b, 2));
  EXPECT_FALSE(usc_query_same_words(&a, &b, 3));
  EXPECT_EQ(usc_query_hash_words(&a, 2), usc_query_hash_words(&b, 2));
  EXPECT_NE(usc_query_hash_words(&a, 3), usc_query_hash_words(&b, 3));
  b.nulls = 1;
  EXPECT_FALSE(usc_query_same_words(&a, &b, 2));
}

TEST(QueryCheck, NoneIsSound) {
  usc_query query{};
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_SOUND);
  query.keys = 1;
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_RESERVED);
}

TEST(QueryCheck, RefusesWhatIsNoQuestion) {
  const usc_query sound = query_of({insn(USC_QUERY_NUMBER, 0, 0, 0, 5)});
  EXPECT_EQ(query_error(sound), USC_QUERY_BAD_SOUND);
  usc_query query = sound;
  query.version = USC_QUERY_VERSION + 1;
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_UNKNOWN);
  query = sound;
  query.length = 0;
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_EMPTY);
  query = sound;
  query.length = USC_QUERY_MOST + 1;
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_LENGTH);
  query = sound;
  query.keys = USC_QUERY_KEYS + 1;
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_LENGTH);
  query = sound;
  query.measures = USC_QUERY_MEASURES + 1;
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_LENGTH);
}

TEST(QueryCheck, TablesHaveAPowerOfTwoOfRows) {
  usc_query query = query_of({insn(USC_QUERY_NUMBER, 0, 0, 0, 5)});
  for (const int rows : {8, 16, 2048, 4096}) {
    query.rows = static_cast<__u16>(rows);
    EXPECT_EQ(query_error(query), USC_QUERY_BAD_SOUND) << rows;
  }
  for (const int rows : {0, 1, 4, 9, 4095, 8192, 65535}) {
    query.rows = static_cast<__u16>(rows);
    EXPECT_EQ(query_error(query), USC_QUERY_BAD_ROWS) << rows;
  }
}

TEST(QueryCheck, RefusesFieldsThatAreNotSaid) {
  usc_query query = query_of({insn(USC_QUERY_FIELD, 0, 0, 0, USC_QUERY_ARG5)});
  EXPECT_EQ(query.reads, 1U << USC_QUERY_ARG5);
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_SOUND);
  query.reads = 0;
  EXPECT_EQ(query_error(query), USC_QUERY_BAD_READS);
}

TEST(QueryCheck, RefusesEachKindOfBadInstruction) {
  const auto bad = [](usc_query_insn one) {
    __u32 at = 0;
    const usc_query_error error = query_error(query_of({insn(USC_QUERY_NUMBER, 0, 0, 0, 1), one}), &at);
    EXPECT_EQ(at, error == USC_QUERY_BAD_SOUND ? 2U : 1U);
    return error;
  };
  EXPECT_EQ(bad(insn(USC_QUERY_ADD, 15, 15, 15, 0)), USC_QUERY_BAD_SOUND);
  EXPECT_EQ(bad(insn(0, 0, 0, 0, 0)), USC_QUERY_BAD_OP);
  EXPECT_EQ(bad(insn(USC_QUERY_OP_COUNT, 0, 0, 0, 0)), USC_QUERY_BAD_OP);
  EXPECT_EQ(bad(insn(255, 0, 0, 0, 0)), USC_QUERY_BAD_OP);
  EXPECT_EQ(bad(insn(USC_QUERY_ADD, USC_QUERY_REGISTERS, 0, 0, 0)), USC_QUERY_BAD_REGISTER);
  EXPECT_EQ(bad(insn(USC_QUERY_ADD, 0, USC_QUERY_REGISTERS, 0, 0)), USC_QUERY_BAD_REGISTER);
  EXPECT_EQ(bad(insn(USC_QUERY_ADD, 0, 0, USC_QUERY_REGISTERS, 0)), USC_QUERY_BAD_REGISTER);
  EXPECT_EQ(bad(insn(USC_QUERY_ADD, 0, USC_QUERY_OWN, USC_QUERY_OF_FIELD, 7)), USC_QUERY_BAD_SOUND);
  EXPECT_EQ(bad(insn(USC_QUERY_ADD, 0, USC_QUERY_OWN + 1, 0, 0)), USC_QUERY_BAD_REGISTER);
  EXPECT_EQ(bad(insn(USC_QUERY_ADD, 0, 0, USC_QUERY_OF_FIELD - 1, 0)), USC_QUERY_BAD_REGISTER);
  EXPECT_EQ(bad(insn(USC_QUERY_ADD, USC_QUERY_OWN, 0, 0, 0)), USC_QUERY_BAD_REGISTER);
  EXPECT_EQ(bad(insn(USC_QUERY_KEY, 0, USC_QUERY_OWN, 0, 0)), USC_QUERY_BAD_REGISTER);
  EXPECT_EQ(bad(insn(USC_QUERY_KEY, 0, USC_QUERY_OF_FIELD + USC_QUERY_FIELD_COUNT, 0, 0)), USC_QUERY_BAD_FIELD);
  EXPECT_EQ(bad(insn(USC_QUERY_FIELD, 0, 0, 0, USC_QUERY_FIELD_COUNT)), USC_QUERY_BAD_FIELD);
  EXPECT_EQ(bad(insn(USC_QUERY_FIELD, 0, 0, 0, -1)), USC_QUERY_BAD_FIELD);
  EXPECT_EQ(bad(insn(USC_QUERY_KEY, 0, 0, 0, 1)), USC_QUERY_BAD_PLACE);
  EXPECT_EQ(bad(insn(USC_QUERY_KEY, 0, 0, 0, -1)), USC_QUERY_BAD_PLACE);
  EXPECT_EQ(bad(insn(USC_QUERY_KEY_STEP, 0, 0, 0, 1)), USC_QUERY_BAD_PLACE);
  EXPECT_EQ(bad(insn(USC_QUERY_MEASURE, 0, 0, 0, 1)), USC_QUERY_BAD_PLACE);
  EXPECT_EQ(bad(insn(USC_QUERY_MEASURE, 0, 0, 0, -1)), USC_QUERY_BAD_PLACE);
  EXPECT_EQ(bad(insn(USC_QUERY_NUMBER, 0, 1, 0, 0)), USC_QUERY_BAD_RESERVED);
  EXPECT_EQ(bad(insn(USC_QUERY_INVERT, 0, 0, 1, 0)), USC_QUERY_BAD_RESERVED);
  EXPECT_EQ(bad(insn(USC_QUERY_UNLESS, 1, 0, 0, 0)), USC_QUERY_BAD_RESERVED);
  EXPECT_EQ(bad(insn(USC_QUERY_KEY, 1, 0, 0, 0)), USC_QUERY_BAD_RESERVED);
  EXPECT_EQ(bad(insn(USC_QUERY_ADD, 0, 0, 0, 1)), USC_QUERY_BAD_RESERVED);
  usc_query_insn padded = insn(USC_QUERY_NUMBER, 0, 0, 0, 0);
  padded.pad = 1;
  EXPECT_EQ(bad(padded), USC_QUERY_BAD_RESERVED);
}

}  // namespace
}  // namespace uscope::include

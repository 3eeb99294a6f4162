// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Random questions over random events: what SQLite says of v_event, against the plan run over the same events, with
// rows that are spilled and cut as it happens. USCOPE_QUERY_QUESTIONS is how many of them, USCOPE_QUERY_SEED the seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "query/plan/plan.h"
#include "tests/support/random_question.h"
#include "tests/unit/query/plan/event_world.h"

namespace uscope::query {
namespace {

constexpr std::size_t kQuestions = 600;
constexpr std::size_t kQuestionsOfAWorld = 30;
constexpr std::size_t kEvents = 120;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

bool is_number(const Rows::Value& value) {
  return value.type == SQLITE_INTEGER || value.type == SQLITE_FLOAT;
}

// Equal to the last digit. In a wild world an integer and a REAL may be one group, which is shown by the one or the
// other.
bool equal(const Rows::Value& a, const Rows::Value& b, bool wild) {
  if (a.type != b.type) return wild && is_number(a) && is_number(b) && a.real == b.real;
  return a.type == SQLITE_FLOAT ? a.real == b.real : a.text == b.text;
}

std::string shown(const Rows& rows) {
  std::string text = rows.error.empty() ? "" : "error: " + rows.error + "\n";
  for (const auto& row : rows.rows) {
    for (const Rows::Value& value : row) text += (value.type == SQLITE_NULL ? "NULL" : value.text) + " | ";
    text += "\n";
  }
  return text;
}

// SQLite's words, without the statement, which is another one.
std::string trouble(const Rows& rows) {
  return rows.error.substr(0, rows.error.find(" (in '"));
}

// Each row of the one has a row of the other: the same one if they are in order. The rows before an error are those
// that SQLite happened to come to.
bool equal(const Rows& a, Rows b, bool wild, bool in_order) {
  if (!a.error.empty() || !b.error.empty()) return trouble(a) == trouble(b);
  if (a.rows.size() != b.rows.size()) return false;
  return std::all_of(a.rows.begin(), a.rows.end(), [&](const auto& row) {
    const auto found =
        std::find_if(b.rows.begin(), in_order ? b.rows.begin() + 1 : b.rows.end(), [&](const auto& other) {
          return std::equal(row.begin(), row.end(), other.begin(), other.end(),
                            [&](const Rows::Value& x, const Rows::Value& y) { return equal(x, y, wild); });
        });
    if (found == (in_order ? b.rows.begin() + 1 : b.rows.end())) return false;
    b.rows.erase(found);
    return true;
  });
}

struct Tally {
  EventWorld::Counts counts;
  std::size_t sums = 0;      // questions that were cut
  std::size_t answered = 0;  // … with rows
  std::size_t failures = 0;
  std::map<std::string, std::size_t> reasons;
};

void ask(const std::string& text, bool wild, EventWorld& world, Tally& tally) {
  const auto made = plan(text);
  ASSERT_TRUE(made) << text << "\n" << made.error().what;
  if (made->way == Way::kEvents) {
    tally.reasons[made->reason]++;
    return;
  }
  tally.sums++;
  __u32 at = 0;
  ASSERT_EQ(usc_query_check(&made->program, &at), USC_QUERY_BAD_SOUND) << text;
  const Rows direct = world.direct(text);
  const Rows planned = world.by_plan(*made, tally.counts);
  EXPECT_EQ(direct.names, made->columns) << text;
  EXPECT_EQ(planned.names, made->columns) << text;
  tally.answered += !direct.rows.empty();
  const bool same = equal(direct, planned, wild, !wild && text.find(" ORDER BY ") != std::string::npos);
  tally.failures += !same;
  EXPECT_TRUE(same) << (wild ? "wild: " : "tame: ") << text << "\nouter: " << made->outer << "\nSQLite:\n"
                    << shown(direct) << "plan:\n"
                    << shown(planned);
}

TEST(QueryOracle, ThePlansAnswerIsSqlites) {
  const std::uint64_t questions = from_environment("USCOPE_QUERY_QUESTIONS", kQuestions);
  std::mt19937_64 random(from_environment("USCOPE_QUERY_SEED", 1));
  Tally tally;
  for (std::uint64_t i = 0; i < questions && tally.failures < 5;) {
    const bool wild = random() % 2 == 0;
    EventWorld world(random, wild, kEvents);
    for (std::size_t j = 0; j < kQuestionsOfAWorld && i < questions; j++, i++)
      ASSERT_NO_FATAL_FAILURE(ask(test::RandomQuestion(random).make(), wild, world, tally));
  }
  std::printf(
      "%llu questions, %zu by sums (%zu with rows); %zu events, of them %zu "
      "whole, in %zu rows; not cut:\n",
      static_cast<unsigned long long>(questions), tally.sums, tally.answered, tally.counts.events, tally.counts.wholes,
      tally.counts.rows);
  for (const auto& [reason, times] : tally.reasons) std::printf("  %zu: %s\n", times, reason.c_str());
  EXPECT_GE(tally.sums * 10, questions * 7);
  EXPECT_GE(tally.answered * 2, tally.sums);
}

}  // namespace
}  // namespace uscope::query

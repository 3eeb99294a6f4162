// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/answer_file.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace uscope::query {
namespace {

store::SqliteHandle open_answers(const std::string& path) {
  sqlite3* raw = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr), SQLITE_OK);
  return store::SqliteHandle(raw);
}

TEST(AnswerFile, KeepsEachRowWithItsInterval) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("answers.db");
  auto place = store::OutputPlace::find(path, store::OutputKind::kDatabase);
  auto file = place->begin();
  auto answers = AnswerFile::create(std::move(*file));
  ASSERT_TRUE(answers) << answers.error().what;
  const auto memory = open_answers(":memory:");
  auto rows = store::Statement::prepare(
      memory.get(), "SELECT 'a' AS kind, 1.5 AS kind, NULL AS \"from_ns\", x'00' AS \"a \"\"quoted\"\" name\"");
  for (const std::int64_t from : {10, 20}) {
    ASSERT_TRUE(answers->begin(from, from + 10, from == 20 ? 3 : 0, *rows));
    while (*rows->step()) ASSERT_TRUE(answers->add(*rows));
  }
  ASSERT_TRUE(answers->add_fact("question", "SELECT 1"));
  EXPECT_FALSE(std::filesystem::exists(path)) << "it gets its name when it is complete";
  ASSERT_TRUE(answers->commit());
  const auto written = open_answers(path);
  auto kept = store::Statement::prepare(written.get(), "SELECT * FROM answer ORDER BY until_ns");
  ASSERT_TRUE(kept) << kept.error().what;
  std::string names;
  for (int i = 0; i < kept->columns(); i++) names += kept->column_name(i) + "|";
  EXPECT_EQ(names, "from_ns|until_ns|lost|kind|kind_2|from_ns_2|a \"quoted\" name|");
  ASSERT_TRUE(*kept->step());
  ASSERT_TRUE(*kept->step());
  EXPECT_EQ(kept->integer(0), 20);
  EXPECT_EQ(kept->integer(1), 30);
  EXPECT_EQ(kept->integer(2), 3);
  EXPECT_EQ(kept->text(3), "a");
  EXPECT_EQ(kept->real(4), 1.5);
  EXPECT_TRUE(kept->is_null(5));
  EXPECT_EQ(kept->type(6), SQLITE_BLOB);
  auto fact = store::Statement::prepare(written.get(), "SELECT value FROM fact WHERE name = 'question'");
  ASSERT_TRUE(*fact->step());
  EXPECT_EQ(fact->text(0), "SELECT 1");
}

}  // namespace
}  // namespace uscope::query

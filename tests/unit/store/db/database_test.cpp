// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/database.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "store/db/schema.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::store {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "a.db"; }

  void make() {
    auto writer = DatabaseWriter::create(path());
    ASSERT_TRUE(writer) << writer.error().what;
    ASSERT_TRUE(execute(writer->handle(), "INSERT INTO meta VALUES('key', 'value')"));
    auto done = writer->commit();
    ASSERT_TRUE(done) << done.error().what;
  }

  std::string open_error() {
    auto database = Database::open(path());
    return database ? "opened" : database.error().what;
  }

  // What happens to a statement on an opened store.
  std::string outcome(const std::string& sql) {
    auto database = Database::open(path());
    if (!database) return database.error().what;
    auto query = database->prepare(sql);
    if (!query) return query.error().what;
    auto row = query->step();
    return row ? "done" : row.error().what;
  }

  void raw_sql(const std::string& sql) {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
    const SqliteHandle handle(raw);
    auto done = execute(raw, sql);
    ASSERT_TRUE(done) << done.error().what;
  }

  test::TemporaryFolder folder_;
};

TEST_F(DatabaseTest, AStoreIsReadBack) {
  make();
  auto database = Database::open(path());
  ASSERT_TRUE(database) << database.error().what;
  auto query = database->prepare("SELECT value FROM meta WHERE key = ?1");
  ASSERT_TRUE(query);
  query->bind(1, std::string_view("key"));
  ASSERT_TRUE(*query->step());
  EXPECT_EQ(query->text(0), "value");
  EXPECT_FALSE(*query->step());
  EXPECT_EQ(std::filesystem::status(path()).permissions(), std::filesystem::perms(0600));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.db.part"));
}

TEST_F(DatabaseTest, OtherFilesAreNamedAsWhatTheyAre) {
  EXPECT_NE(open_error().find("No such file"), std::string::npos);
  std::ofstream(path()) << std::string(4096, 'x');
  EXPECT_EQ(open_error(), path().string() + " is not a database");
  std::filesystem::remove(path());
  raw_sql("CREATE TABLE t(a)");
  EXPECT_EQ(open_error(), path().string() + " is a database, but not one of uscope's");
  std::filesystem::remove(path());
  make();
  raw_sql("PRAGMA user_version=" + std::to_string(kSchemaVersion + 1));
  const std::string reads = fmt::format("this uscope reads {} to {}", kOldestSchema, kSchemaVersion);
  EXPECT_NE(open_error().find(
                fmt::format("made by a newer version of uscope: its schema is {}, {}", kSchemaVersion + 1, reads)),
            std::string::npos)
      << open_error();
  raw_sql("PRAGMA user_version=" + std::to_string(kOldestSchema - 1));
  EXPECT_NE(open_error().find(
                fmt::format("made by an older version of uscope: its schema is {}, {}", kOldestSchema - 1, reads)),
            std::string::npos)
      << open_error();
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_EQ(open_error(), path().string() + " is not a regular file");
}

TEST_F(DatabaseTest, ReadersCannotWriteNorReachOtherFiles) {
  make();
  EXPECT_NE(outcome("INSERT INTO meta VALUES('a', 'b')").find("readonly"), std::string::npos);
  EXPECT_NE(outcome("ATTACH '" + (folder_ / "other.db").string() + "' AS other").find("not authorized"),
            std::string::npos);
  EXPECT_NE(outcome("SELECT load_extension('x')").find("not authorized"), std::string::npos);
  EXPECT_NE(outcome("VACUUM INTO '" + (folder_ / "copy.db").string() + "'"), "done");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other.db"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "copy.db"));
  EXPECT_NE(outcome("SELECT 1; SELECT 2").find("more than one statement"), std::string::npos);
  EXPECT_EQ(outcome("SELECT 1; -- the end"), "done");
}

TEST_F(DatabaseTest, AWriterThatIsDroppedLeavesNothing) {
  {
    auto writer = DatabaseWriter::create(path());
    ASSERT_TRUE(writer);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "a.db.part"));
    auto second = DatabaseWriter::create(path());
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().what.find("is in use"), std::string::npos) << second.error().what;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.db.part"));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(DatabaseTest, WhatAKilledWriterLeftIsReplacedAndLinksAreNotFollowed) {
  std::ofstream(folder_ / "a.db.part") << "half";
  make();
  EXPECT_EQ(open_error(), "opened");
  std::ofstream(folder_ / "victim") << "precious";
  std::filesystem::create_symlink(folder_ / "victim", folder_ / "a.db.part");
  EXPECT_FALSE(DatabaseWriter::create(path()));
  std::string word;
  std::ifstream(folder_ / "victim") >> word;
  EXPECT_EQ(word, "precious");
}

TEST_F(DatabaseTest, StatementsSayWhatIsWrongWithThem) {
  make();
  auto database = Database::open(path());
  ASSERT_TRUE(database);
  EXPECT_EQ(database->prepare("SELECT absent FROM meta").error().what, "SQL: no such column: absent");
  EXPECT_FALSE(database->prepare("  "));
  auto query = database->prepare("SELECT ?1, ?2, ?3");
  ASSERT_TRUE(query);
  query->bind(1, -5);
  query->bind(2, std::string_view());
  query->bind_null(3);
  ASSERT_TRUE(*query->step());
  EXPECT_EQ(query->integer(0), -5);
  EXPECT_EQ(query->type(1), SQLITE_TEXT);
  EXPECT_TRUE(query->is_null(2));
  EXPECT_EQ(query->maybe_integer(2), std::nullopt);
  query->reset();
  query->bind(4, 1);
  EXPECT_FALSE(query->step());
}

// Files beside the store are somebody else's: none is made, opened or waited for.
TEST_F(DatabaseTest, NothingBesideTheStoreMatters) {
  make();
  for (const char* suffix : {"-journal", "-wal", "-shm"})
    ASSERT_EQ(mkfifo((path().string() + suffix).c_str(), 0600), 0);
  EXPECT_EQ(outcome("SELECT count(*) FROM meta"), "done");
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    EXPECT_TRUE(std::filesystem::is_fifo(path().string() + suffix)) << suffix;
    std::filesystem::remove(path().string() + suffix);
  }
  // SQLite would undo this journal, as root the one of another user too.
  std::ofstream(path().string() + "-journal") << std::string(600, 'x');
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown((path().string() + "-journal").c_str(), 65534, 65534), 0);
    EXPECT_EQ(open_error(), "opened");
    ASSERT_EQ(::chown((path().string() + "-journal").c_str(), 0, 0), 0);
  }
  EXPECT_NE(open_error().find("a.db has a journal beside it"), std::string::npos) << open_error();
  EXPECT_EQ(std::filesystem::file_size(path().string() + "-journal"), 600U);
}

TEST_F(DatabaseTest, AStoreInWalModeIsRefusedAndLeftAlone) {
  make();
  raw_sql("PRAGMA journal_mode=WAL; INSERT INTO meta VALUES('more', 'x')");
  auto database = Database::open(path());
  ASSERT_FALSE(database);
  EXPECT_NE(database.error().what.find("is in SQLite's WAL mode"), std::string::npos) << database.error().what;
  EXPECT_NE(database.error().remedy.find("'PRAGMA journal_mode=delete'"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path().string() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(path().string() + "-shm"));
  raw_sql("PRAGMA journal_mode=delete");
  EXPECT_EQ(outcome("SELECT value FROM meta WHERE key = 'more'"), "done");
}

TEST_F(DatabaseTest, OnlyTheSchemaOfUscopeIsRead) {
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS key, i AS value FROM n";
  const std::vector<std::pair<std::string, std::string>> changes{
      {"DROP TABLE meta; CREATE VIEW meta AS " + endless, "the view meta"},
      {"DROP VIEW dual_space; CREATE VIEW dual_space AS SELECT 1", "the view dual_space"},
      {"CREATE TRIGGER t AFTER INSERT ON meta BEGIN SELECT 1; END", "the trigger t"},
      {"CREATE VIRTUAL TABLE f USING fts5(x)", "holds what uscope does not make: the table f"},
      {"CREATE INDEX i ON meta(upper(value))", "the index i"},
      {"CREATE TABLE mine(x)", "the table mine"},
      {"ALTER TABLE meta ADD COLUMN more GENERATED ALWAYS AS (abs(value)) VIRTUAL", "the table meta"},
      {"ALTER TABLE loss ADD COLUMN more CHECK (more > 1)", "the table loss"},
      {"DROP TABLE loss", "lacks the table loss"},
      {"DROP INDEX event_stack", "lacks the index event_stack"}};
  for (const auto& [sql, what] : changes) {
    std::filesystem::remove(path());
    make();
    raw_sql(sql);
    EXPECT_NE(open_error().find(what), std::string::npos) << sql << ": " << open_error();
  }
}

// SQLite compiles each text of a schema before anything can be asked.
TEST_F(DatabaseTest, AHugeSchemaIsGivenUpEarly) {
  make();
  std::string views = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;";
  for (int i = 0; i < 2000; i++) views += "CREATE VIEW v" + std::to_string(i) + " AS SELECT 1;";
  raw_sql(views + "COMMIT");
  EXPECT_NE(open_error().find("far more tables and views than uscope makes"), std::string::npos) << open_error();
  std::filesystem::remove(path());
  make();
  raw_sql("CREATE VIEW v AS SELECT '" + std::string(100'000, 'x') + "'");
  EXPECT_NE(open_error(), "opened");
}

TEST_F(DatabaseTest, SortingNeedsNoNameAnywhere) {
  make();
  EXPECT_EQ(outcome("PRAGMA cache_size=10"), "done");
  auto database = Database::open(path());
  ASSERT_TRUE(database);
  ASSERT_TRUE(execute(database->handle(), "PRAGMA cache_size=10; PRAGMA temp_store=FILE"));
  auto query = database->prepare(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) "
      "SELECT i, hex(randomblob(40)) AS r FROM n ORDER BY r");
  ASSERT_TRUE(query);
  int rows = 0;
  for (auto row = query->step(); row && *row; row = query->step()) rows++;
  EXPECT_EQ(rows, 50000);
}

}  // namespace
}  // namespace uscope::store

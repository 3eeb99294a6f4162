// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/reused_store.h"

#include <gtest/gtest.h>

#include <fcntl.h>

#include <map>
#include <string>

#include "tests/support/frame_word.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

class ReusedStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_.reset(open(folder_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    auto made = ReusedStore::create(directory_.get());
    ASSERT_TRUE(made) << made.error().what;
    store_.emplace(std::move(*made));
    options_.namer = std::make_unique<FakeNamer>();
  }

  // Loads a trace of a program that makes so many calls, of so many stacks.
  void load(const std::string& program, std::uint64_t calls, std::uint32_t stacks) {
    const std::filesystem::path path = folder_ / program;
    {
      RawTrace trace(path);
      trace.task({.name = program});
      trace.exec(1, 1, 1, 2, "/opt/" + program, program + '\0');
      trace.file(2, "/opt/" + program, "IDA");
      for (std::uint32_t stack = 1; stack <= stacks; stack++)
        trace.stack(stack, {test::frame_word(2, 0x1000 + 16 * stack, 0)});
      for (std::uint64_t call = 0; call < calls; call++)
        trace.event({.entry = kStart + 10 * call,
                     .end = kStart + 10 * call + 5,
                     .result = -2,
                     .stack = stacks == 0 ? 0 : 1 + static_cast<std::uint32_t>(call % stacks)});
    }
    auto raw = trace::RawReader::open(path);
    ASSERT_TRUE(raw) << raw.error().what;
    const auto loaded = store_->load(std::move(*raw), options_);
    ASSERT_TRUE(loaded) << loaded.error().what;
    EXPECT_EQ(loaded->events, calls);
  }

  std::string one(const std::string& sql) {
    auto query = Statement::prepare(store_->handle(), sql);
    if (!query) return query.error().what;
    auto row = query->step();
    if (!row) return row.error().what;
    return *row ? std::string(query->text(0)) : "(no row)";
  }

  // All pages.
  std::string content() {
    sqlite3_int64 bytes = 0;
    unsigned char* const pages = sqlite3_serialize(store_->handle(), "main", &bytes, 0);
    std::string text(reinterpret_cast<const char*>(pages), static_cast<std::size_t>(bytes));
    sqlite3_free(pages);
    return text;
  }

  void empty() {
    const auto done = store_->empty();
    ASSERT_TRUE(done) << done.error().what;
  }

  test::TemporaryFolder folder_;
  UniqueFd directory_;
  std::optional<ReusedStore> store_;
  LoadOptions options_;
};

constexpr const char* kSummary =
    "SELECT json_array(count(*), min(process), max(process), count(DISTINCT \"trigger\"), count(DISTINCT folded), "
    "min(errno)) FROM v_event";

// Small ones, one that fills the cache, so that pages are written early, and one without anything.
TEST_F(ReusedStoreTest, EachTraceIsAlone) {
  const std::string before = content();
  ASSERT_FALSE(before.empty());
  ASSERT_TRUE(execute(store_->handle(), "PRAGMA cache_size=20"));
  load("first", 3, 2);
  EXPECT_EQ(one(kSummary), R"([3,"first","first",2,2,"ENOENT"])");
  empty();
  EXPECT_EQ(content(), before);
  load("large", 5000, 500);
  EXPECT_EQ(one(kSummary), R"([5000,"large","large",500,500,"ENOENT"])");
  EXPECT_GT(content().size(), before.size());
  empty();
  EXPECT_EQ(content(), before);
  load("nothing", 0, 0);
  EXPECT_EQ(one(kSummary), "[0,null,null,0,0,null]");
  empty();
  load("last", 2, 0);
  EXPECT_EQ(one(kSummary), R"([2,"last","last",0,0,"ENOENT"])");
  EXPECT_EQ(one("SELECT group_concat(id) FROM event"), "1,2");
  empty();
  EXPECT_EQ(content(), before);
}

TEST_F(ReusedStoreTest, TemporaryTablesAreEmptiedToo) {
  ASSERT_TRUE(execute(store_->handle(), "CREATE TEMP TABLE kept(a)"));
  load("first", 3, 2);
  ASSERT_TRUE(execute(store_->handle(), "INSERT INTO temp.kept SELECT id FROM main.v_event"));
  EXPECT_EQ(one("SELECT count(*) FROM temp.kept"), "3");
  empty();
  EXPECT_EQ(one("SELECT count(*) FROM temp.kept"), "0");
}

// And once more when the first protect() has changed what the connection may do.
TEST_F(ReusedStoreTest, StatementsAreCompiledOnce) {
  const auto compiled = [this] {
    std::map<sqlite3_stmt*, int> statements;
    for (sqlite3_stmt* one = nullptr; (one = sqlite3_next_stmt(store_->handle(), one)) != nullptr;)
      statements[one] = sqlite3_stmt_status(one, SQLITE_STMTSTATUS_REPREPARE, 0);
    return statements;
  };
  std::map<sqlite3_stmt*, int> before;
  for (const char* program : {"first", "second", "third"}) {
    load(program, 600, 3);
    ASSERT_TRUE(store_->protect());
    EXPECT_EQ(one(kSummary), std::string("[600,\"") + program + "\",\"" + program + "\",3,3,\"ENOENT\"]");
    empty();
    if (program == std::string("third")) {
      EXPECT_EQ(compiled(), before);
    }
    before = compiled();
    EXPECT_GT(before.size(), 10U);
  }
}

TEST_F(ReusedStoreTest, AProtectedOneCanOnlyBeRead) {
  for (const char* program : {"first", "second"}) {
    load(program, 1, 1);
    ASSERT_TRUE(store_->protect());
    EXPECT_EQ(one("SELECT process FROM v_event"), program);
    for (const char* sql : {"INSERT INTO meta VALUES('a', 'b')", "CREATE TEMP TABLE t(a)", "DROP VIEW v_event",
                            "COMMIT", "ROLLBACK", "SAVEPOINT a", "PRAGMA journal_mode=OFF", "PRAGMA writable_schema=1",
                            "ATTACH ':memory:' AS other", "SELECT load_extension('x')"})
      EXPECT_NE(one(sql).find("not authorized"), std::string::npos) << sql << ": " << one(sql);
    empty();
  }
}

}  // namespace
}  // namespace uscope::store

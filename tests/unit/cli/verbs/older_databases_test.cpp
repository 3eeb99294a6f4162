// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Databases that older versions of uscope made: their tables and views are those of tests/golden/schemas, taken from
// the history. What a verb answers from one is what it answers from a database of now with the same rows, where SQLite
// has filled in what the old one lacks.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <fstream>

#include "store/db/schema_history.h"
#include "store/db/sqlite_handles.h"
#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Words = std::vector<std::string>;

// Two threads that wait, the first for a pipe that only the second one writes to.
constexpr const char* kLookRows = R"sql(
INSERT INTO thread_look(thread_id, ts_ns, state, asleep, kind_id, a0, a1, a2, a3, a4, a5, timed, caught) VALUES
  (1, 1001900000000, 'asleep', 1, 1, 3, 0, 0, 0, 0, 0, 0, 0), (2, 1001900000000, 'asleep', 1, 3, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO waited_descriptor(thread_id, fd, via_fd, wants) VALUES(1, 3, NULL, 'read');
INSERT INTO resource VALUES(1, 100, 'make', 3, 'pipe', 'r', 14, 77, NULL, 0, NULL, NULL, 0, 'pipe:[77]', 1001900000000, 'look'),
  (1, 100, 'make', 4, 'pipe', 'w', 14, 77, NULL, NULL, 65536, NULL, 0, 'pipe:[77]', 1001900000000, 'look');
)sql";

class OlderDatabases : public CommandTest {
 protected:
  static void run_sql(sqlite3* database, const std::string& sql) {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << (message != nullptr ? message : "") << " in " << sql.substr(0, 200);
    sqlite3_free(message);
  }

  static Words names(sqlite3* database, const std::string& sql) {
    Words out;
    sqlite3_stmt* raw = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &raw, nullptr), SQLITE_OK) << sql;
    const store::SqliteStatement statement(raw);
    while (sqlite3_step(raw) == SQLITE_ROW)
      out.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(raw, 0)));
    return out;
  }

  // Copies what both have of each table, from `from` to `to`.
  static void copy_rows(const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::string& condition = "") {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(to.c_str(), &raw), SQLITE_OK);
    const store::SqliteHandle handle(raw);
    run_sql(raw, "ATTACH '" + from.string() + "' AS source; BEGIN");
    const std::string both = fmt::format(
        "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' {} INTERSECT "
        "SELECT name FROM source.sqlite_schema",
        condition);
    for (const std::string& table : names(raw, both)) {
      const Words columns =
          names(raw, fmt::format("SELECT '\"' || name || '\"' FROM pragma_table_info('{0}', 'main') WHERE "
                                 "name IN (SELECT name FROM pragma_table_info('{0}', 'source'))",
                                 table));
      run_sql(raw, fmt::format("DELETE FROM main.{0}; INSERT INTO main.{0}({1}) SELECT {1} FROM source.{0}", table,
                               fmt::join(columns, ", ")));
    }
    run_sql(raw, "COMMIT");
  }

  // old/a.db with the schema of this version, and now/a.db with that of now and the same rows.
  void make(const std::string& schema) {
    for (const char* folder : {"old", "now"}) {
      std::filesystem::remove_all(folder_ / folder);
      std::filesystem::create_directory(folder_ / folder);
    }
    write_store(folder_ / "full.db", std::string(kSampleRows) + kCountEvents + kLookRows);
    const std::string name = schema + ".sql";
    const std::string ddl = read_file(std::filesystem::path(paths::kSourceFolder) / "tests/golden/schemas" / name);
    ASSERT_NE(ddl, "") << name;
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ / "old/a.db").c_str(), &raw), SQLITE_OK);
    {
      const store::SqliteHandle handle(raw);
      run_sql(raw, ddl + ";PRAGMA application_id=" + std::to_string(store::kApplicationId) +
                       ";PRAGMA user_version=" + std::to_string(std::stoi(schema)));
    }
    copy_rows(folder_ / "full.db", folder_ / "old/a.db");
    write_store(folder_ / "now/a.db", "");
    copy_rows(folder_ / "full.db", folder_ / "now/a.db", "AND name = 'program_total'");  // what can be counted again
    copy_rows(folder_ / "old/a.db", folder_ / "now/a.db");
    std::filesystem::remove(folder_ / "full.db");
  }

  Finished in(const std::string& folder, Words words) {
    words.insert(words.begin(), paths::kUscope);
    return run_command(folder_ / folder, words);
  }

  // The note of what is missing, which only the old one has.
  static std::string without_note(const std::string& text, std::size_t& notes) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      const std::string line = text.substr(at, end - at);
      at = end;
      if (line.find("an older uscope made a.db") == std::string::npos)
        out += line;
      else
        notes++;
    }
    return out;
  }
};

const std::vector<Words> kQuestions{
    {"report", "a.db", "--format", "json"},
    {"report", "a.db", "--app-module", "libc.so*"},
    {"tree", "a.db", "--images"},
    {"events", "a.db", "-k"},
    {"events", "a.db", "--format", "json", "-k"},
    {"files", "a.db", "--callers"},
    {"time", "a.db"},
    {"deadlock", "a.db", "--format", "json"},
    {"deadlock", "a.db", "--until", "0.5s", "--format", "json"},
    {"events", "a.db", "--thread", "*", "--until", "0.5s"},
    {"export", "a.db"},
    {"query", "a.db", "SELECT kind, count(*) FROM v_event GROUP BY 1 ORDER BY 1"},
    {"sql", "a.db", "SELECT * FROM v_event ORDER BY id"},
    {"sql", "a.db",
     "SELECT * FROM event_descriptor JOIN event ON event.id = event_id; SELECT * FROM kind_result; SELECT * FROM "
     "held_descriptor; "
     "SELECT event.id, parts FROM event LEFT JOIN event_buffers ON event_id = event.id ORDER BY 1; "
     "SELECT wants, bytes, parts FROM waited_descriptor; SELECT thread_id, by_timer FROM thread_look ORDER BY 1; "
     "SELECT function, origin FROM frame ORDER BY id; SELECT id, managed FROM stack ORDER BY id; SELECT * FROM "
     "program_total ORDER BY 1, 2; SELECT * FROM thread_name; SELECT * FROM thread_user"},
    {"files", "a.db", "--open"},
};

TEST_F(OlderDatabases, EachVerbAnswersAsFromTheSameRowsOfNow) {
  Words schemas;
  const auto folder = std::filesystem::path(paths::kSourceFolder) / "tests/golden/schemas";
  for (const auto& file : std::filesystem::directory_iterator(folder)) schemas.push_back(file.path().stem().string());
  for (int version = store::kOldestSchema; version < store::kSchemaVersion; version++)
    EXPECT_EQ(std::count(schemas.begin(), schemas.end(), std::to_string(version)), 1) << version << " is not kept";
  for (const std::string& schema : schemas) {
    make(schema);
    for (const Words& words : kQuestions) {
      const std::string where = schema + ": " + words[0] + " " + words.back();
      const Finished old = in("old", words);
      const Finished now = in("now", words);
      EXPECT_EQ(now.code == 2, false) << where << ": " << now.err;
      EXPECT_EQ(old.code, now.code) << where << ": " << old.err;
      EXPECT_EQ(old.out, now.out) << where;
      std::size_t notes = 0;
      EXPECT_EQ(without_note(old.err, notes), now.err) << where;
      EXPECT_EQ(notes, 1U) << where;
    }
  }
}

TEST_F(OlderDatabases, PagesAndComparisonsAreMadeOfThem) {
  make("15");
  for (const Words& words : {Words{"report", "a.db", "--html", "p.html"}, Words{"deadlock", "a.db", "--html", "d.html"},
                             Words{"export", "a.db", "--format", "speedscope", "-o", "s.json"}}) {
    const Finished run = in("old", words);
    EXPECT_NE(run.code, 2) << run.err;
    EXPECT_NE(run.err.find("an older uscope made a.db (schema 15; now "), std::string::npos) << words[0] << run.err;
    EXPECT_TRUE(std::filesystem::exists(folder_ / "old" / words.back()));
  }
  const Finished run = in("old", {"diff", "--normal", "../now/a.db", "--abnormal", "a.db"});
  EXPECT_EQ(run.code, 0) << run.err;
  std::size_t at = run.out.find("an older uscope made a.db");
  ASSERT_NE(at, std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("an older uscope made", at + 1), std::string::npos) << run.out;
}

// What each call is about is not in them, so it cannot be counted for some of the calls.
TEST_F(OlderDatabases, NoPartOfThemIsCounted) {
  for (const char* schema : {"15", "19"}) {
    make(schema);
    for (const char* verb : {"report", "files"}) {
      const Finished run = in("old", {verb, "a.db", "--since", "0s"});
      EXPECT_EQ(run.code, 2) << run.out;
      EXPECT_EQ(run.out, "");
      EXPECT_NE(run.err.find("a.db was made by an older version of uscope"), std::string::npos) << run.err;
      EXPECT_NE(run.err.find("load it again from its raw trace"), std::string::npos) << run.err;
      EXPECT_NE(in("now", {verb, "a.db", "--since", "0s"}).code, 2);
    }
  }
}

// The note names each thing that is missing, and nothing else.
TEST_F(OlderDatabases, TheNoteNamesWhatIsMissing) {
  struct Expected {
    std::string schema;
    Words is_missing;
    Words is_there;
  };
  const std::vector<Expected> all{
      {"15", Words{"event_descriptor", "waited_descriptor.bytes", "kind_result", "event_buffers", "frame.origin"}, {}},
      {"16", Words{"waited_descriptor.bytes", "kind_result"}, Words{"event_descriptor"}},
      {"17", Words{"event_buffers", "waited_descriptor.parts", "stack.managed"},
       Words{"waited_descriptor.bytes", "kind_result"}},
      {"18", Words{"thread_look.by_timer", "event_descriptor.wants"},
       Words{"waited_descriptor.parts", "event_buffers"}},
      {"19-first", Words{"frame.origin", "stack.managed", "held_descriptor"}, Words{"thread_look.by_timer"}},
      {"19", Words{"held_descriptor", "thread_name", "v_event.uid", "object_total.space", "v_event.object"},
       Words{"frame.origin", "stack.managed", "program_total"}}};
  for (const auto& [schema, is_missing, is_there] : all) {
    make(schema);
    const std::string note = in("old", {"report", "a.db"}).err;
    EXPECT_EQ(std::count(note.begin(), note.end(), '\n'), 1) << note;
    for (const std::string& name : is_missing)
      EXPECT_NE(note.find("(" + name + ")"), std::string::npos) << name << note;
    for (const std::string& name : is_there) EXPECT_EQ(note.find("(" + name + ")"), std::string::npos) << name << note;
  }
}

// An old version is no way in for what uscope has never made.
TEST_F(OlderDatabases, OnlyWhatSomeVersionMadeIsRead) {
  const std::vector<std::pair<std::string, std::string>> changes{
      {"ALTER TABLE waited_descriptor ADD COLUMN more INTEGER", "the table waited_descriptor"},
      {"DROP TABLE thread_look; CREATE VIEW thread_look AS SELECT 1", "the view thread_look"},
      {"CREATE TABLE event_buffers(event_id INTEGER PRIMARY KEY, arg, parts, bytes)", "the table event_buffers"},
      {"CREATE VIEW kind_result AS SELECT 1", "the view kind_result"},
      {"DROP TABLE loss", "lacks the table loss"}};
  for (const auto& [sql, what] : changes) {
    make("15");
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ / "old/a.db").c_str(), &raw), SQLITE_OK);
    {
      const store::SqliteHandle handle(raw);
      run_sql(raw, sql);
    }
    const Finished run = in("old", {"report", "a.db"});
    EXPECT_EQ(run.code, 2) << sql;
    EXPECT_NE(run.err.find(what), std::string::npos) << run.err;
  }
}

}  // namespace
}  // namespace uscope::test

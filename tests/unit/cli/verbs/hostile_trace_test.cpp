// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One loaded trace whose every name is hostile, and all that readers print of it.
#include <nlohmann/json.hpp>

#include "support/text.h"
#include "tests/support/frame_word.h"
#include "tests/unit/cli/run_command.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::test {
namespace {

// ESC sequences (colours, window title), line ends, C1 controls, markup, bytes that are no UTF-8, a backslash, DEL,
// what turns the direction of writing, a line separator, and what separates frames and columns.
const std::string kEvil =
    "\x1b[31m\x1b]0;x\x07\r\n\t\x7f\xc2\x9b</script>\xff\xc3\\\"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c;|end";

class HostileTrace : public CommandTest {
 protected:
  HostileTrace() {
    RawTrace trace(folder_ / "evil.raw", 1);
    trace.task({.name = "\x1b[2J\n\xe2\x80\xae<b>"});
    trace.exec(1, 1, 1, 2, "/opt/" + kEvil, kEvil + std::string(1, '\0') + kEvil + std::string(1, '\0'));
    trace.task({.task = 2, .process = 2, .parent_task = 1, .pid = 200, .tid = 200, .image = 1});
    trace.file(2, "/opt/" + kEvil, kEvil.substr(0, 8));
    trace.unwind_data(3, "/lib/" + kEvil, USC_FILE_UNREACHABLE, 0, "why: " + kEvil);
    trace.jit_name(1, 0x7fff0010, 0x7fff0000, 0x100, kEvil);
    trace.stack(
        1, {test::frame_word(0, 0x7fff0010, true), test::frame_word(2, 0x1100, false), test::frame_word(3, 5, false)},
        USC_ENDED_BROKEN + 200, 1);
    trace.stack(2, {test::frame_word(0, 0x7fff0010, true)}, USC_ENDED_ROOT, 1);
    trace.event({.entry = kStart + 10, .end = kStart + 30, .result = -2, .nr = 257, .stack = 1});
    trace.event({.entry = kStart + 20, .nr = 202, .stack = 2, .how = USC_HOW_OPEN});
    trace.event({.task = 2, .entry = kStart + 25, .end = kStart + 45, .nr = 99999, .stack = 2});
    trace.event({.task = 77, .entry = kStart + 40, .nr = 1, .stack = 9, .abi = 9});
    usc_hit hit{};
    hit.entry_ns = kStart + 46;
    hit.args[0] = hit.args[1] = 100;  // who woke it
    hit.stack = 2;
    hit.kind = USC_OFFCPU_SLEEPING;
    hit.how = USC_HOW_RETURNED;
    hit.source = USC_SOURCE_OFFCPU;
    hit.flags = USC_EVENT_NO_RESULT;
    trace.hit(2, kStart + 49, hit);
    hit.entry_ns = kStart + 49;
    hit.kind = USC_SAMPLE_USER;
    hit.how = USC_HOW_HIT;
    hit.source = USC_SOURCE_SAMPLE;
    trace.hit(2, kStart + 49, hit);
    trace.name(1, "\x1b]2;\x07\xff\xe2\x80\x8f", kStart + 50);
    trace.loss(999, 5, 1);
    trace.loss(USC_LOSS_RING_FULL_EVENT, 3, 2);
    for (const char* key :
         {"host", "kernel", "command", "target", "mode", "calls", "backend", "frames", "uscope_version"})
      trace.meta(key, kEvil);
    trace.meta(kEvil, kEvil);
    trace.close();
    loaded_ = output({"load", "evil.raw", "-o", "evil.db"});
  }

  // No control character but line ends, nothing that turns the direction of writing, valid UTF-8.
  static void expect_safe(const std::string& text, const std::string& what) {
    EXPECT_EQ(to_utf8(text), text) << what;
    for (std::size_t i = 0; i < text.size(); i++) {
      if (text[i] == '\n') continue;
      EXPECT_EQ(unsafe_length(std::string_view(text).substr(i)), 0U)
          << what << " at " << i << ": " << escape_terminal(text.substr(i > 20 ? i - 20 : 0, 60));
      if (HasFailure()) return;
    }
  }

  std::string loaded_;
};

TEST_F(HostileTrace, NoReaderLetsAnythingThrough) {
  expect_safe(loaded_, "load");
  std::string quoted = kEvil;
  quoted.insert(quoted.find('"'), "\"");
  const std::vector<std::vector<std::string>> commands{
      {"report", "evil.db"},
      {"report", "evil.db", "--top", "0"},
      {"time", "evil.db"},
      {"files", "evil.db"},
      {"events", "evil.db", "-t"},
      {"tree", "evil.db"},
      {"tree", "evil.db", "--images"},
      {"events", "evil.db", "-k"},
      {"export", "evil.db", "--with-call"},
      {"export", "evil.db", "--levels", "process,pid,thread,call"},
      {"export", "evil.db", "--weight", "events"},
      {"sql", "evil.db", "SELECT * FROM v_event; SELECT * FROM image; SELECT * FROM thread; SELECT * FROM module"},
      {"sql", "evil.db",
       "SELECT * FROM dual_space; SELECT * FROM meta; SELECT * FROM unwind_table; SELECT * FROM loss"},
      {"sql", "evil.db", "SELECT value AS \"" + quoted + "\" FROM meta"},
      {"sql", "evil.db", "SELECT CAST(x'1b5b41ff' AS TEXT), x'1b', char(0x202e)"}};
  for (const auto& words : commands) {
    std::string text = output(words);
    EXPECT_GT(text.size(), 20U) << words[0];
    expect_safe(text, words[0]);
    // What stands between two names is one line: no name has made another.
    if (words[0] == "events") {
      EXPECT_EQ(text.find("\nend"), std::string::npos) << text;
    }
    if (words[0] == "export") continue;
    std::vector<std::string> with_json = words;
    with_json.insert(with_json.end(), {"--format", "json"});
    text = output(with_json);
    expect_safe(text, words[0] + " as JSON");
    EXPECT_TRUE(nlohmann::json::accept(text)) << words[0];
    EXPECT_EQ(text.find('<'), std::string::npos) << words[0];
  }
}

TEST_F(HostileTrace, ExportsOfOtherToolsAreSafeToo) {
  const Finished speedscope =
      uscope({"export", "evil.db", "--format", "speedscope", "--levels", "process,thread,call"});
  EXPECT_EQ(speedscope.code, 0);
  expect_safe(speedscope.out, "speedscope");
  EXPECT_TRUE(nlohmann::json::accept(speedscope.out));
  for (const char* format : {"pprof", "perfetto", "ctf"}) {
    const Finished run = uscope({"export", "evil.db", "--format", format, "-o", std::string("evil.") + format});
    EXPECT_EQ(run.code, 0) << format;
    expect_safe(run.err, format);
  }
  expect_safe(read_file(folder_ / "evil.ctf" / "metadata"), "the metadata of ctf");
}

TEST_F(HostileTrace, RawLetsNothingThrough) {
  const std::string text = output({"raw", "evil.raw"});
  EXPECT_NE(text.find(" exec "), std::string::npos);
  expect_safe(text, "raw");
  const std::string json = output({"raw", "evil.raw", "--json"});
  expect_safe(json, "raw --json");
  EXPECT_EQ(json.find('<'), std::string::npos);
  std::istringstream lines(json);
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
}

// Hostile names reach SQL and JSON so that their bytes can be had again.
TEST_F(HostileTrace, NothingIsChangedOnTheWayToPrograms) {
  const auto rows = nlohmann::json::parse(output(
      {"sql", "evil.db", "--format", "json", "SELECT path FROM image; SELECT value FROM meta WHERE key = 'host'"}));
  EXPECT_EQ(rows["results"][0]["rows"][0][0], "/opt/" + trace_text(kEvil));
  EXPECT_EQ(bytes_of(rows["results"][0]["rows"][0][0].get<std::string>()), "/opt/" + kEvil);
  EXPECT_EQ(rows["results"][1]["rows"][0][0], to_utf8(kEvil));
}

TEST_F(HostileTrace, FiltersWithHostileNamesFind) {
  const std::string found = output({"events", "evil.db", "--process", "*script*"});
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 6) << found;
  const Finished none = uscope({"events", "evil.db", "--trigger", kEvil});
  EXPECT_EQ(none.code, 0);
  expect_safe(none.out + none.err, "a filter");
  const Finished wrong = uscope({"sql", "evil.db", "SELECT \x1b[31m"});
  EXPECT_EQ(wrong.code, 2);
  expect_safe(wrong.err, "an error");
  const Finished set = uscope({"events", "evil.db", "-e", kEvil});
  EXPECT_EQ(set.code, 2);
  expect_safe(set.err, "an unknown call");
}

TEST_F(HostileTrace, SqlCannotLeaveTheStore) {
  const std::string before = read_file(folder_ / "evil.db");
  for (const char* sql : {"ATTACH '/etc/passwd' AS p",
                          "ATTACH ':memory:' AS p",
                          "ATTACH 'file:new.db?mode=rwc' AS p",
                          "SELECT load_extension('/tmp/x.so')",
                          "SELECT load_extension('/tmp/x.so', 'f')",
                          "PRAGMA writable_schema = ON",
                          "PRAGMA writable_schema(1)",
                          "PRAGMA trusted_schema = 1",
                          "PRAGMA query_only = 0",
                          "PRAGMA journal_mode = DELETE",
                          "PRAGMA temp_store_directory = '/etc'",
                          "PRAGMA data_store_directory = '/etc'",
                          "PRAGMA application_id = 1",
                          "PRAGMA user_version(9)",
                          "PRAGMA wal_checkpoint",
                          "PRAGMA incremental_vacuum",
                          "PRAGMA optimize",
                          "UPDATE sqlite_schema SET sql = 'x'",
                          "INSERT INTO sqlite_stat1 VALUES('a', 'b', 'c')",
                          "CREATE TRIGGER t AFTER INSERT ON meta BEGIN SELECT 1; END",
                          "CREATE TEMP VIEW v AS SELECT 1",
                          "CREATE VIRTUAL TABLE t USING fts5(x)",
                          "SELECT * FROM pragma_journal_mode",
                          "VACUUM INTO '/tmp/x.db'",
                          "WITH x AS (SELECT 1) DELETE FROM event",
                          "EXPLAIN DELETE FROM event",
                          "SAVEPOINT s",
                          "RELEASE s",
                          "SELECT readfile('/etc/passwd')",
                          "SELECT writefile('/tmp/uscope-x', 'y')",
                          "SELECT edit('x')"}) {
    const Finished run = uscope({"sql", "evil.db", sql});
    EXPECT_EQ(run.code, 2) << sql;
    EXPECT_EQ(run.out, "") << sql;
    EXPECT_TRUE(run.err.starts_with("uscope: ")) << sql << ": " << run.err;
  }
  EXPECT_EQ(read_file(folder_ / "evil.db"), before);
}

}  // namespace
}  // namespace uscope::test

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The verbs that read a database, from the outside: what they print, and that they refuse what they must.
#include <nlohmann/json.hpp>

#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

TEST_F(CommandTest, ReportAsText) {
  const std::string text = output({"report", "sample.db"});
  expect_golden(text, "report.txt");
  expect_harmless(text, false);
}

TEST_F(CommandTest, ReportAsJson) {
  const std::string text = output({"report", "sample.db", "--format", "json"});
  expect_schema(text, "report");
  expect_harmless(text, true);
  const Json report = Json::parse(text);
  EXPECT_EQ(report["losses"][0]["cause"], "ring_full_event");
  EXPECT_EQ(report["losses"][0]["count"], 17);
  EXPECT_EQ(report["losses"][0]["processes"][1]["pid"], nullptr);
  EXPECT_EQ(report["trace"]["events"], 14);
  EXPECT_EQ(report["trace"]["meta"]["backend"], "bpf");
  EXPECT_EQ(report["trace"]["began"], "2023-11-14T22:30:00.000000000Z");
  EXPECT_EQ(report["files"]["lines"][2]["name"], "/etc/passwd");
  EXPECT_EQ(report["gaps"]["lines"][0]["before"]["call"], "openat");
  EXPECT_EQ(report["gaps"]["calls_left_out"], false);
  EXPECT_EQ(report["gaps"]["lines"][2]["until"], "thread");
  EXPECT_TRUE(report["gaps"]["lines"][2]["after"].is_null());
  EXPECT_TRUE(report["gaps"]["lines"][3]["before"].is_null());
  EXPECT_EQ(report["gap_pairs"]["lines"][1]["gaps"], 2);
  EXPECT_EQ(report["gap_pairs"]["lines"][1]["longest"]["before"]["call"], "read");
  EXPECT_EQ(report["triggers"]["total"], 10);
  EXPECT_EQ(report["triggers"]["lines"].size(), 10U);
  EXPECT_EQ(report["triggers"]["lines"][0]["function"], "run_job");
  EXPECT_EQ(report["triggers"]["lines"][2]["function"], "\x1b[31mred\n\\xff;</script>");
  EXPECT_EQ(report["processes"]["lines"][4]["exit_signal"], 9);
  EXPECT_EQ(report["verify"]["equal"], 2);
  EXPECT_EQ(report["open"]["lines"][0]["how"], "attached");
}

TEST_F(CommandTest, ReadersSayThatEventsAreMissing) {
  const Json report = Json::parse(output({"report", "sample.db", "--format", "json"}));
  ASSERT_EQ(report["losses"][0]["events_missing"], true);
  const std::string note = "uscope: THIS TRACE IS NOT COMPLETE: 17 lost; `uscope report sample.db` says more\n";
  for (const Words& words :
       {Words{"events", "sample.db"}, Words{"events", "sample.db", "--format", "json"}, Words{"files", "sample.db"},
        Words{"time", "sample.db"}, Words{"tree", "sample.db"}, Words{"sql", "sample.db", "SELECT 1"},
        Words{"export", "sample.db"}, Words{"export", "sample.db", "-o", "folded"}})
    EXPECT_EQ(uscope(words).err, note) << words[0];
  EXPECT_NE(uscope({"report", "sample.db"}).out.find("THIS TRACE IS NOT COMPLETE:"), std::string::npos);
  for (const Words& words : {Words{"report", "sample.db"}, Words{"deadlock", "sample.db"},
                             Words{"diff", "--normal", "sample.db", "--abnormal", "sample.db"}})
    EXPECT_EQ(uscope(words).err, "") << words[0];  // they show it themselves
  write_store(folder_ / "cut.db", "INSERT INTO loss VALUES(1, 1, 'cut_off', NULL, 1);");
  EXPECT_EQ(uscope({"tree", "cut.db"}).err,
            "uscope: THIS TRACE IS NOT COMPLETE: tracing did not end in order; `uscope report cut.db` says more\n");
  write_store(folder_ / "slower.db", "INSERT INTO loss VALUES(1, 1, 'ring_full_stack', NULL, 1);");
  EXPECT_EQ(uscope({"tree", "slower.db"}).err, "");
}

TEST_F(CommandTest, ReportsListsCanBeCut) {
  const Json report = Json::parse(output({"report", "sample.db", "--format", "json", "--top", "1"}));
  EXPECT_EQ(report["calls"]["lines"].size(), 1U);
  EXPECT_EQ(report["calls"]["total"], 4);
  EXPECT_EQ(report["waits"]["total"], 2);
  EXPECT_EQ(report["gaps"]["lines"].size(), 1U);
  EXPECT_EQ(report["threads"]["lines"].size(), 1U);
}

TEST_F(CommandTest, ModulesCountAsTheApplicationAfterwards) {
  const Json report = Json::parse(output({"report", "sample.db", "--format", "json", "--app-module", "libc.so*"}));
  // Of a stack that the budget cut, the trigger is as uncertain as before.
  for (const Json& line : report["triggers"]["lines"]) EXPECT_EQ(line["fallback"], line["function"] == "read") << line;
  const Finished none = uscope({"report", "sample.db", "--app-module", "libnone*"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("no module of the trace matches --app-module libnone*"), std::string::npos) << none.err;
  EXPECT_NE(none.err.find("SELECT path FROM module"), std::string::npos) << none.err;
  EXPECT_EQ(uscope({"events", "sample.db", "--app-module", "libnone*"}).code, 2);
  EXPECT_EQ(uscope({"diff", "--normal", "sample.db", "--abnormal", "sample.db", "--app-module", "libnone*"}).code, 2);
  EXPECT_EQ(uscope({"diff", "--normal", "sample.db", "--abnormal", "sample.db", "--app-module", "make"}).code, 0);
}

TEST_F(CommandTest, TreeAsText) {
  expect_golden(output({"tree", "sample.db"}), "tree.txt");
  const std::string images = output({"tree", "sample.db", "--images"});
  expect_golden(images, "tree-images.txt");
  expect_harmless(images, false);
}

TEST_F(CommandTest, ADeepTreeStaysReadable) {
  write_store(folder_ / "deep.db", R"sql(
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO process(id, pid, ns_pid, parent_id, start_ns, end_ns, exit_code, exit_signal, uses_io_uring) SELECT i, i, i, i - 1, i, NULL, NULL, NULL, 0 FROM n;)sql");
  const std::string text = output({"tree", "deep.db"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5001);
  EXPECT_NE(text.find("└─ 13 ?"), std::string::npos);
  EXPECT_NE(text.find("  [generation 4999] 5000 ?"), std::string::npos);
}

TEST_F(CommandTest, TreeAsJson) {
  const std::string text = output({"tree", "sample.db", "--format", "json"});
  expect_schema(text, "tree");
  expect_harmless(text, true);
  const Json tree = Json::parse(text);
  EXPECT_EQ(tree["roots"], Json({1, 5, 6}));
  EXPECT_EQ(tree["processes"][0]["children"], Json({2, 3}));
  EXPECT_EQ(tree["processes"][0]["images"][1]["path"], "/usr/bin/make");
}

TEST_F(CommandTest, SqlAsText) {
  EXPECT_EQ(output({"sql", "sample.db", "SELECT id, kind, errno FROM v_event WHERE pid = 101 ORDER BY id"}),
            "id  kind        errno\n"
            "--  ----------  ------\n"
            " 2  openat      ENOENT\n"
            " 5  openat      NULL\n"
            " 6  openat      ENOENT\n"
            "10  exit_group  NULL\n");
  EXPECT_EQ(output({"sql", "sample.db", "SELECT x'00ff' AS b; SELECT char(27) || '[1m' AS esc -- two\n"}),
            "b\n-------\nx'00ff'\n\nesc\n-------\n\\x1b[1m\n");
}

TEST_F(CommandTest, SqlHasTheFunctionsOfQuestions) {
  EXPECT_EQ(
      output({"sql", "sample.db",
              "SELECT bucket(1000) AS b, quantile(value, 0.5) AS q, hist(value) AS h FROM (SELECT 3 AS value UNION "
              "SELECT 5 UNION SELECT 9)"}),
      "   b  q  h\n"
      "----  -  ---\n"
      "1007  5  [1]\n\n"
      "[1]\n"
      "<=  3  ########################################  1\n"
      "<=  7  ########################################  1\n"
      "<= 15  ########################################  1\n");
}

// What looks like a histogram is drawn as one, behind each table; other lists are what they are, and so is JSON.
TEST_F(CommandTest, SqlDrawsHistograms) {
  EXPECT_EQ(
      output({"sql", "sample.db", "SELECT '[[1,2],[3,1]]' AS h, '[1,2]' AS n UNION ALL SELECT NULL, '[[]]'; SELECT 7"}),
      "h     n\n"
      "----  -----\n"
      "[1]   [1,2]\n"
      "NULL  [[]]\n\n"
      "[1]\n"
      "<= 1  ########################################  2\n"
      "<= 3  ####################                      1\n\n"
      "7\n-\n7\n");
  EXPECT_NE(output({"sql", "sample.db", "--format", "json", "SELECT hist(1)"}).find("[[1,1]]"), std::string::npos);
}

TEST_F(CommandTest, SqlAsJson) {
  const std::string text = output({"sql", "sample.db", "--format", "json",
                                   "SELECT 1 AS a, NULL, 1.5, 'x', x'0aff'; SELECT name FROM thread WHERE id = 5"});
  expect_schema(text, "sql");
  expect_harmless(text, true);
  const Json results = Json::parse(text)["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["columns"][0], "a");
  EXPECT_EQ(results[0]["rows"], Json::array({Json::array({1, nullptr, 1.5, "x", {{"blob", "x'0aff'"}}})}));
  EXPECT_EQ(results[1]["rows"][0][0], "\x1b[31mred\n\\xff;</script>");
}

TEST_F(CommandTest, SqlMayDescribeTheSchema) {
  EXPECT_NE(output({"sql", "sample.db", "PRAGMA table_info(event)"}).find("thread_id"), std::string::npos);
  EXPECT_EQ(output({"sql", "sample.db", "PRAGMA user_version"}),
            "user_version\n------------\n          " + std::to_string(store::kSchemaVersion) + "\n");
}

TEST_F(CommandTest, SqlHasSchemaAndTables) {
  EXPECT_EQ(output({"sql", "sample.db", " .schema errno_name\n"}),
            "name        type   columns\n"
            "----------  -----  -------------------------\n"
            "errno_name  table  number INTEGER, name TEXT\n");
  const std::string tables = output({"sql", "sample.db", ".tables"});
  EXPECT_NE(tables.find("v_event "), std::string::npos) << tables;
  EXPECT_NE(output({"sql", "sample.db", ".schema"}).find("object_kind"), std::string::npos);
  for (const char* wrong : {".dump", ".schema x' OR '1", ".quit"}) {
    const Finished run = uscope({"sql", "sample.db", wrong});
    EXPECT_EQ(run.code, 2) << wrong;
    EXPECT_NE(run.err.find("is not a command of `uscope sql`"), std::string::npos) << run.err;
  }
}

TEST_F(CommandTest, SqlOffersNearNames) {
  const auto said = [this](const char* sql) { return uscope({"sql", "sample.db", sql}).err; };
  EXPECT_NE(said("SELECT knd FROM v_event").find("did you mean kind"), std::string::npos);
  EXPECT_NE(said("SELECT * FROM v_evnt").find("did you mean v_event"), std::string::npos);
  EXPECT_NE(said("SELECT fd FROM v_event").find("in v_event, a0 to a5 are the arguments"), std::string::npos);
}

TEST_F(CommandTest, SqlRefusesEverythingButReading) {
  const std::string before = read_file(path());
  for (const char* sql :
       {"DELETE FROM event", "INSERT INTO meta VALUES('a', 'b')", "UPDATE event SET result = 0", "CREATE TABLE t(x)",
        "CREATE TEMP TABLE t(x)", "DROP TABLE event", "ATTACH 'other.db' AS o", "DETACH main",
        "PRAGMA user_version = 6", "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = 1",
        "PRAGMA temp_store_directory = '/tmp'", "SELECT load_extension('x')", "VACUUM", "VACUUM INTO 'copy.db'",
        "BEGIN", "REINDEX", "ANALYZE", "SELECT 1; DELETE FROM event"}) {
    const Finished run = uscope({"sql", "sample.db", sql});
    EXPECT_EQ(run.code, 2) << sql;
    EXPECT_EQ(run.out, "") << sql;
    EXPECT_TRUE(run.err.starts_with("uscope: ")) << sql << run.err;
  }
  EXPECT_EQ(read_file(path()), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "copy.db"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other.db"));
}

TEST_F(CommandTest, SqlSaysWhatIsWrong) {
  const Finished typo = uscope({"sql", "sample.db", "SELEC 1"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_NE(typo.err.find("syntax error"), std::string::npos) << typo.err;
  const Finished nothing = uscope({"sql", "sample.db", " -- nothing\n;"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("no SQL statement"), std::string::npos) << nothing.err;
}

TEST_F(CommandTest, FoldedExport) {
  const std::string text = output({"export", "sample.db"});
  EXPECT_NE(text.find("make;__libc_start_main;main;run_job;helper;read 4\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  const Finished timed = uscope({"export", "sample.db", "--format", "folded", "--weight", "time", "-o", "out.folded"});
  EXPECT_EQ(timed.code, 0);
  EXPECT_TRUE(
      timed.err.ends_with("uscope: 5 of 14 events have no duration (never returned, or no calls) and no weight here\n"))
      << timed.err;
  EXPECT_NE(read_file(folder_ / "out.folded").find("helper;read 7000\n"), std::string::npos);
  EXPECT_EQ(std::filesystem::status(folder_ / "out.folded").permissions(), std::filesystem::perms(0600));
}

TEST_F(CommandTest, FoldedExportTakesTheFiltersOfEvents) {
  EXPECT_EQ(output({"export", "sample.db", "-p", "101", "--failed"}), "gcc;[broken:no_rows];compile;openat 2\n");
  EXPECT_EQ(output({"export", "sample.db", "-e", "openat", "--path", "/etc/*", "--levels", "pid,thread,call"}),
            "pid 101;gcc/101;[broken:no_rows];compile;openat;openat 1\n");
  EXPECT_EQ(output({"export", "sample.db", "--since", "22:30:00.53", "--until", "22:30:00.6"}), "true;read 1\n");
  EXPECT_EQ(uscope({"export", "sample.db", "--levels", "host"}).code, 2);
  EXPECT_EQ(uscope({"export", "sample.db", "--levels", "call", "--with-call"}).code, 2);
  EXPECT_EQ(uscope({"export", "sample.db", "--since", "25:00"}).code, 2);
}

TEST_F(CommandTest, AReportFitsANarrowTerminal) {
  const std::string script =
      "import fcntl, os, pty, struct, sys, termios\n"
      "pid, fd = pty.fork()\n"
      "if pid == 0:\n"
      "    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))\n"
      "    os.execv(sys.argv[1], [sys.argv[1], 'report', 'sample.db', '--no-pager', '--color', 'never'])\n"
      "text = b''\n"
      "try:\n"
      "    while data := os.read(fd, 65536): text += data\n"
      "except OSError: pass\n"
      "lists = text.decode().split('PROCESSES')[1]\n"
      "print(max(len(line) for line in lists.split('\\r\\n') if line.startswith('  ')))\n";
  const Finished run = run_command(folder_ / ".", {"python3", "-c", script, paths::kUscope});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_LE(std::atoi(run.out.c_str()), 80) << run.out;
}

TEST_F(CommandTest, AFailedExportLeavesNothingBehind) {
  std::ofstream(folder_ / "kept.folded") << "before";
  const Finished run = uscope({"export", "missing.db", "-o", "kept.folded"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(read_file(folder_ / "kept.folded"), "before");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "kept.folded.part"));
}

TEST_F(CommandTest, EveryReaderRefusesWhatIsNoTrace) {
  std::ofstream(folder_ / "text.db") << std::string(5000, 'x');
  run_command(folder_ / ".",
              {"python3", "-c",
               "import sqlite3; c = sqlite3.connect('foreign.db'); c.execute('CREATE TABLE t(x)'); c.commit();"
               "import shutil; shutil.copy('sample.db', 'future.db');"
               "c = sqlite3.connect('future.db'); c.execute('PRAGMA user_version = 99'); c.commit()"});
  for (const Words& verb : {Words{"report"}, {"time"}, {"files"}, {"tree"}, {"sql"}, {"export"}, {"events"}}) {
    const auto fails = [&](const std::string& file, const std::string& reason) {
      Words words = verb;
      words.push_back(file);
      if (verb[0] == "sql") words.push_back("SELECT 1");
      const Finished run = uscope(words);
      EXPECT_EQ(run.code, 2) << verb[0] << " " << file;
      EXPECT_EQ(run.out, "") << verb[0] << " " << file;
      EXPECT_TRUE(run.err.starts_with("uscope: ")) << run.err;
      EXPECT_NE(run.err.find(reason), std::string::npos) << run.err;
    };
    fails("missing.db", "No such file or directory");
    fails("text.db", "not a database");
    fails("foreign.db", "not one of uscope's");
    fails("future.db", "a newer version");
    fails(".", "not a regular file");
  }
}

TEST_F(CommandTest, UsageErrorsAreTwoAndNamed) {
  for (const Words& words : {Words{},
                             {"nonsense"},
                             {"report"},
                             {"report", "sample.db", "--format", "xml"},
                             {"report", "sample.db", "--top", "-1"},
                             {"tree", "sample.db", "--unknown"},
                             {"sql", "sample.db"},
                             {"export", "sample.db", "--format", "dot"},
                             {"export", "sample.db", "--format", "pprof", "--weight", "time"}}) {
    const Finished run = uscope(words);
    EXPECT_EQ(run.code, 2) << (words.empty() ? "" : words[0]);
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(run.err.starts_with("uscope: ")) << run.err;
  }
}

TEST_F(CommandTest, NamesOnTheCommandLineAreEscapedInMessages) {
  const Finished run = uscope({"report", "a\x1b[31m.db"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
  EXPECT_NE(run.err.find("a\\x1b[31m.db"), std::string::npos);
}

TEST_F(CommandTest, VersionAndHelpGoToStandardOutput) {
  EXPECT_TRUE(output({"--version"}).starts_with("uscope "));
  const std::string help = output({"--help"});
  for (const char* verb : {"load", "report", "events", "tree", "sql", "export", "completion"})
    EXPECT_NE(help.find(verb), std::string::npos) << verb;
}

TEST_F(CommandTest, AFullDiskIsAnError) {
  const Finished run =
      run_command(folder_ / ".", {"sh", "-c", std::string(paths::kUscope) + " report sample.db > /dev/full"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("No space left on device"), std::string::npos) << run.err;
}

TEST_F(CommandTest, AClosedOutputIsAnError) {
  for (const char* words : {"report sample.db", "events sample.db", "sql sample.db 'SELECT 1'", "export sample.db",
                            "--help", "--version", "query --list", "query --explain 'SELECT kind FROM v_event'"}) {
    const Finished run = run_command(folder_ / ".", {"sh", "-c", std::string(paths::kUscope) + " " + words + " >&-"});
    EXPECT_EQ(run.code, 2) << words;
    EXPECT_NE(run.err.find("cannot write the result: Bad file descriptor"), std::string::npos) << words << run.err;
  }
}

// The limit of file sizes, whose signal would end uscope.
TEST_F(CommandTest, AFileBeyondTheLimitOfSizesIsAnError) {
  for (const char* words : {"export sample.db --format speedscope -o out.json", "report sample.db --html out.html",
                            "events sample.db > out"}) {
    const Finished run = run_command(
        folder_ / ".", {"sh", "-c", std::string("ulimit -f 1; ") + std::string(paths::kUscope) + " " + words});
    EXPECT_EQ(run.code, 2) << words;
    EXPECT_NE(run.err.find("File too large"), std::string::npos) << words << run.err;
    EXPECT_NE(run.err.find("raise the limit of file sizes (ulimit -f)"), std::string::npos) << words << run.err;
  }
}

}  // namespace
}  // namespace uscope::test

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the commands make of the place that -o names, and what readers make of files that are none.
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/unit/cli/run_command.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::test {
namespace {

namespace fs = std::filesystem;

class Outputs : public CommandTest {
 protected:
  void SetUp() override {
    RawTrace trace(folder_ / "trace.raw", 1);
    trace.task({});
    trace.event({});
    trace.totals();
    trace.close();
  }

  void expect_failure(const std::vector<std::string>& words, const std::string& what) {
    const Finished run = uscope(words);
    EXPECT_EQ(run.code, 2) << words.back();
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(what), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("\n  "), std::string::npos) << "no way out: " << run.err;
    for (const auto& entry : fs::directory_iterator(folder_ / "."))
      EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
  }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
};

TEST_F(Outputs, LoadReplacesDatabasesOnly) {
  put("notes", "precious");
  expect_failure({"load", "trace.raw", "-o", "notes"}, "notes exists, and is no trace of uscope's");
  EXPECT_EQ(read_file(folder_ / "notes"), "precious");
  const std::string raw = read_file(folder_ / "trace.raw");
  for (const char* force : {"--format=text", "--force"})
    expect_failure({"load", "trace.raw", force, "-o", "trace.raw"}, "trace.raw");
  EXPECT_EQ(read_file(folder_ / "trace.raw"), raw);
  EXPECT_NE(output({"load", "trace.raw", "--force", "-o", "notes"}).find("-> notes, in place of an older file\n"),
            std::string::npos);
  EXPECT_NE(output({"load", "trace.raw", "-o", "notes"}).find("-> notes, the one before is notes.old\n"),
            std::string::npos);
  EXPECT_NE(output({"load", "trace.raw", "-o", "new.db"}).find("-> new.db\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(
                output({"sql", "notes", "SELECT count(*) FROM event", "--format", "json"}))["results"][0]["rows"][0][0],
            1);
}

TEST_F(Outputs, NamesThatAreNone) {
  expect_failure({"load", "trace.raw", "-o", ""}, "needs a value, and an empty one is given");
  expect_failure({"load", "trace.raw", "-o", "none/"}, "the output is a folder: none/");
  expect_failure({"load", "trace.raw", "-o", "."}, "the output is a folder: .");
  expect_failure({"load", "trace.raw", "-o", "-"}, "a database cannot be written to it");
  expect_failure({"load", "trace.raw", "-o", "/dev/stdout"}, "a database cannot be written to it");
  expect_failure({"load", "trace.raw", "-o", std::string(300, 'x')}, "File name too long");
  expect_failure({"load", "trace.raw", "-o", std::string(252, 'x')}, "File name too long");
  expect_failure({"export", "sample.db", "-o", ""}, "needs a value, and an empty one is given");
}

TEST_F(Outputs, ExportWritesToDescriptorsPipesAndDevices) {
  const std::string folded = output({"export", "sample.db"});
  EXPECT_GT(folded.size(), 20U);
  for (const char* out : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
    EXPECT_EQ(output({"export", "sample.db", "-o", out}), folded) << out;
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  const Finished piped = run_command(
      folder_ / ".", {"sh", "-c", std::string(paths::kUscope) + " export sample.db -o fifo & cat fifo; wait $!"});
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, folded);
  EXPECT_TRUE(fs::is_fifo(folder_ / "fifo"));
  expect_failure({"load", "trace.raw", "-o", "fifo", "--force"}, "fifo is a pipe: a database cannot be written to it");
  if (mknod((folder_ / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0)
    GTEST_SKIP() << "devices can be made by root only";
  EXPECT_EQ(output({"export", "sample.db", "-o", "null"}), "");
  expect_failure({"load", "trace.raw", "-o", "null", "--force"}, "null is a character device: a database");
  EXPECT_TRUE(fs::is_character_file(folder_ / "null"));
}

TEST_F(Outputs, ExportReplacesNothingUnasked) {
  const std::string folded = output({"export", "sample.db"});
  EXPECT_EQ(output({"export", "sample.db", "-o", "folded"}), "");
  EXPECT_EQ(read_file(folder_ / "folded"), folded);
  EXPECT_EQ(fs::status(folder_ / "folded").permissions(), fs::perms(0600));
  put("folded", "precious");
  expect_failure({"export", "sample.db", "-o", "folded"}, "folded exists, and is no trace");
  const std::string trace = read_file(path());
  expect_failure({"export", "sample.db", "-o", "sample.db"}, "sample.db");
  expect_failure({"export", "sample.db", "--force", "-o", "sample.db"}, "the output is the trace itself");
  EXPECT_EQ(read_file(path()), trace);
  EXPECT_EQ(read_file(folder_ / "folded"), "precious");
  EXPECT_EQ(output({"export", "sample.db", "--force", "-o", "folded"}), "");
  EXPECT_EQ(read_file(folder_ / "folded"), folded);
}

// Every reader, on a database that was changed: an error within seconds, and nothing made beside it.
TEST_F(Outputs, ReadersTouchNothingBesideAForeignDatabase) {
  const auto changed = [&](const std::string& sql, const std::string& what) {
    fs::remove(folder_ / "foreign.db");
    fs::copy_file(path(), folder_ / "foreign.db");
    const std::string program =
        "import sqlite3, sys; c = sqlite3.connect('foreign.db', isolation_level=None); "
        "c.executescript(sys.argv[1])";
    ASSERT_EQ(run_command(folder_ / ".", {"python3", "-c", program, sql}).code, 0);
    for (const char* verb : {"report", "time", "files", "events", "tree", "deadlock", "export"})
      expect_failure({verb, "foreign.db"}, what);
    expect_failure({"sql", "foreign.db", "SELECT 1"}, what);
    expect_failure({"diff", "--normal", "sample.db", "--abnormal", "foreign.db"}, what);
    for (const char* suffix : {"-journal", "-wal", "-shm"})
      EXPECT_FALSE(fs::exists(folder_ / ("foreign.db" + std::string(suffix)))) << suffix;
  };
  changed("PRAGMA journal_mode=WAL", "foreign.db is in SQLite's WAL mode");
  changed(
      "DROP TABLE meta; CREATE VIEW meta AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
      "SELECT i AS key, i AS value FROM n",
      "foreign.db holds what uscope does not make: the view meta");
}

TEST_F(Outputs, APipeNamedAsAJournalDelaysNobody) {
  const std::string before = output({"report", "sample.db"});
  for (const char* suffix : {"-journal", "-wal", "-shm"})
    ASSERT_EQ(mkfifo((path().string() + suffix).c_str(), 0600), 0);
  EXPECT_EQ(output({"report", "sample.db"}), before);
  output({"events", "sample.db"});
  output({"tree", "sample.db"});
  output({"sql", "sample.db", "SELECT count(*) FROM event"});
  output({"export", "sample.db"});
}

TEST_F(Outputs, AnInterruptEndsAQueryAtOnce) {
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (dup2(nothing, 1) < 0 || dup2(nothing, 2) < 0 || chdir((folder_ / ".").c_str()) != 0) _exit(126);
    (void)::signal(SIGINT, SIG_DFL);  // a test that was started with & may ignore it
    execl(paths::kUscope, paths::kUscope, "sql", "sample.db",
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", nullptr);
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WNOHANG), 0) << "it ended by itself";
  const auto began = std::chrono::steady_clock::now();
  kill(child, SIGINT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

}  // namespace
}  // namespace uscope::test

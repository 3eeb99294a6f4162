// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What `time` and `report` print of a trace with samples and times off the CPU.
#include <nlohmann/json.hpp>

#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// For the sample trace. make sleeps in nanosleep (event 11) until worker wakes it, and runs; the thread with the
// hostile name runs its function, is preempted, and is woken by a thread that is not traced.
constexpr const char* kTimeRows = R"sql(
INSERT INTO kind(id, name, class, abi, nr) VALUES
  (30, 'user', 'sample', 'none', 1), (31, 'kernel', 'sample', 'none', 2), (32, 'preempted', 'offcpu', 'none', 1),
  (33, 'sleeping', 'offcpu', 'none', 2), (34, 'blocked', 'offcpu', 'none', 3);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO event SELECT 200 + i, 1000800000000 + i * 10000000, NULL, 'hit', 1, 2, 30, NULL, 1, 0, 10000000, 0, 0, 0, 0, NULL FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event SELECT 300 + i, 1000700000000 + i * 1000000, NULL, 'hit', 1, 2, 31, NULL, 3, 0, 10000000, 0, 0, 0, 0, NULL FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49)
INSERT INTO event SELECT 400 + i, 1000500000000 + i * 10000000, NULL, 'hit', 5, 4, 30, NULL, 4, 0, 10000000, 0, 0, 0, 0, NULL FROM n;
INSERT INTO event VALUES
  (500, 1000150000000, 540000000, 'returned', 1, 2, 33, NULL, 3, 110, 100, 40000000, 1, 0, 0, NULL),
  (501, 1001000000000, 100000000, 'returned', 5, 4, 32, NULL, 4, 0, 0, 0, 0, 0, 0, NULL),
  (502, 1001100000000, 800000000, 'returned', 5, 4, 34, NULL, 4, 4711, 4710, 0, 2, 0, 0, NULL);
)sql";

class TimeCommand : public CommandTest {
 protected:
  TimeCommand() { write_store(folder_ / "t.db", std::string(kSampleRows) + kTimeRows + kCountEvents); }
};

TEST_F(TimeCommand, TimeAsText) {
  const std::string text = output({"time", "t.db"});
  expect_golden(text, "time.txt");
  expect_harmless(text, false);
}

TEST_F(TimeCommand, TimeAsJson) {
  const std::string text = output({"time", "t.db", "--format", "json"});
  expect_schema(text, "time");
  expect_harmless(text, true);
  const Json time = Json::parse(text);
  EXPECT_EQ(time["recorded"]["calls"], "all");
  const Json& make = time["threads"]["lines"][0];
  EXPECT_EQ(make["tid"], 100);
  EXPECT_EQ(make["total_ns"], 1'999'999'999);  // since it was found in a call
  EXPECT_EQ(make["running_ns"], 1'100'000'000);
  EXPECT_EQ(make["sleeping_ns"], 500'000'000);
  EXPECT_EQ(make["inside"][0]["call"], "nanosleep");
  EXPECT_EQ(make["inside"][0]["in_calls_off_ns"], 540'000'000);
  EXPECT_EQ(time["waiting"]["lines"][1]["wakers"][0]["thread"], "worker");
  EXPECT_EQ(time["waiting"]["lines"][0]["wakers"][0]["thread"], nullptr);
  EXPECT_EQ(time["waiting"]["lines"][0]["wakers"][0]["tid"], 4711);
}

TEST_F(TimeCommand, ReportHasItToo) {
  const std::string text = output({"report", "t.db"});
  EXPECT_NE(text.find("\nTIME "), std::string::npos) << text;
  EXPECT_NE(text.find("\nWAITING BY FUNCTION "), std::string::npos);
  EXPECT_NE(text.find("uscope time t.db"), std::string::npos);
  EXPECT_EQ(text.find("TIME BY STACK"), std::string::npos);
  expect_harmless(text, false);
  const std::string json = output({"report", "t.db", "--format", "json"});
  expect_schema(json, "report");
  const Json time = Json::parse(json)["time"];
  expect_schema(time.dump(), "time");
  EXPECT_EQ(time, Json::parse(output({"time", "t.db", "--format", "json"})));
}

TEST_F(TimeCommand, ListsCanBeCutAndProcessesChosen) {
  const Json cut = Json::parse(output({"time", "t.db", "--format", "json", "--top", "1"}));
  for (const char* list : {"threads", "calls", "running", "triggers", "stacks", "waiting"})
    EXPECT_EQ(cut[list]["lines"].size(), 1U) << list;
  const Json gcc = Json::parse(output({"time", "t.db", "--format", "json", "--process", "gcc"}));
  EXPECT_EQ(gcc["threads"]["total"], 2);  // its child has been a gcc, too
  const Finished none = uscope({"time", "t.db", "--process", "none"});
  EXPECT_EQ(none.code, 0);
  EXPECT_NE(none.err.find("none"), std::string::npos) << none.err;
  EXPECT_EQ(uscope({"time", "t.db", "--app-module", "libnone*"}).code, 2);
  EXPECT_EQ(uscope({"time", "t.db", "--app-module", "libc.so*"}).code, 0);
}

TEST_F(TimeCommand, OfCallsAloneItSaysWhatToRecord) {
  EXPECT_NE(output({"time", "sample.db"}).find("`uscope record -t sample:99 -t offcpu` records them"),
            std::string::npos);
  const std::string json = output({"time", "sample.db", "--format", "json"});
  expect_schema(json, "time");
  EXPECT_EQ(output({"report", "sample.db"}).find("\nTIME"), std::string::npos);
  EXPECT_EQ(Json::parse(output({"report", "sample.db", "--format", "json"}))["time"], nullptr);
}

TEST_F(TimeCommand, ItFitsANarrowTerminal) {
  const std::string script =
      "import fcntl, os, pty, struct, sys, termios\n"
      "pid, fd = pty.fork()\n"
      "if pid == 0:\n"
      "    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))\n"
      "    os.execv(sys.argv[1], [sys.argv[1], 'time', 't.db', '--no-pager', '--color', 'never'])\n"
      "text = b''\n"
      "try:\n"
      "    while data := os.read(fd, 65536): text += data\n"
      "except OSError: pass\n"
      "print(max(len(line) for line in text.decode().split('\\r\\n') if not line.startswith(('uscope: ', '* '))))\n";
  const Finished run = run_command(folder_ / ".", {"python3", "-c", script, paths::kUscope});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_LE(std::stoi(run.out), 80);
}

}  // namespace
}  // namespace uscope::test

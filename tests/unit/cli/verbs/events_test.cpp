// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope events`, from the outside.
#include <nlohmann/json.hpp>

#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class EventsTest : public CommandTest {
 protected:
  // Ids of the events that the options leave.
  std::vector<int> ids(Words options) {
    options.insert(options.begin(), {"events", "sample.db", "--format", "json"});
    const Json document = Json::parse(output(options));
    std::vector<int> found;
    for (const Json& event : document["events"]) found.push_back(event["id"]);
    return found;
  }

  void refuses(Words options, const std::string& reason) {
    options.insert(options.begin(), {"events", "sample.db"});
    const Finished run = uscope(options);
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(reason), std::string::npos) << run.err;
  }
};

TEST_F(EventsTest, AsText) {
  const std::string text = output({"events", "sample.db"});
  expect_golden(text, "events.txt");
  const std::string stacks = output({"events", "sample.db", "--stack"});
  expect_golden(stacks, "events-stack.txt");
  expect_harmless(stacks, false);
}

TEST_F(EventsTest, AsJson) {
  const std::string text = output({"events", "sample.db", "--format", "json", "--stack"});
  expect_schema(text, "events");
  expect_harmless(text, true);
  const Json events = Json::parse(text)["events"];
  ASSERT_EQ(events.size(), 14U);
  EXPECT_EQ(events[0]["how"], "attached");
  EXPECT_EQ(events[0]["dur_ns"], nullptr);
  EXPECT_EQ(events[0]["frames"], Json::array());
  EXPECT_EQ(events[1]["args"][1], "0x7f544a44c000");
  EXPECT_EQ(events[1]["frames"][2]["function"], "run_job");
  EXPECT_EQ(events[1]["frames"][2]["line"], 42);
  EXPECT_EQ(events[6]["args"][0], "0xffffffffffffff9c");
  EXPECT_EQ(events[6]["strings"][0]["value"], "/etc/passwd");
  EXPECT_EQ(events[6]["error"], "ENOENT");
  expect_schema(output({"events", "sample.db", "--format", "json"}), "events");
}

TEST_F(EventsTest, TimesAreRelativeOrOfTheDay) {
  const Words one{"events", "sample.db", "-p", "101", "-n", "2", "-e", "openat"};
  const auto times = [&](Words more) {
    Words words = one;
    words.insert(words.end(), more.begin(), more.end());
    std::istringstream lines(output(words));
    std::string found;
    for (std::string line; std::getline(lines, line);) found += line.substr(12, line.find(" openat") - 12) + "|";
    return found;
  };
  EXPECT_EQ(times({}), " 0.220000| 0.230000|");
  EXPECT_EQ(times({"-t"}), " 22:30:00.220000| 22:30:00.230000|");
  EXPECT_EQ(times({"--time", "wall"}), times({"-t"}));
  EXPECT_EQ(times({"--time", "delta"}), " 0.000000| 0.010000|");
  EXPECT_EQ(Json::parse(output({"events", "sample.db", "--format", "json", "-n", "1"}))["events"][0]["time"],
            "2023-11-14T22:30:00.000000001Z");
  write_store(folder_ / "timeless.db", "INSERT INTO meta VALUES('start_ns', '1');");
  const Finished run = uscope({"events", "timeless.db", "-t"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("does not say when it began"), std::string::npos) << run.err;
}

TEST_F(EventsTest, AnEventIsShownWithItsStackAmongItsNeighbours) {
  const std::string text = output({"events", "sample.db", "--id", "3", "--around", "1"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8) << text;
  EXPECT_LT(text.find("bash[100/100] 0.010000"), text.find("make[100/100] 0.120000"));
  EXPECT_LT(text.find("0.120000"), text.find(" > /usr/bin/make(run_job"));
  EXPECT_LT(text.find(" > /usr/bin/make(run_job"), text.find("0.130000"));
}

TEST_F(EventsTest, NoEventIsAnEmptyDocument) {
  const Finished json = uscope({"events", "sample.db", "--format", "json", "--pid", "105"});
  EXPECT_EQ(json.code, 0);
  expect_schema(json.out, "events");
  EXPECT_EQ(Json::parse(json.out)["events"].size(), 0U);
  const Finished text = uscope({"events", "sample.db", "--pid", "105"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, "");
  for (const Finished& run : {json, text})
    EXPECT_TRUE(run.err.ends_with("\nuscope: no event of sample.db matches\n")) << run.err;
}

TEST_F(EventsTest, ProcessesThatDoNotOccurAreListed) {
  const std::string err = uscope({"events", "sample.db", "-p", "4"}).err;
  EXPECT_NE(
      err.find("uscope: the trace has no process 4; those in it: 100 make, 101 gcc, 102 make, 103 script>, 104 true"),
      std::string::npos)
      << err;
  EXPECT_NE(uscope({"events", "sample.db", "-p", "4", "-p", "5"}).err.find("none of these processes; those in it: 100"),
            std::string::npos);
  EXPECT_EQ(uscope({"events", "sample.db", "-p", "4", "-p", "100"}).err.find("those in it"), std::string::npos);
  std::string rows = "INSERT INTO meta VALUES('start_ns', '1');";
  for (int pid = 1; pid <= 23; pid++)
    rows += "INSERT INTO process(id, pid, ns_pid, uses_io_uring) VALUES(" + std::to_string(pid) + ", " +
            std::to_string(pid) + ", 1, 0);";
  write_store(folder_ / "many.db", rows);
  EXPECT_NE(uscope({"events", "many.db", "-p", "99"}).err.find(", 20 ? and 3 more\n"), std::string::npos);
}

TEST_F(EventsTest, TimesThatHoldNothingAreNamed) {
  const Finished exchanged = uscope({"events", "sample.db", "--since", "2s", "--until", "1s"});
  EXPECT_EQ(exchanged.code, 2);
  EXPECT_NE(exchanged.err.find("--since 2s is after --until 1s"), std::string::npos) << exchanged.err;
  EXPECT_EQ(uscope({"events", "sample.db", "--since", "1s", "--until", "1s"}).code, 0);
  const Finished late = uscope({"events", "sample.db", "--since", "100s"});
  EXPECT_EQ(late.code, 0);
  EXPECT_TRUE(late.err.ends_with("uscope: --since is after the end of the trace, which is 2.000000 s long\n"))
      << late.err;
  EXPECT_EQ(uscope({"events", "sample.db", "--since", "1.9s"}).err.find("--since"), std::string::npos);
}

TEST_F(EventsTest, SignalsThatWereNotRecordedAreExplained) {
  const std::string none = "uscope: the trace has no signals: `record --signals` records them";
  EXPECT_TRUE(uscope({"events", "sample.db", "-e", "SIGTERM"}).err.ends_with(none + "\n"));
  write_store(folder_ / "kill.db", std::string(kSampleRows) + R"sql(
INSERT INTO kind VALUES(30, 'kill', 'syscall', 'x86_64', 62);
INSERT INTO event VALUES(201, 1001000000000, 5, 'returned', 1, 2, 30, 0, 1, 101, 15, 0, 0, 0, 0, NULL);)sql" +
                                       kCountEvents);
  EXPECT_TRUE(
      uscope({"events", "kill.db", "-e", "SIGTERM"}).err.ends_with(none + "; calls in it that send some: kill (1)\n"));
  write_store(folder_ / "signals.db", "INSERT INTO meta VALUES('start_ns', '1'), ('signals', '1');");
  EXPECT_TRUE(
      uscope({"events", "signals.db", "-e", "SIGTERM"}).err.ends_with("uscope: the trace has none of these signals\n"));
}

TEST_F(EventsTest, CallsThatDoNotOccurHaveRelatives) {
  const std::string reason = "uscope: the trace has no open; related calls in it: openat (4)\n";
  for (const auto& words : {std::vector<std::string>{"events", "sample.db", "-e", "open"},
                            std::vector<std::string>{"export", "sample.db", "--format", "folded", "-e", "open"}}) {
    const Finished run = uscope(words);
    EXPECT_EQ(run.code, 0);
    EXPECT_TRUE(run.err.ends_with(reason)) << run.err;
  }
  EXPECT_EQ(uscope({"events", "sample.db", "-e", "openat"}).err.find("related"), std::string::npos);
}

TEST_F(EventsTest, OptionsReachTheFilter) {
  using Ids = std::vector<int>;
  EXPECT_EQ(ids({"-p", "101", "-p", "102"}), (Ids{2, 5, 6, 7, 10}));
  EXPECT_EQ(ids({"--tid", "110"}), Ids{8});
  EXPECT_EQ(ids({"--process", "g*"}), (Ids{2, 5, 6, 10}));
  EXPECT_EQ(ids({"-e", "read"}), (Ids{1, 3, 4, 9}));
  EXPECT_EQ(ids({"--failed", "-e", "openat"}), (Ids{2, 6, 13}));
  EXPECT_EQ(ids({"--errno", "EAGAIN"}), Ids{4});
  EXPECT_EQ(ids({"--errno", "2"}), (Ids{2, 6}));
  EXPECT_EQ(ids({"--slow", "1ms"}), Ids{11});
  EXPECT_EQ(ids({"--how", "open", "--how", "attached"}), (Ids{12, 8}));
  EXPECT_EQ(ids({"--trigger", "compile", "--limit", "2"}), (Ids{2, 5}));
  EXPECT_EQ(ids({"--path", "/etc/*", "--path", "/tmp/c"}), (Ids{2, 6}));
  EXPECT_EQ(ids({"--since", "22:30:00.5", "--until", "22:30:00.525"}), Ids{13});
  EXPECT_EQ(ids({"--since", "2023-11-14 22:30:00.8"}), Ids{10});
  EXPECT_EQ(ids({"--id", "3", "--around", "1"}), (Ids{1, 3, 4}));
  EXPECT_EQ(ids({"--id", "11"}), (Ids{12, 1, 3, 4, 11}));
  EXPECT_EQ(ids({"--function", "helper", "--since", "150ms", "--until", "0.2"}), Ids{8});
}

TEST_F(EventsTest, WrongValuesAreNamed) {
  refuses({"--errno", "ENONSENSE"}, "'ENONSENSE' is not an error");
  refuses({"--slow", "soon"}, "'soon' is not a length of time");
  refuses({"--how", "somehow"}, "somehow");
  refuses({"--since", "25:00"}, "'25:00' is not a time");
  refuses({"--until", "14:05x"}, "'14:05x' is not a time");
  refuses({"--id", "4711"}, "no event 4711");
  refuses({"--id", "3", "--failed"}, "--id");
  refuses({"--around", "3"}, "--id");
  refuses({"-t", "--time", "delta"}, "--time");
  refuses({"--pid", "self"}, "--pid");
  refuses({"--limit", "-1"}, "--limit");
  refuses({"-e", "no_such_call"}, "no_such_call");
}

}  // namespace
}  // namespace uscope::test

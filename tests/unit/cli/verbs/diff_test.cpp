// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <nlohmann/json.hpp>

#include "tests/unit/analyzer/run_store.h"
#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

class DiffCommand : public CommandTest {
 protected:
  DiffCommand() {
    const std::vector<MadeCalls> usual{
        {.kind = "openat", .function = "open_page", .count = 40, .result = 5, .argument = "/srv/page"},
        {.kind = "fsync", .function = "save", .count = 30, .dur_ns = 1'000'000},
        {.kind = "read", .function = "serve", .count = 90, .result = 100},
        {.kind = "close", .function = "server+0x1f0", .count = 40}};
    for (const char* name : {"n1.db", "n2.db", "n3.db"}) write_run(folder_ / name, {.calls = usual});
    auto calls = usual;
    calls[0].count = 25;
    calls[1].dur_ns = 30'000'000;
    calls.pop_back();
    calls.push_back({.kind = "openat", .function = "open_page", .count = 15, .result = -13, .argument = "/srv/page"});
    calls.push_back({.kind = "write", .function = std::string(kHostile), .count = 15, .result = 70});
    calls.push_back({.kind = "futex", .function = "wait", .count = 2, .dur_ns = -1});
    write_run(folder_ / "bad.db", {.calls = calls});
  }
  std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> all{"diff", "--normal", "n1.db", "n2.db", "n3.db", "--abnormal", "bad.db"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(DiffCommand, TextIsForPeople) {
  expect_golden(output(words({})), "diff.txt");
}

TEST_F(DiffCommand, JsonHoldsToItsSchema) {
  for (const char* by : {"function", "depth:2", "path"}) {
    const std::string json = output(words({"--format", "json", "--by", by}));
    expect_schema(json, "diff");
    const auto value = nlohmann::json::parse(json);
    ASSERT_EQ(value["normal"].size(), 3U);
    EXPECT_EQ(value["abnormal"][0]["file"], "bad.db");
  }
}

TEST_F(DiffCommand, TellsHowRunsEndedAndWhatTheyMoved) {
  const std::string descriptors = "UPDATE event_string SET arg = 0, source = 2;";
  const auto run = [&](std::int64_t bytes, const std::string& ended) {
    MadeRun made;
    made.calls = {{.kind = "read",
                   .count = 50,
                   .result = bytes,
                   .argument = "/srv/\x1b"
                               "data"}};
    made.more_sql = descriptors + "UPDATE process SET end_ns = 9, " + ended + ";";
    return made;
  };
  write_run(folder_ / "good.db", run(5000, "exit_code = 0"));
  write_run(folder_ / "crash.db", run(50, "exit_signal = 11"));
  const std::vector<std::string> both{"diff", "--normal", "good.db", "--abnormal", "crash.db"};
  const std::string text = output(both);
  expect_harmless(text, false);
  for (const char* part :
       {"ENDED DIFFERENTLY, normal -> abnormal  2", "server SIGSEGV: 0 of 1 -> 1 of 1 processes",
        "server exit 0: 1 of 1 -> 0 of 1 processes", "moves 5,000 -> 50 bytes a call, 1/100",
        "BYTES MOVED, normal -> abnormal  1", "read from /srv/\\x1bdata: 250,000 -> 2,500 bytes a run, 1/100"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  auto as_json = both;
  as_json.insert(as_json.end(), {"--format", "json"});
  const std::string json = output(as_json);
  expect_schema(json, "diff");
  const auto value = nlohmann::json::parse(json);
  EXPECT_EQ(value["ended_differently"]["lines"][0]["exit_signal"], 11);
  EXPECT_EQ(value["bytes_moved"]["lines"][0]["direction"], "read");
  EXPECT_EQ(value["changed"]["lines"][0]["what"], "bytes");
}

TEST_F(DiffCommand, CountsStandBesideRatesWhereRunsDifferInLength) {
  const auto run = [](int count, double seconds) {
    return MadeRun{.calls = {{.kind = "read", .count = count}}, .seconds = seconds};
  };
  write_run(folder_ / "short.db", run(57, 1));
  write_run(folder_ / "long.db", run(3000, 5));
  write_run(folder_ / "same.db", run(3000, 1));
  const auto compared = [&](const char* with) { return output({"diff", "--normal", "short.db", "--abnormal", with}); };
  const std::string differ = compared("long.db");
  EXPECT_NE(differ.find("57 -> 600 a second, 10.5× (57 -> 3,000 calls a run)"), std::string::npos) << differ;
  const std::string same = compared("same.db");
  EXPECT_NE(same.find("57 -> 3,000 a second, 52.6×\n"), std::string::npos) << same;
}

TEST_F(DiffCommand, TellsInWhichSettingsRunsBegan) {
  const auto run = [](const std::string& settings) {
    return MadeRun{.calls = {{.kind = "read"}}, .meta = {{"settings", settings}}};
  };
  write_run(folder_ / "shell.db", run(R"([{"uid": 1000, "cwd": "/srv", "limits": {"NOFILE": [1024, null]},
      "environment": ["LANG", "PATH"], "values": {"PATH": "/bin"}}])"));
  write_run(folder_ / "cron.db", run(R"([{"uid": 0, "cwd": "/\u001b[1m", "limits": {"NOFILE": [1024, null]},
      "environment": ["LOGNAME", "PATH"], "values": {"PATH": "/sbin"}}])"));
  const std::vector<std::string> both{"diff", "--normal", "shell.db", "--abnormal", "cron.db"};
  const std::string text = output(both);
  expect_harmless(text, false);
  EXPECT_NE(text.find("STARTED DIFFERENTLY, normal -> abnormal  4\n"
                      "      uid: 1000 -> 0\n"
                      "      working directory: /srv -> /\\x1b[1m\n"
                      "      variable PATH: /bin -> /sbin\n"
                      "      environment: only in abnormal runs LOGNAME; only in normal runs LANG\n"),
            std::string::npos)
      << text;
  auto as_json = both;
  as_json.insert(as_json.end(), {"--format", "json"});
  const std::string json = output(as_json);
  expect_schema(json, "diff");
  EXPECT_EQ(nlohmann::json::parse(json)["started_differently"]["lines"][3]["abnormal"][0], "LOGNAME");
  const std::string report = output({"report", "shell.db"});
  EXPECT_NE(report.find("by uid 1000, in /srv, PATH=/bin, at most 1,024 open files, 2 environment variables"),
            std::string::npos)
      << report;
}

TEST_F(DiffCommand, NothingHasNoRatio) {
  const auto run = [](const char* file, std::int64_t bytes) {
    MadeRun made;
    made.calls = {{.kind = "read", .count = 50, .result = 5000, .argument = file},
                  {.kind = "recvfrom", .function = "ask", .count = 50, .result = bytes}};
    made.more_sql = "UPDATE event_string SET arg = 0, source = 2;";
    return made;
  };
  write_run(folder_ / "small.db", run("/srv/small", 0));
  write_run(folder_ / "big.db", run("/srv/big", 400));
  const std::vector<std::string> both{"diff", "--normal", "small.db", "--abnormal", "big.db"};
  const std::string text = output(both);
  for (const char* part : {"read from /srv/big: 0 -> 250,000 bytes a run, none before\n",
                           "read from /srv/small: 250,000 -> 0 bytes a run, none now\n",
                           "recvfrom in ask (server): moves 0 -> 400 bytes a call, none before\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  auto as_json = both;
  as_json.insert(as_json.end(), {"--format", "json"});
  const std::string json = output(as_json);
  expect_schema(json, "diff");
  const auto value = nlohmann::json::parse(json);
  EXPECT_EQ(value["bytes_moved"]["lines"][0]["effect"], "none before");
  EXPECT_EQ(value["bytes_moved"]["lines"][1]["effect"], "none now");
  EXPECT_EQ(value["changed"]["lines"][0]["effect"], "none before");
}

TEST_F(DiffCommand, ShortRunsOfOtherLengthsAreTooLittleToTell) {
  const auto run = [](double seconds) { return MadeRun{.calls = {{.kind = "read", .count = 5}}, .seconds = seconds}; };
  write_run(folder_ / "short.db", run(0.0139));
  write_run(folder_ / "long.db", run(0.0578));
  const std::string text = output({"diff", "--normal", "short.db", "--abnormal", "long.db"});
  EXPECT_NE(
      text.find("WHERE THE TIME WENT  too little to tell: a run took 13.9 ms -> 57.8 ms, 4.16×; with fewer than 3"),
      std::string::npos)
      << text;
}

TEST_F(DiffCommand, TellsWhereTheTimeWent) {
  const auto run = [](std::int64_t ns, double seconds) {
    return MadeRun{.calls = {{.kind = "poll", .function = std::string(kHostile), .count = 6, .dur_ns = ns},
                             {.kind = "poll", .function = "ask", .count = 6, .dur_ns = 1000}},
                   .seconds = seconds,
                   .more_sql = "INSERT INTO gap_total SELECT 'thread', 'call', NULL, NULL, 1, 1, 3, " +
                               std::to_string(2 * ns) + ", 1, 1, 1, NULL, 1;"};
  };
  for (int i = 1; i <= 3; i++) {
    write_run(folder_ / ("fast" + std::to_string(i)), run(1'000'000, 0.1));
    write_run(folder_ / ("slow" + std::to_string(i)), run(149'000'000 + i * 1'000'000, 1));
  }
  const auto without_breaks = [](std::string lines) {
    for (std::size_t at = 0; (at = lines.find("\n      ", at)) != std::string::npos;) lines.replace(at, 7, " ");
    return lines;
  };
  const std::vector<std::string> one{"diff", "--normal", "fast1", "--abnormal", "slow1"};
  std::string text = output(one);
  expect_harmless(text, false);
  for (const char* part :
       {"WHERE THE TIME WENT, normal -> abnormal, not tested\n", "a run took 100 ms -> 1.000 s",
        "1. + 894 ms inside of poll in", "outside of calls, after the thread began, before poll", "the rest: "})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const std::vector<std::string> three{"diff",       "--normal", "fast1", "fast2", "fast3",
                                       "--abnormal", "slow1",    "slow2", "slow3"};
  text = without_breaks(output(three));
  EXPECT_NE(text.find("WHERE THE TIME WENT, normal -> abnormal  (q: false discovery rate) a run"), std::string::npos)
      << text;
  EXPECT_NE(text.find("6 ms -> 906 ms (900 ms to 912 ms), 6 -> 6 calls, q = "), std::string::npos) << text;
  auto as_json = three;
  as_json.insert(as_json.end(), {"--format", "json"});
  const std::string json = output(as_json);
  expect_schema(json, "diff");
  const auto time = nlohmann::json::parse(json)["time"];
  EXPECT_TRUE(time["notable"]);
  EXPECT_EQ(time["total"], 2);
  EXPECT_EQ(time["lines"][0]["where"], "inside");
  EXPECT_EQ(time["lines"][1]["after"], "thread");
  EXPECT_EQ(time["lines"][1]["before"]["kind"], "poll");
  EXPECT_EQ(time["lines"][1]["normal"]["times"], 3);
  text = output({"diff", "--normal", "fast1", "--abnormal", "fast2"});
  EXPECT_NE(text.find("WHERE THE TIME WENT  no notable change: a run took 100 ms -> 100 ms\n"), std::string::npos)
      << text;
}

TEST_F(DiffCommand, JsonIsAsTheIssueHasIt) {
  const auto value = nlohmann::json::parse(output(words({"--format", "json"})));
  const auto& cause = value["only_in_abnormal"]["lines"][0];
  EXPECT_EQ(cause["kind"], "openat");
  EXPECT_EQ(cause["function"], "open_page");
  EXPECT_EQ(cause["module"], "server");
  EXPECT_EQ(cause["what"], "errors EACCES");
  EXPECT_EQ(cause["events"], 15);
  EXPECT_EQ(cause["errors"], (nlohmann::json{{"EACCES", 15}}));
  EXPECT_EQ(cause["example_stack"], "main;open_page");
  EXPECT_EQ(cause["arguments"], (nlohmann::json{"/srv/page"}));
  EXPECT_EQ(cause["threads"], (nlohmann::json{"worker"}));
  const auto& slower = value["changed"]["lines"][0];
  EXPECT_EQ(slower["what"], "latency");
  EXPECT_EQ(slower["kind"], "fsync");
  EXPECT_TRUE(slower["q"].is_null());
  EXPECT_EQ(value["only_in_normal"]["lines"][0]["function"], "server+0x1f0");
  EXPECT_EQ(value["only_in_normal"]["lines"][0]["runs"], 3);
}

TEST_F(DiffCommand, JsonSaysHowManyLinesThereAre) {
  const auto all = nlohmann::json::parse(output(words({"--format", "json"})));
  const std::string json = output(words({"--format", "json", "--top", "1"}));
  expect_schema(json, "diff");
  const auto first = nlohmann::json::parse(json);
  for (const char* list : {"only_in_abnormal", "changed", "only_in_normal", "bytes_moved"}) {
    EXPECT_EQ(all[list]["total"], all[list]["lines"].size()) << list;
    EXPECT_EQ(first[list]["total"], all[list]["total"]) << list;
    EXPECT_LE(first[list]["lines"].size(), 1U) << list;
  }
  EXPECT_GT(first["changed"]["total"].get<int>() + first["only_in_abnormal"]["total"].get<int>(), 1);
}

TEST_F(DiffCommand, RepeatedOptionsAreOneList) {
  const std::string once = output(words({"--format", "json"}));
  EXPECT_EQ(output({"diff", "--normal", "n1.db", "--normal", "n2.db", "--normal", "n3.db", "--abnormal", "bad.db",
                    "--format", "json"}),
            once);
}

TEST_F(DiffCommand, WrongOptionsSayWhatIsRight) {
  const auto fails = [&](const std::vector<std::string>& more, const std::string& what) {
    const Finished run = uscope(words(more));
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(what), std::string::npos) << run.err;
  };
  fails({"--by", "depth:0"}, "--by depth:0 is not understood");
  fails({"--by", "depth:x"}, "use function, depth:N");
  fails({"--by", "color"}, "use function, depth:N");
  fails({"--map", "a"}, "use OLD=NEW");
  fails({"--map", "a=b", "--map", "a=c"}, "renames a twice");
  fails({"--per", "nosuchcall"}, "nosuchcall");
  fails({"--per", "accept"}, "no successful call of accept");
  fails({"--normal", "missing.db"}, "missing.db");
  EXPECT_NE(uscope({"diff", "--normal", "n1.db"}).err.find("--abnormal"), std::string::npos);
}

TEST_F(DiffCommand, TheSampleTraceComparesWithItself) {
  const auto value =
      nlohmann::json::parse(output({"diff", "--normal", "sample.db", "--abnormal", "sample.db", "--format", "json"}));
  EXPECT_TRUE(value["only_in_normal"]["lines"].empty());
  EXPECT_TRUE(value["only_in_abnormal"]["lines"].empty());
  EXPECT_TRUE(value["changed"]["lines"].empty());
}

}  // namespace
}  // namespace uscope::test

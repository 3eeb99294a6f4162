// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope query` of a stored trace, from the outside, and what it refuses.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/render/histogram.h"
#include "cli/render/query_render.h"
#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kByKind =
    "SELECT kind, count(*) AS calls FROM v_event GROUP BY kind ORDER BY calls DESC, kind LIMIT 2";

TEST_F(CommandTest, AQuestionOfAStoredTraceIsATable) {
  EXPECT_EQ(output({"query", "sample.db", kByKind}),
            "kind    calls\n"
            "------  -----\n"
            "openat      4\n"
            "read        4\n");
  EXPECT_TRUE(uscope({"query", "sample.db", kByKind}).err.starts_with("uscope: THIS TRACE IS NOT COMPLETE"));
}

TEST_F(CommandTest, RowsOfEventsAreListed) {
  EXPECT_EQ(output({"query", "sample.db", "SELECT id, kind, errno FROM v_event WHERE errno = 'ENOENT'"}),
            "id  kind    errno\n"
            "--  ------  ------\n"
            " 2  openat  ENOENT\n"
            " 6  openat  ENOENT\n");
  EXPECT_EQ(uscope({"query", "sample.db", "SELECT id, kind FROM v_event WHERE pid = 7"}).out, "id  kind\n--  ----\n");
}

TEST_F(CommandTest, AnAnswerAsJson) {
  const std::string text = output({"query", "sample.db", kByKind, "--format", "json"});
  expect_schema(text, "query");
  const Json answer = Json::parse(text);
  EXPECT_EQ(answer["columns"], Json::parse(R"(["kind", "calls"])"));
  EXPECT_EQ(answer["rows"], Json::parse(R"([["openat", 4], ["read", 4]])"));
  EXPECT_EQ(answer["from_ns"], 1'000'000'000'000);
  EXPECT_EQ(answer["until_ns"], 1'002'000'000'000);
  EXPECT_EQ(answer["events"], 14);
  EXPECT_EQ(answer["lost"], 17);
}

TEST_F(CommandTest, AnAnswerAsCsv) {
  EXPECT_EQ(
      output({"query", "sample.db", "--format", "csv",
              "SELECT 'a,\"b\"' AS \"x,y\", NULL AS empty, 1.5 AS number, x'00ff' AS bytes FROM v_event LIMIT 1"}),
      "\"x,y\",empty,number,bytes\n"
      "\"a,\"\"b\"\"\",,1.5,x'00ff'\n");
}

TEST_F(CommandTest, HostileNamesInAnswersAreHarmless) {
  constexpr const char* kAll = "SELECT process, thread, \"trigger\", folded FROM v_event";
  for (const char* format : {"table", "csv", "json"})
    expect_harmless(output({"query", "sample.db", kAll, "--format", format}), std::string(format) == "json");
}

TEST_F(CommandTest, QuantilesAndHistogramsAreThere) {
  EXPECT_EQ(output({"query", "sample.db", "--format", "csv",
                    "SELECT quantile(dur_ns, 0.5) AS half FROM v_event WHERE kind = 'openat'"}),
            "half\n2015\n");
  const std::string text = output(
      {"query", "sample.db", "SELECT kind, hist(dur_ns) AS took FROM v_event WHERE kind = 'read' GROUP BY kind"});
  EXPECT_NE(text.find("read  [1]\n\n[1]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("####"), std::string::npos) << text;
}

TEST_F(CommandTest, ReadyQuestionsRunOnAnyTrace) {
  const std::string list = output({"query", "--list"});
  std::istringstream lines(list);
  int count = 0;
  for (std::string line; std::getline(lines, line); count++) {
    ASSERT_TRUE(line.starts_with("@")) << line;
    EXPECT_LE(line.size(), 100U) << line;
    const std::string name = line.substr(0, line.find(' '));
    const Finished run = uscope({"query", "sample.db", name});  // of some, the sample has no event
    EXPECT_EQ(run.code, 0) << name << run.err;
    EXPECT_NE(run.out, "") << name;
    // None of them needs event after event, but where it asks for objects.
    const std::string explained = output({"query", "--explain", name});
    EXPECT_EQ(explained.starts_with("summed at each event"), explained.find(", its object\n") == std::string::npos)
        << name;
  }
  EXPECT_GE(count, 12);
}

// What stands on stderr beside the incompleteness of the sample.
TEST_F(CommandTest, AnEmptyAnswerExplainsItself) {
  const auto said = [this](const std::string& where) {
    const Finished run =
        uscope({"query", "sample.db", "SELECT kind, count(*) FROM v_event AS e WHERE " + where + " GROUP BY 1"});
    EXPECT_EQ(run.code, 0) << run.err;
    std::string all;
    std::istringstream lines(run.err);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("uscope: sample.db: ")) all += line.substr(19) + "\n";
    return all;
  };
  EXPECT_EQ(said("kind = 'open'"), "no event fulfils kind = 'open'; near it: 'openat'\n");
  EXPECT_EQ(said("kind = 'opennat' AND e.pid > 0"), "no event fulfils kind = 'opennat'; near it: 'openat'\n");
  EXPECT_EQ(said("kind = 'pread64'"), "no event fulfils kind = 'pread64'; related calls: 'read'\n");
  EXPECT_EQ(said("errno = 2"), "no event fulfils errno = 2; errno is the name of an error: 2 is 'ENOENT'\n");
  EXPECT_EQ(said("class = 'usdt'").substr(0, 47), "no event fulfils class = 'usdt'; class is 'sysc");
  EXPECT_TRUE(said("dur_ns > 1000000000000").starts_with("no event fulfils dur_ns > 1000000000000; dur_ns is from 90"));
  EXPECT_EQ(said("kind = 'read' AND errno = 'ENOENT'"),
            "each condition of WHERE holds for some event, but no event fulfils all of them\n");
  EXPECT_EQ(said("kind = 'openat'"), "");
  EXPECT_EQ(said("kind = 'openat' OR errno = 2"), "");
  // One row, of sums without groups.
  const Finished sums = uscope({"query", "sample.db", "SELECT count(*) FROM v_event WHERE kind = 'opennat'"});
  EXPECT_NE(sums.err.find("near it: 'openat'"), std::string::npos) << sums.err;
  const Finished having =
      uscope({"query", "sample.db", "SELECT kind FROM v_event WHERE pid > 0 GROUP BY 1 HAVING count(*) > 99"});
  EXPECT_EQ(having.err.find("no event"), std::string::npos) << having.err;
}

TEST_F(CommandTest, ExplainSaysWhatIsDoneWhere) {
  const std::string text = output({"query", "--explain", kByKind});
  EXPECT_TRUE(text.starts_with("summed at each event; SQLite finishes it\n")) << text;
  EXPECT_NE(text.find("\nmemory for the sums: 2.6 MiB for each CPU\n"), std::string::npos) << text;
  const std::string by_end = output({"query", "--explain", "SELECT how, count(*) FROM v_event GROUP BY how"});
  EXPECT_NE(by_end.find("\nmemory for the sums: 2.9 MiB for each CPU\n"), std::string::npos) << by_end;
  const std::string by_step = output({"query", "--explain", "SELECT quantile(dur_ns, 0.5) FROM v_event"});
  EXPECT_NE(by_step.find("\nmemory for the sums: 3.9 MiB for each CPU\n"), std::string::npos) << by_step;
  const std::string by_trigger = output({"query", "--explain", "SELECT \"trigger\", count(*) FROM v_event GROUP BY 1"});
  EXPECT_NE(by_trigger.find("\nmemory for the sums: 2.1 MiB for each CPU\n"), std::string::npos) << by_trigger;
  EXPECT_NE(text.find("no stack"), std::string::npos) << text;
  EXPECT_NE(text.find("asked when a call begins"), std::string::npos) << text;
  for (const char* end : {"max(dur_ns)", "sum(result)", "count(errno)", "max(how)"}) {
    const std::string of_ends = output({"query", "--explain", std::string("SELECT ") + end + " FROM v_event"});
    EXPECT_EQ(of_ends.find("asked when a call begins"), std::string::npos) << of_ends;
  }
  const std::string hits =
      output({"query", "--explain", "SELECT kind, count(*) FROM v_event WHERE class = 'tracepoint' GROUP BY kind"});
  EXPECT_TRUE(hits.starts_with("summed at each event")) << hits;
  EXPECT_NE(hits.find("asks for events of tracepoint"), std::string::npos) << hits;
  EXPECT_EQ(hits.find("asked when a call begins"), std::string::npos) << hits;
  EXPECT_NE(output({"query", "--explain", "-t", "offcpu", kByKind}).find("asks for events of offcpu"),
            std::string::npos);
}

TEST_F(CommandTest, WhatIsNoQuestionIsRefused) {
  const auto refused = [this](const std::vector<std::string>& words, const std::string& part) {
    std::vector<std::string> all{"query"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished run = uscope(all);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 2) << "what, and what to do: " << run.err;
  };
  refused({}, "no question was given");
  refused({"sample.db"}, "sample.db is taken for a file");
  refused({kByKind}, "nothing to ask");
  refused({"sample.db", kByKind, "--app", "nginx"}, "more than one thing to ask");
  refused({kByKind, "--app", "nginx", "--", "true"}, "more than one thing to ask");
  refused({"--app", "nginx", kByKind, "--every", "1ms"}, "--every is too short");
  refused({"sample.db", kByKind, "--every", "2s"}, "--every is for what runs");
  refused({"sample.db", kByKind, "-o", "x.db"}, "-o is for what runs");
  refused({"sample.db", kByKind, "-t", "sample"}, "-t is for what runs");
  refused({"sample.db", kByKind, "--all-matches"}, "--all-matches is for what runs");
  refused({kByKind, "-t", "nothing:x", "--", "true"}, "no class of events is called 'nothing'");
  refused({"sample.db", "@nothing"}, "no ready question is called @nothing");
  refused({"sample.db", "SELECT durr_ns FROM v_event"}, "dur_ns");
  refused({"sample.db", "SELECT comm FROM v_event"}, "process is the program's name");
  refused({"sample.db", "SELECT fd FROM v_event"}, "a0 is the descriptor");
  refused({"sample.db", "SELECT path FROM v_event"}, "object is the path");
  refused({"sample.db", "SELECT kind FROM v_evnt"}, "did you mean v_event?");
  refused({"sample.db", "DELETE FROM v_event"}, "not allowed");
  refused({"sample.db", "SELECT 1 FROM v_event; SELECT 2 FROM v_event"}, "more than one statement");
}

TEST(QueryRender, BarsOfAHistogram) {
  using cli::histogram_lines;
  EXPECT_EQ(histogram_lines("[[7,1],[15,100],[31,0]]"),
            (std::vector<std::string>{"<=  7  #                                         1",
                                      "<= 15  ########################################  100",
                                      "<= 31                                            0"}));
  for (const char* other : {"", "[]", "x", "[1]", "[[1]]", "[[1,\"a\"]]", "{}"})
    EXPECT_TRUE(histogram_lines(other).empty()) << other;
}

TEST(QueryRender, WhatIsMissingStandsAbove) {
  cli::AnswerHead head;
  EXPECT_EQ(cli::missing_text(head), "");
  head.lost = 1;
  EXPECT_EQ(cli::missing_text(head), "LOST 1 event: the answer is made without them");
  head.without_stack = 2;
  EXPECT_EQ(cli::missing_text(head),
            "LOST 1 event: the answer is made without them; 2 stacks came too late: their events have none");
  head.lost = head.without_stack = 0;
  head.names_beyond = 3;
  EXPECT_EQ(cli::missing_text(head), "3 thread names or users were too many to tell apart: such threads are called ?");
}

}  // namespace
}  // namespace uscope::test

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the readers make of a trace that holds hits of probes.
#include <nlohmann/json.hpp>

#include "tests/unit/cli/hit_trace.h"
#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class HitsCommand : public CommandTest {
 protected:
  HitsCommand() {
    write_hits(folder_ / "hits.raw");
    EXPECT_EQ(uscope({"load", "hits.raw", "-o", "hits.db"}).code, 0);
  }

  std::vector<std::string> kinds(Words options) {
    options.insert(options.begin(), {"events", "hits.db", "--format", "json"});
    std::vector<std::string> found;
    const Json document = Json::parse(output(options));
    for (const Json& event : document["events"])
      found.push_back(event["class"].get<std::string>() + " " + event["call"].get<std::string>());
    return found;
  }
};

TEST_F(HitsCommand, EventsPrintsArgumentsByName) {
  EXPECT_EQ(output({"events", "hits.db"}),
            "app[100/100] 0.000001 ufunction libc.so.6:fopen(path=\"/etc/passwd\", mode=\"r\\x0a\") <40 ns>\n"
            "app[100/100] 0.000001 read(0, \"data\", 0) = -1 EINTR (Interrupted system call) <24 ns>\n"
            "app[100/100] 0.000001 kfunction vfs_read(file=0xffff888000000000, count=64, pos=-1) = -4 <20 ns>\n"
            "app[100/100] 0.000001 offcpu sleeping(waker_tid=9, waker_pid=8, queued_ns=3, state=1) <14 ns>\n"
            "app[100/100] 0.000001 sample user(cpu=1, period_ns=10101010)\n"
            "app[100/100] 0.000001 usdt python3.11:python:gc\\x1b()\n"
            "app[100/100] 0.000001 tracepoint tracepoint_5()\n"
            "app[100/100] 0.000001 sample user(cpu=0, period_ns=10101010)\n"
            "app[100/100] 0.000001 ufunction libc.so.6:fopen(path=\"/dev/null\", mode=NULL) = ? (has not returned)\n"
            "app[100/100] 0.000001 offcpu sleeping(waker_tid=0, waker_pid=0, queued_ns=0, state=0) (not over)\n");
  const std::string stack = output({"events", "hits.db", "-e", "kfunction", "--stack"});
  EXPECT_NE(stack.find("vfs_read+0x23) [0x123] [kernel]\n > /opt/bin/app("), std::string::npos) << stack;
}

TEST_F(HitsCommand, TheJsonHoldsToItsSchemas) {
  for (const Words& words :
       {Words{"events", "hits.db", "--stack"}, Words{"report", "hits.db"}, Words{"tree", "hits.db"},
        Words{"diff", "--normal", "sample.db", "--abnormal", "hits.db"}}) {
    Words all = words;
    all.insert(all.end(), {"--format", "json"});
    const std::string text = output(all);
    expect_schema(text, words[0]);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
  const Json function = Json::parse(output({"events", "hits.db", "-n", "1", "--format", "json"}))["events"][0];
  EXPECT_EQ(function["class"], "ufunction");
  EXPECT_EQ(function["argument_names"], Json::parse(R"([{"name": "path", "type": "const char *"},
                                                        {"name": "mode", "type": "const char *"}])"));
  EXPECT_EQ(function["arguments"], "path=\"/etc/passwd\", mode=\"r\\x0a\"");
  const Json call = Json::parse(output({"events", "hits.db", "-e", "read", "--format", "json"}))["events"][0];
  EXPECT_EQ(call["class"], "syscall");
  EXPECT_EQ(call["argument_names"], Json::array());
}

TEST_F(HitsCommand, ClassesStandAmongTheNamesOfCalls) {
  using Kinds = std::vector<std::string>;
  EXPECT_EQ(kinds({"-e", "sample"}), (Kinds{"sample user", "sample user"}));
  EXPECT_EQ(kinds({"-e", "read"}), (Kinds{"syscall read"}));
  EXPECT_EQ(kinds({"-e", "read,offcpu,SIGTERM"}), (Kinds{"syscall read", "offcpu sleeping", "offcpu sleeping"}));
  EXPECT_EQ(kinds({"-e", "all"}), (Kinds{"syscall read"}));
  EXPECT_EQ(kinds({"-e", "ufunction:libc*:fopen,kfunction:tcp_*"}),
            (Kinds{"ufunction libc.so.6:fopen", "ufunction libc.so.6:fopen"}));
  EXPECT_EQ(kinds({"-e", "kfunction:vfs_read"}), (Kinds{"kfunction vfs_read"}));
  // By the name alone, with or without its file; a call's name is that of the call.
  EXPECT_EQ(kinds({"-e", "vfs_*"}), (Kinds{"kfunction vfs_read"}));
  EXPECT_EQ(kinds({"-e", "fopen"}), (Kinds{"ufunction libc.so.6:fopen", "ufunction libc.so.6:fopen"}));
  EXPECT_EQ(kinds({"-e", "libc*:fopen,vfs_read,read"}),
            (Kinds{"ufunction libc.so.6:fopen", "syscall read", "kfunction vfs_read", "ufunction libc.so.6:fopen"}));
  EXPECT_EQ(kinds({"-e", "gc*"}), (Kinds{"usdt python3.11:python:gc\x1b"}));
  EXPECT_EQ(kinds({"-e", "python:gc?,user,SIGTERM"}),
            (Kinds{"sample user", "usdt python3.11:python:gc\x1b", "sample user"}));
  EXPECT_EQ(uscope({"events", "hits.db", "-e", "rea?"}).code, 2);  // calls have no patterns
  EXPECT_EQ(uscope({"events", "hits.db", "-e", "fopen,!read"}).code, 2);
  for (const auto& [name, remedy] :
       {std::pair("fopn", "did you mean fopen?"), std::pair("vfs_raed", "did you mean vfs_read?"),
        std::pair("opnat", "did you mean openat, openat2?")}) {
    for (const Words& words : {Words{"events", "hits.db", "-e", name}, Words{"export", "hits.db", "-e", name}}) {
      const Finished wrong = uscope(words);
      EXPECT_EQ(wrong.code, 2);
      EXPECT_EQ(wrong.out, "");
      EXPECT_EQ(wrong.err, "uscope: '" + std::string(name) +
                               "' is not a system call, and the trace has no such event\n  " + remedy + "\n");
    }
  }
  EXPECT_EQ(kinds({"--failed"}), (Kinds{"syscall read"}));
  EXPECT_EQ(kinds({"--errno", "EINTR"}), (Kinds{"syscall read"}));
  EXPECT_EQ(kinds({"--how", "hit", "-e", "sample,usdt"}).size(), 3U);
  const Finished none = uscope({"events", "hits.db", "-e", "kfunction:tcp_*"});
  EXPECT_EQ(
      none.err,
      "uscope: no event of hits.db matches\nuscope: the trace has no event of kfunction:tcp_*; its events are of the "
      "class kfunction, offcpu, sample, syscall, tracepoint, ufunction, usdt\n");
  EXPECT_EQ(uscope({"events", "hits.db", "-e", "sample,!read"}).code, 2);
}

TEST_F(HitsCommand, ReportDoesNotCallThemCalls) {
  const Json report = Json::parse(output({"report", "hits.db", "--format", "json"}));
  std::vector<std::string> calls;
  for (const char* list : {"calls", "waits"})
    for (const Json& line : report[list]["lines"]) calls.push_back(line["call"]);
  std::sort(calls.begin(), calls.end());
  EXPECT_EQ(calls, (std::vector<std::string>{"kfunction:vfs_read", "read", "tracepoint:tracepoint_5",
                                             "ufunction:libc.so.6:fopen", "usdt:python3.11:python:gc\x1b"}));
  for (const Json& line : report["triggers"]["lines"]) {
    EXPECT_FALSE(line["call"].get<std::string>().starts_with("sample")) << line;
    EXPECT_FALSE(line["call"].get<std::string>().starts_with("sleeping")) << line;
  }
  for (const char* list : {"slowest", "longest_waits"})
    for (const Json& line : report[list]["lines"]) EXPECT_EQ(line["call"], "read");
  EXPECT_EQ(report["slowest"]["total"].get<int>() + report["longest_waits"]["total"].get<int>(), 1);
  EXPECT_EQ(report["open"]["total"], 0);
  ASSERT_EQ(report["errors"]["lines"].size(), 1U);
  EXPECT_EQ(report["errors"]["lines"][0]["call"], "read");
}

TEST_F(HitsCommand, FoldedStacksAreOfAnyClass) {
  const std::string samples = output({"export", "hits.db", "-e", "sample", "--weight", "time", "--with-call"});
  EXPECT_TRUE(samples.starts_with("app;")) << samples;
  EXPECT_TRUE(samples.ends_with(";sample:user 20202020\n")) << samples;
  const Finished off = uscope({"export", "hits.db", "-e", "offcpu", "--weight", "time"});
  EXPECT_TRUE(off.out.ends_with(";vfs_read_[k] 14\n")) << off.out;
}

TEST_F(HitsCommand, QuestionsNameThem) {
  EXPECT_EQ(output({"query", "hits.db", "--format", "csv",
                    "SELECT class, kind, sum(a1) FROM v_event WHERE class = 'sample' "
                    "GROUP BY 1, 2"}),
            "class,kind,sum(a1)\nsample,user,20202020\n");
}

}  // namespace
}  // namespace uscope::test

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the readers make of a trace that holds signals.
#include <nlohmann/json.hpp>

#include "tests/unit/analyzer/signal_rows.h"
#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// Each run of blanks as one blank.
std::string squeezed(const std::string& text) {
  std::string out;
  for (const char letter : text)
    if (letter != ' ' || out.empty() || out.back() != ' ') out += letter;
  return out;
}

class SignalsCommand : public CommandTest {
 protected:
  SignalsCommand() { write_store(folder_ / "s.db", std::string(kSampleRows) + kSignalRows + kCountEvents); }

  std::vector<int> ids(Words options) {
    options.insert(options.begin(), {"events", "s.db", "--format", "json"});
    std::vector<int> found;
    const Json document = Json::parse(output(options));
    for (const Json& event : document["events"]) found.push_back(event["id"]);
    return found;
  }
};

TEST_F(SignalsCommand, EventsPrintsThemAsStraceDoes) {
  const std::string text = output({"events", "s.db", "--how", "sent", "--how", "delivered"});
  EXPECT_EQ(text,
            "make[100/110] 1.000000 --- SIGTERM {si_code=SI_USER, si_pid=100, si_uid=0} sent by worker[100/110] to "
            "\\x1b[31mred\\x0a\\xff;</script>[900], blocked, pending already ---\n"
            "make[100/110] 1.100000 --- SIGTERM {si_code=SI_USER, si_pid=100, si_uid=0} sent by worker[100/110] to "
            "gcc[101] ---\n"
            "gcc[101/101] 1.200000 --- SIGTERM {si_code=SI_USER, si_pid=100, si_uid=0} handler 0x401000<compile> ---\n"
            "make[100/100] 1.300000 --- SIGCHLD {si_code=CLD_EXITED, si_pid=101, si_uid=0, si_status=1} sent by the "
            "kernel to make[100], ignored ---\n"
            "script>[103/103] 1.400000 --- SIGSEGV {si_code=SEGV_MAPERR, si_addr=0x10} sent by the "
            "kernel to \\x1b[31mred\\x0a\\xff;</script>[103/103] ---\n"
            "script>[103/103] 1.500000 --- SIGSEGV {si_code=SEGV_MAPERR, si_addr=0x10} default action "
            "---\n");
}

TEST_F(SignalsCommand, TheJsonHoldsToItsSchemas) {
  for (const Words& words : {Words{"events", "s.db", "--stack"}, Words{"report", "s.db"}, Words{"tree", "s.db"}}) {
    Words all = words;
    all.insert(all.end(), {"--format", "json"});
    const std::string text = output(all);
    expect_schema(text, words[0]);
    expect_harmless(text, true);
  }
  const Json events = Json::parse(output({"events", "s.db", "-e", "SIGTERM", "--format", "json"}))["events"];
  EXPECT_EQ(events[0]["signal"]["sent"]["result"], "pending");
  EXPECT_EQ(events[2]["signal"]["delivered"]["function"], "compile");
  EXPECT_EQ(events[0]["arguments"], "si_code=SI_USER, si_pid=100, si_uid=0");
  EXPECT_EQ(Json::parse(output({"events", "s.db", "-n", "1", "--format", "json"}))["events"][0]["signal"], nullptr);
}

TEST_F(SignalsCommand, NamesOfSignalsStandAmongThoseOfCalls) {
  using Ids = std::vector<int>;
  EXPECT_EQ(ids({"-e", "SIGTERM"}), (Ids{101, 102, 103}));
  EXPECT_EQ(ids({"-e", "SIGTERM", "--how", "sent"}), (Ids{101, 102}));
  EXPECT_EQ(ids({"-e", "SIGCHLD,futex,SIGSEGV"}), (Ids{12, 8, 104, 105, 106}));
  EXPECT_EQ(ids({"-e", "signal"}), (Ids{101, 102, 103, 104, 105, 106}));
  EXPECT_EQ(ids({"-e", "signal,futex", "--how", "delivered"}), (Ids{103, 106}));
  EXPECT_EQ(ids({"-e", "!signal"}).size(), 14U);
  EXPECT_EQ(ids({"-e", "all"}).size(), 14U);
  EXPECT_EQ(ids({"--how", "delivered"}), (Ids{103, 106}));
  EXPECT_EQ(ids({"--trigger", "run_job", "--since", "0.99"}), (Ids{101, 102}));
  for (const char* set : {"SIGNONE", "!SIGTERM", "signal,SIGTERM,!read"}) {
    const Finished run = uscope({"events", "s.db", "-e", set});
    EXPECT_EQ(run.code, 2) << set;
    EXPECT_NE(run.err.find("SIG"), std::string::npos) << run.err;
  }
}

TEST_F(SignalsCommand, StacksThatAreNotThereSayWhy) {
  const std::string text = output({"events", "s.db", "-e", "SIGCHLD,SIGSEGV", "-k"});
  EXPECT_NE(text.find(" to make[100], ignored ---\n > (no stack: the kernel sent it)\n"), std::string::npos) << text;
}

TEST_F(SignalsCommand, ReportHasATable) {
  const std::string text = output({"report", "s.db"});
  const std::size_t at = text.find("SIGNALS  3");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string receiver = "\\x1b[31mred\\x0a\\xff;</script>";
  for (const std::string& row :
       {"SIGTERM 1 worker[100] " + receiver + "[900] run_job",
        std::string("SIGTERM 1 1 worker[100] gcc[101] run_job compile"),
        std::string("SIGCHLD 1 1 the kernel make[100]"), "SIGSEGV 1 1 the kernel " + receiver + "[103] " + receiver})
    EXPECT_NE(squeezed(text.substr(at)).find("\n " + row + "\n"), std::string::npos) << text.substr(at);
  const std::string merged = squeezed(output({"report", "s.db", "--top", "3"}));
  EXPECT_NE(merged.find("\n SIGTERM 2 1 worker[100] gcc[101] +1 run_job compile\n"), std::string::npos) << merged;
  EXPECT_EQ(output({"report", "sample.db"}).find("SIGNALS"), std::string::npos);
}

TEST_F(SignalsCommand, ReportSaysWhoEndedAProcess) {
  write_store(folder_ / "k.db", std::string(kSampleRows) + kSignalRows + kCountEvents + R"sql(
UPDATE process SET exit_code = NULL, exit_signal = 15 WHERE pid = 101;
UPDATE process SET exit_code = NULL, exit_signal = 11 WHERE pid = 103;)sql");
  EXPECT_NE(output({"report", "k.db"}).find(" SIGTERM by worker[100] "), std::string::npos);
  const Json report = Json::parse(output({"report", "k.db", "--format", "json"}));
  for (const Json& process : report["processes"]["lines"]) {
    const bool by_worker = process["pid"] == 101;
    EXPECT_EQ(process["ended_by"], by_worker ? Json({{"pid", 100}, {"name", "worker"}}) : Json()) << process;
  }
}

TEST_F(SignalsCommand, OtherReadersTakeThem) {
  EXPECT_NE(output({"export", "s.db", "-e", "SIGTERM", "--with-call"}).find(";SIGTERM sent 2\n"), std::string::npos);
  EXPECT_NE(output({"export", "s.db", "-e", "signal", "--with-call"}).find(";SIGCHLD sent 1\n"), std::string::npos);
  for (const Words& words :
       {Words{"files", "s.db"}, Words{"tree", "s.db"}, Words{"diff", "--normal", "sample.db", "--abnormal", "s.db"}})
    EXPECT_EQ(output(words).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace uscope::test

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Command lines that cannot be meant: what is wrong with them is said, and what was probably meant. And help, which
// fits a terminal.
#include <algorithm>

#include "cli/terminal/text_width.h"
#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Words = std::vector<std::string>;

constexpr int kReader = 2;
constexpr int kRecord = 125;

class UsageTest : public CommandTest {
 protected:
  // Refused with both texts, before anything is written.
  void expect_refused(const Words& words, const std::string& what, const std::string& remedy) {
    std::string line;
    for (const std::string& word : words) line += " " + word;
    const Finished run = uscope(words);
    EXPECT_EQ(run.code, !words.empty() && words.front() == "record" ? kRecord : kReader) << line << "\n" << run.err;
    EXPECT_EQ(run.out, "") << line;
    EXPECT_TRUE(run.err.starts_with("uscope: ")) << run.err;
    EXPECT_NE(run.err.find(what), std::string::npos) << line << "\n" << run.err;
    EXPECT_NE(run.err.find("\n  " + remedy), std::string::npos) << line << "\n" << run.err;
    for (const char* name : {"uscope.db", "--", "--force"}) EXPECT_FALSE(std::filesystem::exists(folder_ / name));
  }
};

TEST_F(UsageTest, HelpAndVersionAreWordsToo) {
  EXPECT_EQ(output({"help"}), output({"--help"}));
  EXPECT_EQ(output({"help", "report"}), output({"report", "--help"}));
  EXPECT_EQ(output({"version"}), output({"--version"}));
  expect_refused({"help", "reprot"}, "uscope has no verb reprot", "did you mean report?");
}

TEST_F(UsageTest, AMisspeltVerbIsGuessed) {
  expect_refused({}, "no verb is given", "`uscope --help` lists the verbs");
  expect_refused({"reprot", "sample.db"}, "uscope has no verb reprot", "did you mean report?");
  expect_refused({"rec", "--", "true"}, "uscope has no verb rec", "did you mean record?");
  expect_refused({"dead"}, "uscope has no verb dead", "did you mean deadlock, load?");
  expect_refused({"--verison"}, "`uscope` has no option --verison", "did you mean --version?");
  expect_refused({"frobnicate"}, "uscope has no verb frobnicate", "`uscope --help` lists the verbs");
}

TEST_F(UsageTest, AMisspeltOptionIsGuessed) {
  expect_refused({"report", "--tpo", "3", "sample.db"}, "`report` has no option --tpo", "did you mean --top, --tid?");
  expect_refused({"record", "--dur", "3", "--", "true"}, "`record` has no option --dur", "did you mean --duration?");
  expect_refused({"report", "--frobnicate=x", "sample.db"}, "`report` has no option --frobnicate",
                 "`uscope report --help` lists its options");
  expect_refused({"report", "sample.db", "other.db"}, "`report` does not take other.db", "`uscope report --help`");
  expect_refused({"diff", "--normal", "sample.db", "--abnormal", "sample.db", "--map", "a=b", "c=d"},
                 "`diff` does not take c=d", "`uscope diff --help`");
}

TEST_F(UsageTest, AForgottenValueIsNoticed) {
  for (const char* option : {"--redact", "-o", "--app-module", "--duration", "--keep-raw", "-e"})
    expect_refused({"record", option, "--", "true"}, "needs a value, and -- follows", "`uscope record --help`");
  expect_refused({"record", "--redact", "", "--", "true"}, "needs a value, and an empty one is given", "");
  expect_refused({"record", "--redact=", "--", "true"}, "needs a value, and -- follows", "");
  expect_refused({"record", "--pid", "--pid"}, "needs a value, and --pid follows", "");
  expect_refused({"record", "-o", "--force", "--", "true"}, "needs a value, and --force follows", "");
  expect_refused({"export", "sample.db", "-o", "--"}, "needs a value, and -- follows", "");
  expect_refused({"events", "sample.db", "--function", ""}, "needs a value, and an empty one is given", "");
  expect_refused({"diff", "--normal", "sample.db", "--abnormal", "--"}, "needs a value, and -- follows", "");
}

TEST_F(UsageTest, AStallThatIsTooShortToBeSeenIsRefused) {
  expect_refused({"record", "--until-stall", "0.1", "--", "true"}, "--until-stall is too short: 0.1",
                 "give at least 1s");
}

TEST_F(UsageTest, NothingToTraceIsSaidWithWhatTheVerbTakes) {
  expect_refused({"record"}, "nothing to trace",
                 "give one of: -- COMMAND, --all, --app NAME, --pid PID, --cgroup PATH");
  expect_refused({"top"}, "nothing to trace", "give one of: --app NAME, --pid PID, --cgroup PATH");
  expect_refused({"top", "--app", "a", "--pid", "1"}, "more than one kind of target",
                 "give one of: --app NAME, --pid PID, --cgroup PATH");
}

TEST_F(UsageTest, NumbersOutOfRangeAreRefusedInShort) {
  const std::string long_number(309, '9');
  const Words with_number[] = {{"record", "-S", long_number, "--", "true"},
                               {"record", "--string-bytes", long_number, "--", "true"},
                               {"record", "--verify", long_number, "--", "true"},
                               {"record", "--pid", long_number},
                               {"record", "--duration", long_number, "--", "true"},
                               {"record", "--max-size", long_number, "--", "true"},
                               {"top", "--pid", "1", "--lines", long_number},
                               {"events", "sample.db", "-n", long_number},
                               {"events", "sample.db", "--tid", long_number},
                               {"events", "sample.db", "--slow", long_number},
                               {"events", "sample.db", "--id", long_number},
                               {"events", "sample.db", "--id", "1", "--around", long_number},
                               {"record", "--data", long_number, "--", "true"},
                               {"report", "sample.db", "--top", long_number},
                               {"raw", "sample.db", "-n", long_number}};
  for (const Words& words : with_number) {
    expect_refused(words, "99…99", "");
    EXPECT_LT(uscope(words).err.size(), 250U) << words[0] << " " << words[1];
  }
  expect_refused({"record", "--max-size", "1e300", "--", "true"}, "not a size: 1e300", "give bytes");
  expect_refused({"record", "--mode", "9", "--", "true"}, "'9' is not a mode: 1 app-last, 2 app-all", "");
  expect_refused({"record", "--duration", "0", "--", "true"}, "--duration 0 leaves no time to trace", "give a time");
  expect_refused({"events", "sample.db", "-n", "0"}, "'0' is not a whole number from 1", "");
  expect_refused({"events", "sample.db", "-n", "-1"}, "'-1' is not a whole number", "");
  expect_refused({"events", "sample.db", "--id", "1", "--around", "-1"}, "'-1' is not a whole number from 0", "");
  expect_refused({"record", "--data", "0", "--", "true"}, "'0' is not a whole number from 1", "");
}

TEST_F(UsageTest, ACommandBesideAnotherTargetIsNamed) {
  expect_refused({"record", "--app", "A", "B"}, "more than one kind of target: --app and the command B",
                 "give one of them; for several, write --app A --app B");
}

TEST_F(UsageTest, SetsOfCallsAddUp) {
  const std::string both = output({"events", "sample.db", "-e", "read,openat"});
  EXPECT_EQ(output({"events", "sample.db", "-e", "read", "-e", "openat"}), both);
  EXPECT_NE(output({"events", "sample.db", "-e", "read"}), both);
}

TEST_F(UsageTest, CommandsInHintsAreQuotedForAShell) {
  std::filesystem::rename(path(), folder_ / "my trace.db");
  const Finished run = uscope({"load", "my trace.db", "-o", "new.db"});
  EXPECT_NE(run.err.find("read it: uscope report 'my trace.db'"), std::string::npos) << run.err;
}

TEST_F(UsageTest, HelpFitsATerminal) {
  std::istringstream top(output({"--help"}));
  Words verbs;
  bool listed = false;
  for (std::string line; std::getline(top, line);) {
    EXPECT_LE(cli::display_width(line), 80U) << line;
    listed = listed || line == "Subcommands:";
    if (listed && line.starts_with("  ") && line[2] != ' ') verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  EXPECT_GE(verbs.size(), 13U);
  for (const std::string& verb : verbs) {
    std::istringstream help(output({verb, "--help"}));
    for (std::string line; std::getline(help, line);) EXPECT_LE(cli::display_width(line), 80U) << verb << ": " << line;
  }
}

}  // namespace
}  // namespace uscope::test

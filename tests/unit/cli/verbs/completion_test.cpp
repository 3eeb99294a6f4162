// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The completion script in a real bash: its function is called with a command line, as the shell does.
#include <algorithm>

#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Words = std::vector<std::string>;

class CompletionTest : public CommandTest {
 protected:
  // What bash offers for the last of `words`.
  Words complete(const Words& words) {
    std::string line;
    for (const std::string& word : words) line += " '" + word + "'";
    const std::string script = std::string("source <(") + paths::kUscope + " completion bash)\nCOMP_WORDS=(" + line +
                               ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n" +
                               "_uscope\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    const Finished run = run_command(folder_ / ".", {"bash", "--norc", "-c", script});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    Words offered;
    std::istringstream lines(run.out);
    for (std::string word; std::getline(lines, word);)
      if (!word.empty()) offered.push_back(word);
    std::sort(offered.begin(), offered.end());
    return offered;
  }
};

TEST_F(CompletionTest, Verbs) {
  EXPECT_EQ(complete({"uscope", "e"}), (Words{"events", "export"}));
  EXPECT_EQ(complete({"uscope", "tr"}), (Words{"tree"}));
  EXPECT_EQ(complete({"uscope", "ra"}), (Words{"raw"}));
  EXPECT_EQ(complete({"uscope", "--ver"}), (Words{"--version"}));
}

TEST_F(CompletionTest, OptionsOfTheVerb) {
  EXPECT_EQ(complete({"uscope", "report", "--"}),
            (Words{"--app-module", "--app-runtime", "--color", "--force", "--format", "--help", "--html", "--no-pager",
                   "--pid", "--since", "--thread", "--tid", "--top", "--until"}));
  EXPECT_EQ(complete({"uscope", "tree", "sample.db", "--im"}), (Words{"--images"}));
  for (const char* verb : {"load", "export"})
    EXPECT_EQ(complete({"uscope", verb, "--fo"}), (Words{"--force", "--format"})) << verb;
}

TEST_F(CompletionTest, ValuesOfOptions) {
  EXPECT_EQ(complete({"uscope", "report", "--format", ""}), (Words{"json", "text"}));
  EXPECT_EQ(complete({"uscope", "export", "--weight", "t"}), (Words{"time"}));
  EXPECT_EQ(complete({"uscope", "events", "--how", "no"}), (Words{"no_entry", "noreturn"}));
  EXPECT_EQ(complete({"uscope", "raw", "--type", "kernel"}), (Words{"kernel_place"}));
  EXPECT_EQ(complete({"uscope", "report", "--format", "=", "j"}), (Words{"json"}));
  EXPECT_EQ(complete({"uscope", "completion", ""}), (Words{"bash", "fish", "zsh"}));
}

// Words of which several may stand in one, with commas between them, and others are taken too.
TEST_F(CompletionTest, SuggestedValues) {
  EXPECT_EQ(complete({"uscope", "record", "-e", "%f"}), (Words{"%file"}));
  EXPECT_EQ(complete({"uscope", "events", "-e", "opena"}), (Words{"openat", "openat2"}));
  EXPECT_EQ(complete({"uscope", "record", "-e", "%network,opena"}), (Words{"%network,openat", "%network,openat2"}));
  EXPECT_EQ(complete({"uscope", "record", "-t", "trace"}), (Words{"tracepoint:"}));
  EXPECT_EQ(complete({"uscope", "events", "--errno", "ENOEN"}), (Words{"ENOENT"}));
  EXPECT_EQ(complete({"uscope", "record", "--mode", "app"}), (Words{"app-all", "app-last"}));
  // bash takes @NAME for two words.
  EXPECT_EQ(complete({"uscope", "query", "@", "lat"}), (Words{"latency"}));
  EXPECT_EQ(complete({"uscope", "query", "@lat"}), (Words{"@latency"}));
  EXPECT_EQ(complete({"uscope", "query", "sam"}), (Words{"sample.db"}));
  EXPECT_EQ(complete({"uscope", "help", "rep"}), (Words{"report"}));
}

TEST_F(CompletionTest, Files) {
  std::ofstream(folder_ / "sample.txt") << "no database";
  EXPECT_EQ(complete({"uscope", "report", "sam"}), (Words{"sample.db"}));
  EXPECT_EQ(complete({"uscope", "diff", "--normal", "a.db", "--abnormal", "b.db", "sam"}), (Words{"sample.db"}));
  EXPECT_EQ(complete({"uscope", "export", "-o", "sam"}), (Words{"sample.db", "sample.txt"}));
  EXPECT_EQ(complete({"uscope", "record", "-S", "sam"}), Words{}) << "a number";
  EXPECT_EQ(complete({"uscope", "record", "--", "cat", "sam"}), (Words{"sample.db", "sample.txt"}));
}

}  // namespace
}  // namespace uscope::test

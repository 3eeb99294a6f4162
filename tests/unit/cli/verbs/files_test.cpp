// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope files`, from the outside.
#include <nlohmann/json.hpp>

#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;

TEST_F(CommandTest, FilesAsText) {
  const std::string text = output({"files", "sample.db"});
  expect_golden(text, "files.txt");
  expect_harmless(text, false);
}

TEST_F(CommandTest, FilesAsJson) {
  const std::string text = output({"files", "sample.db", "--format", "json"});
  expect_schema(text, "files");
  expect_harmless(text, true);
  const Json files = Json::parse(text);
  EXPECT_EQ(files["total"], 4);
  EXPECT_EQ(files["all"]["calls"], 8);
  EXPECT_EQ(files["files"][0]["name"], nullptr);
  EXPECT_EQ(files["files"][2]["name"], "/etc/passwd");
}

TEST_F(CommandTest, FilesAreChosen) {
  const Json two = Json::parse(output({"files", "sample.db", "--format", "json", "--path", "/tmp/*", "--path", "/etc/*",
                                       "--sort", "failures", "--top", "1"}));
  EXPECT_EQ(two["total"], 2);
  ASSERT_EQ(two["files"].size(), 1U);
  EXPECT_EQ(two["files"][0]["name"], "/etc/passwd");
  const Json none = Json::parse(uscope({"files", "sample.db", "--format", "json", "--process", "none"}).out);
  EXPECT_EQ(none["files"].size(), 0U);
  const Finished unknown = uscope({"files", "sample.db", "--process", "none"});
  EXPECT_EQ(unknown.out, "FILES  none\n");
  EXPECT_TRUE(
      unknown.err.ends_with("uscope: no process goes by the name \"none\"\n"
                            "hint: those of this recording are bash, gcc, make, script>, true\n"))
      << unknown.err;
  EXPECT_EQ(uscope({"files", "sample.db", "--sort", "name"}).code, 2);
}

TEST_F(CommandTest, FilesByFailuresAreThoseThatHaveAny) {
  const std::string text = output({"files", "sample.db", "--sort", "failures"});
  EXPECT_TRUE(text.starts_with("FILES  4, the 3 with most failures:\n")) << text;
  EXPECT_NE(text.find("/etc/passwd"), std::string::npos) << text;
  EXPECT_EQ(text.find("red"), std::string::npos) << text;
  EXPECT_EQ(output({"files", "sample.db", "--sort", "failures", "--path", "*red*"}), "FILES  none with a failure\n");
  EXPECT_EQ(Json::parse(output({"files", "sample.db", "--sort", "failures", "--format", "json"}))["files"].size(), 4U);
}

// Who used it: the process, the call, and the function.
TEST_F(CommandTest, APathIsShownWithItsCallers) {
  const std::string text = output({"files", "sample.db", "--path", "passwd"});
  for (const char* part : {"FILES  1\n", "gcc[101]", "/etc/passwd", "CALLERS  1\n", "from function", "compile"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const std::string json = output({"files", "sample.db", "--path", "passwd", "--format", "json"});
  expect_schema(json, "files");
  const Json files = Json::parse(json);
  EXPECT_EQ(files["files"][0]["processes"][0]["name"], "gcc");
  EXPECT_EQ(files["callers"]["lines"][0]["function"], "compile");
  EXPECT_EQ(files["callers"]["lines"][0]["pid"], 101);
  EXPECT_TRUE(Json::parse(output({"files", "sample.db", "--format", "json"}))["callers"].is_null());
  const std::string callers = output({"files", "sample.db", "--callers", "--format", "json"});
  expect_schema(callers, "files");
  EXPECT_GT(Json::parse(callers)["callers"]["total"], 4);
  expect_harmless(output({"files", "sample.db", "--callers"}), false);
}

TEST_F(CommandTest, APathThatNothingMatchesIsExplained) {
  const Finished run = uscope({"files", "sample.db", "--path", "etc/passwd"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "FILES  none\n");
  EXPECT_TRUE(run.err.ends_with("uscope: no name in the trace matches --path etc/passwd; near it is /etc/passwd\n"))
      << run.err;
}

}  // namespace
}  // namespace uscope::test

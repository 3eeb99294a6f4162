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

}  // namespace
}  // namespace uscope::test

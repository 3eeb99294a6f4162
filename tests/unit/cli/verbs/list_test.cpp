// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope list`, from the outside; tests/system/targets compares what it finds.
#include <nlohmann/json.hpp>

#include "cli/render/list_render.h"
#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kOpenInLibc = "ufunction:/usr/lib/x86_64-linux-gnu/libc.so.6:open";

TEST_F(CommandTest, ListShowsTheClasses) {
  const std::string text = output({"list"});
  for (const char* part : {"sample:HZ", "offcpu", "tracepoint:SYSTEM:NAME", "usdt:BINARY:PROVIDER:NAME",
                           "ufunction:BINARY:FUNCTION", "kfunction:FUNCTION", "give --app NAME"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const std::string json = output({"list", "--format", "json"});
  expect_schema(json, "list");
  const Json classes = Json::parse(json)["classes"];
  ASSERT_EQ(classes.size(), 6U);
  EXPECT_EQ(classes[0]["targets"], 1);
  EXPECT_EQ(classes[4]["targets"], nullptr);
}

TEST_F(CommandTest, ListShowsTargets) {
  EXPECT_TRUE(output({"list", kOpenInLibc}).starts_with(std::string(kOpenInLibc) + "  "))
      << output({"list", kOpenInLibc});
  const std::string json = output({"list", kOpenInLibc, "--format", "json"});
  expect_schema(json, "list");
  const Json target = Json::parse(json)["targets"].at(0);
  EXPECT_EQ(target["name"], "libc.so.6:open");
  EXPECT_EQ(target["class"], "ufunction");
  EXPECT_EQ(target["why_not"], nullptr);
  EXPECT_EQ(output({"list", "offcpu"}), "offcpu\n");
}

TEST_F(CommandTest, ListRefusesWhatIsNoTarget) {
  EXPECT_EQ(uscope({"list", "tracepont:x"}).code, 2);
  EXPECT_EQ(uscope({"list", "--app", "no-such-application"}).code, 2);
  EXPECT_EQ(uscope({"record", "-t", "sample:x", "--", "true"}).code, 125);
}

}  // namespace
}  // namespace uscope::test

namespace uscope::cli {
namespace {

TEST(ListRender, ReasonsAreNumberedOnce) {
  std::vector<tracer::TargetMatch> matches(4);
  matches[0].target = "ufunction:app:a\x1b[31m";
  matches[0].probe.arguments = {{.name = "fd", .type = "int"},
                                {.name = "name", .type = "const char *"},
                                {.name = "comm", .type = "char[16]"},
                                {.name = "text", .type = "__data_loc char[]"}};
  matches[1].target = "ufunction:app:b";
  matches[1].why_not = "it is an IFUNC";
  matches[2].target = "ufunction:app:c";
  matches[2].why_not = "it is an IFUNC";
  matches[3].target = "kfunction:f.isra.0";
  matches[3].note = "arguments are not known";
  EXPECT_EQ(targets_text(matches, false),
            "ufunction:app:a\\x1b[31m  int fd, const char *name, char comm[16], char text[]\n"
            "kfunction:f.isra.0  [1]\n"
            "[1] arguments are not known\n"
            "cannot be traced (`uscope list --refused` names them):\n"
            "        2  it is an IFUNC\n");
  const std::string refused =
      "ufunction:app:b  [1]\n"
      "ufunction:app:c  [1]\n"
      "[1] cannot be traced: it is an IFUNC\n";
  EXPECT_EQ(targets_text(matches, true), refused);
  // Where nothing else matches, they are shown unasked.
  EXPECT_EQ(targets_text({matches[1], matches[2]}, false), refused);
  const auto parts = nlohmann::json::parse(targets_json(matches, false));
  EXPECT_EQ(parts["targets"].size(), 2U);
  EXPECT_EQ(parts["refused"].at(0)["why_not"], "it is an IFUNC");
  EXPECT_EQ(nlohmann::json::parse(targets_json(matches, true))["targets"].size(), 0U);
}

}  // namespace
}  // namespace uscope::cli

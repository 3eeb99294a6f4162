// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The values of the file; conformance.exports opens one with speedscope's own importer.
#include "exporters/profiles/speedscope.h"

#include <nlohmann/json.hpp>

#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

using Json = nlohmann::json;

class Speedscope : public test::SampleTrace {
 protected:
  Json read(const exporters::ProfileOptions& options) {
    const auto database = open();
    const auto catalog = read_catalog(database);
    EXPECT_TRUE(catalog);
    std::string file;
    auto totals =
        exporters::write_speedscope(database, *catalog, options, [&](std::string_view bytes) { file += bytes; });
    EXPECT_TRUE(totals) << totals.error().what;
    return Json::parse(file);
  }

  static std::vector<std::string> names(const Json& file, const Json& stack) {
    std::vector<std::string> out;
    for (const Json& number : stack) out.push_back(file["shared"]["frames"].at(number.get<std::size_t>())["name"]);
    return out;
  }
};

TEST_F(Speedscope, HasAProfileForEachWeightAndOneForLosses) {
  const Json file = read({});
  ASSERT_EQ(file["profiles"].size(), 3U);
  EXPECT_EQ(file["profiles"][0]["name"], "events");
  EXPECT_EQ(file["profiles"][0]["endValue"], 14);
  EXPECT_EQ(file["profiles"][1]["name"], "time in calls");
  EXPECT_EQ(file["profiles"][1]["unit"], "nanoseconds");
  EXPECT_EQ(file["profiles"][1]["endValue"], 1000 + 7000 + 600'000'000 + 6000 + 500 + 90);
  EXPECT_EQ(file["profiles"][2]["name"], "lost");
  EXPECT_EQ(file["profiles"][2]["endValue"], 17);
  EXPECT_NE(file["name"].get<std::string>().find("INCOMPLETE"), std::string::npos);
  for (const Json& profile : file["profiles"]) {
    EXPECT_EQ(profile["samples"].size(), profile["weights"].size());
    std::int64_t sum = 0;
    for (const Json& weight : profile["weights"]) sum += weight.get<std::int64_t>();
    EXPECT_EQ(sum, profile["endValue"]);
  }
}

TEST_F(Speedscope, StacksBeginOutsideWithTheirLevels) {
  const Json file = read({.levels = {.pid = true, .call = true}, .filter = {.pids = {101}, .calls = {{"exit_group"}}}});
  EXPECT_EQ(names(file, file["profiles"][0]["samples"][0]),
            (std::vector<std::string>{"gcc", "pid 101", "[broken:no_rows]", "compile", "openat", "exit_group"}));
  EXPECT_EQ(file["profiles"].size(), 2U);  // no time, but what is lost
}

TEST_F(Speedscope, FramesHaveTheirFileOrModule) {
  const Json file = read({.filter = {.tids = {110}}});
  EXPECT_EQ(file["shared"]["frames"][2]["name"], "main");
  EXPECT_EQ(file["shared"]["frames"][2]["file"], "/src/main.c");
  EXPECT_EQ(file["shared"]["frames"][1]["file"], "/usr/lib/x86_64-linux-gnu/libc.so.6");
  EXPECT_EQ(file["shared"]["frames"][0], Json({{"name", "make"}}));
}

TEST_F(Speedscope, IsValidWithoutAnEventAndWithHostileNames) {
  const Json none = read({.filter = {.pids = {4711}}});
  EXPECT_EQ(none["profiles"][0]["samples"], Json::array());
  EXPECT_EQ(none["profiles"][0]["endValue"], 0);
  const Json hostile = read({.filter = {.pids = {103}}});
  EXPECT_EQ(names(hostile, hostile["profiles"][0]["samples"][0]).back(), "\\x1b[31mred\\x0a\\xff;</script>");
}

}  // namespace
}  // namespace uscope::analyzer

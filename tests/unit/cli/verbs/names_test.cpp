// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of any bytes, on their way from a raw trace to what each reader prints: it can be turned back into the bytes,
// and no two names look alike.
#include <nlohmann/json.hpp>
#include <set>

#include "support/text.h"
#include "tests/unit/cli/run_command.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;

// Four letters and the byte that they could be an escape of; a newline, a tab, ESC, DEL, U+0085, U+202E; an overlong
// sequence, a lone surrogate, a sequence that is cut; backslashes, quotes, and what stands around names.
const std::vector<std::string> kNames{"a\\xffb",
                                      "a\xff"
                                      "b",
                                      "a\nb",
                                      "a\tb",
                                      "a\x1b"
                                      "b",
                                      "a\x7f"
                                      "b",
                                      "a\xc2\x85"
                                      "b",
                                      "a\xe2\x80\xae"
                                      "b",
                                      "a\xc0\xaf"
                                      "b",
                                      "a\xed\xa0\x80"
                                      "b",
                                      "a\xe2\x82",
                                      "a\\b",
                                      "a\\\\b",
                                      "a\\",
                                      "a\\x0ab",
                                      "a\"b",
                                      "a<b>{c}",
                                      "a\\\"b",
                                      "b\xc3\xa4",
                                      "a b"};

class NamesTest : public CommandTest {
 protected:
  NamesTest() {
    RawTrace trace(folder_ / "names.raw", 1);
    trace.task({});
    trace.file(2, "/opt/bin/app", "IDA");
    trace.descriptor(1, USC_FD_CWD, "/work", kStart + 5);
    for (std::uint32_t i = 0; i < kNames.size(); i++) trace.descriptor(1, descriptor(i), path(i), kStart + 6);
    trace.descriptor(1, USC_FD_END, "", kStart + 7);
    for (std::uint32_t i = 0; i < kNames.size(); i++) {
      const std::uint64_t entry = kStart + 100 + 100 * std::uint64_t{i};
      trace.exec(1, 1, i + 1, 2, path(i), path(i) + std::string(1, '\0'), entry - 10);
      trace.string(1, entry, 0, path(i));
      trace.event({.entry = entry, .end = entry + 10, .result = 99, .nr = kOpen, .image = i + 1});
      trace.event({.entry = entry + 20,
                   .end = entry + 30,
                   .nr = kClose,
                   .image = i + 1,
                   .a0 = static_cast<std::uint64_t>(descriptor(i))});
    }
    trace.totals();
    trace.close();
    output({"load", "names.raw", "-o", "names.db"});
  }

  static int descriptor(std::uint32_t i) { return static_cast<int>(100 + i); }
  static std::string path(std::size_t i) { return "/d/" + kNames[i]; }

  static constexpr std::uint32_t kOpen = 2;
  static constexpr std::uint32_t kClose = 3;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// What stands between two marks of a line.
std::string between(const std::string& line, const std::string& first, const std::string& last) {
  const std::size_t begin = line.find(first);
  const std::size_t end = line.rfind(last);
  EXPECT_TRUE(begin != std::string::npos && end != std::string::npos && begin + first.size() <= end) << line;
  return line.substr(begin + first.size(), end - begin - first.size());
}

TEST_F(NamesTest, OfEventsAreTheBytesAgain) {
  const std::vector<std::string> opens = lines_of(output({"events", "names.db", "-e", "open"}));
  const std::vector<std::string> closes = lines_of(output({"events", "names.db", "-e", "close"}));
  ASSERT_EQ(opens.size(), kNames.size());
  ASSERT_EQ(closes.size(), kNames.size());
  for (std::size_t i = 0; i < kNames.size(); i++) {
    EXPECT_EQ(bytes_of(between(opens[i], "open(\"", "\", O_")), path(i)) << opens[i];
    EXPECT_EQ(bytes_of(between(closes[i], "close(" + std::to_string(100 + i) + "<", ">)")), path(i)) << closes[i];
    EXPECT_EQ(bytes_of(between(opens[i], "", "[100/100]")), kNames[i]) << opens[i];
  }
  EXPECT_NE(opens[0].find(R"("/d/a\\xffb")"), std::string::npos) << opens[0];
  EXPECT_NE(opens[1].find(R"("/d/a\xffb")"), std::string::npos) << opens[1];
}

TEST_F(NamesTest, OfJsonAreTheBytesAgain) {
  const Json events = Json::parse(output({"events", "names.db", "-e", "open", "--format", "json"}))["events"];
  const Json tree = Json::parse(output({"tree", "names.db", "--format", "json"}))["processes"][0]["images"];
  const Json rows =
      Json::parse(output({"sql", "names.db", "--format", "json", "SELECT path, argv FROM image ORDER BY id"}));
  ASSERT_EQ(events.size(), kNames.size());
  ASSERT_EQ(tree.size(), kNames.size());
  for (std::size_t i = 0; i < kNames.size(); i++) {
    EXPECT_EQ(bytes_of(events[i]["strings"][0]["value"].get<std::string>()), path(i));
    EXPECT_EQ(bytes_of(events[i]["process"].get<std::string>()), kNames[i]);
    EXPECT_EQ(bytes_of(tree[i]["path"].get<std::string>()), path(i));
    EXPECT_EQ(bytes_of(tree[i]["argv"][0].get<std::string>()), path(i));
    const Json& row = rows["results"][0]["rows"][i];
    EXPECT_EQ(bytes_of(row[0].get<std::string>()), path(i));
    EXPECT_EQ(bytes_of(Json::parse(row[1].get<std::string>())[0].get<std::string>()), path(i));
  }
}

TEST_F(NamesTest, OfFilesAreTheBytesAgain) {
  std::set<std::string> expected;
  for (std::size_t i = 0; i < kNames.size(); i++) expected.insert(path(i));
  std::set<std::string> as_text;
  for (const std::string& line : lines_of(output({"files", "names.db"})))
    if (const std::size_t at = line.find("/d/"); at != std::string::npos) as_text.insert(bytes_of(line.substr(at)));
  EXPECT_EQ(as_text, expected);
  std::set<std::string> as_json;
  const Json files = Json::parse(output({"files", "names.db", "--format", "json"}))["files"];
  for (const Json& file : files) as_json.insert(bytes_of(file["name"].get<std::string>()));
  EXPECT_EQ(as_json, expected);
}

TEST_F(NamesTest, OfTheTreeAreTheBytesAgain) {
  const std::vector<std::string> lines = lines_of(output({"tree", "names.db", "--images"}));
  ASSERT_EQ(lines.size(), kNames.size() + 2);
  for (std::size_t i = 0; i < kNames.size(); i++) {
    const std::string rest = lines[i + 2].substr(lines[i + 2].find("/d/"));
    EXPECT_EQ(bytes_of(rest.substr(0, rest.find("  "))), path(i)) << lines[i + 2];
  }
}

TEST_F(NamesTest, ASelectionTakesThemAsTheyAreAndAsTheyArePrinted) {
  const auto chosen = [&](const std::string& glob) {
    std::set<std::string> names;
    const Json files = Json::parse(output({"files", "names.db", "--path", glob, "--format", "json"}))["files"];
    for (const Json& file : files) names.insert(bytes_of(file["name"].get<std::string>()));
    return names;
  };
  EXPECT_EQ(chosen("/d/a\\\\xffb"), (std::set<std::string>{"/d/a\\xffb"}));
  EXPECT_EQ(chosen("/d/a\\xffb"), (std::set<std::string>{"/d/a\\xffb",
                                                         "/d/a\xff"
                                                         "b"}));
  EXPECT_EQ(chosen("/d/a\\b"), (std::set<std::string>{"/d/a\\b"}));
  EXPECT_EQ(chosen("/d/a\xc0\xaf"
                   "b"),
            (std::set<std::string>{"/d/a\xc0\xaf"
                                   "b"}));
}

}  // namespace
}  // namespace uscope::test

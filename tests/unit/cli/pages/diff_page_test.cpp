// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tests/unit/analyzer/run_store.h"
#include "tests/unit/cli/pages/page_data.h"

namespace uscope::test {
namespace {

class DiffPage : public CommandTest {
 protected:
  DiffPage() {
    const std::vector<MadeCalls> usual{
        {.kind = "openat", .function = "open_page", .count = 40, .result = 5, .argument = "/srv/page"},
        {.kind = "read", .function = "serve", .count = 90, .result = 100}};
    for (const char* name : {"n1.db", "n2.db"}) write_run(folder_ / name, {.calls = usual});
    auto calls = usual;
    calls.push_back({.kind = "openat", .function = "open_page", .count = 15, .result = -13, .argument = "/srv/page"});
    calls.push_back({.kind = "write", .function = std::string(kHostile), .count = 15, .result = 70});
    write_run(folder_ / "bad.db", {.calls = calls});
  }
  std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> all{"diff", "--normal", "n1.db", "n2.db", "--abnormal", "bad.db"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(DiffPage, HasTheFindingsOfTheTextAndAllCells) {
  EXPECT_EQ(output(words({"--html", "page.html"})), "");
  const std::string page = read_file(folder_ / "page.html");
  expect_page(page);
  const auto data = page_data(page);
  const std::string text = output(words({}));
  ASSERT_EQ(data["findings"].size(), 2U);
  for (const auto& finding : data["findings"]) {
    // The text breaks its lines.
    const std::string said = finding["text"];
    EXPECT_NE(text.find(said.substr(0, 60)), std::string::npos) << said << "\n" << text;
  }
  const auto& first = data["findings"][0];
  EXPECT_EQ(first["text"], "openat fails with EACCES in open_page (server): 15 times, never in the normal runs");
  EXPECT_EQ(first["list"], "abnormal");
  EXPECT_EQ(first["arguments"], nlohmann::json::parse(R"([["/srv/page", 15]])"));
  EXPECT_EQ(first["stacks"], nlohmann::json::parse(R"([[["open_page", "main"], 15]])"));
  const auto& cell = data["cells"][first["cell"].get<std::size_t>()];
  EXPECT_EQ(data["kinds"][cell[0].get<std::size_t>()], "openat");
  EXPECT_EQ(data["functions"][cell[1].get<std::size_t>()], (nlohmann::json{"open_page", "server", "open_page"}));
  EXPECT_EQ(cell[2], nlohmann::json::parse(R"([80, 0, 80, 80000, 2, {}])"));
  EXPECT_EQ(cell[3], nlohmann::json::parse(R"([55, 0, 55, 55000, 1, {"EACCES": 15}])"));
  EXPECT_EQ(data["cells"].size(), 3U);
  EXPECT_EQ(data["stacks"]["nodes"][0], (nlohmann::json{0, 0, 260, 160, 260'000, 160'000}));
}

TEST_F(DiffPage, IsWrittenOverNothingElse) {
  const Finished format = uscope(words({"--html", "page.html", "--format", "json"}));
  EXPECT_EQ(format.code, 2);
  EXPECT_NE(format.err.find("--format"), std::string::npos) << format.err;
  std::ofstream(folder_ / "page.html") << "mine";
  const Finished there = uscope(words({"--html", "page.html"}));
  EXPECT_EQ(there.code, 2);
  EXPECT_NE(there.err.find("page.html"), std::string::npos) << there.err;
  EXPECT_EQ(read_file(folder_ / "page.html"), "mine");
  output(words({"--html", "page.html", "--force"}));
  expect_page(read_file(folder_ / "page.html"));
  const Finished itself = uscope(words({"--html", "n2.db", "--force"}));
  EXPECT_EQ(itself.code, 2);
  EXPECT_NE(itself.err.find("the output is the trace itself: n2.db"), std::string::npos) << itself.err;
}

}  // namespace
}  // namespace uscope::test

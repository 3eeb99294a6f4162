// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// docs/cli.md names every option of every verb it describes.
#include <regex>

#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

// The chapter "## verb".
std::string chapter(const std::string& page, const std::string& verb) {
  const std::size_t start = page.find("\n## " + verb + "\n");
  if (start == std::string::npos) return "";
  return page.substr(start, page.find("\n## ", start + 1) - start);
}

TEST_F(CommandTest, DocumentationNamesEveryOption) {
  // Options of several verbs that are explained once.
  const std::string common = "--color --no-pager";
  const std::string page = read_file(std::filesystem::path(paths::kSourceFolder) / "docs" / "cli.md");
  const std::regex option("^  +(-[^ ]*)", std::regex::multiline);
  for (const char* verb : {"top", "record", "list", "report", "time", "files", "events", "tree", "diff", "deadlock",
                           "sql", "query", "export", "load", "raw"}) {
    std::string text = chapter(page, verb);
    EXPECT_NE(text, "") << verb;
    text += common;
    const std::string help = output({verb, "--help"});
    int options = 0;
    for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at) {
      std::istringstream names((*at)[1]);
      for (std::string name; std::getline(names, name, ',');) {
        if (name == "-h" || name == "--help") continue;
        EXPECT_NE(text.find(name), std::string::npos) << verb << " " << name;
        options++;
      }
    }
    EXPECT_GT(options, 0) << verb;
  }
  const std::size_t terminal = page.find("\n### On a terminal\n");
  ASSERT_NE(terminal, std::string::npos);
  const std::string explained = page.substr(terminal, page.find("\n### ", terminal + 1) - terminal);
  for (const char* name : {"--color", "--no-pager"}) EXPECT_NE(explained.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace uscope::test

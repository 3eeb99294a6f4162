// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/files_render.h"

#include <gtest/gtest.h>

#include <sstream>

namespace uscope::cli {
namespace {

// One process or two, and paths that differ only in their last components.
TextTable table_of(std::size_t processes) {
  analyzer::TopList<analyzer::FileLine> files;
  for (std::size_t i = 0; i < 3; i++) {
    analyzer::FileLine line;
    line.calls = line.opens = line.reads = line.writes = line.failures = line.changes = 1'234;
    line.bytes_read = line.bytes_written = line.total_ns = line.wait_ns = 123'456;
    line.name = "/tmp/work-" + std::string(40, 'x') + "/trial-" + std::to_string(i) + "/access_statistics.log";
    analyzer::FileUser user;
    user.pid = static_cast<std::int64_t>(1'000 + i % processes);
    user.process = "server";
    line.users.push_back(user);
    files.lines.push_back(line);
  }
  files.total = 3;
  return files_table(files, true);
}

TEST(FilesRender, APathKeepsItsEndInANarrowTable) {
  for (const std::size_t processes : {1U, 2U}) {
    const std::string text = table_of(processes).render(80);
    for (int i = 0; i < 3; i++)
      EXPECT_NE(text.find("-" + std::to_string(i) + "/access_statistics.log\n"), std::string::npos) << text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
    EXPECT_NE(table_of(processes).render(250).find("server[1000]"), std::string::npos);
  }
}

}  // namespace
}  // namespace uscope::cli

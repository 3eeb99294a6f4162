// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is said of the processes that are to be traced, before any is.
#include "cli/session/record_target.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/terminal/text_width.h"

namespace uscope::cli {
namespace {

RecordVerbOptions apps(const std::vector<std::string>& names) {
  RecordVerbOptions options;
  options.apps = names;
  return options;
}

TEST(FoundText, SaysWhatRuns) {
  EXPECT_EQ(found_text(apps({"nginx"}), {.threads = 1, .missing = {}}),
            "uscope: tracing app nginx: 1 thread runs already; Ctrl-C ends tracing\n");
  EXPECT_EQ(found_text(apps({"nginx"}), {.threads = 1234, .missing = {}}),
            "uscope: tracing app nginx: 1,234 threads run already; Ctrl-C ends tracing\n");
}

TEST(FoundText, NamesEachNameThatNoProcessHas) {
  EXPECT_EQ(found_text(apps({"nginx", "redis", "x"}),
                       {.threads = 2, .missing = {{"redis", {{"redis-server", 12}, {"redis-cli", 13}}}, {"x", {}}}}),
            "uscope: tracing app nginx, redis, x: 2 threads run already; Ctrl-C ends tracing\n"
            "  no process is called redis; did you mean\n"
            "    redis-server (pid 12)\n"
            "    redis-cli (pid 13)?\n"
            "  no process is called x\n");
  EXPECT_EQ(found_text(apps({"x"}), {.threads = 0, .missing = {{"x", {}}}}),
            "uscope: nothing of app x runs yet: waiting for it; Ctrl-C ends tracing\n"
            "  no process is called x\n");
}

TEST(FoundText, FitsATerminalWhateverTheNames) {
  std::vector<tracer::MissingName> missing;
  std::vector<std::string> names;
  for (int i = 0; i < 50; i++) {
    names.push_back(std::string(200, 'a') + "\x1b" + std::to_string(i));
    missing.push_back({names.back(), {{std::string(255, 'b'), 4194303}, {"c\n", 1}}});
  }
  for (const std::size_t threads : {0, 99999}) {
    std::istringstream text(found_text(apps(names), {.threads = threads, .missing = missing}));
    std::size_t lines = 0;
    for (std::string line; std::getline(text, line); lines++) EXPECT_LE(display_width(line), 80U) << line;
    EXPECT_EQ(lines, 2 + 3 * 8 + 1U);
  }
  EXPECT_LT(near_misses(missing).size(), 3000U);
}

}  // namespace
}  // namespace uscope::cli

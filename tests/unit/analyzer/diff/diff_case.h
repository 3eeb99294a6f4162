// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tests of whole comparisons, of stores that are made up.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diff/diff.h"
#include "tests/unit/analyzer/run_store.h"

namespace uscope::analyzer {

using test::MadeCalls;
using test::MadeRun;

// What every run of the made-up server does.
inline std::vector<MadeCalls> usual() {
  return {{.kind = "accept4", .function = "serve", .count = 100},
          {.kind = "openat", .function = "open_page", .count = 100, .result = 5, .argument = "/srv/page"},
          {.kind = "read", .function = "serve", .count = 300, .dur_ns = 2000},
          {.kind = "futex", .function = "wait", .count = 50, .result = -11},
          {.kind = "write", .function = "log_line", .count = 100, .result = 80}};
}

class DiffTest : public testing::Test {
 protected:
  void normal(const MadeRun& run) { add(options_.normal, "normal", run); }
  void abnormal(const MadeRun& run) { add(options_.abnormal, "abnormal", run); }
  void three_normal() {
    for (int i = 0; i < 3; i++) normal({.calls = usual()});
  }
  void usual_and(MadeCalls more) {
    auto calls = usual();
    calls.push_back(std::move(more));
    abnormal({.calls = std::move(calls)});
  }

  Diff compared() {
    auto found = diff(options_);
    if (!found) {
      ADD_FAILURE() << found.error().what;
      return {};
    }
    return std::move(*found);
  }

  Diff compared_with_itself() {
    options_.abnormal = options_.normal;
    Diff found = compared();
    options_.abnormal.clear();
    return found;
  }

  [[nodiscard]] static bool warned(const Diff& found, const std::string& of) {
    return std::any_of(found.warnings.begin(), found.warnings.end(),
                       [&](const std::string& warning) { return warning.find(of) != std::string::npos; });
  }

  test::TemporaryFolder folder_;
  DiffOptions options_;

 private:
  void add(std::vector<std::filesystem::path>& side, const std::string& name, const MadeRun& run) {
    side.push_back(folder_ / (name + std::to_string(side.size()) + ".db"));
    test::write_run(side.back(), run);
  }
};

}  // namespace uscope::analyzer

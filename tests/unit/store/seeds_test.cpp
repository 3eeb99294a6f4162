// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The seeds of the fuzzers are traces of this version: a reader that refuses them at the header tests nothing else.
#include <gtest/gtest.h>

#include "store/loader.h"
#include "tests/support/paths.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

TEST(FuzzSeeds, LoadWithTheirEvents) {
  for (const char* corpus : {"loader", "raw_file"}) {
    for (const char* seed : {"seed_whole", "seed_strings", "seed_futexes", "seed_hits"}) {
      const test::TemporaryFolder folder;
      const auto path = std::filesystem::path(paths::kSourceFolder) / "tests/fuzz/corpus" / corpus / seed;
      LoadOptions options;
      options.namer = std::make_unique<FakeNamer>();
      const auto summary = load(path, folder / "db", options);
      ASSERT_TRUE(summary) << path << ": " << summary.error().what
                           << "; tests/fuzz/make_seeds.py writes the seeds anew";
      EXPECT_GE(summary->events, 9U) << path;
    }
  }
}

}  // namespace
}  // namespace uscope::store

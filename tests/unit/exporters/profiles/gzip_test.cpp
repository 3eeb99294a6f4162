// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "exporters/profiles/gzip.h"

#include <gtest/gtest.h>

#include "tests/unit/exporters/profiles/unzip.h"

namespace uscope::exporters {
namespace {

std::string zipped(const std::vector<std::string>& parts) {
  std::string out;
  Gzip gzip([&](std::string_view bytes) { out += bytes; });
  for (const std::string& part : parts) gzip.write(part);
  gzip.finish();
  return out;
}

TEST(GzipFile, HoldsWhatWasWritten) {
  EXPECT_EQ(test::unzipped(zipped({})), "");
  EXPECT_EQ(test::unzipped(zipped({"", "a", std::string("\0b", 2)})), std::string("a\0b", 3));
  std::string large;  // more than one buffer, and hard to press
  for (unsigned i = 0, state = 1; i < 300'000; i++)
    large += static_cast<char>((state = state * 1'103'515'245 + 12'345) >> 16);
  EXPECT_EQ(test::unzipped(zipped({large, large})), large + large);
}

}  // namespace
}  // namespace uscope::exporters

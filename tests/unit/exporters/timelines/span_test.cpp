// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "exporters/timelines/span.h"

#include <gtest/gtest.h>

#include <limits>

namespace uscope::exporters {
namespace {

using Ends = std::vector<std::int64_t>;

class Slices : public testing::Test {
 protected:
  Ends advance(std::int64_t ts_ns) {
    Ends ends;
    slices_.advance(ts_ns, [&](std::int64_t end) { ends.push_back(end); });
    return ends;
  }
  Ends finish(std::optional<std::int64_t> until_ns) {
    Ends ends;
    slices_.finish(until_ns, [&](std::int64_t end) { ends.push_back(end); });
    return ends;
  }

  OpenSlices slices_;
};

TEST_F(Slices, EndInnermostFirst) {
  EXPECT_TRUE(slices_.open(100));
  EXPECT_TRUE(slices_.open(50));
  EXPECT_EQ(advance(49), Ends{});
  EXPECT_EQ(advance(50), Ends{50});
  EXPECT_TRUE(slices_.open(100));  // ends with the one around it
  EXPECT_EQ(advance(1000), (Ends{100, 100}));
}

TEST_F(Slices, OneThatOutlivesTheOneAroundItIsRefused) {
  EXPECT_TRUE(slices_.open(100));
  EXPECT_FALSE(slices_.open(101));
  EXPECT_TRUE(slices_.open(std::nullopt));
  EXPECT_FALSE(slices_.open(101));
  EXPECT_EQ(slices_.depth(), 2U);
}

TEST_F(Slices, OneWithoutAnEndIsOverWithTheOneAroundIt) {
  EXPECT_TRUE(slices_.open(100));
  EXPECT_TRUE(slices_.open(std::nullopt));
  EXPECT_TRUE(slices_.open(80));
  EXPECT_EQ(advance(90), Ends{80});
  EXPECT_EQ(slices_.depth(), 2U);
  EXPECT_EQ(advance(100), (Ends{100, 100}));
}

TEST_F(Slices, OneWithoutAnEndStaysOpenToTheThreadsEnd) {
  EXPECT_TRUE(slices_.open(std::nullopt));
  EXPECT_EQ(advance(70), Ends{});
  EXPECT_TRUE(slices_.open(std::nullopt));
  EXPECT_EQ(finish(std::nullopt), Ends{});
  EXPECT_EQ(slices_.depth(), 2U);
  EXPECT_EQ(finish(60), (Ends{70, 70}));  // not before what is known to have come
}

TEST_F(Slices, OneOfNoLengthEndsBeforeTheNextOfItsTime) {
  EXPECT_TRUE(slices_.open(10));
  EXPECT_EQ(advance(10), Ends{10});
}

TEST(Lasts, ByHowAndDuration) {
  analyzer::EventRow event;
  const auto with = [&](const char* how, std::optional<std::int64_t> dur_ns) {
    event.how = how;
    event.dur_ns = dur_ns;
    return lasting(event);
  };
  EXPECT_EQ(with("returned", 0), Lasting::kFinished);
  EXPECT_EQ(with("attached", 5), Lasting::kFinished);
  for (const char* how : {"attached", "open", "killed", "noreturn"})
    EXPECT_EQ(with(how, std::nullopt), Lasting::kUnfinished) << how;
  for (const char* how : {"hit", "left", "sent", "delivered", "logged", "no_entry"})
    EXPECT_EQ(with(how, std::nullopt), Lasting::kMoment) << how;
  event.ts_ns = std::numeric_limits<std::int64_t>::max() - 1;
  event.dur_ns = 10;
  EXPECT_EQ(end_of(event), std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace uscope::exporters

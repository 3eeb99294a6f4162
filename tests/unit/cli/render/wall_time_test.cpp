// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/wall_time.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace uscope::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMoment = 1'700'000'000 * kSecond + 123'456'789;  // 2023-11-14 22:13:20 UTC

// An hour before UTC's, without a change in summer. The rule needs no file.
class WallTimeTest : public testing::Test {
 protected:
  WallTimeTest() { set("CET-1"); }
  ~WallTimeTest() override { set("UTC0"); }
  static void set(const char* zone) {
    setenv("TZ", zone, 1);
    load_time_zone();
  }
  static std::int64_t since(const std::string& text, std::int64_t began, std::int64_t duration) {
    auto point = parse_time_point(text);
    EXPECT_TRUE(point) << text;
    return point && std::holds_alternative<WallTime>(*point) ? since_start(std::get<WallTime>(*point), began, duration)
                                                             : -1;
  }
};

TEST_F(WallTimeTest, MomentsAreWrittenInTheZone) {
  EXPECT_EQ(time_of_day(kMoment), "23:13:20.123456");
  EXPECT_EQ(date_and_time(kMoment), "2023-11-14 23:13:20 +0100 (CET)");
  EXPECT_EQ(iso_time(kMoment), "2023-11-14T22:13:20.123456789Z");
  EXPECT_EQ(iso_time(-1), "1969-12-31T23:59:59.999999999Z");
  set("XYZ3:30");
  EXPECT_EQ(date_and_time(kMoment), "2023-11-14 18:43:20 -0330 (XYZ)");
}

TEST_F(WallTimeTest, TimesAreParsed) {
  auto length = parse_time_point("1.5ms");
  ASSERT_TRUE(length);
  EXPECT_EQ(std::get<std::int64_t>(*length), 1'500'000);
  auto time = parse_time_point("14:05:30.5");
  ASSERT_TRUE(time);
  EXPECT_EQ(std::get<WallTime>(*time).of_day_ns, ((14 * 60 + 5) * 60 + 30) * kSecond + kSecond / 2);
  EXPECT_EQ(std::get<WallTime>(*time).year, 0);
  for (const char* wrong : {"14:", "24:00", "14:60", "14:05:60", "14:05:xx", "2026-13-01 10:00", "2026-02-30 10:00",
                            "2026-11-22", ":5", "a:b", "2026-11-22 10:00x", "14:05ZZ", "Z", "14:05 ", "1:2:3:4"})
    EXPECT_FALSE(parse_time_point(wrong)) << wrong;
}

TEST_F(WallTimeTest, ATimeOfTheDayIsOnTheDayOfTheTrace) {
  // Began at 23:13:20 local time.
  const std::int64_t began = 1'700'000'000 * kSecond;
  EXPECT_EQ(since("23:13:25.5", began, 10 * kSecond), 5'500'000'000);
  EXPECT_EQ(since("23:14", began, 10 * kSecond), 40 * kSecond);
  EXPECT_EQ(since("23:13", began, 10 * kSecond), -20 * kSecond);                     // before it
  EXPECT_EQ(since("00:10", began, 7200 * kSecond), (46 * 60 + 40 + 600) * kSecond);  // the next day
  EXPECT_EQ(since("00:10", began, 2820 * kSecond), (46 * 60 + 40 + 600) * kSecond);  // it went on into that day
  EXPECT_EQ(since("2023-11-15 00:10", began, 10 * kSecond), (46 * 60 + 40 + 600) * kSecond);
  EXPECT_EQ(since("2023-11-14T23:13:21", began, 0), kSecond);
  // In UTC, as the JSON writes it.
  EXPECT_EQ(since("2023-11-14T22:13:21Z", began, 0), kSecond);
  EXPECT_EQ(since("2023-11-14T22:13:21.500000000Z", began, 0), 3 * kSecond / 2);
  EXPECT_EQ(since("22:13:25.5Z", began, 10 * kSecond), 5'500'000'000);
  EXPECT_EQ(since("00:10Z", began, 7200 * kSecond), (106 * 60 + 40 + 600) * kSecond);
}

}  // namespace
}  // namespace uscope::cli

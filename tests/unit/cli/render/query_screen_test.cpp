// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/query_screen.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cli/terminal/text_width.h"

namespace uscope::cli {
namespace {

QueryPicture hundred_rows() {
  QueryPicture picture;
  picture.target = "app nginx\x1b[2J";
  picture.lines = {"12:00:00.000000  1.00 s, 5 events", "LOST 3 events: the answer is made without them", "kind  calls",
                   "----  -----"};
  for (int i = 0; i < 100; i++) picture.lines.push_back(fmt::format("row{:02}  {}", i, 1'000'000));
  return picture;
}

bool shows(const std::vector<ScreenLine>& lines, const std::string& text) {
  for (const ScreenLine& line : lines)
    if (line.text.starts_with(text)) return true;
  return false;
}

TEST(QueryScreen, FitsEveryTerminal) {
  for (const ScreenSize size : {ScreenSize{10, 3}, ScreenSize{80, 24}, ScreenSize{200, 60}}) {
    const auto lines = query_screen(hundred_rows(), {}, size);
    for (const ScreenLine& line : lines) {
      EXPECT_LE(display_width(line.text), size.columns) << line.text;
      EXPECT_EQ(line.text.find('\x1b'), std::string::npos) << line.text;
    }
    EXPECT_EQ(lines.size(), size.rows);
  }
}

TEST(QueryScreen, LossesAreReversedAndTitlesStayWhereTheyAre) {
  QueryView view;
  view.first = 50;
  const auto lines = query_screen(hundred_rows(), view, {80, 24});
  EXPECT_EQ(lines[2].look, Look::kReverse);
  EXPECT_EQ(lines[3].text, "kind  calls");
  EXPECT_EQ(lines[3].look, Look::kStrong);
  EXPECT_TRUE(lines[5].text.starts_with("row50")) << lines[5].text;
  EXPECT_TRUE(shows(lines, "q quit"));
}

TEST(QueryScreen, KeysScrollPauseAndQuit) {
  const QueryPicture picture = hundred_rows();
  QueryView view;
  EXPECT_EQ(press_query(view, {KeyName::kDown, ""}, picture, 24), QueryKey::kChanged);
  EXPECT_EQ(view.first, 1U);
  press_query(view, {KeyName::kUp, ""}, picture, 24);
  press_query(view, {KeyName::kUp, ""}, picture, 24);
  EXPECT_EQ(view.first, 0U);
  press_query(view, {KeyName::kEnd, ""}, picture, 24);
  EXPECT_TRUE(shows(query_screen(picture, view, {80, 24}), "row99"));
  press_query(view, {KeyName::kPageUp, ""}, picture, 24);
  EXPECT_FALSE(shows(query_screen(picture, view, {80, 24}), "row99"));
  press_query(view, {KeyName::kHome, ""}, picture, 24);
  EXPECT_EQ(view.first, 0U);
  EXPECT_EQ(press_query(view, {KeyName::kText, "p"}, picture, 24), QueryKey::kChanged);
  EXPECT_TRUE(view.paused);
  EXPECT_EQ(press_query(view, {KeyName::kText, "x"}, picture, 24), QueryKey::kNothing);
  EXPECT_EQ(press_query(view, {KeyName::kText, "q"}, picture, 24), QueryKey::kQuit);
}

TEST(QueryScreen, SaysWhatIsWaitedFor) {
  QueryPicture picture;
  picture.waiting = "nothing of it runs yet";
  EXPECT_TRUE(shows(query_screen(picture, {}, {80, 24}), "  nothing of it runs yet"));
}

}  // namespace
}  // namespace uscope::cli

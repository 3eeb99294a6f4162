// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/top_screen.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cli/terminal/text_width.h"

namespace uscope::cli {
namespace {

constexpr ScreenSize kSizes[] = {{60, 15}, {80, 24}, {200, 60}};

// A server with a hundred lines: long names, errors, hostile ones.
TopPicture busy() {
  TopPicture made;
  made.target = "app redis-server";
  made.at_s = 3723;
  made.seconds = 1;
  made.processes = 1234;
  for (std::uint64_t i = 0; i < 100; i++) {
    live::CallLine line;
    line.call = i % 7 == 0 ? "rt_tgsigqueueinfo" : "read";
    line.abi = i == 50 ? "i386" : "x86_64";
    line.function = fmt::format("std::vector<connection, std::allocator<connection>>::function_{:02}\x1b[2J", i);
    line.module = "/usr/lib/x86_64-linux-gnu/a-library-with-a-long-name.so.6";
    line.calls = 1234567 - 1000 * i;
    line.errors = i;
    line.times.add(123456789 * (i % 10));
    made.calls += line.calls;
    made.lines.push_back(line);
    made.threads.push_back({4000000, static_cast<std::uint32_t>(4000001 + i), fmt::format("worker-{:02}", i),
                            line.calls, i, 1000 * i, "read", "x86_64"});
  }
  return made;
}

void expect_fits(const std::vector<ScreenLine>& lines, ScreenSize size) {
  EXPECT_EQ(lines.size(), size.rows);
  for (const ScreenLine& line : lines) {
    EXPECT_LE(display_width(line.text), size.columns) << line.text;
    EXPECT_EQ(line.text.find_first_of("\x1b\n"), std::string::npos) << line.text;
  }
}

std::string all_text(const std::vector<ScreenLine>& lines) {
  std::string text;
  for (const ScreenLine& line : lines) text += line.text + "\n";
  return text;
}

TEST(TopScreen, SaysWhatItWaitsForUntilThatComes) {
  TopPicture picture;
  picture.target = "app redis";
  picture.waiting = "nothing of it runs yet: waiting for it";
  EXPECT_NE(all_text(top_screen(picture, {}, {60, 15})).find(picture.waiting), std::string::npos);
  TopPicture running = busy();
  running.waiting = picture.waiting;
  EXPECT_EQ(all_text(top_screen(running, {}, {60, 15})), all_text(top_screen(busy(), {}, {60, 15})));
}

TEST(TopScreen, FitsAtEachSizeWithTitleAndLosses) {
  for (const ScreenSize size : kSizes) {
    SCOPED_TRACE(size.columns);
    for (const TopBy by : {TopBy::kFunction, TopBy::kThread}) {
      for (const bool help : {false, true}) {
        TopPicture picture = busy();
        picture.lost = 1234567;
        TopView view;
        view.choice.by = by;
        view.help = help;
        const auto lines = top_screen(picture, view, size);
        expect_fits(lines, size);
        EXPECT_TRUE(lines[0].text.starts_with("app redis-se")) << lines[0].text;
        EXPECT_TRUE(lines[0].text.ends_with("  3,723 s  1,234 processes  118,506,700 calls/s")) << lines[0].text;
        EXPECT_TRUE(lines[1].text.starts_with("LOST 1,234,567 events  ")) << lines[1].text;
        EXPECT_EQ(lines[1].look, Look::kReverse);
        EXPECT_NE(lines.back().text, "");
        EXPECT_EQ(all_text(lines).find("q              quit") != std::string::npos, help);
      }
    }
  }
}

TEST(TopScreen, ShowsAsManyLinesAsFit) {
  for (const ScreenSize size : kSizes) {
    const std::string text = all_text(top_screen(busy(), {}, size));
    std::size_t shown = 0;
    for (std::size_t at = text.find("std::v"); at != std::string::npos; at = text.find("std::v", at + 1)) shown++;
    EXPECT_EQ(shown, size.rows - 4);
    EXPECT_NE(text.find("\nLOST nothing  functions by calls  100 lines\n"), std::string::npos) << text;
    const bool roomy = size.columns >= 80;
    EXPECT_NE(text.find(roomy ? "\nq quit  c/t/e/r sort  v threads  / filter  p pause  Enter stack  ? help\n"
                              : "\nq quit  c/t/e sort  v threads  / filter  p pause  ? help\n"),
              std::string::npos)
        << text;
  }
  TopView few;
  few.most = 3;
  EXPECT_EQ(top_screen(busy(), few, {80, 24})[6].text, "");
  EXPECT_NE(top_screen(busy(), few, {80, 24})[5].text, "");
}

// The columns that say most stay.
TEST(TopScreen, NarrowTerminalsLeaveColumnsOut) {
  TopPicture picture = busy();
  picture.lines.resize(1);
  picture.lines[0].call = "read";
  picture.lines[0].function = "main";
  EXPECT_EQ(top_screen(picture, {}, {60, 15})[2].text, "    calls/s  time/s  median  call  from function  in");
  EXPECT_EQ(top_screen(picture, {}, {200, 60})[2].text,
            "    calls/s  time/s  median  99 %  longest  call  from function  in");
  picture.lines[0].errors = 5;
  const auto lines = top_screen(busy(), {}, {60, 15});
  EXPECT_TRUE(lines[2].text.starts_with("    calls/s  errors/s   time/s  call")) << lines[2].text;
  EXPECT_NE(lines[2].text.find("from function"), std::string::npos);
  EXPECT_EQ(lines[2].look, Look::kStrong);
}

TEST(TopScreen, OrderFilterAndPauseAreNamed) {
  TopView view;
  view.choice.lines = {live::Order::kErrors, "_07"};
  view.paused = true;
  const auto lines = top_screen(busy(), view, {80, 24});
  EXPECT_EQ(lines[1].text, "LOST nothing  PAUSED  functions by errors  1 of 100 lines with \"_07\"");
  EXPECT_EQ(lines[1].look, Look::kPlain);
  EXPECT_NE(lines[3].text.find("rt_tgsigq"), std::string::npos) << lines[3].text;
  EXPECT_EQ(lines[4].text, "");
  view.choice.lines.filter = "\x1b]0;";
  EXPECT_EQ(top_screen(busy(), view, {80, 24})[3].text, "  no line has \"\\x1b]0;\"");
  view.typing = true;
  EXPECT_TRUE(top_screen(busy(), view, {80, 24}).back().text.starts_with("/\\x1b]0;_"));
}

TEST(TopScreen, OrderChangesWhatComesFirst) {
  TopView view;
  view.choice.by = TopBy::kThread;
  EXPECT_NE(top_screen(busy(), view, {80, 24})[3].text.find("4000001"), std::string::npos);
  view.choice.lines.order = live::Order::kErrors;
  EXPECT_NE(top_screen(busy(), view, {80, 24})[3].text.find("4000100"), std::string::npos);
}

TEST(TopScreen, TheSelectedLineIsInSightAndInFullBelow) {
  for (const ScreenSize size : kSizes) {
    SCOPED_TRACE(size.columns);
    TopView view;
    view.selected = 99;
    const auto lines = top_screen(busy(), view, size);
    expect_fits(lines, size);
    EXPECT_EQ(lines[size.rows - 2].look, Look::kReverse);
    EXPECT_TRUE(lines.back().text.starts_with("read from std::vector<connec")) << lines.back().text;
    EXPECT_TRUE(lines.back().text.ends_with("/a-library-with-a-long-name.so.6") || size.columns < 80);
    view.selected = 0;
    EXPECT_EQ(top_screen(busy(), view, size)[3].look, Look::kReverse);
    view.selected = 100000;  // there were more lines before
    EXPECT_EQ(top_screen(busy(), view, size)[size.rows - 2].look, Look::kReverse);
  }
}

// A picture whose last ten lines are of a call that waits.
TopPicture with_waits() {
  TopPicture picture = busy();
  for (std::size_t i = 90; i < 100; i++) {
    picture.lines[i].call = "epoll_wait";
    picture.lines[i].waits = true;
  }
  return picture;
}

TEST(TopScreen, CallsThatWaitHaveATitle) {
  const TopPicture picture = with_waits();
  for (const ScreenSize size : kSizes) {
    SCOPED_TRACE(size.columns);
    TopView view;
    EXPECT_EQ(all_text(top_screen(picture, view, size)).find("calls that wait"), std::string::npos);  // far below
    for (const std::size_t selected :
         {std::size_t{85}, std::size_t{89}, std::size_t{90}, std::size_t{95}, std::size_t{99}}) {
      view.selected = selected;
      const auto lines = top_screen(picture, view, size);
      expect_fits(lines, size);
      std::size_t reversed = 0;
      for (std::size_t i = 2; i + 1 < lines.size(); i++) {
        if (lines[i].look != Look::kReverse) continue;
        reversed++;
        EXPECT_EQ(lines[i].text.find("epoll_wait") != std::string::npos, selected >= 90) << lines[i].text;
      }
      EXPECT_EQ(reversed, 1U) << selected;
      for (std::size_t i = 3; i + 1 < lines.size(); i++) {
        if (lines[i].text != "calls that wait") continue;
        EXPECT_EQ(lines[i - 1].text.find("epoll_wait"), std::string::npos);
        EXPECT_NE(lines[i + 1].text.find("epoll_wait"), std::string::npos);
      }
    }
    view.choice.lines.waits = live::Waits::kOnly;
    view.selected.reset();
    const auto alone = top_screen(picture, view, size);
    EXPECT_NE(alone[1].text.find("functions by calls  calls that wait"), std::string::npos) << alone[1].text;
    EXPECT_NE(alone[3].text.find("epoll_wait"), std::string::npos);
  }
  const std::string text = top_text(picture, {}, 100, 200);
  EXPECT_LT(text.find("calls that wait\n"), text.find("epoll_wait"));
  EXPECT_GT(text.find("calls that wait\n"), text.rfind("rt_tgsig"));
}

TEST(TopScreen, AStackTakesThePlaceOfTheLines) {
  TopPicture picture = busy();
  picture.lines[0].stack_calls = 7;
  picture.lines[0].stacks = 3;
  for (const ScreenSize size : kSizes) {
    SCOPED_TRACE(size.columns);
    TopView view;
    view.open.emplace();
    view.selected = 0;
    view.open->title = stack_title(picture, TopBy::kFunction, 0);
    EXPECT_EQ(all_text(top_screen(picture, view, size)).find("(no stack: ") != std::string::npos, true);
    for (int i = 0; i < 99; i++)
      view.open->functions.push_back(
          {fmt::format("std::a_function_with_quite_a_long_name_{:02}\x1b[2J", i), "/usr/lib/libx.so.6"});
    const auto lines = top_screen(picture, view, size);
    expect_fits(lines, size);
    EXPECT_TRUE(lines[2].text.starts_with("stack of rt_tgsigqueueinfo fro")) << lines[2].text;
    EXPECT_TRUE(size.columns < 200 || lines[2].text.ends_with(": 7 of 1,234,567 calls (3 distinct stacks)"))
        << lines[2].text;
    EXPECT_TRUE(lines[3].text.starts_with("  std::a_function_with_quite_a_")) << lines[3].text;
    EXPECT_TRUE(lines[3].text.ends_with("  libx.so.6")) << lines[3].text;
    EXPECT_EQ(lines.back().text, "Enter: back to the lines");
    view.open->first = 1;
    EXPECT_EQ(top_screen(picture, view, size)[3].text, lines[4].text);
  }
}

TEST(TopScreen, NothingToShowIsExplained) {
  TopPicture picture;
  picture.target = "app x\x1by";
  EXPECT_EQ(top_screen(picture, {}, {60, 15})[3].text, "  counting");
  picture.at_s = 1;
  EXPECT_EQ(top_screen(picture, {}, {60, 15})[3].text, "  nothing of app x\\x1by runs: waiting for it");
  picture.processes = 1;
  EXPECT_EQ(top_screen(picture, {}, {60, 15})[3].text, "  counting");
  picture.seconds = 1;
  EXPECT_EQ(top_screen(picture, {}, {60, 15})[3].text, "  no call ended in this time; 1 process computes or waits");
  picture.processes = 12;
  const std::string none = "  no call ended in this time; 12 processes compute or wait";
  EXPECT_EQ(top_screen(picture, {}, {60, 15})[3].text, none);
  EXPECT_NE(top_text(picture, {}, 20, 110).find("\n" + none + "\n"), std::string::npos);
}

TEST(TopScreen, ASmallTerminalIsToldWhatItLacks) {
  EXPECT_EQ(all_text(top_screen(busy(), {}, {40, 10})),
            "uscope top needs 60 columns and 15\nlines; this terminal has 40 and 10. q\nquits\n");
  for (std::size_t columns = 0; columns < 60; columns++)
    for (const std::size_t rows : {0, 1, 3, 60}) {
      const auto lines = top_screen(busy(), {}, {columns, rows});
      EXPECT_LE(lines.size(), rows);
      for (const ScreenLine& line : lines) EXPECT_LE(display_width(line.text), columns);
    }
}

}  // namespace
}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/top_view.h"

#include <gtest/gtest.h>

namespace uscope::cli {
namespace {

constexpr std::size_t kLines = 100;
constexpr std::size_t kPage = 20;

KeyEffect type(TopView& view, const std::string& text) {
  KeyEffect effect = KeyEffect::kNothing;
  for (const char letter : text) effect = press(view, {KeyName::kText, std::string(1, letter)}, kLines, kPage);
  return effect;
}

KeyEffect hit(TopView& view, KeyName name, std::size_t lines = kLines) {
  return press(view, {name, ""}, lines, kPage);
}

TEST(TopView, LettersChooseOrderAndKindOfLines) {
  TopView view;
  EXPECT_EQ(type(view, "t"), KeyEffect::kChanged);
  EXPECT_EQ(view.choice.lines.order, live::Order::kTime);
  type(view, "e");
  EXPECT_EQ(view.choice.lines.order, live::Order::kErrors);
  type(view, "c");
  EXPECT_EQ(view.choice.lines.order, live::Order::kCalls);
  type(view, "v");
  EXPECT_EQ(view.choice.by, TopBy::kThread);
  type(view, "v");
  EXPECT_EQ(view.choice.by, TopBy::kFunction);
  type(view, "p");
  EXPECT_TRUE(view.paused);
  type(view, " ");
  EXPECT_FALSE(view.paused);
  EXPECT_EQ(type(view, "x"), KeyEffect::kNothing);
  EXPECT_EQ(hit(view, KeyName::kOther), KeyEffect::kNothing);
  EXPECT_EQ(type(view, "q"), KeyEffect::kQuit);
}

TEST(TopView, WhatIsTypedAfterASlashFilters) {
  TopView view;
  type(view, "/qx");
  EXPECT_TRUE(view.typing);
  EXPECT_EQ(view.choice.lines.filter, "qx");  // at once, and q does not quit
  press(view, {KeyName::kText, "é"}, kLines, kPage);
  hit(view, KeyName::kBackspace);
  EXPECT_EQ(view.choice.lines.filter, "qx");
  hit(view, KeyName::kBackspace);
  hit(view, KeyName::kEnter);
  EXPECT_FALSE(view.typing);
  EXPECT_EQ(view.choice.lines.filter, "q");
  type(view, "/yz");
  hit(view, KeyName::kEscape);
  EXPECT_FALSE(view.typing);
  EXPECT_EQ(view.choice.lines.filter, "q");
  hit(view, KeyName::kEscape);
  EXPECT_EQ(view.choice.lines.filter, "");
  type(view, "/");
  EXPECT_EQ(hit(view, KeyName::kBackspace), KeyEffect::kChanged);
  EXPECT_EQ(view.choice.lines.filter, "");
  type(view, std::string(500, 'x'));
  EXPECT_EQ(view.choice.lines.filter.size(), 100U);
}

TEST(TopView, EnterOpensTheSelectedLineAndClosesItAgain) {
  TopView view;
  EXPECT_EQ(hit(view, KeyName::kEnter, 0), KeyEffect::kNothing);
  EXPECT_EQ(hit(view, KeyName::kEnter), KeyEffect::kOpen);
  EXPECT_EQ(view.selected, 0U);
  hit(view, KeyName::kDown);
  EXPECT_EQ(hit(view, KeyName::kEnter), KeyEffect::kOpen);
  EXPECT_EQ(view.selected, 1U);
  view.open.emplace();
  view.open->functions.resize(50);
  EXPECT_EQ(type(view, "t"), KeyEffect::kNothing);  // of the lines, which are not shown
  hit(view, KeyName::kDown);
  EXPECT_EQ(view.open->first, 1U);
  hit(view, KeyName::kPageDown);
  EXPECT_EQ(view.open->first, 21U);
  hit(view, KeyName::kPageDown);
  EXPECT_EQ(view.open->first, 30U);  // the last function is at the bottom
  hit(view, KeyName::kHome);
  hit(view, KeyName::kUp);
  EXPECT_EQ(view.open->first, 0U);
  hit(view, KeyName::kEnd);
  EXPECT_EQ(view.open->first, 30U);
  hit(view, KeyName::kPageUp);
  EXPECT_EQ(view.open->first, 10U);
  view.open->functions.resize(3);  // fewer than fit
  hit(view, KeyName::kEnd);
  EXPECT_EQ(view.open->first, 0U);
  EXPECT_EQ(view.selected, 1U);
  EXPECT_EQ(hit(view, KeyName::kEscape), KeyEffect::kChanged);
  EXPECT_FALSE(view.open);
  EXPECT_EQ(view.selected, 1U);
  view.open.emplace();
  EXPECT_EQ(type(view, "q"), KeyEffect::kQuit);
}

TEST(TopView, LettersReverseAndChooseWaits) {
  TopView view;
  view.selected = 3;
  EXPECT_EQ(type(view, "r"), KeyEffect::kChanged);
  EXPECT_TRUE(view.choice.lines.reverse);
  EXPECT_FALSE(view.selected);
  type(view, "r");
  EXPECT_FALSE(view.choice.lines.reverse);
  for (const live::Waits next : {live::Waits::kNone, live::Waits::kOnly, live::Waits::kApart}) {
    EXPECT_EQ(type(view, "w"), KeyEffect::kChanged);
    EXPECT_EQ(view.choice.lines.waits, next);
  }
}

TEST(TopView, HelpGoesAwayWithAnyKey) {
  TopView view;
  type(view, "?");
  EXPECT_TRUE(view.help);
  type(view, "t");
  EXPECT_FALSE(view.help);
  EXPECT_EQ(view.choice.lines.order, live::Order::kCalls);
  type(view, "?");
  EXPECT_EQ(type(view, "q"), KeyEffect::kQuit);
}

TEST(TopView, ArrowsSelectALine) {
  TopView view;
  hit(view, KeyName::kDown);
  EXPECT_EQ(view.selected, 0U);
  hit(view, KeyName::kDown);
  EXPECT_EQ(view.selected, 1U);
  hit(view, KeyName::kPageDown);
  EXPECT_EQ(view.selected, 21U);
  hit(view, KeyName::kEnd);
  EXPECT_EQ(view.selected, 99U);
  hit(view, KeyName::kDown);
  EXPECT_EQ(view.selected, 99U);
  hit(view, KeyName::kUp, 50);  // fewer lines than before
  EXPECT_EQ(view.selected, 48U);
  hit(view, KeyName::kPageUp);
  EXPECT_EQ(view.selected, 28U);
  hit(view, KeyName::kHome);
  EXPECT_EQ(view.selected, 0U);
  hit(view, KeyName::kUp);
  EXPECT_EQ(view.selected, 0U);
  hit(view, KeyName::kEscape);
  EXPECT_FALSE(view.selected);
  EXPECT_EQ(hit(view, KeyName::kDown, 0), KeyEffect::kNothing);
  hit(view, KeyName::kPageDown);
  EXPECT_EQ(view.selected, 20U);
  type(view, "t");
  EXPECT_FALSE(view.selected);
}

}  // namespace
}  // namespace uscope::cli

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/loss_class.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "tests/support/paths.h"

namespace uscope::trace {
namespace {

const std::map<std::string_view, LossClass>& expected() {
  static const std::map<std::string_view, LossClass> kExpected{
      {"ring_full_event", LossClass::EVENTS},
      {"ring_full_sharing", LossClass::EVENTS},
      {"ring_full_partial", LossClass::EVENTS},
      {"recursion", LossClass::EVENTS},
      {"probe_missed", LossClass::EVENTS},
      {"probe_not_there", LossClass::EVENTS},
      {"probe_removed", LossClass::EVENTS},
      {"clock_silent", LossClass::EVENTS},
      {"task_map_full", LossClass::TASKS},
      {"log_context", LossClass::LOGGED},
      {"log_kinds_full", LossClass::LOGGED},
      {"ring_full_logged", LossClass::LOGGED},
      {"raw_damaged", LossClass::RECORDS},
      {"cut_off", LossClass::END},
      {"ring_full_record", LossClass::DEFINITIONS},
      {"task_undefined", LossClass::DEFINITIONS},
      {"ring_full_stack", LossClass::STACKS},
      {"scratch_busy", LossClass::STACKS},
      {"file_map_full", LossClass::STACKS},
      {"deferred_ring", LossClass::STACKS},
      {"deferred_given_up", LossClass::STACKS},
      {"stack_undefined", LossClass::STACKS},
      {"ring_full_string", LossClass::STRINGS},
      {"scratch_busy_string", LossClass::STRINGS},
      {"ring_full_content", LossClass::CONTENTS},
      {"perf_map_refused", LossClass::FACTS},
      {"perf_map_size", LossClass::FACTS},
      {"jit_spaces_full", LossClass::FACTS},
      {"jump_unread", LossClass::FACTS},
      {"ring_full_followed", LossClass::FACTS},
      {"no_answer", LossClass::FACTS},
      {"verify_skipped", LossClass::CHECKS},
      {"rows_memory", LossClass::NOTHING},
  };
  return kExpected;
}

// Numbers of causes that were removed.
constexpr std::uint32_t kNotTaken[] = {4, 13};

TEST(LossClass, ANumberThatIsNotTakenIsLikeOneOfALaterVersion) {
  for (const std::uint32_t cause : kNotTaken) {
    EXPECT_EQ(loss_name(cause), "");
    EXPECT_EQ(loss_class(cause), LossClass::EVENTS);
    EXPECT_EQ(usc_loss_is_numbered(cause), 0);
  }
  EXPECT_EQ(loss_meaning(""), "");
}

TEST(LossClass, EachCauseSaysWhatIsMissing) {
  ASSERT_EQ(expected().size(), std::size_t{USC_LOSS_COUNT} - std::size(kNotTaken));
  for (std::uint32_t cause = 0; cause < USC_LOSS_COUNT; cause++) {
    if (std::find(std::begin(kNotTaken), std::end(kNotTaken), cause) != std::end(kNotTaken)) continue;
    const std::string_view name = loss_name(cause);
    ASSERT_EQ(expected().count(name), 1U) << name;
    EXPECT_EQ(loss_class(cause), expected().at(name)) << name;
    EXPECT_EQ(loss_class(name), expected().at(name)) << name;
    EXPECT_NE(loss_meaning(name), "") << name;
    EXPECT_NE(loss_remedy(name), "") << name << " needs a line in trace/loss_remedy.def";
  }
}

// docs/cli.md lists them for those who look there.
TEST(LossClass, EachRemedyIsDocumented) {
  std::ifstream file(std::string(paths::kSourceFolder) + "/docs/cli.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (std::uint32_t cause = 0; cause <= USC_LOSS_COUNT; cause++) {
    const std::string name(cause == USC_LOSS_COUNT ? kFileChanged : loss_name(cause));
    if (name.empty()) continue;
    ASSERT_NE(loss_remedy(name), "") << name;
    const std::string row = "| `" + name + "` | " + std::string(loss_remedy(name)) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(LossClass, WhatTheLoaderFindsLosesNoEvent) {
  EXPECT_EQ(loss_class(kFileChanged), LossClass::FACTS);
  EXPECT_NE(loss_meaning(kFileChanged), "");
}

TEST(LossClass, ACauseOfALaterVersionMayLoseEvents) {
  EXPECT_EQ(loss_name(USC_LOSS_COUNT), "");
  EXPECT_EQ(loss_meaning("a cause of the future"), "");
  EXPECT_EQ(loss_class(USC_LOSS_COUNT), LossClass::EVENTS);
  EXPECT_EQ(loss_class("a cause of the future"), LossClass::EVENTS);
}

TEST(LossClass, WhatIsCountedAsLostMakesATraceIncomplete) {
  for (const auto missing : {LossClass::EVENTS, LossClass::TASKS, LossClass::LOGGED, LossClass::RECORDS}) {
    EXPECT_TRUE(loses_events(missing));
    EXPECT_TRUE(counts_events(missing));
  }
  EXPECT_TRUE(loses_events(LossClass::END));
  EXPECT_FALSE(counts_events(LossClass::END));  // nobody knows how many
  for (const auto missing : {LossClass::DEFINITIONS, LossClass::STACKS, LossClass::STRINGS, LossClass::CONTENTS,
                             LossClass::FACTS, LossClass::CHECKS, LossClass::NOTHING}) {
    EXPECT_FALSE(loses_events(missing));
    EXPECT_FALSE(counts_events(missing));
  }
}

TEST(LossClass, ChecksAndSlowWorkLeaveNothingOut) {
  for (const auto missing : {LossClass::EVENTS, LossClass::DEFINITIONS, LossClass::STACKS, LossClass::FACTS})
    EXPECT_TRUE(leaves_out(missing));
  EXPECT_FALSE(leaves_out(LossClass::CHECKS));
  EXPECT_FALSE(leaves_out(LossClass::NOTHING));
}

}  // namespace
}  // namespace uscope::trace

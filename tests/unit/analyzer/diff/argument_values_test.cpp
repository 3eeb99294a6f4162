// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/argument_values.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>

#include "tests/unit/analyzer/diff/diff_case.h"

namespace uscope::analyzer {
namespace {

// Calls whose arguments are what a statement sets.
class DiffArguments : public DiffTest {
 protected:
  struct Asked {
    std::string kind;
    std::string function;
    int count = 1;
    std::string args;  // "a1 = 5, a2 = 7"
    std::string argument{};
  };
  static MadeRun run_of(const std::vector<Asked>& calls) {
    MadeRun run;
    for (const Asked& asked : calls) {
      run.calls.push_back(
          {.kind = asked.kind, .function = asked.function, .count = asked.count, .argument = asked.argument});
      if (!asked.args.empty())
        run.more_sql += "UPDATE event SET " + asked.args + " WHERE kind_id = (SELECT id FROM kind WHERE name = '" +
                        asked.kind +
                        "') AND stack_id IN (SELECT stack.id FROM stack JOIN frame ON frame.id = trigger_frame_id "
                        "WHERE function = '" +
                        asked.function + "');";
    }
    return run;
  }

  static std::string told(const Diff& found) {
    std::string all;
    for (const ChangedArgument& change : found.arguments.entries) {
      all += change.key.kind + " in " + change.key.function + ": ";
      if (change.name.empty()) {
        for (const auto number : change.numbers_before) all += std::to_string(number) + " ";
        all += "->";
        for (const auto number : change.numbers_after) all += " " + std::to_string(number);
      } else {
        all += change.name + " " + std::to_string(change.normal.calls) + "/" + std::to_string(change.normal.examined) +
               " -> " + std::to_string(change.abnormal.calls) + "/" + std::to_string(change.abnormal.examined);
      }
      for (const std::string& object : change.objects) all += " " + object;
      all += "\n";
    }
    return all;
  }
};

std::string a2_is(int flags) {
  return "a2 = " + std::to_string(flags);
}

TEST_F(DiffArguments, AFlagOfAbnormalRunsIsTold) {
  for (int i = 0; i < 3; i++) {
    normal(
        run_of({{"openat", "open_log", 20, a2_is(O_WRONLY | O_CREAT), "/srv/log"}, {"openat", "other", 9, a2_is(0)}}));
    abnormal(run_of({{"openat", "open_log", 20, a2_is(O_WRONLY | O_CREAT | O_DSYNC), "/srv/log"},
                     {"openat", "other", 9, a2_is(0)}}));
  }
  EXPECT_EQ(told(compared()), "openat in open_log: O_DSYNC 0/60 -> 60/60 /srv/log\n");
  EXPECT_EQ(told(compared_with_itself()), "");
}

TEST_F(DiffArguments, AFlagOfSomeRunsOnlyIsNoSign) {
  normal(run_of({{"openat", "open_log", 5, a2_is(O_RDWR)}}));
  normal(run_of({{"openat", "open_log", 5, a2_is(O_RDWR | O_CLOEXEC)}}));
  abnormal(run_of({{"openat", "open_log", 5, a2_is(O_RDWR | O_CLOEXEC | O_NOATIME)}}));
  abnormal(run_of({{"openat", "open_log", 5, a2_is(O_RDWR | O_CLOEXEC)}}));
  EXPECT_EQ(told(compared()), "");
}

TEST_F(DiffArguments, CommandsAndOptionsHaveTheirNames) {
  const std::string no_delay = "a1 = " + std::to_string(IPPROTO_TCP) + ", a2 = " + std::to_string(TCP_NODELAY);
  const std::string keep = "a1 = " + std::to_string(SOL_SOCKET) + ", a2 = 9";
  normal(run_of({{"setsockopt", "prepare", 4, no_delay}, {"mmap", "grow", 3, "a2 = 3, a3 = 34"}}));
  abnormal(run_of({{"setsockopt", "prepare", 4, keep},
                   {"mmap", "grow", 3, "a2 = 3, a3 = " + std::to_string(MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE)}}));
  const std::string text = told(compared());
  EXPECT_NE(text.find("setsockopt in prepare: SO_KEEPALIVE 0/4 -> 4/4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("setsockopt in prepare: TCP_NODELAY 4/4 -> 0/4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("mmap in grow: MAP_POPULATE 0/3 -> 3/3\n"), std::string::npos) << text;
}

TEST_F(DiffArguments, NumbersThatAreFarApartAreTold) {
  normal(run_of({{"listen", "serve", 1, "a0 = 3, a1 = 128"}, {"fchmod", "save", 2, "a0 = 9"}}));
  abnormal(run_of({{"listen", "serve", 1, "a0 = 4, a1 = 5"}, {"fchmod", "save", 2, "a0 = 90"}}));
  EXPECT_EQ(told(compared()), "listen in serve: 128 -> 5\n");
  options_ = {};
  normal(run_of({{"listen", "serve", 1, "a1 = 128"}}));
  abnormal(run_of({{"listen", "serve", 1, "a1 = 100"}}));
  EXPECT_EQ(told(compared()), "");
}

TEST_F(DiffArguments, NumbersOfTasksAndManyNumbersAreNoSign) {
  // 100 is the process of each run.
  normal(run_of({{"kill", "stop", 1, "a0 = 7, a1 = 15"}, {"listen", "serve", 9, "a1 = id"}}));
  abnormal(run_of({{"kill", "stop", 1, "a0 = 100, a1 = 15"}, {"listen", "serve", 9, "a1 = 100000 * id"}}));
  EXPECT_EQ(told(compared()), "");
}

TEST_F(DiffArguments, WhatOnlyOneSideCallsHasItsFlags) {
  normal(run_of({{"read", "work", 5, ""}, {"setsockopt", "prepare", 4, "a1 = 6, a2 = 1"}}));
  abnormal(run_of({{"read", "work", 5, ""}}));
  const Diff found = compared();
  ASSERT_EQ(found.normal_only.entries.size(), 1U);
  const auto& flags = found.normal_only.entries[0].example.flags;
  EXPECT_NE(std::find(flags.begin(), flags.end(), "TCP_NODELAY"), flags.end());
}

}  // namespace
}  // namespace uscope::analyzer

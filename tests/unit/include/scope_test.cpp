// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The scope filter on written-out walks: modes 1–4, budgets 1, 3 and 5, application modules, excluded modules.
#include "uscope/scope.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace uscope::include {
namespace {

constexpr __u32 kLibc = 2;
constexpr __u32 kApp = 3;
constexpr __u32 kPlugin = 4;

struct Step {
  const char* name;
  __u32 file;
};

// Innermost first: the plug-in called libc, the application called the plug-in through libc's qsort.
const std::vector<Step> kWalk = {
    {"write", kLibc},   {"fflush", kLibc},  {"plugin_leaf", kPlugin}, {"plugin_run", kPlugin},    {"qsort", kLibc},
    {"app_work", kApp}, {"app_loop", kApp}, {"main", kApp},           {"start_call_main", kLibc}, {"_start", kApp}};

struct Outcome {
  std::vector<std::string> kept;
  std::size_t offered = 0;  // frames that the walk had to unwind
  int ended = USC_ENDED_ROOT;
};

struct Classes {
  __u32 libc = 0, app = 0, plugin = 0;
};

Outcome walk_by(__u32 mode, __u32 budget, const Classes& classes = {}, const std::vector<Step>& frames = kWalk) {
  const usc_scope scope = {mode, budget};
  usc_scope_state state = USC_SCOPE_START;
  Outcome outcome;
  for (const Step& frame : frames) {
    const __u32 bits = frame.file == kLibc     ? classes.libc
                       : frame.file == kApp    ? classes.app
                       : frame.file == kPlugin ? classes.plugin
                                               : 0;
    const int answer = usc_scope_admit(&scope, &state, frame.file, kApp, bits);
    outcome.offered++;
    if (answer & USC_SCOPE_KEEP) outcome.kept.emplace_back(frame.name);
    if (answer & USC_SCOPE_STOP) {
      outcome.ended = usc_scope_ended(answer);
      break;
    }
  }
  return outcome;
}

using Names = std::vector<std::string>;

void expect(const Outcome& outcome, const Names& kept, std::size_t offered, int ended) {
  EXPECT_EQ(outcome.kept, kept);
  EXPECT_EQ(outcome.offered, offered);
  EXPECT_EQ(outcome.ended, ended);
}

TEST(Scope, AppLastKeepsOneFrameWhateverTheBudget) {
  for (const __u32 budget : {1u, 3u, 5u, 64u})
    expect(walk_by(USC_MODE_APP_LAST, budget), {"app_work"}, 6, USC_ENDED_SCOPE);
}

// Which of a mixed file's functions are the application's is known when the trace is loaded.
TEST(Scope, AppLastGoesOnInMixedFiles) {
  const Classes mixed = {.app = USC_CLASS_MIXED};
  expect(walk_by(USC_MODE_APP_LAST, 64, mixed), {"app_work", "app_loop", "main", "_start"}, 10, USC_ENDED_ROOT);
  expect(walk_by(USC_MODE_APP_LAST, 3, mixed), {"app_work", "app_loop", "main"}, 8, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_APP_LAST, 64, {.plugin = USC_CLASS_MIXED}), {"app_work"}, 6, USC_ENDED_SCOPE);
  expect(walk_by(USC_MODE_APP_LAST, 64, {.app = USC_CLASS_MIXED, .plugin = USC_CLASS_APP}), {"plugin_leaf"}, 3,
         USC_ENDED_SCOPE);
  expect(walk_by(USC_MODE_APP_ALL, 3, mixed), {"app_work", "app_loop", "main"}, 8, USC_ENDED_BUDGET);
}

TEST(Scope, AppAll) {
  expect(walk_by(USC_MODE_APP_ALL, 1), {"app_work"}, 6, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_APP_ALL, 3), {"app_work", "app_loop", "main"}, 8, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_APP_ALL, 5), {"app_work", "app_loop", "main", "_start"}, 10, USC_ENDED_ROOT);
}

TEST(Scope, AllLastIsThePathThroughTheLayers) {
  expect(walk_by(USC_MODE_ALL_LAST, 1), {"write"}, 1, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_ALL_LAST, 3), {"write", "plugin_leaf", "qsort"}, 5, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_ALL_LAST, 5), {"write", "plugin_leaf", "qsort", "app_work", "start_call_main"}, 9,
         USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_ALL_LAST, 64), {"write", "plugin_leaf", "qsort", "app_work", "start_call_main", "_start"}, 10,
         USC_ENDED_ROOT);
}

TEST(Scope, AllAll) {
  expect(walk_by(USC_MODE_ALL_ALL, 1), {"write"}, 1, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_ALL_ALL, 3), {"write", "fflush", "plugin_leaf"}, 3, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_ALL_ALL, 5), {"write", "fflush", "plugin_leaf", "plugin_run", "qsort"}, 5, USC_ENDED_BUDGET);
  const Outcome all = walk_by(USC_MODE_ALL_ALL, 64);
  EXPECT_EQ(all.kept.size(), kWalk.size());
  EXPECT_EQ(all.ended, USC_ENDED_ROOT);
}

TEST(Scope, TheBudgetIsReachedByTheLastFrameThatFits) {
  // Ten frames and a budget of ten: the walk stops at the tenth and does not look for a root it does not need.
  expect(walk_by(USC_MODE_ALL_ALL, 10),
         {"write", "fflush", "plugin_leaf", "plugin_run", "qsort", "app_work", "app_loop", "main", "start_call_main",
          "_start"},
         10, USC_ENDED_BUDGET);
}

TEST(Scope, AnAppModuleCountsAsTheApplication) {
  const Classes classes = {.plugin = USC_CLASS_APP};
  expect(walk_by(USC_MODE_APP_LAST, 5, classes), {"plugin_leaf"}, 3, USC_ENDED_SCOPE);
  expect(walk_by(USC_MODE_APP_ALL, 3, classes), {"plugin_leaf", "plugin_run", "app_work"}, 6, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_APP_ALL, 64, classes),
         {"plugin_leaf", "plugin_run", "app_work", "app_loop", "main", "_start"}, 10, USC_ENDED_ROOT);
  // The modes over all binaries do not ask whose they are.
  expect(walk_by(USC_MODE_ALL_LAST, 3, classes), {"write", "plugin_leaf", "qsort"}, 5, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_ALL_ALL, 3, classes), {"write", "fflush", "plugin_leaf"}, 3, USC_ENDED_BUDGET);
}

TEST(Scope, AnExcludedModuleIsSkippedInEveryMode) {
  const Classes classes = {.libc = USC_CLASS_EXCLUDED};
  expect(walk_by(USC_MODE_APP_LAST, 1, classes), {"app_work"}, 6, USC_ENDED_SCOPE);
  expect(walk_by(USC_MODE_APP_ALL, 3, classes), {"app_work", "app_loop", "main"}, 8, USC_ENDED_BUDGET);
  expect(walk_by(USC_MODE_ALL_ALL, 3, classes), {"plugin_leaf", "plugin_run", "app_work"}, 6, USC_ENDED_BUDGET);
  // libc between plug-in and application, and between main and _start, breaks no run: _start belongs to app_work's.
  expect(walk_by(USC_MODE_ALL_LAST, 5, classes), {"plugin_leaf", "app_work"}, 10, USC_ENDED_ROOT);
}

TEST(Scope, AnExcludedModuleDoesNotBreakARun) {
  const std::vector<Step> frames = {{"a", kPlugin}, {"cb", kLibc}, {"b", kPlugin}, {"main", kApp}};
  expect(walk_by(USC_MODE_ALL_LAST, 64, {.libc = USC_CLASS_EXCLUDED}, frames), {"a", "main"}, 4, USC_ENDED_ROOT);
  expect(walk_by(USC_MODE_ALL_LAST, 64, {}, frames), {"a", "cb", "b", "main"}, 4, USC_ENDED_ROOT);
}

TEST(Scope, ExcludingTheExecutableOutranksBeingTheApplication) {
  for (const __u32 bits : {__u32{USC_CLASS_EXCLUDED}, __u32{USC_CLASS_EXCLUDED | USC_CLASS_APP}}) {
    const Classes classes = {.app = bits};
    expect(walk_by(USC_MODE_APP_LAST, 5, classes), {}, 10, USC_ENDED_ROOT);
    expect(walk_by(USC_MODE_APP_ALL, 5, classes), {}, 10, USC_ENDED_ROOT);
    // start_call_main is of libc, as qsort before it: with the application's frames out, one run.
    expect(walk_by(USC_MODE_ALL_LAST, 5, classes), {"write", "plugin_leaf", "qsort"}, 10, USC_ENDED_ROOT);
  }
}

TEST(Scope, MemoryWithoutAFileIsNoApplicationEvenWithoutAnExecutable) {
  const usc_scope scope = {USC_MODE_APP_ALL, 5};
  usc_scope_state state = USC_SCOPE_START;
  EXPECT_EQ(usc_scope_admit(&scope, &state, USC_FILE_NONE, USC_FILE_NONE, 0), 0);
  EXPECT_EQ(usc_scope_admit(&scope, &state, kLibc, USC_FILE_NONE, 0), 0);
  EXPECT_EQ(usc_scope_admit(&scope, &state, kPlugin, USC_FILE_NONE, USC_CLASS_APP), USC_SCOPE_KEEP);
  EXPECT_EQ(state.kept, 1u);
}

}  // namespace
}  // namespace uscope::include

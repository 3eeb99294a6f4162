// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is said of conditions that no event can fulfil. Those that no event of a trace fulfils are in
// tests/unit/cli/verbs/query_test.cpp.
#include "query/plan/empty_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace uscope::query {
namespace {

std::string impossible(const std::string& where) {
  const auto made = plan("SELECT kind, count(*) FROM v_event WHERE " + where + " GROUP BY kind");
  EXPECT_TRUE(made) << where << ": " << made.error().what;
  std::string all;
  if (made)
    for (const std::string& sentence : impossible_conditions(*made)) all += (all.empty() ? "" : " / ") + sentence;
  return all;
}

TEST(EmptyAnswer, ErrorsHaveNames) {
  EXPECT_EQ(impossible("errno = 2"), "no event fulfils errno = 2; errno is the name of an error: 2 is 'ENOENT'");
  EXPECT_EQ(
      impossible("errno IN (11, 110) AND pid > 5"),
      "no event fulfils errno IN (11, 110); errno is the name of an error: 11 is 'EAGAIN'; errno is the name of an "
      "error: 110 is 'ETIMEDOUT'");
  EXPECT_EQ(impossible("errno = 99999"),
            "no event fulfils errno = 99999; errno is the name of an error, such as 'ENOENT'");
  EXPECT_EQ(impossible("errno = 'EACCESS'"), "no event fulfils errno = 'EACCESS'; did you mean EACCES?");
  for (const char* where : {"errno = 'ENOENT'", "errno IS NULL", "errno <> 'EAGAIN'", "errno GLOB 'E*'",
                            "errno = 2 OR pid = 5", "NOT errno = 2 AND result = 0", "kind = 'read'"})
    EXPECT_EQ(impossible(where), "") << where;
}

TEST(EmptyAnswer, CallsHaveNames) {
  constexpr const char* kNoCall = ": it names no system call, and WHERE names no other class of events";
  EXPECT_EQ(impossible("kind = 'opennat'"),
            std::string("no event fulfils kind = 'opennat'") + kNoCall + "; did you mean openat, openat2?");
  EXPECT_EQ(impossible("lower(kind) = 'opennat'"),
            std::string("no event fulfils lower(kind) = 'opennat'") + kNoCall + "; did you mean openat, openat2?");
  EXPECT_EQ(impossible("kind = 'SIGTERM'"),
            std::string("no event fulfils kind = 'SIGTERM'") + kNoCall +
                "; with -e signal, kinds of signals are 'SIGTERM sent', 'SIGTERM delivered'");
  EXPECT_EQ(impossible("kind GLOB 'xyz*'"), std::string("no event fulfils kind GLOB 'xyz*'") + kNoCall);
  for (const char* where : {"kind = 'open'", "kind = 'waitpid'", "kind IN ('opennat', 'read')", "kind <> 'read'",
                            "class = 'tracepoint' AND kind = 'sched:sched_switch'", "kind = 'x' OR class = 'usdt'"})
    EXPECT_EQ(impossible(where), "") << where;
}

TEST(EmptyAnswer, NamesOfOtherToolsLeadToColumns) {
  for (const char* name : {"comm", "path", "fd", "syscall", "duration", "retval", "func", "user"})
    EXPECT_NE(hint_for_column(name), "") << name;
  EXPECT_TRUE(hint_for_column("fd").starts_with("a0 "));
  EXPECT_TRUE(hint_for_column("path").starts_with("object "));
  EXPECT_EQ(hint_for_column("next_prio"), "");
}

}  // namespace
}  // namespace uscope::query

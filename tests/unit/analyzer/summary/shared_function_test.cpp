// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/summary/shared_function.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

// main calls hot, from two places, and cold; hot writes from two places. step is inlined in main, in two pieces that
// are called from one line, and leaf in step from another one.
constexpr const char* kRows = R"sql(
INSERT INTO meta VALUES('start_ns', '0');
INSERT INTO process(id, pid, ns_pid, parent_id, start_ns, end_ns, exit_code, exit_signal, uses_io_uring) VALUES
  (1, 100, 1, NULL, 0, 10, 0, NULL, 0);
INSERT INTO image VALUES(1, 1, 0, '/app/tool', '["tool"]', 'tool', '["tool"]');
INSERT INTO module VALUES(1, '/app/tool', 'aa', 'app'), (2, '/lib/libc.so.6', 'bb', 'library'),
  (3, '/lib/libloop.so', 'cc', 'library');
INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES
  (1, 2, 10, 'write', 1, NULL, NULL, 0), (2, 2, 20, '__libc_start_call_main', 1, NULL, NULL, 0),
  (3, 2, 30, '__libc_start_main', 1, NULL, NULL, 0), (4, 1, 40, '_start', 1, NULL, NULL, 0),
  (5, 1, 50, 'main', 1, 'tool.c', 5, 0), (6, 1, 60, 'main', 11, 'tool.c', 6, 0),
  (7, 1, 70, 'hot', 1, NULL, NULL, 0), (8, 1, 80, 'hot', 11, NULL, NULL, 0), (9, 1, 90, 'cold', 1, NULL, NULL, 0),
  (10, 3, 95, 'loop', 1, NULL, NULL, 0), (11, 3, 97, 'loop', 3, NULL, NULL, 0),
  (12, 2, 98, 'start_thread', 3, NULL, NULL, 0),
  (13, 1, 100, 'step', 1, 'tool.c', 20, 1), (14, 1, 100, 'main', 51, 'tool.c', 9, 0),
  (15, 1, 110, 'step', 1, 'tool.c', 21, 1), (16, 1, 110, 'main', 61, 'tool.c', 9, 0),
  (17, 1, 120, 'step', 1, 'tool.c', 20, 1), (18, 1, 120, 'main', 71, 'tool.c', 12, 0);
INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES(1, 6, 'root', 7, 0, ''), (2, 6, 'root', 8, 0, ''), (3, 6, 'root', 7, 0, ''),
  (4, 6, 'root', 9, 0, ''), (5, 6, 'budget', 7, 0, ''), (6, 3, 'root', 10, 1, ''), (7, 3, 'root', 11, 1, ''),
  (8, 2, 'root', 12, 1, ''), (9, 5, 'root', 13, 0, ''), (10, 5, 'root', 15, 0, ''), (11, 5, 'root', 17, 0, ''),
  (12, 2, 'root', 1, 1, '');
INSERT INTO stack_frame VALUES
  (1, 0, 0, 1, 'user'), (1, 1, 0, 7, 'user'), (1, 2, 0, 5, 'user'), (1, 3, 0, 2, 'user'), (1, 4, 0, 3, 'user'), (1, 5, 0, 4, 'user'),
  (2, 0, 0, 1, 'user'), (2, 1, 0, 8, 'user'), (2, 2, 0, 5, 'user'), (2, 3, 0, 2, 'user'), (2, 4, 0, 3, 'user'), (2, 5, 0, 4, 'user'),
  (3, 0, 0, 1, 'user'), (3, 1, 0, 7, 'user'), (3, 2, 0, 6, 'user'), (3, 3, 0, 2, 'user'), (3, 4, 0, 3, 'user'), (3, 5, 0, 4, 'user'),
  (4, 0, 0, 1, 'user'), (4, 1, 0, 9, 'user'), (4, 2, 0, 5, 'user'), (4, 3, 0, 2, 'user'), (4, 4, 0, 3, 'user'), (4, 5, 0, 4, 'user'),
  (5, 0, 0, 1, 'user'), (5, 1, 0, 7, 'user'), (5, 2, 0, 5, 'user'), (5, 3, 0, 2, 'user'), (5, 4, 0, 3, 'user'), (5, 5, 0, 4, 'user'),
  (6, 0, 0, 1, 'user'), (6, 1, 0, 10, 'user'), (6, 2, 0, 12, 'user'),
  (7, 0, 0, 1, 'user'), (7, 1, 0, 11, 'user'), (7, 2, 0, 12, 'user'), (8, 0, 0, 1, 'user'), (8, 1, 0, 12, 'user'),
  (9, 0, 0, 1, 'user'), (9, 1, 0, 13, 'user'), (9, 1, 1, 14, 'user'), (9, 2, 0, 2, 'user'), (9, 3, 0, 3, 'user'), (9, 4, 0, 4, 'user'),
  (10, 0, 0, 1, 'user'), (10, 1, 0, 15, 'user'), (10, 1, 1, 16, 'user'), (10, 2, 0, 2, 'user'), (10, 3, 0, 3, 'user'), (10, 4, 0, 4, 'user'),
  (11, 0, 0, 1, 'user'), (11, 1, 0, 17, 'user'), (11, 1, 1, 18, 'user'), (11, 2, 0, 2, 'user'), (11, 3, 0, 3, 'user'), (11, 4, 0, 4, 'user'),
  (12, 0, 0, 1, 'user'), (12, 1, 0, 3, 'user'), (12, 2, 0, 4, 'user');
)sql";

class SharedFunctionTest : public testing::Test {
 protected:
  SharedFunctionTest() { test::write_store(folder_ / "t.db", kRows); }

  // "function", "function *", or "" if it is not known.
  std::string within(std::int64_t before, std::int64_t after) {
    const auto database = test::open_store(folder_ / "t.db");
    auto shared = SharedFunctions::create(database);
    if (!shared) return shared.error().what;
    auto found = shared->innermost(StackRowId(before), StackRowId(after));
    if (!found) return found.error().what;
    if (!*found) return "";
    return (*found)->function + ((*found)->fallback ? " *" : "");
  }

  test::TemporaryFolder folder_;
};

TEST_F(SharedFunctionTest, CallsFromTwoPlacesOfAFunctionAreWithinIt) {
  EXPECT_EQ(within(1, 2), "hot");
  EXPECT_EQ(within(2, 1), "hot");
  EXPECT_EQ(within(1, 1), "hot");
}

TEST_F(SharedFunctionTest, AFunctionThatIsCalledAgainFromElsewhereHasReturned) {
  EXPECT_EQ(within(1, 3), "main");
}

TEST_F(SharedFunctionTest, DifferentFunctionsAreWithinTheirCaller) {
  EXPECT_EQ(within(1, 4), "main");
}

TEST_F(SharedFunctionTest, StacksThatWereCutTellNothing) {
  EXPECT_EQ(within(1, 5), "");
  EXPECT_EQ(within(5, 5), "");
  EXPECT_EQ(within(1, 99), "");
}

TEST_F(SharedFunctionTest, StacksOfDifferentRootsShareNothing) {
  EXPECT_EQ(within(1, 6), "");
}

TEST_F(SharedFunctionTest, WithoutTheApplicationTheInnermostOtherFunctionIsStarred) {
  EXPECT_EQ(within(6, 7), "loop *");
  EXPECT_EQ(within(6, 8), "start_thread *");
  EXPECT_EQ(within(1, 12), "__libc_start_main *");
}

TEST_F(SharedFunctionTest, InlinedFunctionsCountByTheLineThatCallsThem) {
  EXPECT_EQ(within(9, 10), "step");
  EXPECT_EQ(within(9, 11), "main");
}

}  // namespace
}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/query_check.h"

#include <gtest/gtest.h>

#include "tracer/backend/backend.h"

namespace uscope::tracer {
namespace {

usc_config with_question(std::uint32_t version) {
  usc_config config{};
  config.cpus = 1;
  config.query.version = version;
  config.query.length = 1;
  config.query.rows = USC_QUERY_ROWS;
  config.query.insn[0].op = USC_QUERY_NUMBER;
  return config;
}

TEST(QueryCheck, SaysWhatIsWrongWithAQuestion) {
  EXPECT_TRUE(check_query({}));
  usc_query query = with_question(USC_QUERY_VERSION).query;
  EXPECT_TRUE(check_query(query));
  query.insn[0].op = USC_QUERY_OP_COUNT;
  auto refused = check_query(query);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what,
            "the question cannot be run in the kernel: instruction 0: the instruction is unknown");
  query = with_question(USC_QUERY_VERSION).query;
  query.rows = 3;
  refused = check_query(query);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "the question cannot be run in the kernel: its tables cannot have so many rows");
  query = with_question(USC_QUERY_VERSION).query;
  query.reads = 1;
  refused = check_query(query);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "the question cannot be run in the kernel: it does not say which fields it reads");
  EXPECT_NE(refused.error().remedy, "");
}

// Before anything else: neither needs a right or a module for that.
TEST(QueryCheck, BothBackendsRefuseAnUnknownQuestion) {
  for (const auto open : {open_bpf_backend, open_kmod_backend}) {
    const auto backend = open(with_question(7), BackendSizes{}, ProbePlan{});
    ASSERT_FALSE(backend);
    EXPECT_EQ(backend.error().what, "the question cannot be run in the kernel: its version is unknown");
  }
}

}  // namespace
}  // namespace uscope::tracer

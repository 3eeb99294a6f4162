// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/program_check.h"

#include <gtest/gtest.h>

#include "tracer/backend/backend.h"

namespace uscope::tracer {
namespace {

usc_config with_program(std::uint32_t version) {
  usc_config config{};
  config.cpus = 1;
  config.program.version = version;
  config.program.length = 2;
  config.program.insn[0].op = USC_OP_ADMIT;
  config.program.insn[1].op = USC_OP_ADMIT;
  return config;
}

TEST(ProgramCheck, NoProgramAndASoundOneMayRun) {
  EXPECT_TRUE(check_program({}));
  EXPECT_TRUE(check_program(with_program(USC_PROGRAM_VERSION).program));
}

TEST(ProgramCheck, SaysWhatIsWrong) {
  usc_program program = with_program(USC_PROGRAM_VERSION).program;
  program.insn[1].op = 200;
  auto refused = check_program(program);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "the filter program cannot be run: instruction 1: the instruction is unknown");
  EXPECT_NE(refused.error().remedy, "");
  program.length = 0;
  refused = check_program(program);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "the filter program cannot be run: it has a version and no instructions");
}

usc_config with_question(std::uint32_t version) {
  usc_config config{};
  config.cpus = 1;
  config.query.version = version;
  config.query.length = 1;
  config.query.rows = USC_QUERY_ROWS;
  config.query.insn[0].op = USC_QUERY_NUMBER;
  return config;
}

TEST(ProgramCheck, SaysWhatIsWrongWithAQuestion) {
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

TEST(ProgramCheck, BothBackendsRefuseAnUnknownQuestion) {
  for (const auto open : {open_bpf_backend, open_kmod_backend}) {
    const auto backend = open(with_question(7), BackendSizes{}, ProbePlan{});
    ASSERT_FALSE(backend);
    EXPECT_EQ(backend.error().what, "the question cannot be run in the kernel: its version is unknown");
  }
}

// Before anything else: neither needs a right or a module for that.
TEST(ProgramCheck, BothBackendsRefuseAnUnknownVersion) {
  for (const auto open : {open_bpf_backend, open_kmod_backend}) {
    const auto backend = open(with_program(7), BackendSizes{}, ProbePlan{});
    ASSERT_FALSE(backend);
    EXPECT_EQ(backend.error().what, "the filter program is of version 7, and this uscope runs version 1");
    EXPECT_EQ(backend.error().remedy, "make it with this version of uscope, or record without a filter");
  }
}

}  // namespace
}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/summary/signals.h"

#include "analyzer/summary/summary.h"
#include "tests/unit/analyzer/sample_trace.h"
#include "tests/unit/analyzer/signal_rows.h"

namespace uscope::analyzer {
namespace {

class SignalsSummary : public testing::Test {
 protected:
  SignalsSummary() {
    test::write_store(folder_ / "s.db", std::string(test::kSampleRows) + test::kSignalRows + test::kCountEvents);
  }
  test::TemporaryFolder folder_;
};

TEST_F(SignalsSummary, OneLineForEachSignal) {
  const auto database = test::open_store(folder_ / "s.db");
  const auto lines = read_signals(database);
  ASSERT_TRUE(lines) << lines.error().what;
  ASSERT_EQ(lines->size(), 3U);
  const SignalLine& fault = (*lines)[0];
  EXPECT_EQ(fault.number, 11);
  EXPECT_EQ(fault.sent, 1U);
  EXPECT_EQ(fault.delivered, 1U);
  ASSERT_EQ(fault.senders.size(), 1U);
  EXPECT_EQ(fault.senders[0].pid, std::nullopt);
  EXPECT_TRUE(fault.sent_from.empty());
  ASSERT_EQ(fault.interrupted_in.size(), 1U);
  EXPECT_EQ(fault.interrupted_in[0].function, test::kHostile);
  const SignalLine& term = (*lines)[1];
  EXPECT_EQ(term.number, 15);
  EXPECT_EQ(term.sent, 2U);
  EXPECT_EQ(term.ignored, 0U);
  EXPECT_EQ(term.delivered, 1U);
  EXPECT_EQ(term.senders[0].pid, 100);
  EXPECT_EQ(term.senders[0].name, "worker");
  EXPECT_EQ(term.senders[0].sent, 2U);
  ASSERT_EQ(term.pairs.size(), 2U);
  EXPECT_EQ(term.pairs[0].sender.pid, 100);
  EXPECT_EQ(term.pairs[0].receiver.pid, 101);
  EXPECT_EQ(term.pairs[0].delivered, 1U);
  EXPECT_EQ(term.pairs[0].sent_from[0].function, "run_job");
  EXPECT_EQ(term.pairs[0].interrupted_in[0].function, "compile");
  EXPECT_EQ(term.pairs[1].receiver.pid, 900);
  EXPECT_EQ(term.pairs[1].delivered, 0U);
  EXPECT_EQ(term.sent_from[0].function, "run_job");
  EXPECT_EQ(term.sent_from[0].events, 2U);
  EXPECT_EQ(term.interrupted_in[0].function, "compile");
  EXPECT_EQ((*lines)[2].ignored, 1U);
}

TEST_F(SignalsSummary, ASignalIsNoCall) {
  const auto database = test::open_store(folder_ / "s.db");
  const auto summary = summarize(database, {.lines = 0});
  ASSERT_TRUE(summary) << summary.error().what;
  EXPECT_EQ(summary->trace.events, 14U + 6U);
  ASSERT_EQ(summary->signals.total, 3U);
  EXPECT_EQ(summary->signals.lines[0].number, 15);  // by events
  for (const auto& line : summary->calls.lines) EXPECT_EQ(line.call.find("SIG"), std::string::npos);
  for (const auto& line : summary->triggers.lines) EXPECT_EQ(line.call.find("SIG"), std::string::npos);
}

}  // namespace
}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Diagnoses of made stores, and what is expected of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/deadlock/deadlock.h"
#include "tests/unit/analyzer/hung_store.h"

namespace uscope::test {

using analyzer::Diagnosis;
using analyzer::FindingType;
using analyzer::Primitive;
using analyzer::Verdict;

constexpr std::uint64_t kA = 0x555500001000;
constexpr std::uint64_t kB = 0x555500002000;
constexpr std::uint64_t kC = 0x555500003028;  // a condition variable's futex: 8-byte aligned

// The threads of a finding, in ascending order.
inline std::vector<std::int64_t> accused_by(const analyzer::Finding& finding) {
  std::vector<std::int64_t> accused;
  for (const auto& thread : finding.threads) accused.push_back(thread.tid);
  std::sort(accused.begin(), accused.end());
  return accused;
}

class DeadlockTest : public testing::Test {
 protected:
  static Diagnosis diagnosis_of(const store::Database& database) {
    auto diagnosis = analyzer::diagnose(database);
    if (!diagnosis) {
      ADD_FAILURE() << diagnosis.error().what;
      return {};
    }
    return *diagnosis;
  }
  std::filesystem::path new_store(const HungTrace& trace, const std::string& also = "") {
    const auto path = folder_ / ("hung" + std::to_string(count_++) + ".db");
    write_hung(path, trace, also);
    return path;
  }
  Diagnosis diagnose(const HungTrace& trace, const std::string& also = "") {
    return diagnosis_of(open_store(new_store(trace, also)));
  }

  // The one finding, and the tids that it accuses, in ascending order.
  void expect(const HungTrace& trace, FindingType type, std::vector<std::int64_t> tids, bool weak = false) {
    const Diagnosis diagnosis = diagnose(trace);
    ASSERT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
    const auto& finding = diagnosis.findings[0];
    EXPECT_EQ(finding_name(finding.type), finding_name(type)) << finding.explanation;
    EXPECT_EQ(accused_by(finding), tids) << finding.explanation;
    const bool stall = weak || type == FindingType::kStall || type == FindingType::kLostWakeup;
    EXPECT_EQ(diagnosis.verdict, stall ? Verdict::kStall : Verdict::kDeadlock);
    EXPECT_EQ(finding.verdict, diagnosis.verdict);
    EXPECT_EQ(diagnosis.reason, "");
    EXPECT_EQ(finding.explanation.find("No deadlock for certain") != std::string::npos, weak) << finding.explanation;
  }

  // What owners or wakes say, where somebody is free who could end it against custom.
  void expect_weak(const HungTrace& trace, FindingType type, std::vector<std::int64_t> tids) {
    expect(trace, type, std::move(tids), true);
  }

  void expect_none(const HungTrace& trace, const std::string& reason = "") {
    const Diagnosis diagnosis = diagnose(trace);
    EXPECT_EQ(diagnosis.verdict, Verdict::kNone);
    for (const auto& finding : diagnosis.findings) ADD_FAILURE() << finding.explanation;
    EXPECT_NE(diagnosis.reason.find(reason), std::string::npos) << diagnosis.reason;
  }

  static HungTrace abba() {
    return {.threads = {elsewhere(100, "main", "poll"), mutex_waiter(101, "left", kB, 102),
                        mutex_waiter(102, "right", kA, 101)}};
  }

  TemporaryFolder folder_;
  int count_ = 0;
};

}  // namespace uscope::test

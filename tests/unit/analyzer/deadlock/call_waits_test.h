// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Made applications whose processes wait in other calls than futex, with a look at them, and what is expected of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/analyzer/deadlock/diagnosis_test.h"
#include "tests/unit/analyzer/looked_store.h"

namespace uscope::test {

// Processes 100, 200, …: children of the first one. One thread each, in these calls; "" runs.
inline HungTrace processes_in(const std::vector<std::string>& calls) {
  HungTrace trace{.processes = {}};
  for (std::size_t i = 0; i < calls.size(); i++) {
    const int pid = 100 * (static_cast<int>(i) + 1);
    MadeThread thread = elsewhere(pid, "t", calls[i]);
    thread.process = static_cast<int>(i) + 1;
    trace.threads.push_back(thread);
    trace.processes.push_back({.pid = pid, .parent = i == 0 ? 0 : 1});
  }
  return trace;
}

class CallWaits : public DeadlockTest {
 protected:
  Diagnosis look_at(const HungTrace& trace, const MadeLook& look) {
    const store::Database database = open_store(new_store(trace));
    look.put_into(database);
    return diagnosis_of(database);
  }

  // One finding that accuses these threads, and tells this.
  void expect_finding(const HungTrace& trace, const MadeLook& look, Verdict verdict, FindingType type,
                      std::vector<std::int64_t> tids, const std::vector<std::string>& told) {
    const Diagnosis diagnosis = look_at(trace, look);
    EXPECT_EQ(verdict_name(diagnosis.verdict), verdict_name(verdict)) << diagnosis.reason;
    ASSERT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
    const auto& finding = diagnosis.findings[0];
    EXPECT_EQ(finding_name(finding.type), finding_name(type)) << finding.explanation;
    EXPECT_EQ(accused_by(finding), tids) << finding.explanation;
    for (const std::string& part : told)
      EXPECT_NE(finding.explanation.find(part), std::string::npos) << part << "\n" << finding.explanation;
  }

  void expect_no_finding(const HungTrace& trace, const MadeLook& look, const std::string& why = "",
                         Verdict verdict = Verdict::kNone) {
    const Diagnosis diagnosis = look_at(trace, look);
    EXPECT_EQ(verdict_name(diagnosis.verdict), verdict_name(verdict)) << diagnosis.reason;
    for (const auto& finding : diagnosis.findings) ADD_FAILURE() << finding.explanation;
    EXPECT_NE(diagnosis.reason.find(why), std::string::npos) << diagnosis.reason;
  }
};

// The processes' whole lives are in the trace, and so is the call that made object 7 of System V without a key.
inline HungTrace made_here(HungTrace trace, const std::string& call) {
  trace.more_sql =
      "UPDATE process SET start_ns = " + std::to_string(kStart + 1) + ";INSERT INTO kind VALUES(90, '" + call +
      "', 'syscall', 'x86_64', 64);INSERT INTO event SELECT 900, ts_ns - 5, 1, 'returned', 1, 1, 90, 7, NULL, "
      "0, 1, 384, 0, 0, 0, NULL FROM event LIMIT 1;";
  return trace;
}

}  // namespace uscope::test

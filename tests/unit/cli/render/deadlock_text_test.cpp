// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The text of a diagnosis with long names and many threads.
#include "cli/render/deadlock_render.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "cli/terminal/text_width.h"

namespace uscope::test {
namespace {

using analyzer::Diagnosis;

constexpr std::size_t kWidth = 80;

analyzer::BlockedThread reader(std::int64_t tid) {
  analyzer::BlockedThread thread;
  thread.pid = tid;
  thread.tid = tid;
  thread.name = "worker-of-a-pool";
  thread.process = "application-server";
  thread.wait = "poll(3<pipe:[2044994]> read, 5<socket:[1868849 unix:/run/application.sock]> write)";
  for (std::int64_t pid = 4000; pid < 4006; pid++) thread.held_by.push_back(pid);
  thread.stack = {{"__poll", "libc.so.6", false, "", 0},
                  {"wait_for_work", "application-server", true, "/usr/src/application/server/worker.c", 1234},
                  {"run_worker", "application-server", true, "/usr/src/application/server/main.c", 99}};
  return thread;
}

Diagnosis crowd() {
  Diagnosis diagnosis;
  diagnosis.verdict = analyzer::Verdict::kDeadlock;
  analyzer::Finding finding;
  finding.verdict = analyzer::Verdict::kDeadlock;
  finding.explanation = "100 threads wait for each other: the write end of pipe:[2044994] is open in process 4000";
  for (std::int64_t tid = 1000; tid < 1100; tid++) finding.threads.push_back(reader(tid));
  diagnosis.findings.push_back(finding);
  diagnosis.blocked.push_back(reader(2000));
  analyzer::OtherWait other{"read", {}, "serve_requests", "read(3<pipe:[2044994]>)", "", "", false, false, {}, {}};
  for (std::int64_t tid = 3000; tid < 3005; tid++)
    other.threads.push_back({tid, tid, "worker-of-a-pool", "application-server", 5'000'000'000, true});
  diagnosis.other_waits.push_back(other);
  diagnosis.computing.push_back({7000, 7000, "worker-of-a-pool", "application-server", 5'000'000'000, {1, 2, 3}});
  diagnosis.warnings.emplace_back(
      "the trace has losses (`uscope report` tells which): what may be lost accuses nobody");
  return diagnosis;
}

TEST(DeadlockText, NoLineIsWiderThanTheTerminal) {
  std::istringstream text(cli::deadlock_text(crowd(), kWidth));
  std::size_t lines = 0;
  for (std::string line; std::getline(text, line); lines++) EXPECT_LE(cli::display_width(line), kWidth) << line;
  EXPECT_GT(lines, 20U);
  EXPECT_LT(lines, 60U);
}

TEST(DeadlockText, EqualWaitsAreToldOnce) {
  const std::string text = cli::deadlock_text(crowd(), kWidth);
  EXPECT_NE(text.find("thread 1000 "), std::string::npos);
  EXPECT_NE(text.find("thread 1002 "), std::string::npos);
  EXPECT_EQ(text.find("thread 1003 "), std::string::npos) << text;
  EXPECT_NE(text.find("    and 97 others in the same place\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace uscope::test

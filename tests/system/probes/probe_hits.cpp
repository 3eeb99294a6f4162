// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Hits of programs that count what they do themselves; programs behave as without probes.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/unique_fd.h"
#include "tests/support/guest.h"
#include "tests/system/probes/probe_case.h"
#include "tracer/backend/uprobe_multi.h"
#include "tracer/host/kprobe_multi.h"

namespace uscope::tracer {
namespace {

// Recursion, longjmp, fork, exec, exits, threads, signals, leaf functions with a red zone, and first instructions of
// all sorts: each call is a hit, and what the functions return is the same as without.
TEST_F(ProbeHits, CountsOfFunctionsAreThoseThatTheProgramCounts) {
  run_untraced(results_);
  const long sum = read_counts(results_)["sum"];
  const ProbePlan plan = plan_of_probed();
  record_probed("run", plan);
  expect_counts(plan);
  EXPECT_EQ(read_counts(results_)["sum"], sum);
  EXPECT_EQ(read_counts(results_)["in_child"], 1);
  EXPECT_EQ(read_counts(results_)["after_exec"], 1);
  EXPECT_EQ(sink_->all<usc_kind>().size(), plan.probes.size());
}

TEST_F(ProbeHits, CountsAreThoseWhereEachPlaceIsAttachedByItself) {
  ProbePlan plan = plan_of_probed();
  plan.attach_singly = true;
  record_probed("run", plan);
  expect_counts(plan);
}

// The last call of each thread may have been hit, and not counted.
TEST_F(ProbeHits, OfThreadsThatAreKilledInAProbedFunction) {
  const ProbePlan plan = plan_of_probed();
  record_probed("killed", plan);
  const long counted = read_counts(results_)["spins"];
  const long hit = count_hits(plan)["spins"];
  EXPECT_GT(counted, 0);
  EXPECT_GE(hit, counted);
  EXPECT_LE(hit, counted + 20);  // five processes of four threads
}

TEST_F(ProbeHits, OtherProcessesOfTheProgramAreNotRecorded) {
  const std::string other = folder_ / "other";
  std::thread outsider([&other] {
    for (int i = 0; i < 5; i++) run_untraced(other);
  });
  const ProbePlan plan = plan_of_probed();
  record_probed("run", plan);
  outsider.join();
  expect_counts(plan);
  EXPECT_GT(read_counts(other)["sum"], 0);
}

TEST_F(ProbeHits, ArgumentsAndTheirTexts) {
  ProbePlan plan;
  Probe probe = probe_at("takes", fixture("probed"), places_of_probed()["takes"], 9);
  probe.arguments = {argument(ProbeArgument::From::kRegister, kRdi, 4, true),
                     text_argument(kRsi),
                     argument(ProbeArgument::From::kRegister, kRdx, 8),
                     argument(ProbeArgument::From::kRegister, kRcx, 1),
                     argument(ProbeArgument::From::kRegister, kR9, 4),
                     argument(ProbeArgument::From::kMemory, kRsp, 8, true, 8)};
  plan.probes.push_back(probe);
  record_probed("run", plan);
  ASSERT_EQ(hits_.size(), 3U);
  const std::uint64_t expected[3][6] = {{static_cast<std::uint64_t>(-5), 0, 1ULL << 40, 200, 2, 77},
                                        {6, 0, 2, 255, 2, static_cast<std::uint64_t>(-78)},
                                        {7, 0, 3, 0, 2, 79}};
  for (int i = 0; i < 3; i++) {
    const usc_hit& hit = hits_[static_cast<std::size_t>(i)];
    EXPECT_EQ(hit.source, USC_SOURCE_UFUNCTION);
    EXPECT_EQ(hit.kind, 9U);
    EXPECT_EQ(hit.how, USC_HOW_HIT);
    EXPECT_EQ(hit.frames, 0U);
    EXPECT_NE(hit.args[1], 0U);
    for (int n = 0; n < 6; n++) {
      if (n == 1) continue;
      EXPECT_EQ(hit.args[n], expected[i][n]) << i << ", argument " << n;
    }
  }
  std::vector<std::string> tails;
  const auto strings = sink_->all_by_entry<usc_string>(&tails);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < strings.size(); i++) {
    if (strings[i].kind != USC_STRING_TEXT) continue;
    texts.push_back(tails[i].substr(0, strings[i].bytes));
    ASSERT_LE(texts.size(), 3U);
    EXPECT_EQ(strings[i].entry_ns, hits_[texts.size() - 1].entry_ns);
    EXPECT_EQ(strings[i].head.task, hits_[texts.size() - 1].head.task);
    EXPECT_EQ(strings[i].arg, 1);
    EXPECT_EQ((strings[i].flags & USC_STRING_TRUNCATED) != 0, texts.size() == 3);
  }
  const std::string cut = "a text that is longer than is taken: 0123456789012345678901234567890123456789";
  EXPECT_EQ(texts, (std::vector<std::string>{"first", "", cut.substr(0, 64)}));
}

// The program looks at its semaphore while somebody looks at the probe.
TEST_F(ProbeHits, UsdtProbesAndTheirSemaphores) {
  const Places places = places_of_probed();
  ProbePlan plan;
  Probe probe = probe_at("provider:mark", fixture("probed"), places.at("mark"), 1);
  probe.source = USC_SOURCE_USDT;
  probe.semaphore = places.at("semaphore");
  probe.arguments = {argument(ProbeArgument::From::kRegister, kRdi, 4, true), text_argument(kRsi),
                     argument(ProbeArgument::From::kConstant, 0, 8, true, -3),
                     // The probed instruction itself: a breakpoint.
                     argument(ProbeArgument::From::kMemory, kRip, 1)};
  plan.probes.push_back(probe);
  for (const bool singly : {false, true}) {
    plan.attach_singly = singly;
    record_probed("run", plan);
    ASSERT_EQ(hits_.size(), 10U);
    for (std::size_t i = 0; i < hits_.size(); i++) {
      EXPECT_EQ(hits_[i].args[0], i);
      EXPECT_EQ(hits_[i].args[2], static_cast<std::uint64_t>(-3));
      EXPECT_EQ(hits_[i].args[3], 0xccU);
    }
    std::vector<std::string> tails;
    const auto strings = sink_->all_by_entry<usc_string>(&tails);
    ASSERT_EQ(strings.size(), 10U);
    EXPECT_EQ(tails[0].substr(0, strings[0].bytes), "marked");
    EXPECT_EQ(read_counts(results_)["semaphore"], 10);
  }
  run_untraced(results_);
  EXPECT_EQ(read_counts(results_)["semaphore"], 0);
}

// A process that runs is probed, and goes on when it is not any more.
TEST_F(ProbeHits, OfAProcessThatRan) {
  const pid_t process = start_forever();
  RecordOptions options = options_of({}, plan_of_probed({"spins"}));
  options.config.target.kinds = USC_TARGET_PID;
  options.target.pids = {static_cast<std::uint32_t>(process)};
  // Each thread runs through the function all the time; a slow machine gives each of them a turn within seconds.
  std::map<std::uint32_t, int> threads;
  const auto all_hit = [&threads] {
    return threads.size() == 3 &&
           std::all_of(threads.begin(), threads.end(), [](const auto& t) { return t.second > 100; });
  };
  for (options.duration_ns = 300'000'000; !all_hit() && options.duration_ns < 60'000'000'000;
       options.duration_ns *= 5) {
    std::vector<std::unique_ptr<File>> files;
    RecordingClient client;
    const auto outcome = record(options, client, &files);
    ASSERT_TRUE(outcome) << outcome.error().what;
    threads.clear();
    for (const usc_hit& hit : sink_->all<usc_hit>()) threads[hit.head.task]++;
  }
  EXPECT_TRUE(end_forever());
  EXPECT_TRUE(all_hit()) << ::testing::PrintToString(threads);
}

TEST_F(ProbeHits, ErrorsSayWhatCannotBeProbed) {
  if (kernel_only()) GTEST_SKIP() << "half a minute under emulation, of which user space decides all";
  const auto error_of = [this](const Probe& probe) {
    ProbePlan plan;
    plan.probes = {probe};
    RecordingClient client;
    const auto outcome = record(options_of(probed("run"), plan), client, nullptr);
    return outcome ? Error{"", ""} : outcome.error();
  };
  const Error missing = error_of(probe_at("gone:function", "/nowhere/gone", 4096, 1));
  EXPECT_NE(missing.what.find("cannot open /nowhere/gone"), std::string::npos) << missing.what;
  EXPECT_NE(missing.remedy.find("exist"), std::string::npos) << missing.remedy;
  const Error outside = error_of(probe_at("outside", fixture("probed"), 1ULL << 40, 1));
  EXPECT_NE(outside.what.find("outside"), std::string::npos) << outside.what;
  EXPECT_FALSE(outside.remedy.empty());
  Probe unknown;
  unknown.source = USC_SOURCE_TRACEPOINT;
  unknown.kind = 1;
  unknown.name = "nobody:nothing";
  unknown.event_id = 1U << 20;
  EXPECT_NE(error_of(unknown).what.find("nobody:nothing"), std::string::npos);
}

// Threads that run through the probed functions all the time, and check what comes back, while probes come and go.
TEST_F(ProbeHits, AttachedAndDetachedUnderLoad) {
  if (!kernel_has_uprobe_multi()) return;
  const std::string path = fixture("probed");
  UprobePlaces all;
  for (const Probe& probe : plan_of_probed().probes) {
    all.offsets.push_back(probe.places.front());
    all.cookies.push_back(0);
    all.semaphores.push_back(0);
  }
  const UniqueFd program = load_empty_probe_program(kAttachUprobeMulti);
  ASSERT_TRUE(program);
  (void)start_forever();
  for (int i = 0; i < 200; i++) {
    const UniqueFd link = attach_uprobe_multi(program.get(), path, all);
    ASSERT_TRUE(link) << strerror(errno);
    std::this_thread::sleep_for(std::chrono::microseconds(i * 20));
  }
  EXPECT_TRUE(end_forever());
  EXPECT_GT(read_counts(results_)["pushes"], 10000);
}

}  // namespace
}  // namespace uscope::tracer

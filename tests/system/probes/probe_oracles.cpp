// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Hits against what gdb and perf count, and stacks against libdwfl's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/unique_fd.h"
#include "tests/system/probes/probe_case.h"
#include "tracer/backend/uprobe_multi.h"
#include "tracer/host/kprobe_multi.h"
#include "tracer/walk/verifier.h"

namespace uscope::tracer {
namespace {

// Comparisons of --verify.
class Comparisons : public RecordingClient, public CompareObserver {
 public:
  CompareObserver* compare_observer() override { return this; }
  void on_compared(const Compared& compared) override {
    total++;
    if (compared.equal) return;
    different++;
    if (different > 3) return;
    std::ostringstream text;
    for (const std::uint64_t frame : compared.uscope_frames) text << std::hex << " " << frame;
    text << " |";
    for (const std::uint64_t frame : compared.oracle_frames) text << std::hex << " " << frame;
    ADD_FAILURE() << "ended " << int{compared.ended} << ":" << text.str();
  }
  int total = 0;
  int different = 0;
};

// With gdb, perf, readelf, programs of many languages, or a kernel that is not Debian 12's.
class ProbeOracles : public ProbeHits {};

// Each stack is walked once more by libdwfl; its first frame is the probed place.
TEST_F(ProbeOracles, StacksAreWholeWithFiftyProbes) {
  ProbePlan plan = plan_of_probed();
  const Places places = functions_of(fixture("probed"));
  for (const auto& [name, offset] : places) {
    const bool is_there = std::any_of(plan.probes.begin(), plan.probes.end(),
                                      [place = offset](const Probe& probe) { return probe.places.front() == place; });
    if (plan.probes.size() < 50 && !is_there)
      plan.probes.push_back(
          probe_at(name, fixture("probed"), offset, static_cast<std::uint32_t>(plan.probes.size() + 1)));
  }
  EXPECT_EQ(plan.probes.size(), 50U);
  RecordOptions options = options_of(probed("run"), plan);
  options.config.verify_every = 1;
  Comparisons comparisons;
  record_with(options, comparisons);
  EXPECT_GT(comparisons.total, 100);
  EXPECT_EQ(comparisons.different, 0);
  std::vector<std::string> tails;
  const auto stacks = sink_->all<usc_stack>(&tails);
  std::map<std::uint32_t, std::uint64_t> first;
  for (std::size_t i = 0; i < stacks.size(); i++) {
    ASSERT_GE(tails[i].size(), sizeof(std::uint64_t));
    std::memcpy(&first[stacks[i].stack], tails[i].data(), sizeof(std::uint64_t));
    EXPECT_EQ(stacks[i].ended, USC_ENDED_ROOT);
  }
  for (const usc_hit& hit : hits_)
    ASSERT_EQ(usc_frame_place(first[hit.stack]), plan.probes[hit.kind - 1].places.front()) << hit.kind;
}

// What the program does is the same each time, so perf counts the same in a run of its own.
TEST_F(ProbeOracles, CountsOfTracepointsAreThoseOfPerf) {
  const std::vector<std::string> names = {"syscalls/sys_enter_getppid", "sched/sched_process_exec",
                                          "sched/sched_process_fork", "task/task_newtask", "syscalls/sys_exit_clone3"};
  ProbePlan plan;
  std::string events;
  for (const std::string& name : names) {
    plan.probes.push_back(tracepoint(name, static_cast<std::uint32_t>(plan.probes.size() + 1)));
    events += " -e " + plan.probes.back().name;
  }
  plan.probes[1].arguments = {field_of(names[1], "filename", true), field_of(names[1], "pid")};
  plan.probes[3].arguments = {field_of(names[3], "comm", true), field_of(names[3], "clone_flags")};
  plan.probes[4].arguments = {field_of(names[4], "ret")};
  record_probed("run", plan);
  Counts counts = count_hits(plan, USC_SOURCE_TRACEPOINT);
  std::istringstream told(
      output_of("perf stat -x, " + events + " " + fixture("probed") + " run " + results_ + " 2>&1"));
  int compared = 0;
  for (std::string line; std::getline(told, line);)
    for (const Probe& probe : plan.probes)
      if (line.find("," + probe.name + ",") != std::string::npos) {
        // perf begins at the exec of the program itself.
        EXPECT_EQ(counts[probe.name], std::stol(line)) << line;
        compared++;
      }
  EXPECT_EQ(compared, static_cast<int>(names.size()));
  EXPECT_GT(counts["task:task_newtask"], 5);
  std::vector<std::string> tails;
  const auto strings = sink_->all<usc_string>(&tails);
  std::multiset<std::string> texts;
  for (std::size_t i = 0; i < strings.size(); i++) texts.insert(tails[i].substr(0, strings[i].bytes));
  EXPECT_EQ(texts.count("/proc/self/exe"), 1U);
  EXPECT_EQ(texts.count("fixture_probed"), static_cast<std::size_t>(counts["task:task_newtask"]));
  std::set<std::int64_t> tids;
  for (const usc_task& task : sink_->all<usc_task>()) tids.insert(task.tid);
  for (const usc_hit& hit : hits_) {
    EXPECT_TRUE(hit.kind != 2 || tids.count(static_cast<std::int64_t>(hit.args[1])) == 1);
    EXPECT_TRUE(hit.kind != 3 || hit.frames > 2);
    EXPECT_TRUE(hit.kind != 5 || static_cast<std::int64_t>(hit.args[0]) >= 0);
  }
}

// To close the last event of a tracepoint takes the kernel 30 ms: 200 of them one by one would take 6 s longer than
// one. Nobody waits for that; and what is told of the command is as with one.
TEST_F(ProbeOracles, HundredsOfTracepointsAreAttachedAndDetachedInSeconds) {
  ProbePlan plan;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("/sys/kernel/tracing/events/syscalls"))
    if (entry.path().filename() == "id" && plan.probes.size() < 200)
      plan.probes.push_back(tracepoint("syscalls/" + entry.path().parent_path().filename().string(),
                                       static_cast<std::uint32_t>(plan.probes.size() + 1)));
  ASSERT_EQ(plan.probes.size(), 200U);
  const auto time_of = [this](const ProbePlan& one) {
    const auto began = std::chrono::steady_clock::now();
    record_with(options_of({"/bin/true"}, one));
    return std::chrono::steady_clock::now() - began;
  };
  ProbePlan small = plan;
  small.probes.resize(1);
  const auto least = time_of(small);
  EXPECT_LT(time_of(plan) - least, std::chrono::seconds(4));
  EXPECT_GT(count_hits(plan, USC_SOURCE_TRACEPOINT).size(), 3U);
}

// A tracepoint in an interrupt, while a program of another tracepoint is at work: the kernel runs no second one. It
// counts that from Linux 6.7 on.
TEST_F(ProbeOracles, AreCountedWhereTheKernelRunsNoProgram) {
  ProbePlan plan;
  plan.probes = {tracepoint("syscalls/sys_enter_getppid", 1), tracepoint("timer/hrtimer_expire_entry", 2)};
  std::vector<std::unique_ptr<File>> files;
  RecordingClient client;
  const auto outcome = record(options_of(probed("timers"), plan), client, &files);
  ASSERT_TRUE(outcome) << outcome.error().what;
  std::uint64_t missed = 0;
  for (const usc_loss& loss : sink_->all<usc_loss>())
    if (loss.cause == USC_LOSS_PROBE_MISSED) missed += loss.count;
  EXPECT_GT(missed, 0U);
}

TEST_F(ProbeOracles, CountsAreThoseOfBreakpoints) {
  const std::string path = fixture("recursion");
  const Places places = functions_of(path);
  ProbePlan plan;
  std::string breaks;
  for (const std::string name : {"main", "descend", "bottom"}) {
    plan.probes.push_back(probe_at(name, path, places.at(name), static_cast<std::uint32_t>(plan.probes.size() + 1)));
    breaks += " -ex 'break *" + name + "' -ex 'ignore $bpnum 1000000'";
  }
  record_with(options_of({path, "200"}, plan));
  const std::string told =
      output_of("gdb -nx -batch -ex starti" + breaks + " -ex continue -ex 'info breakpoints' --args " + path +
                " 200 2>&1 | grep -B1 -E 'already hit'");
  Counts by_gdb;
  std::istringstream lines(told);
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t at = line.find('<'); at != std::string::npos)
      name = line.substr(at + 1, line.find_first_of("+>", at) - at - 1);
    if (const std::size_t at = line.find("already hit "); at != std::string::npos)
      by_gdb[name] = std::stol(line.substr(at + 12));
  }
  EXPECT_EQ(count_hits(plan), by_gdb) << told;
  EXPECT_EQ(by_gdb["descend"], 200);
}

// Programs of other languages, probed at every function of their own: they check themselves, and end with 0.
TEST_F(ProbeOracles, ProgramsOfOtherLanguagesSurvive) {
  const struct {
    const char* program;
    const char* names;
    std::size_t fewest;
  } programs[] = {{"go_stacks", "main.", 50}, {"rust", "4walk", 10}, {"exceptions", "", 9},  {"cpp_threads", "", 3},
                  {"jumps", "", 9},           {"coroutines", "", 3}, {"go_cgo", "main.", 3}, {"nested_signals", "", 3}};
  for (const auto& [program, names, fewest] : programs) {
    SCOPED_TRACE(program);
    const std::string path = fixture(program);
    ProbePlan plan;
    for (const auto& [name, offset] : functions_of(path))
      if (name.find(names) != std::string::npos)
        plan.probes.push_back(probe_at(name, path, offset, static_cast<std::uint32_t>(plan.probes.size() + 1)));
    ASSERT_GT(plan.probes.size(), 2U);
    record_with(options_of({path}, plan));
    EXPECT_GE(hits_.size(), fewest);
  }
}

// All functions of a program that has the C library in itself.
TEST_F(ProbeOracles, AThousandPlacesAreAttachedAndDetachedInSeconds) {
  if (!kernel_has_uprobe_multi()) return;
  const std::string path = fixture("wrappers_static");
  ProbePlan plan;
  UprobePlaces all;
  for (const auto& [name, offset] : functions_of(path)) {
    plan.probes.push_back(probe_at(name, path, offset, static_cast<std::uint32_t>(plan.probes.size() + 1)));
    all.offsets.push_back(offset);
    all.cookies.push_back(0);
    all.semaphores.push_back(0);
  }
  ASSERT_GT(plan.probes.size(), 1000U);
  const UniqueFd program = load_empty_probe_program(kAttachUprobeMulti);
  const auto began = std::chrono::steady_clock::now();
  {
    const UniqueFd link = attach_uprobe_multi(program.get(), path, all);
    ASSERT_TRUE(link) << strerror(errno);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  record_with(options_of({path}, plan));
  EXPECT_GT(count_hits(plan).size(), 50U);
}

}  // namespace
}  // namespace uscope::tracer

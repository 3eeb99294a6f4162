// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Recordings with probes in files and at tracepoints, of programs that count what they do themselves
// (tests/fixtures/probed.c).
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/unit/trace/memory_sink.h"
#include "trace/loss_class.h"
#include "tracer/recorder/recorder.h"

namespace uscope::tracer {

constexpr std::uint8_t kRdx = 1;
constexpr std::uint8_t kRcx = 2;
constexpr std::uint8_t kRsi = 4;
constexpr std::uint8_t kRdi = 5;
constexpr std::uint8_t kRsp = 7;
constexpr std::uint8_t kR9 = 9;
constexpr std::uint8_t kRip = 16;

using Counts = std::map<std::string, long>;
using Places = std::map<std::string, std::uint64_t>;

// Where the fixtures are: main()'s argument.
std::string fixture(const std::string& name);
// What a command prints.
std::string output_of(const std::string& command);
void run_untraced(const std::string& results);
// The functions of tests/fixtures/probed.c that count their own calls, by file offset.
Places places_of_probed();
Counts read_counts(const std::string& path);
// The functions of an executable's symbol table, by file offset, but for those that begin with a long nop, where no
// probe may be (docs/kernels.md).
Places functions_of(const std::string& path);

ProbeArgument argument(ProbeArgument::From from, std::uint8_t reg, std::uint8_t bytes, bool is_signed = false,
                       std::int64_t offset = 0);
ProbeArgument text_argument(std::uint8_t reg);
// A field of a tracepoint, from its format file.
ProbeArgument field_of(const std::string& tracepoint, const std::string& name, bool is_string = false);
Probe probe_at(std::string name, std::string path, std::uint64_t place, std::uint32_t kind);
Probe tracepoint(const std::string& name, std::uint32_t kind);

class ProbeHits : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> probed(const std::string& what) const {
    return {fixture("probed"), what, results_};
  }

  // Probes of all functions of the fixture, but for those that are named.
  static ProbePlan plan_of_probed(const std::set<std::string>& without = {}) {
    ProbePlan plan;
    for (const auto& [name, offset] : places_of_probed())
      if (name != "semaphore" && name != "mark" && without.count(name) == 0)
        plan.probes.push_back(
            probe_at(name, fixture("probed"), offset, static_cast<std::uint32_t>(plan.probes.size() + 1)));
    return plan;
  }

  RecordOptions options_of(const std::vector<std::string>& command, const ProbePlan& plan) {
    RecordOptions options;
    options.config.scope = {USC_MODE_ALL_ALL, 512};
    options.config.target.kinds = USC_TARGET_LAUNCH;
    options.config.string_bytes = 64;
    options.launch.command = command;
    options.cache_folder = folder_ / "cache";
    options.backend = BackendChoice::kBpf;
    options.probes = plan;
    sink_ = std::make_unique<MemorySink>();
    options.sink = sink_.get();
    return options;
  }

  // Recordings of this process hold signals back, which programs that it starts itself would inherit.
  static void let_signals_through() {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
  }

  void record_with(const RecordOptions& options) {
    RecordingClient client;
    record_with(options, client);
  }

  void record_with(const RecordOptions& options, RecordingClient& client) {
    std::vector<std::unique_ptr<File>> files;
    const auto outcome = record(options, client, &files);
    let_signals_through();
    ASSERT_TRUE(outcome) << outcome.error().what << "; " << outcome.error().remedy;
    ASSERT_TRUE(outcome->command);
    EXPECT_EQ(outcome->command->code, 0);
    EXPECT_EQ(outcome->command->signal, 0);
    hits_ = sink_->all_by_entry<usc_hit>();
    std::set<std::uint32_t> stacks;
    for (const usc_stack& stack : sink_->all<usc_stack>()) stacks.insert(stack.stack);
    for (const usc_hit& hit : hits_)
      if (stacks.count(hit.stack) == 0) FAIL() << "stack " << hit.stack << " of kind " << hit.kind;
    for (const usc_loss& loss : sink_->all<usc_loss>())
      ADD_FAILURE() << "lost " << loss.count << " by cause " << trace::loss_name(loss.cause);
  }

  // Not a child of this process, which would not be traced. A test that fails before end_forever() leaves it to
  // TearDown().
  [[nodiscard]] pid_t start_forever() {
    std::filesystem::remove(results_);
    let_signals_through();
    forever_ = std::stoi(output_of(fixture("probed") + " forever " + results_ + " > /dev/null 2>&1 & echo $!"));
    return *forever_;
  }

  void TearDown() override {
    if (forever_) kill(*forever_, SIGKILL);
  }

  // Whether it went on until it was told to end, and found nothing wrong: only then it tells its counts.
  [[nodiscard]] bool end_forever() {
    if (!forever_ || kill(*std::exchange(forever_, std::nullopt), SIGTERM) != 0) return false;
    // Up to two minutes, against a hang: its threads take each other's turns, on a slow machine for longer than
    // seconds.
    for (int i = 0; i < 12'000 && read_counts(results_).count("sum") == 0; i++)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return read_counts(results_)["sum"] == 0 && read_counts(results_)["pushes"] > 100;
  }

  void record_probed(const std::string& what, const ProbePlan& plan) { record_with(options_of(probed(what), plan)); }

  // Hits by the names of the plan.
  [[nodiscard]] Counts count_hits(const ProbePlan& plan, std::uint8_t source = USC_SOURCE_UFUNCTION) const {
    std::map<std::uint32_t, std::string> names;
    for (const Probe& probe : plan.probes)
      if (probe.source == source) names[probe.kind] = probe.name;
    Counts counts;
    for (const usc_hit& hit : hits_)
      if (hit.source == source) counts[names[hit.kind]]++;
    return counts;
  }

  void expect_counts(const ProbePlan& plan) const {
    const Counts told = read_counts(results_);
    Counts counted = count_hits(plan);
    ASSERT_FALSE(told.empty());
    for (const Probe& probe : plan.probes) {
      const auto found = told.find(probe.name);
      EXPECT_EQ(counted[probe.name], found == told.end() ? 0 : found->second) << probe.name;
    }
  }

  test::TemporaryFolder folder_;
  std::string results_ = folder_.file("results");
  std::optional<pid_t> forever_;  // what start_forever() started
  std::unique_ptr<MemorySink> sink_;
  std::vector<usc_hit> hits_;
};

}  // namespace uscope::tracer

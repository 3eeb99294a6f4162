// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the tests of kernel_sums are made of: a program whose calls are asked of, and who sums them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trace/signal_info.h"
#include "trace/sink.h"
#include "tracer/collect/observer.h"
#include "tracer/recorder/recorder.h"
#include "uscope/query_rows.h"

namespace uscope::tracer {

constexpr long kClosed = 30'000;  // calls of close that the program makes
constexpr long kSignals = 500;    // that it sends to itself

bool uses_module();

using Key = std::array<std::int64_t, USC_QUERY_KEYS + 1>;  // the last one: which words are NULL
using Measure = std::array<std::int64_t, 4>;               // count, sum, least, greatest
struct Sums {
  std::uint64_t events = 0;
  std::array<Measure, USC_QUERY_MEASURES> of{};
  bool operator==(const Sums&) const = default;
};

// What is summed by the kernel side, or here over events that come one by one.
class Summing final : public RecordObserver {
 public:
  explicit Summing(const usc_query& query) : query_(query) {}

  void on_event(const usc_event& event, const TaskInfo&) override { ask(event); }
  void ask(const usc_event& event);
  void on_open_call(const usc_event& event) override { told_open[event.kind]++; }
  void on_signal(const usc_signal& signal) override {
    ask(trace::event_of_signal(signal));
    signals++;
  }
  void on_sums(const usc_query_row& row, const usc_query_steps* steps) override {
    rows++;
    steps == nullptr ? add(row) : add_steps(row, *steps);
  }

  std::map<Key, Sums> sums;
  std::uint64_t events = 0;   // that came one by one
  std::uint64_t whole = 0;    // of these, such as count beyond 64 bits
  std::uint64_t signals = 0;  // of these
  std::uint64_t rows = 0;
  std::map<std::uint32_t, std::uint64_t> told_open;  // calls under way, by kind

 private:
  // Each step by itself; the first has what was measured of all, as fold_measures() wants it.
  void add_steps(usc_query_row row, const usc_query_steps& steps);
  void add(const usc_query_row& row);

  const usc_query query_;
};

// Keeps the events that come one by one.
class Keeping final : public RecordObserver {
 public:
  void on_event(const usc_event& event, const TaskInfo&) override { events.push_back(event); }
  void on_sums(const usc_query_row&, const usc_query_steps*) override { rows++; }

  std::vector<usc_event> events;
  std::uint64_t rows = 0;
};

// Rows that differ in a step alone may have what was measured of each other's events.
void fold_measures(std::map<Key, Sums>& sums, std::size_t word);

// Which stacks are told of, and how often they are told anew.
class StackNumbers final : public trace::RecordSink {
 public:
  Result<void> append(const usc_record& record) override {
    bytes_ += record.size;
    if (record.type == USC_RECORD_STACK) told.insert(reinterpret_cast<const usc_stack&>(record).stack);
    return {};
  }
  Result<void> flush() override { return {}; }
  [[nodiscard]] bool failed() const override { return false; }
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }
  void from(trace::StackId first) {
    EXPECT_GT(first.value(), first_);
    first_ = first.value();
    times++;
  }

  std::set<std::int64_t> told;
  std::size_t times = 0;

 private:
  std::uint64_t bytes_ = 0;
  std::uint32_t first_ = 0;
};

class KernelSums : public testing::Test {
 protected:
  struct Run {
    std::string work = "calls";
    bool often = true;                      // the sums are taken as often as they can be, and not just at the end
    StackNumbers* stacks = nullptr;         // is told of them, and wants them anew
    std::vector<long> only = {};            // these calls; none: all
    std::function<void()> each_round = {};  // after each round
  };

  class RunClient;

  static RecordOptions options_of(const usc_query& query, bool in_kernel, const std::vector<long>& only);
  // Runs this program's calls, and has the question asked in the kernel, or only here.
  static void record_calls(const usc_query& query, bool in_kernel, RecordObserver& observer, const Run& run);
  // All of this program's calls, of one recording for all questions: it is the same whatever is asked here.
  static const std::vector<usc_event>& all_events();
  // The kernel side's sums are those over all events. `whole`: events that come one by one although the kernel is
  // asked.
  static void expect_equal(const usc_query& query, std::uint64_t whole = 0);
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tests/system/query/kernel_sums_case.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tests/support/guest.h"
#include "tests/system/query/call_ways.h"
#include "uscope/query_run.h"

namespace uscope::tracer {
namespace {

constexpr std::int64_t kLargest = INT64_MAX;

// Calls whose arguments the kernel refuses or does not look at.
int make_calls() {
  for (long fd = 0; fd < kClosed; fd++) {
    syscall(SYS_close, 100'000 + fd % (kClosed / 2));
    if (fd % (kClosed / 5) == 0) usleep(30'000);  // time for whoever asks the kernel side meanwhile
  }
  for (long i = 0; i < 1000; i++) syscall(SYS_getppid, i % 7, kLargest - i, -i, i % 3 - 1);
  for (long i = 0; i < 10; i++) syscall(SYS_getsid, i % 2 != 0 ? -1 : 0);
  return 0;
}

// Each is sent by this program to itself, and delivered to a handler.
int send_signals() {
  std::signal(SIGUSR1, [](int) {});
  std::signal(SIGUSR2, [](int) {});
  for (long i = 0; i < kSignals; i++) kill(getpid(), i % 5 == 0 ? SIGUSR2 : SIGUSR1);
  return 0;
}

void add_measure(Measure& into, const Measure& more) {
  auto& [count, sum, least, greatest] = into;
  if (more[0] == 0) return;
  least = count == 0 ? more[2] : std::min(least, more[2]);
  greatest = count == 0 ? more[3] : std::max(greatest, more[3]);
  count += more[0];
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(more[1]));
}

}  // namespace

bool uses_module() {
  const char* backend = std::getenv("USCOPE_TEST_BACKEND");
  return backend && std::string_view(backend) == "kmod";
}

void Summing::ask(const usc_event& event) {
  usc_query_input input;
  usc_query_state state;
  usc_query_fill(&input, &event, 0);
  const usc_query_end end = usc_query_run(&query_, &input, &state);
  events++;
  if (end == USC_QUERY_WHOLE) whole++;
  if (end != USC_QUERY_GIVEN) return;
  usc_query_row row{};
  usc_query_add(&row, &state, query_.measures);
  add(row);
}
void Summing::add_steps(usc_query_row row, const usc_query_steps& steps) {
  const std::uint32_t word = usc_query_steps_word(&query_) - 1;
  const std::int64_t group = row.key.word[word];
  std::uint64_t left = row.events;
  for (std::uint32_t step = 0; step < USC_QUERY_STEPS; step++) {
    row.events = steps.events[step];
    if (row.events == 0) continue;
    left -= row.events;
    row.key.word[word] = (row.key.nulls >> word & 1) != 0 ? 0 : usc_query_end_of_step(group, step);
    add(row);
    for (usc_query_sum& sum : row.sum) sum = {};
  }
  EXPECT_EQ(left, 0U) << "the steps of a row have its events";
}
void Summing::add(const usc_query_row& row) {
  Key key{};
  std::copy(std::begin(row.key.word), std::end(row.key.word), key.begin());
  key.back() = row.key.nulls;
  Sums& into = sums[key];
  into.events += row.events;
  for (std::size_t i = 0; i < query_.measures; i++) {
    const usc_query_sum& more = row.sum[i];
    add_measure(into.of[i], {static_cast<std::int64_t>(more.count), more.sum, more.least, more.greatest});
  }
}

void fold_measures(std::map<Key, Sums>& sums, std::size_t word) {
  std::map<Key, Sums> folded;
  for (auto& [key, of] : sums) {
    Key without = key;
    without.at(word) = 0;
    for (std::size_t i = 0; i < USC_QUERY_MEASURES; i++) add_measure(folded[without].of.at(i), of.of.at(i));
    of.of = {};
  }
  for (auto& [key, of] : sums) {
    Key without = key;
    without.at(word) = 0;
    of.of = folded[without].of;
  }
}

class KernelSums::RunClient : public RecordingClient {
 public:
  RunClient(const Run& run, RecordObserver& observer) : run_(run), observer_(observer) {}

 private:
  RecordObserver* observer() override { return &observer_; }
  RoundRequests after_round() override {
    if (run_.each_round) run_.each_round();
    return {.send_sums = run_.often, .resend_stacks = run_.stacks != nullptr};
  }
  void on_stacks_resent(trace::StackId first) override { run_.stacks->from(first); }

  const Run& run_;
  RecordObserver& observer_;
};

RecordOptions KernelSums::options_of(const usc_query& query, bool in_kernel, const std::vector<long>& only) {
  RecordOptions options;
  options.config.scope = {USC_MODE_ALL_ALL, 64};
  for (__u64& word : options.config.calls[USC_CALLS_NATIVE]) word = only.empty() ? ~0ULL : 0;
  for (const long call : only) options.config.calls[USC_CALLS_NATIVE][call / 64] |= 1ULL << call % 64;
  if (in_kernel) options.config.query = query;
  options.backend = uses_module() ? BackendChoice::kKmod : BackendChoice::kBpf;
  return options;
}

void KernelSums::record_calls(const usc_query& query, bool in_kernel, RecordObserver& observer, const Run& run) {
  RecordOptions options = options_of(query, in_kernel, run.only);
  options.config.signals = run.work == "signals";
  options.sink = run.stacks;
  options.config.target.kinds = USC_TARGET_LAUNCH;
  options.launch.command = {std::filesystem::read_symlink("/proc/self/exe"), run.work};
  RunClient client(run, observer);
  const auto outcome = record(options, client, nullptr);
  ASSERT_TRUE(outcome) << outcome.error().what << "; " << outcome.error().remedy;
  ASSERT_TRUE(outcome->command);
  EXPECT_EQ(outcome->command->signal, 0);
  EXPECT_EQ(outcome->command->code, 0);
  EXPECT_EQ(outcome->figures.lost, 0U);
}

const std::vector<usc_event>& KernelSums::all_events() {
  static const std::vector<usc_event> events = [] {
    Keeping keeping;
    record_calls({}, false, keeping, {});
    EXPECT_EQ(keeping.rows, 0U);
    return keeping.events;
  }();
  return events;
}

void KernelSums::expect_equal(const usc_query& query, std::uint64_t whole) {
  Summing here(query);
  for (const usc_event& event : all_events()) here.ask(event);
  ASSERT_GT(here.events, static_cast<std::uint64_t>(kClosed));
  const std::uint32_t word = usc_query_steps_word(&query);
  if (word != 0) fold_measures(here.sums, word - 1);
  // Each kernel meets the least table, which spills: under emulation, a recording takes three seconds.
  const std::vector<__u16> sizes = kernel_only() ? std::vector<__u16>{USC_QUERY_ROWS_LEAST}
                                                 : std::vector<__u16>{USC_QUERY_ROWS, USC_QUERY_ROWS_LEAST};
  for (const __u16 rows : sizes) {
    SCOPED_TRACE(rows);
    usc_query asked = query;
    asked.rows = rows;
    Summing there(query);
    record_calls(asked, true, there, {});
    EXPECT_GT(there.rows, 0U);
    EXPECT_EQ(there.whole, whole);
    EXPECT_EQ(there.whole, here.whole);
    if (word != 0) fold_measures(there.sums, word - 1);
    EXPECT_TRUE(here.sums == there.sums) << here.sums.size() << " and " << there.sums.size() << " keys";
  }
}

}  // namespace uscope::tracer

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "calls") return uscope::tracer::make_calls();
  if (argc == 2 && std::string_view(argv[1]) == "signals") return uscope::tracer::send_signals();
  if (argc == 2 && std::string_view(argv[1]) == "ways") return uscope::test::call_in_all_ways(false);
  if (argc == 2 && std::string_view(argv[1]) == "ways-again") return uscope::test::call_in_all_ways(true);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

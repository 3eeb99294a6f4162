// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whatever a picture leaves out, its sums are those that SQLite counts of the same store.
#include "analyzer/picture/picture.h"

#include <map>
#include <numeric>
#include <set>

#include "tests/support/frame_word.h"
#include "tests/unit/store/load_support.h"

namespace uscope::analyzer {
namespace {

constexpr std::uint64_t kUs = 1'000;
constexpr std::uint32_t kThreads = 7;
constexpr std::uint32_t kEvents = 4000;

class PictureTest : public store::LoaderTest {
 protected:
  // Threads with very different numbers of calls, of four kinds from many stacks; samples, and times off the CPU.
  void many() {
    usual();
    for (std::uint32_t task = 2; task <= kThreads; task++)
      trace_->task({.task = task, .parent_task = 1, .tid = 100 + task, .flags = 0, .image = 1, .name = "worker"});
    for (std::uint32_t stack = 1; stack <= 90; stack++)
      trace_->stack(stack, {test::frame_word(3, 0x1010 + 16 * (stack % 5), true),
                            test::frame_word(2, 0x1020 + 16 * (stack % 9), false),
                            test::frame_word(2, 0x2020 + 16 * stack, false)});
    trace_->meta("start_ns", std::to_string(kStart));
    trace_->meta("duration_ns", std::to_string(kEvents * 10 * kUs + 2000 * kUs));
    constexpr std::uint32_t kCalls[] = {0, 1, 202, 257};    // read, write, futex, openat
    std::vector<std::uint64_t> free(kThreads + 1, kStart);  // when the thread's last call had ended
    for (std::uint32_t i = 0; i < kEvents; i++) {
      const std::uint32_t task = i % 16 == 0 ? 2 + i / 16 % (kThreads - 1) : 1;
      const std::uint64_t entry = std::max(free[task], kStart + i * 10 * kUs);
      const std::uint64_t end = entry + i % 7 * kUs + (i % 500 == 3 ? 900 * kUs : 0);
      free[task] = end + 1;
      const std::uint32_t stack = 1 + i * 7 % 90;
      if (i % 11 == 5) {
        hit(task, entry, end, stack, i % 2 == 0 ? USC_SOURCE_SAMPLE : USC_SOURCE_OFFCPU);
      } else {
        trace_->event({.task = task,
                       .entry = entry,
                       .end = end,
                       .result = i % 13 == 0 ? -2 : 1,
                       .nr = kCalls[i % 4],
                       .stack = stack});
      }
    }
    load();
  }

  void hit(std::uint32_t task, std::uint64_t entry, std::uint64_t end, std::uint32_t stack, std::uint8_t source) {
    usc_hit hit{};
    hit.entry_ns = entry;
    hit.args[1] = source == USC_SOURCE_SAMPLE ? 500 * kUs : 0;
    hit.stack = stack;
    hit.image = 1;
    hit.kind = source == USC_SOURCE_SAMPLE ? std::uint32_t{USC_SAMPLE_USER} : std::uint32_t{USC_OFFCPU_SLEEPING};
    hit.how = source == USC_SOURCE_SAMPLE ? USC_HOW_HIT : USC_HOW_RETURNED;
    hit.source = source;
    hit.flags = USC_EVENT_NO_RESULT;
    trace_->hit(task, source == USC_SOURCE_SAMPLE ? entry : end, hit, {});
  }

  Picture picture(const PictureLimits& limits = {}) {
    auto catalog = read_catalog(*database_);
    if (!catalog) ADD_FAILURE() << catalog.error().what;
    if (!catalog) return {};
    catalog_ = std::move(*catalog);
    auto read = read_picture(*database_, catalog_, Part(catalog_, {}), limits);
    if (!read) ADD_FAILURE() << read.error().what;
    return read ? std::move(*read) : Picture();
  }

  std::uint64_t number(const std::string& sql) { return std::stoull(rows(sql)); }

  // What holds whatever is left out.
  void expect_sums(const Picture& found) {
    std::string lines;
    std::map<std::string, PictureCell> cells;
    for (const PictureCell& cell : found.cells) {
      const Kind& kind = *(catalog_.kinds.begin() + static_cast<std::ptrdiff_t>(cell.kind));
      cells[kind.source + "|" + kind.name + "|" + cell.function + "|" + cell.module] = cell;
    }
    for (const auto& [name, cell] : cells)
      lines +=
          (lines.empty() ? "" : "\n") + name + "|" + std::to_string(cell.events) + "|" + std::to_string(cell.errors);
    EXPECT_EQ(lines, rows("SELECT class, kind, function, module, events, errors FROM dual_space ORDER BY class || '|' "
                          "|| kind || '|' || function"));

    std::uint64_t heat = 0;
    for (const HeatCount& count : found.heat) heat += count.events;
    EXPECT_EQ(heat + found.heat_left_out, number("SELECT count(dur_ns) FROM event"));

    std::map<std::size_t, std::uint64_t> cube;
    for (const CubeCount& count : found.cube) cube[count.cell] += count.events;
    for (std::size_t cell = 0; cell < found.cells.size(); cell++)
      EXPECT_EQ(cube[cell], found.cells[cell].in_cube ? found.cells[cell].events : 0);

    StackSums sums{};
    for (const StackLeaf& leaf : found.stacks.leaves)
      for (std::size_t weight = 0; weight < kStackWeights; weight++) sums[weight] += leaf.sums[weight];
    EXPECT_EQ(sums[0], number("SELECT count(*) FROM event"));
    EXPECT_EQ(sums[1], number("SELECT sum(dur_ns) FROM event JOIN kind ON kind.id = kind_id WHERE class = 'syscall'"));
    EXPECT_EQ(sums[2], number("SELECT sum(a1) FROM event JOIN kind ON kind.id = kind_id WHERE class = 'sample'"));
    EXPECT_EQ(sums[3], number("SELECT sum(dur_ns) FROM event JOIN kind ON kind.id = kind_id WHERE class = 'offcpu'"));

    for (const Thread& thread : catalog_.threads) {
      const ThreadLane& lane = found.threads[catalog_.threads.index_of(thread)];
      const std::string of = " FROM event JOIN kind ON kind.id = kind_id WHERE thread_id = " + to_string(thread.id);
      EXPECT_EQ(lane.events, number("SELECT count(*)" + of));
      if (lane.all) {
        EXPECT_EQ(lane.marks.size(), number("SELECT count(*)" + of + " AND class != 'sample'"));
        continue;
      }
      TimeBucket all;
      for (const TimeBucket& bucket : lane.buckets) {
        all.events += bucket.events;
        all.errors += bucket.errors;
        for (std::size_t i = 0; i < kCallGroups; i++) all.call_ns[i] += bucket.call_ns[i];
        for (std::size_t i = 0; i < kCpuUses; i++) all.cpu_ns[i] += bucket.cpu_ns[i];
      }
      EXPECT_EQ(all.events, lane.events);
      EXPECT_EQ(all.errors, number("SELECT count(*)" + of + " AND class = 'syscall' AND result = -2"));
      EXPECT_EQ(all.call_ns[static_cast<std::size_t>(CallGroup::kWaitLock)],
                number("SELECT coalesce(sum(dur_ns), 0)" + of + " AND class = 'syscall' AND name = 'futex'"));
      EXPECT_EQ(std::accumulate(all.call_ns.begin(), all.call_ns.end(), std::uint64_t{0}),
                number("SELECT coalesce(sum(dur_ns), 0)" + of + " AND class = 'syscall'"));
      EXPECT_EQ(std::accumulate(all.cpu_ns.begin(), all.cpu_ns.end(), std::uint64_t{0}),
                number("SELECT coalesce(sum(iif(class = 'sample', a1, dur_ns)), 0)" + of +
                       " AND class IN ('sample', 'offcpu')"));
    }
  }

  Catalog catalog_;
};

TEST_F(PictureTest, HoldsEveryEventWhereThereIsRoom) {
  many();
  const Picture found = picture();
  expect_sums(found);
  EXPECT_EQ(found.heat_left_out, 0U);
  for (const ThreadLane& lane : found.threads) EXPECT_TRUE(lane.all);
  for (const PictureCell& cell : found.cells) EXPECT_TRUE(cell.in_cube);
  for (const StackLeaf& leaf : found.stacks.leaves) EXPECT_EQ(leaf.others, 0U);
}

TEST_F(PictureTest, LeavesOutDetailsAndNoSums) {
  many();
  constexpr std::size_t kMarks = 1000;
  constexpr std::size_t kCube = 500;
  const Picture found = picture({.marks = kMarks, .cube = kCube, .stacks = 5});
  expect_sums(found);
  std::size_t items = 0;
  std::size_t whole = 0;
  for (const ThreadLane& lane : found.threads) {
    items += lane.marks.size() + lane.buckets.size();
    whole += lane.all ? 1 : 0;
  }
  EXPECT_LE(items, kMarks * 3 / 2);
  EXPECT_LE(found.cube.size(), kCube);
  EXPECT_LE(found.heat.size(), kCube);
  EXPECT_GT(found.cube.size(), 0U);
  // The threads with few events keep all; the busy one keeps its longest calls.
  EXPECT_EQ(whole, kThreads - 1);
  const ThreadLane& busy = found.threads[0];
  ASSERT_FALSE(busy.all);
  std::set<std::int64_t> kept;
  for (const TimeMark& mark : busy.marks) kept.insert(mark.dur_ns);
  EXPECT_EQ(static_cast<std::uint64_t>(*kept.rbegin()), number("SELECT max(dur_ns) FROM event WHERE thread_id = 1"));
  EXPECT_EQ(number("SELECT count(*) FROM event WHERE thread_id = 1 AND dur_ns > " + std::to_string(*kept.begin()) +
                   " AND id NOT IN (SELECT id FROM event WHERE thread_id = 1 AND dur_ns IS NOT NULL ORDER BY dur_ns "
                   "DESC, id LIMIT " +
                   std::to_string(busy.marks.size()) + ")"),
            0U);
}

TEST_F(PictureTest, StacksStandBelowTheirProcess) {
  many();
  const StackTree tree = picture().stacks;
  ASSERT_FALSE(tree.leaves.empty());
  std::size_t node = tree.leaves[0].node;
  std::string path;
  for (; node != 0; node = tree.nodes[node].parent) {
    EXPECT_LT(tree.nodes[node].parent, node);
    path = tree.names[tree.nodes[node].name] + (path.empty() ? "" : ";" + path);
  }
  EXPECT_EQ(path.substr(0, path.find(';')), "app");
  EXPECT_NE(rows("SELECT count(*) FROM stack WHERE folded = '" + path.substr(path.find(';') + 1) + "'"), "0");
}

TEST(DurationStep, HasTwoForEachPowerOfTwo) {
  const std::uint64_t begins[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24};
  for (std::size_t i = 1; i + 1 < std::size(begins); i++) {
    EXPECT_EQ(duration_step(begins[i]), duration_step(begins[i + 1] - 1)) << begins[i];
    EXPECT_NE(duration_step(begins[i]), duration_step(begins[i - 1])) << begins[i];
  }
  EXPECT_LT(duration_step(INT64_MAX), 127U);
}

TEST(FairLimit, NobodyGetsMoreBeforeAllHaveAsMuch) {
  EXPECT_EQ(fair_limit({5, 100, 1000}, 205), 100U);
  EXPECT_EQ(fair_limit({5, 300, 1000}, 205), 100U);
  EXPECT_EQ(fair_limit({1, 2, 3}, 100), 100U);
  EXPECT_EQ(fair_limit(std::vector<std::uint64_t>(50, 7), 10), 1U);
}

}  // namespace
}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/model/mapping_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>

#include "support/clock.h"
#include "tests/support/crowd.h"
#include "tests/support/processor_time.h"

namespace uscope::tracer {
namespace {

using trace::MmId;

usc_map map_record(std::uint32_t mm, std::uint64_t start, std::uint64_t end, std::uint32_t file, std::uint64_t time,
                   std::uint64_t offset = 0) {
  usc_map record{};
  record.head.time = time;
  record.mm = mm;
  record.file = file;
  record.start = start;
  record.end = end;
  record.offset = offset;
  return record;
}

usc_unmap unmap_record(std::uint32_t mm, std::uint64_t start, std::uint64_t end, std::uint64_t time) {
  usc_unmap record{};
  record.head.time = time;
  record.mm = mm;
  record.start = start;
  record.end = end;
  return record;
}

std::uint32_t file_at(const MappingTimeline& timeline, std::uint32_t mm, std::uint64_t address, std::uint64_t time) {
  const auto found = timeline.find(MmId(mm), address, time);
  return found ? found->file.value() : 0;
}

TEST(MappingTimeline, HoldsFromItsTimeOnAndInsideItsBounds) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x3000, 7, 100, 0x5000));
  EXPECT_EQ(file_at(timeline, 1, 0x1000, 99), 0u);
  EXPECT_EQ(file_at(timeline, 1, 0x1000, 100), 7u);
  EXPECT_EQ(file_at(timeline, 1, 0x2fff, 100), 7u);
  EXPECT_EQ(file_at(timeline, 1, 0x3000, 100), 0u);
  EXPECT_EQ(file_at(timeline, 2, 0x1000, 100), 0u);
  EXPECT_EQ(timeline.find(MmId(1), 0x1800, 100)->offset, 0x5000u);
}

TEST(MappingTimeline, ANewLibraryAtTheSameAddressDoesNotChangeThePast) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x3000, 7, 100));
  timeline.remove(unmap_record(1, 0x1000, 0x3000, 200));
  timeline.add(map_record(1, 0x1000, 0x2000, 8, 300));
  EXPECT_EQ(file_at(timeline, 1, 0x1800, 150), 7u);
  EXPECT_EQ(file_at(timeline, 1, 0x1800, 250), 0u);
  EXPECT_EQ(file_at(timeline, 1, 0x1800, 350), 8u);
  EXPECT_EQ(file_at(timeline, 1, 0x2800, 350), 0u);
}

TEST(MappingTimeline, APartlyUnmappedStretchKeepsItsRest) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x5000, 7, 100));
  timeline.remove(unmap_record(1, 0x2000, 0x3000, 200));
  EXPECT_EQ(file_at(timeline, 1, 0x1800, 250), 7u);
  EXPECT_EQ(file_at(timeline, 1, 0x2800, 250), 0u);
  EXPECT_EQ(file_at(timeline, 1, 0x3800, 250), 7u);
}

TEST(MappingTimeline, AForkedSpaceSeesItsParentAsOfTheFork) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));
  timeline.fork(MmId(2), MmId(1), 200);
  timeline.add(map_record(1, 0x8000, 0x9000, 9, 300));  // after the fork: the parent's alone
  timeline.remove(unmap_record(1, 0x1000, 0x2000, 400));
  EXPECT_EQ(file_at(timeline, 2, 0x1000, 500), 7u);
  EXPECT_EQ(file_at(timeline, 2, 0x8000, 500), 0u);
  EXPECT_EQ(file_at(timeline, 1, 0x8000, 500), 9u);
  timeline.remove(unmap_record(2, 0x1000, 0x2000, 600));  // a hole in what was inherited
  EXPECT_EQ(file_at(timeline, 2, 0x1000, 550), 7u);
  EXPECT_EQ(file_at(timeline, 2, 0x1000, 650), 0u);
}

TEST(MappingTimeline, AParentIsRememberedAsLongAsAChildNeedsIt) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));
  timeline.fork(MmId(2), MmId(1), 200);
  timeline.fork(MmId(3), MmId(2), 300);
  timeline.forget(MmId(1));
  timeline.forget(MmId(2));
  EXPECT_EQ(timeline.spaces(), 1u);
  EXPECT_EQ(file_at(timeline, 3, 0x1000, 400), 7u);
}

TEST(MappingTimeline, RecordsMayComeInAnyOrder) {
  MappingTimeline timeline;
  timeline.add(map_record(2, 0x8000, 0x9000, 9, 250));  // the child's, before its fork is known
  timeline.fork(MmId(2), MmId(1), 200);
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));  // the parent's, later still
  EXPECT_EQ(file_at(timeline, 2, 0x8000, 300), 9u);
  EXPECT_EQ(file_at(timeline, 2, 0x1000, 300), 7u);
}

TEST(MappingTimeline, UnmappingWhatWasNeverExecutableLeavesNothing) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));
  timeline.settle(5'000'000'000);
  const std::size_t before = MappingTimeline::stretches();
  for (int i = 0; i < 1000; i++) timeline.remove(unmap_record(1, 0x100000, 0x200000, 200));
  EXPECT_NE(timeline.blocks(), 0u);
  timeline.settle(5'000'000'000);
  EXPECT_EQ(timeline.blocks(), 0u);
  EXPECT_EQ(MappingTimeline::stretches(), before);
  EXPECT_EQ(file_at(timeline, 1, 0x1000, 300), 7u);
}

// The record of an unmapping may come before that of the mapping.
TEST(MappingTimeline, WhatWasUnmappedBeforeItWasToldOfStaysUnmapped) {
  MappingTimeline timeline;
  timeline.remove(unmap_record(1, 0x1000, 0x2000, 200));
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));
  EXPECT_EQ(file_at(timeline, 1, 0x1000, 150), 7u);
  EXPECT_EQ(file_at(timeline, 1, 0x1000, 200), 0u);
}

// A sample older than the last change must not leave its mappings behind as those of later ones.
TEST(MappingTimeline, VersionsAreThoseOfATime) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));
  timeline.add(map_record(1, 0x4000, 0x5000, 8, 200));
  timeline.fork(MmId(2), MmId(1), 250);
  EXPECT_NE(timeline.version(MmId(1), 150), timeline.version(MmId(1), 250));
  EXPECT_EQ(timeline.version(MmId(1), 100), timeline.version(MmId(1), 199));
  EXPECT_EQ(timeline.version(MmId(1), 200), timeline.version(MmId(1), 900));
  EXPECT_EQ(timeline.version(MmId(2), 250), timeline.version(MmId(2), 900));
  const std::uint64_t before = timeline.version(MmId(2), 900);
  timeline.add(map_record(1, 0x6000, 0x7000, 9, 300));
  EXPECT_NE(timeline.version(MmId(2), 900), before);  // told of more: asked again
}

TEST(MappingTimeline, ListsTheFilesOfAddressSpaces) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x3000, 7, kSecondNs));
  timeline.add(map_record(2, 0x1000, 0x3000, 8, kSecondNs));
  timeline.settle(20 * kSecondNs);
  timeline.add(map_record(1, 0x5000, 0x6000, 9, 30 * kSecondNs));
  timeline.fork(MmId(3), MmId(1), 31 * kSecondNs);
  using Files = std::unordered_set<trace::FileId>;
  EXPECT_EQ(timeline.files_of({MmId(3)}), (Files{trace::FileId(7), trace::FileId(9)}));
  EXPECT_EQ(timeline.files_of({MmId(2), MmId(77)}), Files{trace::FileId(8)});
  EXPECT_TRUE(timeline.files_of({}).empty());
}

TEST(MappingTimeline, ListsWhatIsMappedAtATime) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));
  timeline.add(map_record(1, 0x4000, 0x5000, 8, 100));
  timeline.remove(unmap_record(1, 0x1000, 0x2000, 300));
  timeline.fork(MmId(2), MmId(1), 200);
  const auto child = timeline.all(MmId(2), 400);
  ASSERT_EQ(child.size(), 2u);
  EXPECT_EQ(child[0].file, trace::FileId(7));
  EXPECT_EQ(child[1].file, trace::FileId(8));
  const auto parent = timeline.all(MmId(1), 400);
  ASSERT_EQ(parent.size(), 1u);
  EXPECT_EQ(parent[0].file, trace::FileId(8));
}

// What the timeline must say, by looking through all that was ever told.
class Reference {
 public:
  void change(std::uint32_t mm, std::uint64_t start, std::uint64_t end, std::uint64_t time, std::uint32_t file) {
    changes_.push_back({mm, start, end, time, file});
  }
  void fork(std::uint32_t mm, std::uint32_t parent, std::uint64_t time) { parents_[mm] = {parent, time}; }

  [[nodiscard]] std::uint32_t file_at(std::uint32_t mm, std::uint64_t address, std::uint64_t time) const {
    while (true) {
      const Change* best = nullptr;
      for (const Change& change : changes_)
        if (change.mm == mm && change.time <= time && address >= change.start && address < change.end &&
            (best == nullptr || change.time >= best->time))
          best = &change;
      if (best != nullptr) return best->file;
      const auto parent = parents_.find(mm);
      if (parent == parents_.end()) return 0;
      mm = parent->second.first;
      time = std::min(time, parent->second.second);
    }
  }

 private:
  struct Change {
    std::uint32_t mm = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t time = 0;
    std::uint32_t file = 0;  // 0: unmapped
  };
  std::vector<Change> changes_;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint64_t>> parents_;
};

// Random changes and forks of several address spaces, whose records come up to a fifth of a second out of order, with
// settle() a second behind: every look-up that may be made is answered as the reference does.
TEST(MappingTimeline, AnswersAsAListOfAllChangesDoes) {
  for (unsigned seed = 0; seed < (test::kSanitized ? 3 : 12); seed++) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t count) { return random() % count; };
    MappingTimeline timeline;
    Reference reference;
    std::uint32_t spaces = 1;
    std::map<std::uint32_t, std::uint64_t> born;
    std::uint64_t now = 10 * kSecondNs;
    std::uint64_t asked_from = now;
    for (int step = 0; step < 1500; step++) {
      now += below(kSecondNs / 50);
      const std::uint64_t time = now - below(kSecondNs / 5);
      const auto mm = static_cast<std::uint32_t>(1 + below(spaces));
      const std::uint64_t start = 0x1000 * below(64);
      const std::uint64_t end = start + 0x1000 * (1 + below(below(8) == 0 ? 64 : 6));
      if (below(20) == 0 && spaces < 30) {
        // The parent's records up to then may still come. Who forks was forked before.
        const std::uint64_t forked = std::max(time, born[mm]);
        timeline.fork(MmId(++spaces), MmId(mm), forked);
        reference.fork(spaces, mm, forked);
        born[spaces] = forked;
      } else if (below(2) == 0) {
        const auto file = static_cast<std::uint32_t>(1 + below(1000));
        timeline.add(map_record(mm, start, end, file, time));
        reference.change(mm, start, end, time, file);
      } else {
        timeline.remove(unmap_record(mm, start, end, time));
        reference.change(mm, start, end, time, 0);
      }
      asked_from = std::max(asked_from, now - kSecondNs / 2);
      timeline.settle(asked_from);
      for (int look = 0; look < 8; look++) {
        const auto who = static_cast<std::uint32_t>(1 + below(spaces));
        const std::uint64_t address = 0x1000 * below(140) + below(0x1000);
        const std::uint64_t when = asked_from + below(now + 1 - asked_from);
        ASSERT_EQ(file_at(timeline, who, address, when), reference.file_at(who, address, when))
            << "seed " << seed << " step " << step << " space " << who << " address " << address;
      }
    }
    EXPECT_LT(timeline.blocks(), 3000u);  // a second's, not all of them
  }
}

// Maps and unmaps `count` pages, at `distinct` addresses in turn, a microsecond each; asks for each one.
void churn(std::uint64_t count, std::uint64_t distinct) {
  MappingTimeline timeline;
  std::uint64_t now = kSecondNs;
  std::uint64_t found = 0;
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < count; i++) {
    const std::uint64_t start = 0x10000000 + 0x2000 * (i % distinct);
    timeline.add(map_record(1, start, start + 0x1000, 7, now += 500));
    found += file_at(timeline, 1, start, now);
    timeline.remove(unmap_record(1, start, start + 0x1000, now += 500));
    found += file_at(timeline, 1, start, now);
    if (i % 128 == 0) timeline.settle(now);
    most = std::max(most, timeline.blocks());
  }
  EXPECT_EQ(found, count * 7);
  EXPECT_LE(most, MappingTimeline::kBlocksOfOne + 1);
  timeline.settle(now + 2 * MappingTimeline::kGraceNs);
  EXPECT_EQ(timeline.blocks(), 0u);
}

TEST(MappingTimeline, CostGrowsWithTheChangesAndMemoryDoesNot) {
  for (const std::uint64_t distinct : {std::uint64_t{1}, std::uint64_t{512}, std::uint64_t{1} << 30}) {
    churn(1000, distinct);  // warm
    const double some = test::processor_seconds_of([&] { churn(test::crowd(16'000), distinct); });
    const double many = test::processor_seconds_of([&] { churn(test::crowd(128'000), distinct); });
    EXPECT_LT(many, 24 * some + 0.2) << distinct;
  }
  const std::size_t before = MappingTimeline::stretches();
  churn(test::crowd(1'000'000), 1);
  EXPECT_EQ(MappingTimeline::stretches(), before);
}

TEST(MappingTimeline, KeepsWhatIsMapped) {
  constexpr std::uint64_t kCount = test::crowd(128'000);
  MappingTimeline timeline;
  for (std::uint64_t i = 0; i < kCount; i++)
    timeline.add(
        map_record(1, 0x2000 * (i + 1), 0x2000 * (i + 1) + 0x1000, static_cast<std::uint32_t>(i + 1), kSecondNs));
  timeline.settle(10 * kSecondNs);
  EXPECT_EQ(timeline.blocks(), 0u);
  for (std::uint64_t i = 0; i < kCount; i += 7) {
    EXPECT_EQ(file_at(timeline, 1, 0x2000 * (i + 1) + 0xfff, 20 * kSecondNs), i + 1);
    EXPECT_EQ(file_at(timeline, 1, 0x2000 * (i + 1) + 0x1000, 20 * kSecondNs), 0u);
  }
  // All at once: again and again, though there is nothing left.
  for (std::uint64_t i = 0; i < test::crowd(100'000); i++)
    timeline.remove(unmap_record(1, 0x1000, 0x2000 * (kCount + 2), 20 * kSecondNs + i));
  timeline.settle(40 * kSecondNs);
  EXPECT_EQ(file_at(timeline, 1, 0x2000, 50 * kSecondNs), 0u);
}

// Each process forks and goes, with what the first one mapped.
TEST(MappingTimeline, AChainOfForksIsNoLongerThanWhatIsKept) {
  constexpr std::uint32_t kGenerations = test::crowd(128'000);
  MappingTimeline timeline;
  std::uint64_t now = 2 * kSecondNs;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, now));
  for (std::uint32_t mm = 2; mm <= kGenerations; mm++) {
    now += 20'000'000;
    timeline.fork(MmId(mm), MmId(mm - 1), now);
    timeline.settle(now);
    if (mm > 200) timeline.forget(MmId(mm - 200));
    ASSERT_EQ(file_at(timeline, mm, 0x1800, now), 7u) << mm;
  }
}

TEST(MappingTimeline, AChainThatIsNotSettledEndsInNoRecursion) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, kSecondNs));
  for (std::uint32_t mm = 2; mm < 200'000; mm++) {
    timeline.fork(MmId(mm), MmId(mm - 1), kSecondNs + mm);
    timeline.forget(MmId(mm - 1));
  }
  EXPECT_EQ(file_at(timeline, 199'999, 0x1800, 2 * kSecondNs), 0u);  // too far
  timeline.settle(5 * kSecondNs);
  EXPECT_EQ(file_at(timeline, 199'999, 0x1800, 6 * kSecondNs), 7u);
  for (std::uint32_t mm = 200'000; mm < 400'000; mm++) {
    timeline.fork(MmId(mm), MmId(mm - 1), 6 * kSecondNs + mm);
    timeline.forget(MmId(mm - 1));
  }
}

// More changes than are kept: nothing is said of the time before, and nothing wrong.
TEST(MappingTimeline, SaysNothingOfWhatItHadToForget) {
  MappingTimeline timeline;
  for (std::uint64_t i = 0; i < 2 * MappingTimeline::kBlocksOfOne; i++)
    timeline.add(map_record(1, 0x1000, 0x2000, static_cast<std::uint32_t>(i % 60'000 + 1), kSecondNs + i));
  EXPECT_LE(timeline.blocks(), MappingTimeline::kBlocksOfOne + 1);
  EXPECT_EQ(file_at(timeline, 1, 0x1000, kSecondNs + 1), 0u);
  const std::uint64_t last = 2 * MappingTimeline::kBlocksOfOne - 1;
  EXPECT_EQ(file_at(timeline, 1, 0x1000, kSecondNs + last), last % 60'000 + 1);
}

}  // namespace
}  // namespace uscope::tracer

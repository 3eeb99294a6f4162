#include "tracer/mapping_timeline.h"

#include <gtest/gtest.h>

namespace uscope::tracer {
namespace {

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
  const auto found = timeline.find(mm, address, time);
  return found ? found->file : 0;
}

TEST(MappingTimeline, HoldsFromItsTimeOnAndInsideItsBounds) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x3000, 7, 100, 0x5000));
  EXPECT_EQ(file_at(timeline, 1, 0x1000, 99), 0u);
  EXPECT_EQ(file_at(timeline, 1, 0x1000, 100), 7u);
  EXPECT_EQ(file_at(timeline, 1, 0x2fff, 100), 7u);
  EXPECT_EQ(file_at(timeline, 1, 0x3000, 100), 0u);
  EXPECT_EQ(file_at(timeline, 2, 0x1000, 100), 0u);
  EXPECT_EQ(timeline.find(1, 0x1800, 100)->offset, 0x5000u);
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
  timeline.fork(2, 1, 200);
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
  timeline.fork(2, 1, 200);
  timeline.fork(3, 2, 300);
  timeline.forget(1);
  timeline.forget(2);
  EXPECT_EQ(timeline.spaces(), 1u);
  EXPECT_EQ(file_at(timeline, 3, 0x1000, 400), 7u);
}

TEST(MappingTimeline, RecordsMayComeInAnyOrder) {
  MappingTimeline timeline;
  timeline.add(map_record(2, 0x8000, 0x9000, 9, 250));  // the child's, before its fork is known
  timeline.fork(2, 1, 200);
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));  // the parent's, later still
  EXPECT_EQ(file_at(timeline, 2, 0x8000, 300), 9u);
  EXPECT_EQ(file_at(timeline, 2, 0x1000, 300), 7u);
}

TEST(MappingTimeline, UnmappingWhatWasNeverExecutableCostsNothing) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));
  const std::uint64_t before = timeline.version(1, 300);
  for (int i = 0; i < 1000; i++) timeline.remove(unmap_record(1, 0x100000, 0x200000, 200));
  EXPECT_EQ(timeline.version(1, 300), before);
}

// A sample older than the last change must not leave its mappings behind as those of later ones.
TEST(MappingTimeline, VersionsAreThoseOfATime) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));
  timeline.add(map_record(1, 0x4000, 0x5000, 8, 200));
  timeline.fork(2, 1, 250);
  EXPECT_NE(timeline.version(1, 150), timeline.version(1, 250));
  EXPECT_EQ(timeline.version(1, 100), timeline.version(1, 199));
  EXPECT_EQ(timeline.version(1, 200), timeline.version(1, 900));
  EXPECT_EQ(timeline.version(2, 250), timeline.version(2, 900));
  const std::uint64_t before = timeline.version(2, 900);
  timeline.add(map_record(1, 0x6000, 0x7000, 9, 300));
  EXPECT_NE(timeline.version(2, 900), before);  // told of more: asked again
}

TEST(MappingTimeline, ListsWhatIsMappedAtATime) {
  MappingTimeline timeline;
  timeline.add(map_record(1, 0x1000, 0x2000, 7, 100));
  timeline.add(map_record(1, 0x4000, 0x5000, 8, 100));
  timeline.remove(unmap_record(1, 0x1000, 0x2000, 300));
  timeline.fork(2, 1, 200);
  const auto child = timeline.all(2, 400);
  ASSERT_EQ(child.size(), 2u);
  EXPECT_EQ(child[0].file, 7u);
  EXPECT_EQ(child[1].file, 8u);
  const auto parent = timeline.all(1, 400);
  ASSERT_EQ(parent.size(), 1u);
  EXPECT_EQ(parent[0].file, 8u);
}

}  // namespace
}  // namespace uscope::tracer

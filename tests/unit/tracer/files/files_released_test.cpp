// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files that nothing maps any more make room.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/unit/tracer/fake_backend.h"
#include "tests/unit/tracer/own_process.h"
#include "tracer/files/file_table.h"
#include "uscope/file_slots.h"

namespace uscope::tracer {
namespace {

using trace::FileId;

class ReleasedFilesTest : public testing::Test {
 protected:
  static OwnMapping own_mapping(const std::string& name) {
    for (const OwnMapping& mapping : own_mappings())
      if (mapping.executable && mapping.path.find(name) != std::string::npos) return mapping;
    return {};
  }

  // So many files that are gone when they are met, from this serial on.
  void meet_gone(std::uint32_t first, std::uint32_t count) {
    OwnMapping gone;
    gone.path = "/nowhere/at/all";
    for (std::uint32_t serial = first; serial < first + count; serial++) {
      gone.ino = serial;
      ASSERT_TRUE(announce(files_, serial, gone));
      ASSERT_EQ(files_.take_changed().size(), 1U);
    }
  }

  FakeBackend backend_;
  symbolizer::RowCache cache_{""};
  RowBuildQueue maker_{cache_, 0};
  FileTable files_{backend_, maker_, {}};
  std::unordered_set<FileId> mapped_;
};

TEST_F(ReleasedFilesTest, HalfATableOfFilesIsEnoughToReleaseTheIdleOnes) {
  constexpr std::uint32_t kMany = USC_FILE_SLOTS / 2;
  files_.set_mapped_files([this] { return mapped_; });
  mapped_ = {FileId(2), FileId(9)};
  ASSERT_TRUE(announce(files_, 2, own_mapping("libc.so")));
  ASSERT_TRUE(announce(files_, 3, own_mapping("libm.so")));
  EXPECT_EQ(files_.take_changed().size(), 2U);
  meet_gone(4, kMany - 3);
  ASSERT_TRUE(files_.release_idle(100, 90));
  EXPECT_TRUE(backend_.forgotten.empty()) << "there is room";
  meet_gone(kMany + 1, 1);

  ASSERT_TRUE(files_.release_idle(110, 100));
  EXPECT_EQ(backend_.forgotten.size(), kMany - 2);
  EXPECT_TRUE(backend_.released.empty()) << "who had met them may still be telling of it";
  ASSERT_TRUE(files_.release_idle(120, 110));
  EXPECT_TRUE(backend_.released.empty());

  mapped_.insert(FileId(10));  // told of at the last moment
  ASSERT_TRUE(files_.release_idle(130, 120));
  EXPECT_EQ(backend_.released.size(), kMany - 3);
  EXPECT_EQ(files_.take_released().size(), kMany - 3);
  EXPECT_EQ(files_.count(), 3U);
  for (const std::uint32_t serial : {2U, 9U, 10U}) EXPECT_NE(files_.find(FileId(serial)), nullptr) << serial;
  EXPECT_EQ(files_.find(FileId(3)), nullptr);
  EXPECT_EQ(backend_.published[2].state, USC_FILE_READY);

  // Whoever names functions still finds what was read.
  const auto all = files_.take_all();
  ASSERT_GT(all.size(), 10U);
  ASSERT_TRUE(all[3]);
  EXPECT_FALSE(all[3]->facts.exec_segments.empty());
  EXPECT_FALSE(all[4]) << "nothing was ever known of it";
}

TEST_F(ReleasedFilesTest, WhereAllAreMappedNothingIsReleasedAndNotAskedForEachTime) {
  files_.set_mapped_files([this] { return mapped_; });
  for (std::uint32_t serial = 2; serial < 2 + USC_FILE_SLOTS / 2; serial++) mapped_.insert(FileId(serial));
  meet_gone(2, USC_FILE_SLOTS / 2);
  ASSERT_TRUE(files_.release_idle(100, 90));
  EXPECT_TRUE(backend_.forgotten.empty());
  mapped_.clear();
  ASSERT_TRUE(files_.release_idle(110, 100));
  EXPECT_TRUE(backend_.forgotten.empty()) << "not before many more have been met";
  meet_gone(2 + USC_FILE_SLOTS / 2, USC_FILE_SLOTS / 8);
  ASSERT_TRUE(files_.release_idle(120, 110));
  EXPECT_EQ(backend_.forgotten.size(), USC_FILE_SLOTS / 2 + USC_FILE_SLOTS / 8);
}

}  // namespace
}  // namespace uscope::tracer

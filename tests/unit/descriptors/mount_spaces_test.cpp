// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "descriptors/mount_spaces.h"

#include <gtest/gtest.h>

namespace uscope::descriptors {
namespace {

constexpr std::uint32_t kHome = 100;
constexpr std::uint32_t kOther = 200;
constexpr std::uint32_t kThird = 300;
constexpr trace::ProcessId kProcess(1);

class MountSpacesTest : public testing::Test {
 protected:
  MountSpacesTest() { spaces_.set_home(kHome); }
  std::uint32_t note(const std::string& path, std::uint32_t space, std::uint64_t ino) {
    return spaces_.note(kProcess, path, space, {1, ino});
  }
  MountSpaces spaces_;
};

TEST_F(MountSpacesTest, OneFileIsOneObject) {
  EXPECT_EQ(note("/lib", kHome, 5), 0U);
  EXPECT_EQ(note("/lib", kOther, 5), 0U);
  EXPECT_EQ(note("/lib", kThird, 5), 0U);
}

TEST_F(MountSpacesTest, AnotherFileIsAnotherObject) {
  EXPECT_EQ(note("/etc/a", kHome, 5), 0U);
  EXPECT_EQ(note("/etc/a", kOther, 6), kOther);
  EXPECT_EQ(note("/etc/a", kThird, 6), kOther);
  EXPECT_EQ(note("/etc/a", kHome, 5), 0U);
  EXPECT_EQ(spaces_.tag_of("/etc/a", kThird), kOther);
  EXPECT_EQ(spaces_.tag_of("/etc/b", kThird), 0U);
}

// A temporary file that is made again and again is one object in its namespace.
TEST_F(MountSpacesTest, ReplacedFileIsTheSameObject) {
  EXPECT_EQ(note("/tmp/a", kOther, 5), kOther);
  EXPECT_EQ(note("/tmp/a", kOther, 6), kOther);
  EXPECT_EQ(note("/tmp/a", kOther, 7), kOther);
}

TEST_F(MountSpacesTest, ProcessIsWhereItOpenedLast) {
  EXPECT_TRUE(spaces_.empty());
  note("/a", kOther, 5);
  EXPECT_EQ(spaces_.space_of(kProcess), kOther);
  note("/a", kHome, 5);
  EXPECT_EQ(spaces_.space_of(kProcess), kHome);
  EXPECT_EQ(spaces_.space_of(trace::ProcessId(2)), 0U);
  EXPECT_FALSE(spaces_.empty());
}

// What the tracer's own namespace had opened before there were several is not known; of a library that all map it is.
TEST_F(MountSpacesTest, MappedFileIsTheSameEverywhere) {
  spaces_.know("/usr/lib/libc.so", {1, 5});
  EXPECT_EQ(note("/lib/libc.so", kOther, 5), 0U);
  spaces_.know("/usr/lib/libz.so", {1, 6});
  spaces_.know("/usr/lib/libz.so", {1, 7});
  EXPECT_EQ(note("/usr/lib/libz.so", kOther, 6), kOther);
}

TEST_F(MountSpacesTest, TakesBoundedMemory) {
  for (std::size_t i = 0; i < MountSpaces::kMostPaths; i++) note(std::to_string(i), kOther, i);
  EXPECT_EQ(note("one more", kOther, 1), 0U);
  EXPECT_EQ(note("0", kOther, 1), kOther);
}

}  // namespace
}  // namespace uscope::descriptors

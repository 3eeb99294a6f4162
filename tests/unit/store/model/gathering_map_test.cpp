// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/model/gathering_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace uscope::store {
namespace {

// All keys have one of four hashes.
struct BadHash {
  std::size_t operator()(std::uint64_t key) const noexcept { return key % 4; }
};

template <typename Hash>
class GatheringMapTest : public testing::Test {
 protected:
  GatheringMap<std::uint64_t, std::uint64_t, Hash> map_;
};

using Hashes = testing::Types<std::hash<std::uint64_t>, BadHash>;
TYPED_TEST_SUITE(GatheringMapTest, Hashes);

// Against a map of the library, over several growths.
TYPED_TEST(GatheringMapTest, SumsAreThoseOfEachKeyInTheOrderOfTheirComing) {
  std::map<std::uint64_t, std::uint64_t> expected;
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < 5000; i++) {
    const std::uint64_t key = i * i % 1009 << (i % 2 * 32);
    if (expected.count(key) == 0) order.push_back(key);
    expected[key] += i;
    this->map_[key] += i;
  }
  ASSERT_EQ(this->map_.size(), expected.size());
  std::vector<std::uint64_t> found;
  for (const auto& [key, sum] : this->map_) {
    found.push_back(key);
    EXPECT_EQ(sum, expected[key]) << key;
  }
  EXPECT_EQ(found, order);
}

TYPED_TEST(GatheringMapTest, AfterClearEverythingIsNew) {
  for (std::uint64_t key = 0; key < 300; key++) this->map_[key] = 7;
  this->map_.clear();
  EXPECT_EQ(this->map_.size(), 0U);
  EXPECT_TRUE(this->map_.begin() == this->map_.end());
  for (std::uint64_t key = 300; key-- > 200;) this->map_[key] += key;
  EXPECT_EQ(this->map_.size(), 100U);
  EXPECT_EQ(this->map_.begin()->key, 299U);
  for (const auto& [key, sum] : this->map_) EXPECT_EQ(sum, key);
}

}  // namespace
}  // namespace uscope::store

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "uscope/file_slots.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace uscope {
namespace {

// A table of slots, as the kernel side has it.
class Slots {
 public:
  std::uint32_t take() {
    for (std::uint32_t i = 0; i < USC_FILE_TRIES; i++) {
      const std::uint32_t number = ++counter_;
      const std::uint32_t serial = usc_file_take_slot(&entries_[usc_file_slot(number)], number);
      if (serial != 0) return serial;
    }
    return 0;
  }
  void give_back(std::uint32_t serial) { entries_[usc_file_slot(serial)] = usc_file_free_slot(serial); }
  [[nodiscard]] bool has(std::uint32_t serial) const { return entries_[usc_file_slot(serial)].serial == serial; }

 private:
  std::vector<usc_file_entry> entries_ = std::vector<usc_file_entry>(USC_FILE_SLOTS);
  std::uint32_t counter_ = USC_FILE_VDSO;
};

TEST(FileSlots, AMillionFilesOfWhichFewAreMappedAtOnce) {
  constexpr std::uint32_t kFiles = 1'000'000;
  constexpr std::size_t kMapped = 5'000;
  Slots slots;
  std::deque<std::uint32_t> mapped;
  std::uint32_t last = 0;
  const std::uint32_t kept = slots.take();  // mapped all the time
  for (std::uint32_t i = 0; i < kFiles; i++) {
    const std::uint32_t serial = slots.take();
    ASSERT_GT(serial, last) << "file " << i;  // so each is used once
    ASSERT_LT(serial, USC_FRAME_FILES);
    ASSERT_GE(usc_file_slot(serial), USC_FILE_FIRST);
    last = serial;
    mapped.push_back(serial);
    if (mapped.size() <= kMapped) continue;
    ASSERT_TRUE(slots.has(mapped.front()));
    slots.give_back(mapped.front());
    ASSERT_FALSE(slots.has(mapped.front()));
    mapped.pop_front();
  }
  EXPECT_TRUE(slots.has(kept));
}

TEST(FileSlots, AFullTableGivesNoSerialUntilASlotIsGivenBack) {
  Slots slots;
  std::vector<std::uint32_t> all;
  while (const std::uint32_t serial = slots.take()) all.push_back(serial);
  EXPECT_EQ(all.size(), USC_FILE_SLOTS - USC_FILE_FIRST);
  slots.give_back(all[7]);
  std::uint32_t serial = 0;
  for (std::uint32_t i = 0; serial == 0 && i < USC_FILE_SLOTS / USC_FILE_TRIES + 1; i++) serial = slots.take();
  EXPECT_EQ(serial, all[7] + USC_FILE_SLOTS);
}

TEST(FileSlots, ASlotWhoseTurnsAreUsedUpIsLeftOut) {
  usc_file_entry entry{};
  entry.turn = USC_FILE_TURNS - 1;
  EXPECT_EQ(usc_file_take_slot(&entry, 9), USC_FRAME_FILES - USC_FILE_SLOTS + 9);
  entry = usc_file_free_slot(entry.serial);
  EXPECT_EQ(entry.turn, USC_FILE_TURNS);
  EXPECT_EQ(usc_file_take_slot(&entry, 9), 0U);
}

}  // namespace
}  // namespace uscope

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "uscope/records/frame_word.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "uscope/records/file.h"

namespace uscope {
namespace {

constexpr std::uint64_t kLastOffset = (std::uint64_t{1} << 36) - 1;
constexpr std::uint32_t kLastFile = (1U << 25) - 1;
constexpr std::uint32_t kLastCode = (1U << 27) - 1;
constexpr std::uint32_t kLastPosition = (1U << 20) - 1;
// The ends of user space and of the kernel's half with four and with five levels of page tables, and of arm64 with 52
// and 48 bits.
constexpr std::uint64_t kAddresses[] = {0,
                                        1,
                                        0x7fffffffffff,
                                        0x800000000000,
                                        0xffffffffffff,
                                        0x1000000000000,
                                        0xfffffffffffff,
                                        0xffffffffffffff,
                                        0x1ffffffffffffff,
                                        0xfe00000000000000,
                                        0xffff800000000000,
                                        0xffffffffffffffff};

TEST(FrameWord, InAFileComesApartAsItWasPutTogether) {
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xffffffff}, kLastOffset}) {
    for (const std::uint32_t file : {USC_FILE_VDSO, USC_FILE_FIRST, 0xffffU, 0x10000U, 0xffffffU, kLastFile}) {
      for (const std::uint32_t exact : {0U, 1U}) {
        const std::uint64_t frame = usc_frame_in_file(file, offset, 0x5555, exact);
        EXPECT_EQ(usc_frame_kind(frame), static_cast<std::uint32_t>(USC_FRAME_IN_FILE));
        EXPECT_EQ(usc_frame_file(frame), file);
        EXPECT_EQ(usc_frame_place(frame), offset);
        EXPECT_EQ(usc_frame_is_exact(frame), exact);
      }
    }
  }
}

TEST(FrameWord, InMemoryComesApartAsItWasPutTogether) {
  for (const std::uint64_t address : kAddresses) {
    for (const std::uint32_t exact : {0U, 1U}) {
      const std::uint64_t frame = usc_frame_in_memory(address, exact);
      EXPECT_EQ(usc_frame_kind(frame), static_cast<std::uint32_t>(USC_FRAME_IN_MEMORY));
      EXPECT_EQ(usc_frame_file(frame), USC_FILE_NONE);
      EXPECT_EQ(usc_frame_place(frame), address) << std::hex << address;
      EXPECT_EQ(usc_frame_is_exact(frame), exact);
    }
  }
}

TEST(FrameWord, InCodeOfALanguageComesApartAsItWasPutTogether) {
  for (const std::uint32_t code : {0U, 1U, kLastCode}) {
    for (const std::uint32_t position : {0U, 1U, kLastPosition - 1, kLastPosition}) {
      for (const std::uint32_t exact : {0U, 1U}) {
        const std::uint64_t frame = usc_frame_in_code(code, position, exact);
        EXPECT_EQ(usc_frame_kind(frame), static_cast<std::uint32_t>(USC_FRAME_IN_CODE));
        EXPECT_EQ(usc_frame_file(frame), USC_FILE_NONE);
        EXPECT_EQ(usc_frame_code(frame), code);
        EXPECT_EQ(usc_frame_position(frame), position);
        EXPECT_EQ(usc_frame_is_exact(frame), exact);
      }
    }
  }
  EXPECT_EQ(usc_frame_position(usc_frame_in_code(1, kLastPosition + 1, 0)), USC_FRAME_LAST_POSITION);
  EXPECT_EQ(usc_frame_position(usc_frame_in_code(1, ~0U, 0)), USC_FRAME_LAST_POSITION);
}

// A device may be mapped from any offset on, and the kernel side gives out no serial without room.
TEST(FrameWord, OfAPlaceThatIsTooLargeIsInMemory) {
  for (const std::uint32_t exact : {0U, 1U}) {
    EXPECT_EQ(usc_frame_in_file(7, kLastOffset + 1, 0x7f0000001000, exact), usc_frame_in_memory(0x7f0000001000, exact));
    EXPECT_EQ(usc_frame_in_file(7, ~std::uint64_t{0}, 0x7f0000001000, exact),
              usc_frame_in_memory(0x7f0000001000, exact));
    EXPECT_EQ(usc_frame_in_file(kLastFile + 1, 0, 0x7f0000001000, exact), usc_frame_in_memory(0x7f0000001000, exact));
  }
}

TEST(FrameWord, NoTwoPlacesHaveTheSameWord) {
  std::multiset<std::uint64_t> words;
  std::set<std::uint64_t> distinct;
  const auto put = [&](std::uint64_t word) {
    words.insert(word);
    distinct.insert(word);
  };
  for (const std::uint32_t exact : {0U, 1U}) {
    for (const std::uint64_t address : kAddresses) put(usc_frame_in_memory(address, exact));
    for (const std::uint32_t file : {USC_FILE_VDSO, USC_FILE_FIRST, kLastFile})
      for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, kLastOffset})
        put(usc_frame_in_file(file, offset, 0, exact));
    for (const std::uint32_t code : {0U, 1U, kLastCode})
      for (const std::uint32_t position : {0U, 1U, kLastPosition}) put(usc_frame_in_code(code, position, exact));
  }
  EXPECT_EQ(words.size(), distinct.size());
}

}  // namespace
}  // namespace uscope

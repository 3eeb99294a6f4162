// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/stack_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kBase = 0x7ffd00001f80;  // 128 bytes below the end of its page

// A copy in which each word holds its own address: of the pages of `pages`, then of the stack's end.
class Copy {
 public:
  Copy(std::uint64_t pages, std::uint64_t end_base = 0, std::uint32_t end_bytes = 0) {
    std::vector<std::uint64_t> words;
    for (unsigned page = 0; page < 64; page++) {
      if ((pages >> page & 1) == 0) continue;
      const std::uint64_t first = kBase / kPage * kPage + page * kPage;
      for (std::uint64_t at = std::max(first, kBase); at < first + kPage; at += 8) words.push_back(at);
    }
    const auto bytes = static_cast<__u32>(words.size() * 8);
    for (std::uint64_t at = end_base; at < end_base + end_bytes; at += 8) words.push_back(at);
    bytes_.resize(sizeof(usc_sample) + words.size() * 8);
    std::memcpy(bytes_.data() + sizeof(usc_sample), words.data(), words.size() * 8);
    sample().base = kBase;
    sample().pages = pages;
    sample().bytes = bytes;
    sample().end_base = end_base;
    sample().end_pages = end_bytes != 0 ? 1 : 0;
    sample().end_bytes = end_bytes;
  }
  usc_sample& sample() { return *reinterpret_cast<usc_sample*>(bytes_.data()); }

  // The word there; 0 where the copy does not hold it.
  std::uint64_t word(std::uint64_t address) {
    const char* found = StackCopy(sample()).find(address);
    std::uint64_t value = 0;
    if (found != nullptr) std::memcpy(&value, found, sizeof(value));
    return value;
  }

 private:
  std::vector<char> bytes_;
};

TEST(StackCopy, HoldsWhatWasCopied) {
  Copy copy(0b111);
  EXPECT_EQ(copy.word(kBase), kBase);
  EXPECT_EQ(copy.word(kBase + 120), kBase + 120);
  EXPECT_EQ(copy.word(kBase + 128), kBase + 128);  // the next page
  const std::uint64_t end = kBase + 128 + 2 * kPage;
  EXPECT_EQ(copy.word(end - 8), end - 8);
  EXPECT_EQ(copy.word(end), 0U);
  EXPECT_EQ(copy.word(end - 4), 0U);  // half of it is outside
  EXPECT_EQ(copy.word(kBase - 8), 0U);
  EXPECT_EQ(copy.word(0), 0U);
  EXPECT_EQ(copy.word(~std::uint64_t{0}), 0U);
  EXPECT_EQ(copy.word(~std::uint64_t{7}), 0U);
}

TEST(StackCopy, LeavesOutPagesThatWereNotRead) {
  Copy copy(0b1101);
  const std::uint64_t second = kBase + 128;
  EXPECT_EQ(copy.word(kBase), kBase);
  EXPECT_EQ(copy.word(second), 0U);
  EXPECT_EQ(copy.word(second + kPage), second + kPage);
  EXPECT_EQ(copy.word(second + 2 * kPage + 8), second + 2 * kPage + 8);
  EXPECT_EQ(copy.word(second - 4), 0U);  // reaches into the missing page
  EXPECT_EQ(StackCopy(copy.sample()).unbroken().size(), 128U);
}

TEST(StackCopy, MayBeginWithAMissingPage) {
  Copy copy(0b10);
  EXPECT_EQ(copy.word(kBase), 0U);
  EXPECT_EQ(copy.word(kBase + 128), kBase + 128);
  EXPECT_TRUE(StackCopy(copy.sample()).unbroken().empty());
}

TEST(StackCopy, IsCutWhereItsBytesEnd) {
  Copy copy(0b11);
  copy.sample().bytes -= 8;
  EXPECT_EQ(copy.word(kBase + 128 + kPage - 8), 0U);
  EXPECT_EQ(copy.word(kBase + 128 + kPage - 16), kBase + 128 + kPage - 16);
  EXPECT_EQ(StackCopy(copy.sample()).unbroken().size(), 128 + kPage - 8);
}

TEST(StackCopy, HasTheStacksEndBesideTheWindow) {
  constexpr std::uint64_t kEnd = kBase + 100 * kPage;
  Copy copy(0b1, kEnd, 64);
  EXPECT_EQ(copy.word(kEnd), kEnd);
  EXPECT_EQ(copy.word(kEnd + 56), kEnd + 56);
  EXPECT_EQ(copy.word(kEnd + 57), 0U);
  EXPECT_EQ(copy.word(kEnd - 8), 0U);
  Copy tiny(0b1, kEnd, 0);
  EXPECT_EQ(tiny.word(kEnd), 0U);
}

}  // namespace
}  // namespace uscope::tracer

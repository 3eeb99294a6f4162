// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/sample_pages.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/record_builder.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kStack = 0x7ffd00010000;

// What a page is to hold, and whether the kernel side would send it.
struct Sent {
  unsigned page = 0;
  char fill = 0;
  bool same = false;
};

std::vector<char> sample_of(std::uint64_t base, const std::vector<Sent>& pages, const std::vector<Sent>& end = {},
                            std::uint16_t cpu = 0) {
  usc_sample sample{};
  sample.head.cpu = cpu;
  sample.base = base;
  sample.end_base = kStack + 100 * Page::kBytes;
  std::string data;
  for (const Sent& page : pages) {
    sample.pages |= 1ull << page.page;
    if (page.same)
      sample.same |= 1ull << page.page;
    else
      data.append(page.page == 0 ? Page::kBytes - base % Page::kBytes : Page::kBytes, page.fill);
  }
  for (const Sent& page : end) {
    sample.end_pages |= 1ull << page.page;
    if (page.same)
      sample.end_same |= 1ull << page.page;
    else
      data.append(Page::kBytes, page.fill);
  }
  return trace::RecordBuilder<usc_sample>(sample).add(data).take();
}

std::optional<HeldSample> take(PageMirror& mirror, const std::vector<char>& bytes) {
  return mirror.take(*reinterpret_cast<const usc_sample*>(bytes.data()));
}

// The data of the whole sample: runs of one byte as "a128 b4096".
std::string runs(const HeldSample& held) {
  const std::vector<char> whole = held.whole();
  const auto& sample = *reinterpret_cast<const usc_sample*>(whole.data());
  EXPECT_EQ(sample.same | sample.end_same, 0U);
  const std::string data(sample.data, sample.bytes + sample.end_bytes);
  std::string text;
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t end = std::min(data.find_first_not_of(data[at], at), data.size());
    text += (text.empty() ? "" : " ") + std::string(1, data[at]) + std::to_string(end - at);
    at = end;
  }
  return text;
}

TEST(PageMirror, PutsPagesThatWereLeftOutBack) {
  PageMirror mirror;
  const auto first = take(mirror, sample_of(kStack + 96, {{0, 'a'}, {1, 'b'}, {3, 'c'}}));
  ASSERT_TRUE(first);
  EXPECT_EQ(runs(*first), "a4000 b4096 c4096");
  const auto second = take(mirror, sample_of(kStack + 4000, {{0, 'x'}, {1, 0, true}, {2, 'y'}, {3, 0, true}}));
  ASSERT_TRUE(second);
  EXPECT_EQ(runs(*second), "x96 b4096 y4096 c4096");
  // A page further down: numbers go by address.
  const auto third = take(mirror, sample_of(kStack - 8, {{0, 'z'}, {1, 'w'}, {2, 0, true}, {4, 0, true}}));
  ASSERT_TRUE(third);
  EXPECT_EQ(runs(*third), "z8 w4096 b4096 c4096");
  EXPECT_EQ(runs(*first), "a4000 b4096 c4096");
}

TEST(PageMirror, KeepsTheTwoCopiesAndTheProcessorsApart) {
  PageMirror mirror;
  ASSERT_TRUE(take(mirror, sample_of(kStack, {{0, 'a'}, {1, 'b'}}, {{0, 'm'}, {1, 'n'}})));
  ASSERT_TRUE(take(mirror, sample_of(kStack, {{0, 'A'}, {1, 'B'}}, {{0, 'M'}, {1, 'N'}}, 1)));
  const auto held = take(mirror, sample_of(kStack, {{0, 'c'}, {1, 0, true}}, {{0, 'o'}, {1, 0, true}}));
  ASSERT_TRUE(held);
  EXPECT_EQ(runs(*held), "c4096 b4096 o4096 n4096");
  const auto other = take(mirror, sample_of(kStack, {{0, 'C'}, {1, 0, true}}, {{0, 0, true}}, 1));
  ASSERT_TRUE(other);
  EXPECT_EQ(runs(*other), "C4096 B4096 M4096");
}

TEST(PageMirror, RefusesWhatIsDamaged) {
  PageMirror mirror;
  EXPECT_FALSE(take(mirror, sample_of(kStack, {{0, 'a'}, {5, 0, true}})));  // never sent
  std::vector<char> cut = sample_of(kStack, {{0, 'a'}, {1, 'b'}});
  reinterpret_cast<usc_sample*>(cut.data())->head.size -= 8;
  EXPECT_FALSE(take(mirror, cut));
}

TEST(PageMirror, CountsEachPageOnce) {
  PageMirror mirror;
  std::size_t counted = 0;
  const std::size_t page = Page(Page::Bytes{}, counted).own_bytes();
  EXPECT_EQ(counted, 0U);
  {
    const auto first = take(mirror, sample_of(kStack, {{0, 'a'}, {1, 'b'}, {2, 'c'}}));
    EXPECT_EQ(mirror.bytes(), 3 * page);
    const auto second = take(mirror, sample_of(kStack, {{0, 'd'}, {1, 0, true}, {2, 0, true}}));
    EXPECT_EQ(mirror.bytes(), 4 * page);
  }
  EXPECT_EQ(mirror.bytes(), 3 * page);  // the last ones
  EXPECT_GE(mirror.own_bytes(), 192 * page);
}

// The sample's data with this byte at this place.
std::vector<char> with_byte(std::vector<char> sample, std::size_t at, char byte) {
  sample[sizeof(usc_sample) + at] = byte;
  return sample;
}

TEST(PageMirror, HoldsWhatChangedOfAPage) {
  for (const std::uint64_t base : {kStack, kStack + 96}) {  // whole pages, and one of which the beginning was not sent
    PageMirror mirror;
    const std::vector<char> sample = sample_of(base, {{0, 'a'}, {1, 'b'}});
    const std::string first = std::to_string(Page::kBytes - base % Page::kBytes);
    std::vector<HeldSample> held;
    for (std::size_t i = 0; i < 1000; i++) {
      auto one = take(mirror, with_byte(sample, 8 * (i % 200), static_cast<char>('A' + i % 20)));
      ASSERT_TRUE(one);
      held.push_back(std::move(*one));
    }
    EXPECT_LT(mirror.bytes(), 400'000U);
    const std::size_t at = 8 * (777 % 200);
    EXPECT_EQ(runs(held[777]),
              "a" + std::to_string(at) + " R1 a" + std::to_string(std::stoul(first) - at - 1) + " b4096");
    EXPECT_EQ(runs(held[1]), "a8 B1 a" + std::to_string(std::stoul(first) - 9) + " b4096");
    // Of others than the last one, nothing is taken.
    const auto other = take(mirror, sample_of(base, {{0, 'z'}, {1, 0, true}}));
    ASSERT_TRUE(other);
    EXPECT_EQ(runs(*other), "z" + first + " b4096");
    held.clear();
    const auto last = take(mirror, sample_of(base, {{0, 'z'}, {1, 0, true}}));
    ASSERT_TRUE(last);
    EXPECT_EQ(runs(*last), "z" + first + " b4096");
  }
}

}  // namespace
}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What strings hold, where no database is.
#include "trace/ordered_string.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>
#include <vector>

#include "trace/record_builder.h"

namespace uscope::trace {
namespace {

class OrderedStringTest : public ::testing::Test {
 protected:
  OrderedString ordered(std::uint8_t kind, const std::string& bytes, std::uint16_t flags = 0) {
    usc_string string{};
    string.head.type = USC_RECORD_STRING;
    string.bytes = static_cast<__u16>(bytes.size());
    string.flags = flags;
    string.kind = kind;
    string.arg = 1;
    const std::vector<char> record = RecordBuilder<usc_string>(string).add(bytes).take();
    usc_record head{};
    std::memcpy(&head, record.data(), sizeof(head));
    auto out = ordered_string({head, std::as_bytes(std::span(record)), 0}, texts_, contents_);
    EXPECT_TRUE(out);
    return out ? *out : OrderedString{};
  }
  std::string kept_text(const OrderedString& string) {
    auto text = texts_.text(string.string_id);
    return text && *text ? **text : "none";
  }

  KeptTexts texts_;
  KeptContents contents_;
};

TEST_F(OrderedStringTest, EqualTextsHaveOneId) {
  const OrderedString first = ordered(USC_STRING_TEXT, "/proc/self/fd/3");
  const OrderedString second = ordered(USC_STRING_TEXT, "/etc/passwd", USC_STRING_TRUNCATED | USC_STRING_LATE);
  const OrderedString third = ordered(USC_STRING_TEXT, "/proc/self/fd/3");
  EXPECT_EQ(first.string_id, TextId(1U));
  EXPECT_EQ(second.string_id, TextId(2U));
  EXPECT_EQ(third.string_id, first.string_id);
  EXPECT_EQ(kept_text(first), "/proc/self/fd/3");
  EXPECT_EQ(kept_text(second), "/etc/passwd…");
  EXPECT_TRUE(first.is_special);
  EXPECT_FALSE(second.is_special);
  EXPECT_EQ(first.first, '/');
  EXPECT_EQ(second.flags, USC_STRING_TRUNCATED | USC_STRING_LATE);
  EXPECT_EQ(second.arg, 1);
}

// The empty text is a text.
TEST_F(OrderedStringTest, AnEmptyTextHasAnId) {
  const OrderedString empty = ordered(USC_STRING_TEXT, "");
  EXPECT_TRUE(empty.string_id);
  EXPECT_EQ(kept_text(empty), "");
  EXPECT_EQ(empty.first, '\0');
}

TEST_F(OrderedStringTest, NumbersHaveNoText) {
  const std::uint64_t words[3] = {1, 2, 3};
  const OrderedString how = ordered(USC_STRING_WORDS, std::string(reinterpret_cast<const char*>(words), sizeof(words)));
  EXPECT_EQ(how.numbers, (std::array<std::uint64_t, 3>{1, 2, 3}));
  EXPECT_FALSE(how.string_id);
  EXPECT_EQ(kept_text(how), "none");
}

TEST_F(OrderedStringTest, ContentsAreKeptAsTheyAre) {
  const std::string bytes("a\0b\xff", 4);
  const OrderedString data = ordered(USC_STRING_DATA, bytes);
  ASSERT_NE(contents_.find(data.data_id), nullptr);
  EXPECT_EQ(*contents_.find(data.data_id), bytes);
  EXPECT_FALSE(data.structure_id);
  EXPECT_FALSE(data.string_id);
  EXPECT_EQ(contents_.find({}), nullptr);
  EXPECT_EQ(contents_.find(ContentId(2U)), nullptr);
}

TEST_F(OrderedStringTest, APassedDescriptorHasItsFileAndItsName) {
  usc_passed passed{};
  passed.fd = 7;
  passed.dev = 8;
  passed.ino = 99;
  passed.mode = S_IFREG;
  passed.links = 1;
  const std::string path("name\0folder\0", 12);
  passed.path_bytes = static_cast<decltype(passed.path_bytes)>(path.size());
  const std::string bytes = std::string(reinterpret_cast<const char*>(&passed), sizeof(passed)) + path;
  const OrderedString string = ordered(USC_STRING_PASSED, bytes);
  EXPECT_EQ(kept_text(string), "/folder/name");
  EXPECT_EQ(string.numbers[0], 8U);
  EXPECT_EQ(string.numbers[1], 99U);
  EXPECT_EQ(kept_text(ordered(USC_STRING_PASSED, bytes, USC_STRING_REDACTED)), "[redacted]");
}

// What is kept stays where it is, however much is added.
TEST(KeptTexts, KeepsManyTexts) {
  KeptTexts texts;
  constexpr int kTexts = 5000;
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < kTexts; i++) EXPECT_EQ(*texts.intern("text " + std::to_string(i)), TextId(i + 1));
  for (const int i : {0, 1, kTexts - 1}) EXPECT_EQ(**texts.text(TextId(i + 1)), "text " + std::to_string(i));
  EXPECT_FALSE(*texts.text({}));
  EXPECT_FALSE(*texts.text(TextId(kTexts + 1)));
}

}  // namespace
}  // namespace uscope::trace

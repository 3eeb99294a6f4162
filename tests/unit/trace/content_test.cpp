// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/content.h"

#include <gtest/gtest.h>

#include <string>

namespace uscope::trace {
namespace {

usc_string content_string(std::uint8_t kind, std::uint16_t flags = 0) {
  usc_string string{};
  string.kind = kind;
  string.flags = flags;
  return string;
}

std::string vector_of(std::uint64_t count, const std::string& data) {
  usc_vector vector{};
  vector.count = count;
  for (__u64& length : vector.length) length = 3;
  return std::string(reinterpret_cast<const char*>(&vector), sizeof(vector)) + data;
}

TEST(Content, IsDataOrAStructure) {
  const ContentParts data = content_parts(content_string(USC_STRING_DATA), "abc");
  EXPECT_EQ(data.data, "abc");
  EXPECT_FALSE(data.structure);
  const ContentParts structure = content_parts(content_string(USC_STRING_STAT), "abc");
  EXPECT_EQ(structure.structure, "abc");
  EXPECT_FALSE(structure.data);
  const ContentParts text = content_parts(content_string(USC_STRING_TEXT), "abc");
  EXPECT_FALSE(text.data || text.structure || text.redacted);
}

TEST(Content, OfAVectorIsBoth) {
  const std::string bytes = vector_of(2, "abcdef");
  const ContentParts two = content_parts(content_string(USC_STRING_VECTOR), bytes);
  EXPECT_EQ(two.data, "abcdef");
  EXPECT_EQ(two.structure, bytes.substr(0, 24 + 2 * 8));
  const std::string many = vector_of(~0ULL, "x");  // as many lengths as there can be
  EXPECT_EQ(content_parts(content_string(USC_STRING_BUFFERS_OUT), many).structure, many.substr(0, sizeof(usc_vector)));
  const ContentParts damaged = content_parts(content_string(USC_STRING_VECTOR), bytes.substr(0, 40));
  EXPECT_FALSE(damaged.data || damaged.structure);
}

TEST(Content, ThatWasLeftOutIsNotEmptyData) {
  const ContentParts data = content_parts(content_string(USC_STRING_DATA, USC_STRING_REDACTED), "");
  EXPECT_TRUE(data.redacted);
  EXPECT_FALSE(data.data);
  EXPECT_EQ(content_parts(content_string(USC_STRING_DATA), "").data, "");
  const std::string bytes = vector_of(1, "");
  const ContentParts vector = content_parts(content_string(USC_STRING_VECTOR, USC_STRING_REDACTED), bytes);
  EXPECT_TRUE(vector.redacted && vector.structure);
  EXPECT_FALSE(vector.data);
}

}  // namespace
}  // namespace uscope::trace

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/byte_reader.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uscope {
namespace {

using Numbers = std::vector<std::uint8_t>;

// What a read gives, and nullopt where it fails; a read that succeeds takes all of `bytes`.
template <typename Read>
auto read_all(const Numbers& bytes, Read&& read) {
  ByteReader in(bytes);
  const auto value = read(in);
  EXPECT_TRUE(!in.ok() || in.left() == 0);
  return in.ok() ? std::optional(value) : std::nullopt;
}
std::optional<std::uint64_t> uleb(const Numbers& bytes) {
  return read_all(bytes, [](ByteReader& in) { return in.uleb(); });
}
std::optional<std::uint32_t> uleb32(const Numbers& bytes) {
  return read_all(bytes, [](ByteReader& in) { return in.uleb32(); });
}
std::optional<std::int64_t> sleb(const Numbers& bytes) {
  return read_all(bytes, [](ByteReader& in) { return in.sleb(); });
}

TEST(ByteReader, FixedValuesAreLittleEndian) {
  const Numbers bytes = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0xff};
  EXPECT_EQ(ByteReader(bytes).fixed<std::uint16_t>(), 0x0201);
  EXPECT_EQ(ByteReader(bytes).fixed<std::uint64_t>(), 0xff07060504030201);
  EXPECT_EQ(ByteReader(bytes).from(7).fixed<std::int8_t>(), -1);
  EXPECT_EQ(ByteReader(bytes).number(3), 0x030201u);
  ByteReader in(bytes);
  EXPECT_EQ(in.number(4), 0x04030201u);
  EXPECT_EQ(in.offset(), 4u);
  EXPECT_EQ(in.left(), 4u);
}

TEST(ByteReader, AReadBehindTheEndGivesNothing) {
  const Numbers bytes = {1, 2, 3};
  ByteReader in(bytes);
  EXPECT_EQ(in.fixed<std::uint32_t>(), 0u);
  EXPECT_FALSE(in.ok());
  // Nothing is left, though three bytes were there.
  EXPECT_EQ(in.left(), 0u);
  EXPECT_EQ(in.fixed<std::uint8_t>(), 0);
  EXPECT_EQ(in.uleb(), 0u);
  EXPECT_EQ(in.sleb(), 0);
  EXPECT_TRUE(in.bytes(0).empty());
  EXPECT_EQ(in.c_string(), "");
  EXPECT_FALSE(ByteReader(bytes).number(9) != 0);
  EXPECT_EQ(ByteReader().fixed<std::uint8_t>(), 0);
  EXPECT_TRUE(ByteReader().ok());
}

TEST(ByteReader, UnsignedLeb) {
  EXPECT_EQ(uleb({0x00}), 0u);
  EXPECT_EQ(uleb({0x7f}), 127u);
  EXPECT_EQ(uleb({0x80, 0x01}), 128u);
  EXPECT_EQ(uleb({0xe5, 0x8e, 0x26}), 624485u);
  EXPECT_EQ(uleb({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}), UINT64_MAX);
}

TEST(ByteReader, LebMayBeLongerThanNecessaryUpToTenBytes) {
  EXPECT_EQ(uleb({0x85, 0x00}), 5u);
  EXPECT_EQ(uleb({0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), 5u);
  EXPECT_EQ(uleb({0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), std::nullopt);
  EXPECT_EQ(sleb({0xfe, 0xff, 0x7f}), -2);
  EXPECT_EQ(sleb({0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}), std::nullopt);
}

TEST(ByteReader, LebDropsBitsBeyondItsType) {
  // The tenth byte has room for one bit.
  EXPECT_EQ(uleb({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}), std::uint64_t{1} << 63);
  EXPECT_EQ(sleb({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7e}), 0);
  // The fifth byte has room for four bits.
  EXPECT_EQ(uleb32({0xff, 0xff, 0xff, 0xff, 0x7f}), UINT32_MAX);
  EXPECT_EQ(uleb32({0x80, 0x80, 0x80, 0x80, 0x10}), 0u);
}

TEST(ByteReader, LebThatDoesNotEnd) {
  EXPECT_EQ(uleb({}), std::nullopt);
  EXPECT_EQ(uleb({0x80}), std::nullopt);
  EXPECT_EQ(uleb({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), std::nullopt);
  EXPECT_EQ(sleb({0xff}), std::nullopt);
  EXPECT_EQ(uleb32({0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), std::nullopt);
}

TEST(ByteReader, SignedLeb) {
  EXPECT_EQ(sleb({0x02}), 2);
  EXPECT_EQ(sleb({0x7e}), -2);
  EXPECT_EQ(sleb({0x3f}), 63);
  EXPECT_EQ(sleb({0x40}), -64);
  EXPECT_EQ(sleb({0xff, 0x00}), 127);
  EXPECT_EQ(sleb({0x81, 0x7f}), -127);
  EXPECT_EQ(sleb({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}), INT64_MIN);
  EXPECT_EQ(sleb({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}), INT64_MAX);
}

TEST(ByteReader, Uleb32) {
  EXPECT_EQ(uleb32({0x7f}), 127u);
  EXPECT_EQ(uleb32({0xff, 0xff, 0xff, 0xff, 0x0f}), UINT32_MAX);
  EXPECT_EQ(uleb32({0x85, 0x80, 0x80, 0x80, 0x00}), 5u);
}

TEST(ByteReader, BytesAndTexts) {
  const std::string text("ab\0cd", 5);
  ByteReader in(std::as_bytes(std::span(text)));
  EXPECT_EQ(in.c_string(), "ab");
  EXPECT_EQ(in.offset(), 3u);
  EXPECT_EQ(in.c_string(), "");
  EXPECT_EQ(in.error().what, "at offset 3: expected text that ends with a NUL");
  ByteReader again(std::as_bytes(std::span(text)));
  EXPECT_EQ(again.text(1), "a");
  EXPECT_EQ(again.bytes(4).size(), 4u);
  EXPECT_TRUE(again.ok());
  EXPECT_TRUE(again.bytes(0).empty());
  EXPECT_TRUE(again.ok());
  EXPECT_TRUE(again.bytes(UINT64_MAX).empty());
  EXPECT_FALSE(again.ok());
}

TEST(ByteReader, ErrorsNameTheBytesTheOffsetAndWhatWasExpected) {
  const Numbers bytes = {1, 0x80, 0x80};
  ByteReader in(bytes, "libx.so: section .eh_frame", 0x100);
  EXPECT_EQ(in.fixed<std::uint8_t>(), 1);
  EXPECT_EQ(in.error().what, "");
  in.uleb();
  in.fixed<std::uint64_t>();
  in.fail("something else");
  // The first failure counts, at the start of what was read.
  EXPECT_EQ(in.error().what, "libx.so: section .eh_frame: at offset 257: expected a LEB128 number of at most 10 bytes");
  ByteReader other(bytes, "x");
  other.fail("an even number", 2);
  EXPECT_EQ(other.error().what, "x: at offset 2: expected an even number");
}

TEST(ByteReader, FromAnotherOffset) {
  const Numbers bytes = {10, 11, 12};
  const ByteReader in(bytes, "x", 100);
  EXPECT_EQ(in.from(102).fixed<std::uint8_t>(), 12);
  EXPECT_EQ(in.from(102).offset(), 102u);
  EXPECT_TRUE(in.from(103).ok());
  EXPECT_EQ(in.from(103).left(), 0u);
  EXPECT_EQ(in.from(104).error().what, "x: at offset 104: expected an offset within the data");
  EXPECT_FALSE(in.from(99).ok());
  EXPECT_FALSE(in.from(UINT64_MAX).ok());
  EXPECT_EQ(in.from(UINT64_MAX).fixed<std::uint8_t>(), 0);
}

}  // namespace
}  // namespace uscope

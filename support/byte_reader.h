// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A cursor over bytes that may be damaged or hostile. Each read is bounded. The first read that fails is kept: where,
// and what was expected there. After it nothing is left, so each further read gives 0 or nothing, and a caller may ask
// ok() once at the end.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "support/result.h"

namespace uscope {

class ByteReader {
 public:
  using Bytes = std::span<const std::uint8_t>;

  ByteReader() = default;
  // `name` says in errors what the bytes are ("libc.so.6: section .eh_frame"), `offset` where in it they begin. Both
  // the bytes and the name must outlive the reader.
  explicit ByteReader(Bytes bytes, std::string_view name = {}, std::uint64_t offset = 0)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()), offset_(offset), name_(name) {}
  explicit ByteReader(std::span<const std::byte> bytes, std::string_view name = {}, std::uint64_t offset = 0)
      : ByteReader(Bytes(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), name, offset) {}

  [[nodiscard]] bool ok() const { return expected_ == nullptr; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  // The next byte's.
  [[nodiscard]] std::uint64_t offset() const { return offset_ + static_cast<std::uint64_t>(at_ - begin_); }

  // A value of plain data as it lies in memory: integers are little-endian.
  template <typename T>
  T fixed() {
    static_assert(std::is_trivially_copyable_v<T> && std::endian::native == std::endian::little);
    T value{};
    if (left() < sizeof(T)) {
      fail(kExpectedValue);
      return value;
    }
    std::memcpy(static_cast<void*>(&value), at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  // An unsigned integer of `size` bytes, at most 8.
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    if (left() < size || size > sizeof(value)) {
      fail(kExpectedValue);
      return 0;
    }
    std::memcpy(&value, at_, size);
    at_ += size;
    return value;
  }

  // LEB128 (DWARF 5, section 7.6). A number takes at most as many bytes as its type needs, ten for 64 bits and five for
  // 32 bits; more are refused. Within these it may be longer than necessary. Bits beyond the type's are dropped.
  std::uint64_t uleb() { return is_short() ? *at_++ : leb<std::uint64_t>(); }
  std::uint32_t uleb32() { return is_short() ? *at_++ : leb<std::uint32_t>(); }
  std::int64_t sleb() { return leb<std::int64_t>(); }

  Bytes bytes(std::uint64_t count) {
    if (count > left()) {
      fail(kExpectedBytes);
      return {};
    }
    const Bytes found(at_, count);
    at_ += count;
    return found;
  }
  std::string_view text(std::uint64_t count) {
    const Bytes found = bytes(count);
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }
  // Text up to its NUL, which is passed.
  std::string_view c_string();

  // The reader of the same bytes from `offset` on.
  [[nodiscard]] ByteReader from(std::uint64_t offset) const;

  // For callers that find a value impossible. `expected` must be a literal; `at` is the value's offset.
  void fail(const char* expected, std::uint64_t at);
  void fail(const char* expected) { fail(expected, offset()); }

  // After a failure: "NAME: at offset 28: expected …".
  [[nodiscard]] Error error() const;

 private:
  static constexpr const char* kExpectedValue = "a number or a structure within the data";
  static constexpr const char* kExpectedBytes = "as many bytes as the length before says";
  static constexpr const char* kExpectedLeb64 = "a LEB128 number of at most 10 bytes";
  static constexpr const char* kExpectedLeb32 = "a LEB128 number of at most 5 bytes";

  [[nodiscard]] bool is_short() const { return at_ < end_ && *at_ < 0x80; }  // a number of one byte
  template <typename T>
  T leb();

  const std::uint8_t* begin_ = nullptr;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::uint64_t offset_ = 0;  // of *begin_
  std::string_view name_;
  const char* expected_ = nullptr;  // by the read that failed
  std::uint64_t failed_at_ = 0;
};

template <typename T>
T ByteReader::leb() {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr unsigned kBits = std::numeric_limits<Unsigned>::digits;
  Unsigned value = 0;
  const std::uint8_t* next = at_;
  for (unsigned shift = 0; next < end_ && shift < kBits;) {
    const std::uint8_t byte = *next++;
    value |= static_cast<Unsigned>(byte & 0x7f) << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    if (std::is_signed_v<T> && shift < kBits && (byte & 0x40) != 0) value |= ~Unsigned{0} << shift;
    at_ = next;
    return static_cast<T>(value);
  }
  fail(kBits == 32 ? kExpectedLeb32 : kExpectedLeb64);
  return 0;
}

}  // namespace uscope

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is known of each type of record: its struct, how long its fixed part is, what its lengths say about the bytes
// behind that, and which values are sound. One table for all who read or write records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "uscope/record.h"

namespace uscope::trace {

// The number of the type whose struct is Record.
template <typename Record>
constexpr std::uint16_t kTypeOf = 0;
#define USC_X(constant, number, name, type) \
  template <>                               \
  inline constexpr std::uint16_t kTypeOf<type> = number;
#include "uscope/lists/record_type.def"
#undef USC_X

// All types have smaller numbers.
constexpr std::size_t kTypeNumbers = 48;

// Both functions are given a whole record, of at least fixed_bytes.
struct RecordType {
  std::string_view name;
  std::size_t fixed_bytes = 0;
  // The number of bytes behind the fixed part, as the record's own lengths say. There may be fewer.
  std::size_t (*tail_bytes)(std::span<const std::byte> record) = nullptr;
  // Whether the values that a reader depends on are possible ones.
  bool (*values_hold)(std::span<const std::byte> record) = nullptr;
};

// Null for a number that is no type of this version.
[[nodiscard]] const RecordType* record_type(std::uint16_t number);

// A record's length as it is written: rounded up to 8.
constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + 7) & ~std::size_t{7};
}

// The whole record that a head begins, which has been checked to be of this type and as long.
template <typename Record>
[[nodiscard]] const Record& record_as(const usc_record& head) {
  return reinterpret_cast<const Record&>(head);
}

// What lies behind the fixed part of a record, to the record's end; bytes that only fill it up are included.
template <typename Record>
[[nodiscard]] std::string_view tail_of(const Record& record) {
  const auto* bytes = reinterpret_cast<const char*>(&record);
  return record.head.size > sizeof(Record) ? std::string_view(bytes + sizeof(Record), record.head.size - sizeof(Record))
                                           : std::string_view();
}

// The frames of a stack, innermost first: not more than the record holds.
[[nodiscard]] std::span<const __u64> frames_of(const usc_stack& stack);

// Splits what is behind the fixed part of a usc_meta; false if one of its NULs is missing.
[[nodiscard]] bool split_meta(std::string_view tail, std::string_view& key, std::string_view& value);

}  // namespace uscope::trace

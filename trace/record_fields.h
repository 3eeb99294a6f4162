// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a record of a raw trace says, field by field, for people and programs that look into the file itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trace/raw_record.h"

namespace uscope::trace {

// A number that people read in hexadecimal: an address, flags.
struct HexNumber {
  std::uint64_t number = 0;
};

// Text may hold any byte.
using RecordValue = std::variant<std::uint64_t, std::int64_t, HexNumber, std::string>;

struct RecordField {
  std::string name;
  std::vector<RecordValue> values;  // exactly one unless `list`
  bool list = false;
};

// The type's name in record_type.def: "event"; empty for a number that is no type.
[[nodiscard]] std::string_view record_type_name(std::uint16_t type);
// All these names, in the order of their numbers.
[[nodiscard]] std::vector<std::string> record_type_names();

// The fields behind the head, and what follows the fixed part: paths, texts, frames. The record is whole
// (check_record()). Frames are "FILE+0xOFFSET", with "!" behind an exact one; bytes that are no text are hexadecimal.
[[nodiscard]] std::vector<RecordField> fields_of(const RawRecord& record);

}  // namespace uscope::trace

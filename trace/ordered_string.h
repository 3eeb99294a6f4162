// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an argument of a call pointed to: a usc_string in the form in which events are put in order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.h"
#include "trace/ids.h"
#include "trace/raw_record.h"
#include "trace/texts.h"

namespace uscope::trace {

struct OrderedString {
  TextId string_id{};                      // none: numbers or contents
  ContentId structure_id{};                // of contents
  ContentId data_id{};                     // of contents; none where they were redacted, or hold no data
  std::array<std::uint64_t, 3> numbers{};  // of USC_STRING_WORDS; two of 32 bits, USC_STRING_PAIR; those of a
                                           // PassedFile; of USC_STRING_OPENED device, inode and mount namespace
  std::uint16_t flags = 0;                 // USC_STRING_LATE …
  std::uint8_t arg = 0;
  std::uint8_t kind = 0;    // enum usc_string_kind
  char first = 0;           // the first byte of the text; 0: the text is empty, or there is none
  bool is_special = false;  // the text is a path below /proc or /dev, where links may lead to what a process has open
};

// The text of a usc_string: addresses by name, other bytes as UTF-8; a truncated text ends with "…".
[[nodiscard]] std::string string_text(const usc_string& head, std::string_view bytes);

// Returns what a usc_string holds: its text, its numbers, or its contents.
Result<OrderedString> ordered_string(const RawRecord& record, Texts& texts, Contents& contents);

}  // namespace uscope::trace

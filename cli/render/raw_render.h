// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The parts of a raw trace as lines: text for people, JSON (docs/json/raw.schema.json) for programs.
#pragma once

#include <string>

#include "trace/raw_reader.h"

namespace uscope::cli {

// Each of these is one line with its newline.
[[nodiscard]] std::string raw_header_text(const usc_raw_header& header);
[[nodiscard]] std::string raw_header_json(const usc_raw_header& header);

[[nodiscard]] std::string raw_record_text(const trace::RawRecord& record);
[[nodiscard]] std::string raw_record_json(const trace::RawRecord& record);

// Bytes that were passed over, and why.
[[nodiscard]] std::string raw_gap_text(const trace::RawGap& gap);
[[nodiscard]] std::string raw_gap_json(const trace::RawGap& gap);

// "12 records were read, 3 shown; 1 damaged place, 80 bytes passed over".
[[nodiscard]] std::string raw_totals_text(std::uint64_t records, std::uint64_t shown, const trace::RawDamage& damage);

}  // namespace uscope::cli

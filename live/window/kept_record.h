// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A record that is kept as its bytes, to be written again.
#pragma once

#include <vector>

#include "live/window/window_trace.h"
#include "support/result.h"
#include "trace/record_type.h"
#include "uscope/record.h"

namespace uscope::live {

// As it lies in memory, with the text behind its fixed part; empty: none.
using KeptRecord = std::vector<char>;

[[nodiscard]] inline KeptRecord keep(const usc_record& record) {
  const auto* bytes = reinterpret_cast<const char*>(&record);
  return {bytes, bytes + record.size};
}

[[nodiscard]] inline const usc_record& head_of(const KeptRecord& record) {
  return *reinterpret_cast<const usc_record*>(record.data());
}

template <typename Record>
[[nodiscard]] const Record& as(const KeptRecord& record) {
  return trace::record_as<Record>(head_of(record));
}

inline Result<void> write_kept(WindowTrace& to, const KeptRecord& record) {
  return record.empty() ? Result<void>() : to.append(head_of(record));
}

}  // namespace uscope::live

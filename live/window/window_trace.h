// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A raw trace that holds a part of a longer one: a file without a name, which the loader reads like any other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "trace/raw_writer.h"
#include "uscope/record.h"

namespace uscope::live {

class WindowTrace {
 public:
  // In this folder. It counts from `start_ns` on.
  static Result<WindowTrace> begin(int folder, std::uint64_t start_ns, std::int64_t utc_offset_ns);

  // The records of a part have gaps in their numbers: they are written without them.
  Result<void> append(const usc_record& record);
  Result<void> append_meta(const char* key, const std::string& value) { return writer_.append_meta(key, value); }
  [[nodiscard]] std::uint64_t bytes() const { return writer_.bytes(); }

  // Ends the trace in order, and gives its file.
  Result<UniqueFd> end();

 private:
  WindowTrace(UniqueFd file, trace::RawWriter writer) : file_(std::move(file)), writer_(std::move(writer)) {}

  UniqueFd file_;
  trace::RawWriter writer_;
  std::vector<char> record_;  // kept for its memory
};

}  // namespace uscope::live

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the tracer's records go: the raw trace (raw_writer.h), or what a test puts in its place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "support/result.h"
#include "trace/record_builder.h"
#include "uscope/record.h"

namespace uscope::trace {

class RecordSink {
 public:
  virtual ~RecordSink() = default;

  // A record as the kernel side made it: head.size bytes from `record` on. After a failure every call fails and nothing
  // more is written.
  virtual Result<void> append(const usc_record& record) = 0;

  // A record made in user space: it gets cpu = USC_CPU_USER and the next sequence number. head.task and head.time are
  // the caller's. `tail` is what lies behind the fixed part.
  template <typename Record>
  Result<void> append_own(const Record& fixed, std::span<const char> tail = {}) {
    return append_own(std::move(RecordBuilder<Record>(fixed).add(tail)));
  }
  template <typename Record>
  Result<void> append_own(RecordBuilder<Record>&& record) {
    stamp(record.head());
    return append(record.head());
  }

  static constexpr std::size_t kMostMeta = 65'536;  // bytes kept of a value
  // Appends a usc_meta with the present time.
  Result<void> append_meta(const std::string& key, const std::string& value);

  // Writes what is buffered.
  virtual Result<void> flush() = 0;
  // Whether a record could not be taken.
  [[nodiscard]] virtual bool failed() const { return false; }
  // Bytes appended so far, those in a buffer included.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;

 private:
  void stamp(usc_record& head) {
    head.cpu = USC_CPU_USER;
    head.seq = seq_++;
  }

  std::uint64_t seq_ = 0;
};

}  // namespace uscope::trace

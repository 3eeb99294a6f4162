// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Puts a record together in user space: a fixed part, what lies behind it, and zeros up to a length that is a multiple
// of 8. The lengths inside the fixed part are the caller's.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "trace/record_type.h"
#include "uscope/record.h"

namespace uscope::trace {

template <typename Record>
class RecordBuilder {
 public:
  // Copies the fixed part only. The type is that of Record; cpu, seq, task and time of the head stay as they are.
  explicit RecordBuilder(const Record& fixed) : bytes_(sizeof(Record)) {
    static_assert(kTypeOf<Record> != 0, "a struct of record_type.def");
    std::memcpy(bytes_.data(), static_cast<const void*>(&fixed), sizeof(Record));
    head().type = kTypeOf<Record>;
    head().size = static_cast<__u32>(bytes_.size());
  }

  // Makes room for a tail of this length at once.
  void reserve(std::size_t tail_bytes) { bytes_.reserve(padded(sizeof(Record) + tail_bytes)); }

  // Adds to what lies behind the fixed part.
  RecordBuilder& add(std::span<const char> bytes) {
    bytes_.resize(end_);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    end_ = bytes_.size();
    bytes_.resize(padded(end_));
    head().size = static_cast<__u32>(bytes_.size());
    return *this;
  }
  template <typename Value>
  RecordBuilder& add_values(std::span<const Value> values) {
    return add({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  [[nodiscard]] usc_record& head() { return *reinterpret_cast<usc_record*>(bytes_.data()); }
  // The record, valid until something is added.
  [[nodiscard]] const Record& record() const { return *reinterpret_cast<const Record*>(bytes_.data()); }
  // The record's bytes; the builder is empty afterwards.
  [[nodiscard]] std::vector<char> take() { return std::move(bytes_); }

 private:
  std::vector<char> bytes_;
  std::size_t end_ = sizeof(Record);  // of what is not filling
};

}  // namespace uscope::trace

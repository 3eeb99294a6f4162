// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes the raw trace: the header, then records as they come, through a buffer of fixed size.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "uscope/record.h"

namespace uscope::trace {

class RawWriter {
 public:
  // Writes into a new, empty file; `name` is its name in errors. Without a file nothing is written anywhere. magic,
  // header_size and record_abi of `header` are filled in here.
  static Result<RawWriter> create(UniqueFd file, const std::string& name, usc_raw_header header);

  // A record as the kernel side made it: head.size bytes from `record` on. After a failed write (disk full) every call
  // fails and nothing more is written; what was whole stays in the file.
  Result<void> append(const usc_record& record);

  // A record made here: gets cpu = USC_CPU_USER, the next sequence number, type and size; `tail` is what lies behind
  // the fixed part. head.task and head.time are the caller's.
  template <typename Record>
  Result<void> append_own(Record record, std::uint16_t type, std::span<const char> tail = {}) {
    std::vector<char> bytes((sizeof(Record) + tail.size() + 7) & ~std::size_t{7});
    stamp(record.head, type, bytes.size());
    copy(bytes, &record, sizeof(Record), tail);
    return append_bytes(bytes);
  }

  // Appends a usc_meta with the present time. At most 65,536 bytes of the value are kept.
  Result<void> append_meta(const std::string& key, const std::string& value);
  Result<void> flush();

  // Bytes appended so far, those in the buffer included: what the size of the file will be.
  [[nodiscard]] std::uint64_t bytes() const { return written_ + buffer_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  RawWriter(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  void stamp(usc_record& head, std::uint16_t type, std::size_t size);
  static void copy(std::vector<char>& out, const void* fixed, std::size_t fixed_bytes, std::span<const char> tail);
  Result<void> append_bytes(std::span<const char> bytes);

  UniqueFd fd_;
  std::string path_;
  std::vector<char> buffer_;
  std::uint64_t written_ = 0;
  std::uint32_t seq_ = 0;
  bool failed_ = false;
};

}  // namespace uscope::trace

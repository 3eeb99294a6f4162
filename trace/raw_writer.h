// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes the raw trace: the header, then records as they come, through a buffer of fixed size.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "trace/sink.h"
#include "uscope/record.h"

namespace uscope::trace {

class RawWriter final : public RecordSink {
 public:
  // Writes into a new, empty file; `name` is its name in errors. Without a file nothing is written anywhere. magic,
  // header_size and record_abi of `header` are filled in here.
  static Result<RawWriter> create(UniqueFd file, const std::string& name, usc_raw_header header);

  // After a failed write (disk full) what was whole stays in the file.
  Result<void> append(const usc_record& record) override;
  Result<void> flush() override;
  // What the size of the file will be.
  [[nodiscard]] std::uint64_t bytes() const override { return written_ + buffer_.size(); }
  [[nodiscard]] bool failed() const override { return failed_; }

 private:
  RawWriter(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Result<void> append_bytes(std::span<const char> bytes);

  UniqueFd fd_;
  std::string path_;
  std::vector<char> buffer_;
  std::uint64_t written_ = 0;
  bool failed_ = false;
};

}  // namespace uscope::trace

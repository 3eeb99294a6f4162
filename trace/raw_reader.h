// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Streams a raw trace: header, then record after record, in bounded memory, whatever is in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "trace/raw_record.h"

namespace uscope::trace {

// What could not be read.
struct RawDamage {
  std::uint64_t regions = 0;        // places at which the chain of lengths, or a record, was broken
  std::uint64_t skipped_bytes = 0;  // passed over there
  std::uint64_t tail_bytes = 0;     // of these, at the end of the file: a record cut off, or nothing whole after it
  std::uint64_t unknown = 0;        // records of unknown types: skipped, not damaged
};

// Bytes of the file that next() passed over.
struct RawGap {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool damaged = true;  // false: a whole record of an unknown type
  std::string reason;   // "the length 31 is not a multiple of 8"
};

class RawReader {
 public:
  // Errors: cannot be opened, not a regular file, not a raw trace, made with records this uscope does not know.
  static Result<RawReader> open(const std::filesystem::path& path);
  // The same of a regular file that is open; `path` is its name in messages.
  static Result<RawReader> open(UniqueFd file, const std::filesystem::path& path);
  [[nodiscard]] int fd() const { return file_.get(); }

  [[nodiscard]] const usc_raw_header& header() const { return header_; }

  // The next whole record of a known type. False: the end. The record is valid until the next call.
  Result<bool> next(RawRecord& record);

  // Calls `handler` within next() for all bytes that it passes over, in the file's order.
  void on_gap(std::function<void(const RawGap&)> handler) { gap_handler_ = std::move(handler); }

  // Back to the first record; damage counts from 0 again.
  void rewind();

  // Reads the record that next() gave at `offset` again, without moving. Its bytes are put into `storage`.
  Result<RawRecord> at(std::uint64_t offset, std::vector<std::byte>& storage) const;

  [[nodiscard]] const RawDamage& damage() const { return damage_; }
  [[nodiscard]] std::uint64_t position() const { return base_ + start_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  RawReader(UniqueFd file, std::filesystem::path path, std::uint64_t size);

  Result<void> read_header();
  Result<bool> fill(std::size_t bytes);
  [[nodiscard]] std::size_t available() const { return end_ - start_; }
  [[nodiscard]] usc_record head_at(std::size_t from_start) const;
  [[nodiscard]] RawRecord view(std::size_t from_start) const;
  [[nodiscard]] bool head_fits(std::size_t from_start) const;
  [[nodiscard]] bool chain_holds(const RawRecord& record) const;
  [[nodiscard]] bool looks_like_record(std::size_t from_start) const;
  Result<void> resynchronise();
  [[nodiscard]] std::string damage_reason() const;
  void report_gap(std::uint64_t offset, bool damaged, std::string reason) const;

  UniqueFd file_;
  std::filesystem::path path_;
  std::uint64_t size_;
  usc_raw_header header_{};
  std::vector<std::byte> buffer_;
  std::uint64_t base_ = 0;  // file offset of buffer_[0]
  std::size_t start_ = 0;   // of what is not read yet, in buffer_
  std::size_t end_ = 0;
  bool at_end_ = false;          // the file has no more than what is in buffer_
  std::uint64_t last_time_ = 0;  // of the records read so far, the latest
  RawDamage damage_;
  std::function<void(const RawGap&)> gap_handler_;
};

}  // namespace uscope::trace

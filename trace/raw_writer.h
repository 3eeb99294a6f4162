// Writes a raw trace, append only. What is in the file is whole up to the last record that fitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "uscope/record.h"

namespace uscope::trace {

// Not for use by two threads at once.
class RawWriter {
 public:
  // Makes the file, mode 0600, and buffers the header. An existing file and a symbolic link in its place are errors.
  // magic, header_size and record_abi of `header` are filled in here.
  static Result<RawWriter> create(const std::filesystem::path& path, usc_raw_header header);

  RawWriter(RawWriter&&) noexcept = default;
  RawWriter& operator=(RawWriter&&) = delete;
  ~RawWriter();  // writes what is buffered; call flush() or close() to learn whether that went well

  // Appends one record: head first, bytes.size() == head.size, a multiple of 8. After an error the record is not in the
  // file, and the caller counts it (USC_LOSS_RAW_WRITE); the next append tries to write again.
  Result<void> append(std::span<const std::byte> bytes);

  // Appends a record of a type without a variable part; fills head.size.
  template <typename Record>
  Result<void> append_fixed(Record record) {
    record.head.size = sizeof(Record);
    return append(std::as_bytes(std::span(&record, 1)));
  }

  // Appends a usc_meta. Both are cut at a NUL.
  Result<void> append_meta(std::string_view key, std::string_view value, std::uint64_t time);

  Result<void> flush();  // hands everything to the kernel; no fsync
  Result<void> close();  // flush and close; nothing may be appended afterwards

  // Bytes appended so far, those in the buffer included: what the file's size will be.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  RawWriter(UniqueFd file, std::filesystem::path path);

  UniqueFd file_;
  std::filesystem::path path_;
  std::vector<std::byte> buffer_;
  std::uint64_t size_ = 0;
};

}  // namespace uscope::trace

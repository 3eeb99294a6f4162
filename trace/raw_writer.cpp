// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/raw_writer.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "support/no_room.h"

namespace uscope::trace {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

}  // namespace

Result<RawWriter> RawWriter::create(UniqueFd file, const std::string& name, usc_raw_header header) {
  header.magic = USC_RAW_MAGIC;
  header.header_size = sizeof(header);
  header.record_abi = USC_RECORD_ABI;
  RawWriter writer(std::move(file), name);
  writer.buffer_.reserve(kBatchBytes);
  const auto* bytes = reinterpret_cast<const char*>(&header);
  if (auto done = writer.append_bytes({bytes, sizeof(header)}); !done) return done.error();
  return writer;
}

Result<void> RawWriter::append(const usc_record& record) {
  return append_bytes({reinterpret_cast<const char*>(&record), record.size});
}

Result<void> RawWriter::append_bytes(std::span<const char> bytes) {
  if (failed_) return Error{"the raw trace " + path_ + " could not be written further", ""};
  if (buffer_.size() + bytes.size() > kBatchBytes) {
    if (auto done = flush(); !done) return done;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return {};
}

Result<void> RawWriter::flush() {
  std::size_t done = 0;
  while (fd_ && done < buffer_.size()) {
    const ssize_t got = write(fd_.get(), buffer_.data() + done, buffer_.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      failed_ = true;
      const int number = got < 0 ? errno : EIO;
      return errno_error(
          "cannot write the raw trace " + path_, number,
          std::string(room_remedy(number, "choose another place with -o")) + "; what was written so far can be loaded");
    }
    done += static_cast<std::size_t>(got);
  }
  written_ += buffer_.size();
  buffer_.clear();
  return {};
}

}  // namespace uscope::trace

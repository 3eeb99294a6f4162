// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/raw_writer.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "support/clock.h"

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

void RawWriter::stamp(usc_record& head, std::uint16_t type, std::size_t size) {
  head.size = static_cast<std::uint32_t>(size);
  head.type = type;
  head.cpu = USC_CPU_USER;
  head.seq = seq_++;
}

void RawWriter::copy(std::vector<char>& out, const void* fixed, std::size_t fixed_bytes, std::span<const char> tail) {
  std::memcpy(out.data(), fixed, fixed_bytes);
  if (!tail.empty()) std::memcpy(out.data() + fixed_bytes, tail.data(), tail.size());
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

Result<void> RawWriter::append_meta(const std::string& key, const std::string& value) {
  usc_meta record{};
  record.head.time = monotonic_ns();
  std::string tail = key;
  tail.push_back('\0');
  tail.append(value, 0, 65536);
  tail.push_back('\0');
  return append_own(record, USC_RECORD_META, tail);
}

Result<void> RawWriter::flush() {
  std::size_t done = 0;
  while (fd_ && done < buffer_.size()) {
    const ssize_t got = write(fd_.get(), buffer_.data() + done, buffer_.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      failed_ = true;
      return errno_error("cannot write the raw trace " + path_, got < 0 ? errno : EIO,
                         "free some space or choose another place with -o; what was written so far can be loaded");
    }
    done += static_cast<std::size_t>(got);
  }
  written_ += buffer_.size();
  buffer_.clear();
  return {};
}

}  // namespace uscope::trace

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Records are chained by their lengths alone, so a damaged length breaks the chain. A record is therefore believed when
// its lengths fit its type and a plausible head (or the end) follows; where none does, a record whose size is exactly
// what its contents need is still believed, and the damage is behind it. After a break the reader looks at every eighth
// byte for the start of two plausible records in a row (known type, exact inner lengths, a processor that exists, a
// time inside the trace) or one that ends with the file.
//
// Limits: there is no checksum. Damage inside a field that is no length, type or processor goes unseen; a length
// damaged so that it ends at a later record's start swallows what is between, which the sequence check of the loader
// notices.
#include "trace/raw_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "support/regular_file.h"
#include "support/text.h"

namespace uscope::trace {
namespace {

constexpr std::size_t kBufferBytes = 4U << 20;  // less for a small file
constexpr std::size_t kLeastBufferBytes = 3 * std::size_t{kMaxRecordBytes};
constexpr std::uint64_t kNanosecondsPerDay = 86'400'000'000'000;
constexpr std::uint32_t kMostCpus = 8192;  // the kernel's largest NR_CPUS

}  // namespace

RawReader::RawReader(UniqueFd file, std::filesystem::path path, std::uint64_t size)
    : file_(std::move(file)),
      path_(std::move(path)),
      size_(size),
      buffer_(std::clamp<std::uint64_t>(size, kLeastBufferBytes, kBufferBytes)) {}

Result<RawReader> RawReader::open(const std::filesystem::path& path) {
  auto file = open_regular(path, "give a raw trace: a file made by `uscope record --keep-raw`", Leases::kBroken);
  if (!file) return file.error();
  return open(std::move(*file), path);
}

Result<RawReader> RawReader::open(UniqueFd file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errno_error("cannot look at " + path.string(), errno);
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  RawReader reader(std::move(file), path, static_cast<std::uint64_t>(status.st_size));
  if (auto done = reader.read_header(); !done) return done.error();
  return reader;
}

Result<void> RawReader::read_header() {
  auto whole = fill(sizeof(header_));
  if (!whole) return whole.error();
  std::memcpy(&header_, buffer_.data(), std::min(available(), sizeof(header_)));
  constexpr std::string_view kDatabase = "SQLite format 3";
  if (size_ == 0) return Error{path_.string() + " is empty", "give a file made by `uscope record --keep-raw`"};
  if (available() > kDatabase.size() && std::memcmp(buffer_.data(), kDatabase.data(), kDatabase.size()) == 0)
    return Error{path_.string() + " is a database, no raw trace: it needs no loading",
                 "read it: uscope report " + shell_quoted(path_.string())};
  if (available() < offsetof(usc_raw_header, start_ns) || header_.magic != USC_RAW_MAGIC)
    return Error{path_.string() + " is not a raw trace of uscope", "give a file made by `uscope record --keep-raw`"};
  if (header_.record_abi < USC_RECORD_ABI_OLDEST || header_.record_abi > USC_RECORD_ABI)
    return Error{fmt::format("{} holds records of version {}, this uscope reads versions {} to {}", path_.string(),
                             header_.record_abi, USC_RECORD_ABI_OLDEST, USC_RECORD_ABI),
                 header_.record_abi < USC_RECORD_ABI_OLDEST
                     ? "load it with uscope " USC_RECORD_ABI_READER ", which reads it; this uscope reads the database"
                     : "load it with the uscope that recorded it, which is a later one"};
  if (available() < sizeof(header_) || header_.header_size < sizeof(header_) || header_.header_size % 8 != 0 ||
      header_.header_size > kBufferBytes / 2 || header_.cpus == 0 || header_.cpus > kMostCpus)
    return Error{fmt::format("{} has a damaged header: its length is {}, for {} CPUs", path_.string(),
                             header_.header_size, header_.cpus),
                 "nothing can be read from it"};
  rewind();
  return {};
}

void RawReader::rewind() {
  base_ = std::min<std::uint64_t>(header_.header_size, size_);
  start_ = end_ = 0;
  at_end_ = false;
  last_time_ = header_.start_ns;
  damage_ = {};
}

// True: at least `bytes` are available from start_ on; false: fewer are left in the file.
Result<bool> RawReader::fill(std::size_t bytes) {
  if (available() >= bytes) return true;
  if (at_end_) return false;  // asked for each of the last records: nothing is moved for them
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(start_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  base_ += start_;
  end_ -= start_;
  start_ = 0;
  while (end_ < buffer_.size()) {
    const ssize_t count =
        ::pread(file_.get(), buffer_.data() + end_, buffer_.size() - end_, static_cast<off_t>(base_ + end_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error(fmt::format("cannot read {} at {}", path_.string(), base_ + end_), errno);
    at_end_ = count == 0;
    if (at_end_) break;
    end_ += static_cast<std::size_t>(count);
  }
  // A file that grows or shrinks meanwhile: what pread gave is the truth.
  size_ = std::max(size_, base_ + end_);
  if (end_ < buffer_.size()) size_ = base_ + end_;
  return available() >= bytes;
}

usc_record RawReader::head_at(std::size_t from_start) const {
  usc_record head{};
  std::memcpy(&head, buffer_.data() + start_ + from_start, sizeof(head));
  return head;
}

// Whether a plausible head is there, and all its bytes.
bool RawReader::head_fits(std::size_t from_start) const {
  if (available() < from_start + sizeof(usc_record)) return false;
  const usc_record head = head_at(from_start);
  return plausible_head(head, header_.cpus) && available() - from_start >= head.size;
}

RawRecord RawReader::view(std::size_t from_start) const {
  RawRecord record;
  record.head = head_at(from_start);
  record.bytes = {buffer_.data() + start_ + from_start, record.head.size};
  record.offset = base_ + start_ + from_start;
  return record;
}

// Stricter than what is asked of a record in an unbroken chain.
bool RawReader::looks_like_record(std::size_t from_start) const {
  if (!head_fits(from_start)) return false;
  const RawRecord record = view(from_start);
  if (check_record(record) != RecordCheck::kWhole || needed_bytes(record) != record.bytes.size()) return false;
  const std::uint64_t time = record.head.time;
  const std::uint64_t earliest = header_.start_ns - std::min<std::uint64_t>(header_.start_ns, kNanosecondsPerDay);
  return (time >= earliest && time <= last_time_ + kNanosecondsPerDay) ||
         (time == 0 && record.head.cpu == USC_CPU_USER);
}

// Why the record at the present position cannot be believed.
std::string RawReader::damage_reason() const {
  if (available() < sizeof(usc_record))
    return fmt::format("the file ends within the head of a record: {} of {}", plural(available(), "byte"),
                       sizeof(usc_record));
  const usc_record head = head_at(0);
  std::string reason = implausible_because(head, header_.cpus);
  if (!reason.empty()) return reason;
  if (available() < head.size)
    return fmt::format("the file ends within a record of type {}: {} of {}", head.type, plural(available(), "byte"),
                       head.size);
  if (check_record(view(0)) == RecordCheck::kDamaged)
    return fmt::format("the contents of a record of type {} do not fit into its {}, or are not those of this type",
                       head.type, plural(head.size, "byte"));
  return fmt::format("no record follows a record of type {} that is {} long, and its contents need another length",
                     head.type, plural(head.size, "byte"));
}

// From `offset` to the present position.
void RawReader::report_gap(std::uint64_t offset, bool damaged, std::string reason) const {
  if (gap_handler_) gap_handler_({offset, position() - offset, damaged, std::move(reason)});
}

// Moves to the next place that looks like two records in a row, or to the end.
Result<void> RawReader::resynchronise() {
  damage_.regions++;
  const std::uint64_t from = position();
  std::string reason = gap_handler_ ? damage_reason() : "";
  for (std::size_t step = 8;; step = 8) {
    auto more = fill(step + 2 * std::size_t{kMaxRecordBytes});
    if (!more) return more.error();
    if (available() < step + sizeof(usc_record)) {
      damage_.tail_bytes += base_ + end_ - from;
      start_ = end_;
      break;
    }
    start_ += step;
    if (!looks_like_record(0)) continue;
    const std::size_t next = head_at(0).size;
    if (available() == next || looks_like_record(next)) break;
  }
  damage_.skipped_bytes += position() - from;
  report_gap(from, true, std::move(reason));
  return {};
}

// Whether a head, or the end, follows.
bool RawReader::chain_holds(const RawRecord& record) const {
  const std::size_t next = record.bytes.size();
  return available() == next ||
         (available() >= next + sizeof(usc_record) && plausible_head(head_at(next), header_.cpus));
}

Result<bool> RawReader::next(RawRecord& record) {
  for (;;) {
    auto more = fill(kMaxRecordBytes + sizeof(usc_record));
    if (!more) return more.error();
    if (available() == 0) return false;
    if (head_fits(0)) {
      record = view(0);
      const RecordCheck check = check_record(record);
      const bool is_whole = check == RecordCheck::kWhole;
      if (check != RecordCheck::kDamaged &&
          (chain_holds(record) || (is_whole && needed_bytes(record) == record.bytes.size()))) {
        last_time_ = std::max(last_time_, std::min<std::uint64_t>(record.head.time, last_time_ + kNanosecondsPerDay));
        start_ += record.bytes.size();
        if (is_whole) return true;
        damage_.unknown++;
        report_gap(record.offset, false, gap_handler_ ? unknown_because(record) : "");
        continue;
      }
    }
    if (auto done = resynchronise(); !done) return done.error();
  }
}

Result<RawRecord> RawReader::at(std::uint64_t offset, std::vector<std::byte>& storage) const {
  const auto read = [&](std::size_t bytes) {
    storage.resize(bytes);
    return ::pread(file_.get(), storage.data(), bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  };
  RawRecord record;
  record.offset = offset;
  if (read(sizeof(usc_record))) {
    std::memcpy(&record.head, storage.data(), sizeof(usc_record));
    if (plausible_head(record.head, header_.cpus) && read(record.head.size)) {
      record.bytes = storage;
      if (check_record(record) == RecordCheck::kWhole) return record;
    }
  }
  return Error{fmt::format("cannot read {} at {} again: it has changed meanwhile", path_.string(), offset),
               "load a file that nobody writes to"};
}

}  // namespace uscope::trace

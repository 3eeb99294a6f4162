// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One record of a raw trace as it lies in the file, and what can be taken out of it. The layouts are those of
// include/uscope/record.h; nothing here trusts a length before check_record() has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "uscope/record.h"

namespace uscope::trace {

// The longest record that a reader believes in. Only a usc_sample can be longer, and no usc_sample is written.
constexpr std::uint32_t kMaxRecordBytes = 1U << 18;

// A view of a record's bytes. They stay the reader's and are valid until it moves on.
struct RawRecord {
  usc_record head{};
  std::span<const std::byte> bytes;  // head included
  std::uint64_t offset = 0;          // in the file

  // The fixed part of a record whose type is known and checked.
  template <typename Record>
  [[nodiscard]] Record as() const {
    Record record{};
    std::memcpy(static_cast<void*>(&record), bytes.data(), sizeof(Record));
    return record;
  }

  // Bytes behind the fixed part of Record, cut to what there is.
  template <typename Record>
  [[nodiscard]] std::string_view data(std::size_t skip, std::size_t count) const {
    const std::size_t start = sizeof(Record) + skip;
    if (start >= bytes.size()) return {};
    const std::size_t there = bytes.size() - start;
    return {reinterpret_cast<const char*>(bytes.data()) + start, count < there ? count : there};
  }
};

enum class RecordCheck {
  kWhole,    // of a known type; every length in it is inside it
  kUnknown,  // of a type, or an event of a source, that this reader does not know
  kDamaged,
};

// Whether `record` (head and bytes set, bytes.size() == head.size) can be read as what its type says.
[[nodiscard]] RecordCheck check_record(const RawRecord& record);

// Bytes that a record of this type with these inner lengths needs, rounded up to 8. Asked of whole records only.
[[nodiscard]] std::size_t needed_bytes(const RawRecord& record);

// Whether a head can be one at all: length, processor, type.
[[nodiscard]] bool plausible_head(const usc_record& head, std::uint32_t cpus);

// Says what is wrong with a head that cannot be one; empty for a plausible head.
[[nodiscard]] std::string implausible_because(const usc_record& head, std::uint32_t cpus);

// Says what makes a record RecordCheck::kUnknown.
[[nodiscard]] std::string unknown_because(const RawRecord& record);

// Text in a fixed field, up to its NUL.
[[nodiscard]] std::string_view fixed_text(const char* text, std::size_t bytes);

// Key and value of a usc_meta; false where its NULs are missing.
[[nodiscard]] bool meta_of(const RawRecord& record, std::string_view& key, std::string_view& value);

// The texts that are ended by NULs, one behind the other: argument lists, path components.
[[nodiscard]] std::vector<std::string_view> split_nul(std::string_view bytes);

// What follows the fixed part of a usc_file_info.
struct FileInfoTail {
  std::vector<usc_segment> segments;
  std::string_view build_id;
  std::string_view path;
  std::string_view trouble;
};
[[nodiscard]] FileInfoTail file_info_tail(const RawRecord& record);

// The source of a usc_event, usc_logged or usc_log_kind.
[[nodiscard]] std::uint8_t source_of(const RawRecord& record);

// The frames of a usc_stack, innermost first.
void frames_of(const RawRecord& record, std::vector<std::uint64_t>& frames);

// The path whose components are given, innermost first, each ended by NUL: "/usr/lib/libc.so.6"; empty for none.
[[nodiscard]] std::string joined_path(std::string_view components);

// The path of a usc_file, put together from its components: "/usr/lib/libc.so.6"; "…/a/b" where it is truncated.
[[nodiscard]] std::string file_path_of(const RawRecord& record);

// The path of a usc_cgroup in its hierarchy: "/system.slice/docker-….scope"; "/" for the root.
[[nodiscard]] std::string cgroup_path_of(const RawRecord& record);

}  // namespace uscope::trace

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/raw_record.h"

#include <fmt/core.h>

#include <algorithm>

#include "support/text.h"
#include "trace/record_type.h"

namespace uscope::trace {
namespace {

constexpr std::uint16_t kTypesToCome = 0x1000;

bool has_source(std::uint16_t type) {
  return type == USC_RECORD_EVENT || type == USC_RECORD_LOGGED || type == USC_RECORD_LOG_KIND ||
         type == USC_RECORD_HIT || type == USC_RECORD_KIND;
}

// A later version may write frames of a kind that this one cannot name.
bool has_unknown_frame(const RawRecord& record) {
  std::vector<std::uint64_t> frames;
  frames_of(record, frames);
  return std::any_of(frames.begin(), frames.end(),
                     [](std::uint64_t frame) { return usc_frame_kind(frame) >= USC_FRAME_IN_CODE; });
}

}  // namespace

std::uint8_t source_of(const RawRecord& record) {
  if (record.head.type == USC_RECORD_EVENT) return record.as<usc_event>().source;
  if (record.head.type == USC_RECORD_HIT) return record.as<usc_hit>().source;
  if (record.head.type == USC_RECORD_KIND) return record.as<usc_kind>().source;
  if (record.head.type == USC_RECORD_SIGNAL) return USC_SOURCE_SIGNAL;
  return record.head.type == USC_RECORD_LOGGED ? record.as<usc_logged>().source : record.as<usc_log_kind>().source;
}

RecordCheck check_record(const RawRecord& record) {
  const RecordType* const type = record_type(record.head.type);
  if (type == nullptr) return RecordCheck::kUnknown;
  if (record.bytes.size() < type->fixed_bytes) return RecordCheck::kDamaged;
  if (type->fixed_bytes + type->tail_bytes(record.bytes) > record.bytes.size() || !type->values_hold(record.bytes))
    return RecordCheck::kDamaged;
  if (has_source(record.head.type) && source_of(record) >= USC_SOURCE_COUNT) return RecordCheck::kUnknown;
  if (record.head.type == USC_RECORD_STACK && has_unknown_frame(record)) return RecordCheck::kUnknown;
  return RecordCheck::kWhole;
}

std::size_t needed_bytes(const RawRecord& record) {
  const RecordType* const type = record_type(record.head.type);
  return type == nullptr ? 0 : padded(type->fixed_bytes + type->tail_bytes(record.bytes));
}

bool plausible_head(const usc_record& head, std::uint32_t cpus) {
  return head.size >= sizeof(usc_record) && head.size <= kMaxRecordBytes && head.size % 8 == 0 && head.type != 0 &&
         head.type < kTypesToCome && (head.cpu < cpus || head.cpu == USC_CPU_USER);
}

std::string implausible_because(const usc_record& head, std::uint32_t cpus) {
  if (plausible_head(head, cpus)) return "";
  if (head.size < sizeof(usc_record)) return fmt::format("the length {} is less than that of a head", head.size);
  if (head.size > kMaxRecordBytes) return fmt::format("no record is as long as {} bytes", head.size);
  if (head.size % 8 != 0) return fmt::format("the length {} is not a multiple of 8", head.size);
  if (head.type == 0 || head.type >= kTypesToCome) return fmt::format("{} is not a type of records", head.type);
  return fmt::format("the trace has no CPU {}: it is of {}", head.cpu, plural(cpus, "CPU"));
}

std::string unknown_because(const RawRecord& record) {
  const usc_record& head = record.head;
  if (record_type(head.type) == nullptr) return fmt::format("a record of the unknown type {}", head.type);
  if (head.type == USC_RECORD_STACK) return "a stack with a frame of an unknown kind";
  return fmt::format("a record of type {} whose source, {}, is unknown", head.type, source_of(record));
}

std::string_view fixed_text(const char* text, std::size_t bytes) {
  return {text, static_cast<std::size_t>(std::find(text, text + bytes, '\0') - text)};
}

bool meta_of(const RawRecord& record, std::string_view& key, std::string_view& value) {
  return split_meta(record.data<usc_meta>(0, record.bytes.size()), key, value);
}

std::vector<std::string_view> split_nul(std::string_view bytes) {
  std::vector<std::string_view> texts;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\0'), bytes.size());
    texts.push_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return texts;
}

FileInfoTail file_info_tail(const RawRecord& record) {
  const auto info = record.as<usc_file_info>();
  FileInfoTail tail;
  tail.segments.resize(info.segments);
  std::size_t at = info.segments * sizeof(usc_segment);
  const auto segments = record.data<usc_file_info>(0, at);
  if (!tail.segments.empty()) std::memcpy(tail.segments.data(), segments.data(), segments.size());
  const auto next = [&](std::size_t bytes) {
    const std::string_view text = record.data<usc_file_info>(at, bytes);
    at += bytes;
    return text;
  };
  tail.build_id = next(info.build_id_bytes);
  tail.path = next(info.path_bytes);
  tail.trouble = next(info.trouble_bytes);
  return tail;
}

void frames_of(const RawRecord& record, std::vector<std::uint64_t>& frames) {
  frames.resize(record.as<usc_stack>().depth);
  const auto bytes = record.data<usc_stack>(0, frames.size() * sizeof(std::uint64_t));
  if (!frames.empty()) std::memcpy(frames.data(), bytes.data(), bytes.size());
}

std::string joined_path(std::string_view components) {
  std::vector<std::string_view> parts = split_nul(components);
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "/"; });
  std::string path;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) path.append("/").append(*part);
  return path;
}

std::string cgroup_path_of(const RawRecord& record) {
  const auto cgroup = record.as<usc_cgroup>();
  const std::string path = joined_path(record.data<usc_cgroup>(0, cgroup.path_bytes));
  return (cgroup.truncated != 0 ? "…" : "") + (path.empty() ? "/" : path);
}

std::string file_path_of(const RawRecord& record) {
  const auto file = record.as<usc_file>();
  return (file.truncated ? "…" : "") + joined_path(record.data<usc_file>(0, file.path_bytes));
}

}  // namespace uscope::trace

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/raw_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "support/byte_reader.h"
#include "support/text.h"

namespace uscope::trace {
namespace {

// Bytes of the fixed part, by type; 0 = not a type.
constexpr std::array kFixedBytes = [] {
  std::array<std::uint16_t, 32> bytes{};
#define USC_X(constant, number, name, type) bytes[number] = sizeof(type);
#include "uscope/lists/record_type.def"
#undef USC_X
  return bytes;
}();

constexpr std::uint16_t kTypesToCome = 0x1000;

constexpr std::size_t round_up(std::size_t bytes) {
  return (bytes + 7) & ~std::size_t{7};
}

// Bytes behind the fixed part, as the record's own lengths say.
std::size_t variable_bytes(const RawRecord& record) {
  switch (record.head.type) {
    case USC_RECORD_STACK:
      return record.as<usc_stack>().depth * sizeof(std::uint64_t);
    case USC_RECORD_EXEC: {
      const auto exec = record.as<usc_exec>();
      return std::size_t{exec.path_bytes} + exec.argv_bytes;
    }
    case USC_RECORD_FILE:
      return record.as<usc_file>().path_bytes;
    case USC_RECORD_FILE_INFO: {
      const auto info = record.as<usc_file_info>();
      return info.segments * sizeof(usc_segment) + info.build_id_bytes + info.path_bytes + info.trouble_bytes;
    }
    case USC_RECORD_LOGGED:
      return record.as<usc_logged>().places * sizeof(std::uint32_t);
    case USC_RECORD_KERNEL_PLACE:
      return record.as<usc_kernel_place>().text_bytes;
    case USC_RECORD_LOG_KIND:
      return record.as<usc_log_kind>().name_bytes;
    case USC_RECORD_JIT_NAME:
      return record.as<usc_jit_name>().name_bytes;
    case USC_RECORD_STRING:
      return record.as<usc_string>().bytes;
    case USC_RECORD_FUTEX:
      return record.as<usc_futex>().bytes;
    case USC_RECORD_FD:
      return record.as<usc_fd>().target_bytes;
    case USC_RECORD_SAMPLE:
      return record.as<usc_sample>().bytes;
    case USC_RECORD_META: {
      std::string_view key;
      std::string_view value;
      return meta_of(record, key, value) ? key.size() + value.size() + 2 : 2;
    }
    default:
      return 0;
  }
}

// No byte more than its own lengths say: nothing reads these types yet, and another record must not pass as one.
bool is_exact(const RawRecord& record) {
  return round_up(kFixedBytes[record.head.type] + variable_bytes(record)) == record.bytes.size();
}

bool values_hold(const RawRecord& record) {
  if (record.head.type == USC_RECORD_EVENT) {
    const auto event = record.as<usc_event>();
    return event.how < USC_HOW_COUNT && event.how != USC_HOW_LOGGED && event.source != USC_SOURCE_LOGGED;
  }
  if (record.head.type == USC_RECORD_META) {
    std::string_view key;
    std::string_view value;
    return meta_of(record, key, value);
  }
  if (record.head.type == USC_RECORD_LOGGED) {
    const auto logged = record.as<usc_logged>();
    return logged.values <= USC_LOGGED_VALUES && logged.places <= USC_KERNEL_FRAMES && is_exact(record);
  }
  if (record.head.type == USC_RECORD_STRING) {
    const auto string = record.as<usc_string>();
    return string.arg < 6 && string.kind != USC_STRING_NONE && is_exact(record);
  }
  if (record.head.type == USC_RECORD_FUTEX) return record.as<usc_futex>().bytes <= USC_FUTEX_WORDS && is_exact(record);
  if (record.head.type == USC_RECORD_FD) return is_exact(record);
  if (record.head.type == USC_RECORD_LOG_KIND) {
    const auto named = record.as<usc_log_kind>();
    return (named.kind & USC_KIND_NAMED) != 0 && named.name_bytes > 0 && named.name_bytes <= USC_KIND_NAME_BYTES &&
           is_exact(record);
  }
  if (record.head.type == USC_RECORD_KERNEL_PLACE) return record.as<usc_kernel_place>().place != 0 && is_exact(record);
  return record.head.type != USC_RECORD_STACK || record.as<usc_stack>().depth <= USC_MAX_FRAMES;
}

bool has_source(std::uint16_t type) {
  return type == USC_RECORD_EVENT || type == USC_RECORD_LOGGED || type == USC_RECORD_LOG_KIND;
}

}  // namespace

std::uint8_t source_of(const RawRecord& record) {
  if (record.head.type == USC_RECORD_EVENT) return record.as<usc_event>().source;
  const std::uint8_t source =
      record.head.type == USC_RECORD_LOGGED ? record.as<usc_logged>().source : record.as<usc_log_kind>().source;
  return source == USC_SOURCE_SYSCALL ? std::uint8_t{USC_SOURCE_LOGGED} : source;  // version 4 of the records has 0
}

RecordCheck check_record(const RawRecord& record) {
  const std::size_t fixed = record.head.type < kFixedBytes.size() ? kFixedBytes[record.head.type] : 0;
  if (fixed == 0) return RecordCheck::kUnknown;
  if (record.bytes.size() < fixed) return RecordCheck::kDamaged;
  if (fixed + variable_bytes(record) > record.bytes.size() || !values_hold(record)) return RecordCheck::kDamaged;
  if (has_source(record.head.type) && source_of(record) >= USC_SOURCE_COUNT) return RecordCheck::kUnknown;
  return RecordCheck::kWhole;
}

std::size_t needed_bytes(const RawRecord& record) {
  return round_up(kFixedBytes[record.head.type] + variable_bytes(record));
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
  if (head.type >= kFixedBytes.size() || kFixedBytes[head.type] == 0)
    return fmt::format("a record of the unknown type {}", head.type);
  return fmt::format("a record of type {} whose source, {}, is unknown", head.type, source_of(record));
}

std::string_view fixed_text(const char* text, std::size_t bytes) {
  return {text, static_cast<std::size_t>(std::find(text, text + bytes, '\0') - text)};
}

bool meta_of(const RawRecord& record, std::string_view& key, std::string_view& value) {
  ByteReader in(record.bytes);
  in.bytes(sizeof(usc_meta));
  const std::string_view first = in.c_string();
  const std::string_view second = in.c_string();
  if (!in.ok()) return false;
  key = first;
  value = second;
  return true;
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

std::string file_path_of(const RawRecord& record) {
  const auto file = record.as<usc_file>();
  std::vector<std::string_view> components = split_nul(record.data<usc_file>(0, file.path_bytes));
  std::erase_if(components, [](std::string_view component) { return component.empty() || component == "/"; });
  std::string path = file.truncated ? "…" : "";
  for (auto component = components.rbegin(); component != components.rend(); ++component) {
    path += '/';
    path += *component;
  }
  return path;
}

}  // namespace uscope::trace

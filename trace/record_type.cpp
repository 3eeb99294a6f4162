// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/record_type.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "support/byte_reader.h"
#include "trace/hit.h"
#include "trace/string_kind.h"

namespace uscope::trace {
namespace {

// Bytes behind the fixed part, as the lengths in the fixed part say. `tail` is what is there.
template <typename Record>
std::size_t tail_bytes(const Record& /*record*/, std::string_view /*tail*/) {
  return 0;
}
std::size_t tail_bytes(const usc_stack& stack, std::string_view /*tail*/) {
  return stack.depth * sizeof(std::uint64_t);
}
std::size_t tail_bytes(const usc_exec& exec, std::string_view /*tail*/) {
  return std::size_t{exec.path_bytes} + exec.argv_bytes;
}
std::size_t tail_bytes(const usc_file& file, std::string_view /*tail*/) {
  return file.path_bytes;
}
std::size_t tail_bytes(const usc_cgroup& cgroup, std::string_view /*tail*/) {
  return cgroup.path_bytes;
}
std::size_t tail_bytes(const usc_file_info& info, std::string_view /*tail*/) {
  return info.segments * sizeof(usc_segment) + info.build_id_bytes + info.path_bytes + info.trouble_bytes;
}
std::size_t tail_bytes(const usc_sample& sample, std::string_view /*tail*/) {
  return sample.bytes;
}
std::size_t tail_bytes(const usc_meta& /*meta*/, std::string_view tail) {
  std::string_view key;
  std::string_view value;
  return split_meta(tail, key, value) ? key.size() + value.size() + 2 : 2;
}
std::size_t tail_bytes(const usc_jit_name& name, std::string_view /*tail*/) {
  return name.name_bytes;
}
std::size_t tail_bytes(const usc_logged& logged, std::string_view /*tail*/) {
  return logged.places * sizeof(std::uint32_t);
}
std::size_t tail_bytes(const usc_hit& hit, std::string_view /*tail*/) {
  return hit.frames * ((hit.flags & USC_HIT_ADDRESSES) != 0 ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
}
std::size_t tail_bytes(const usc_kind& kind, std::string_view /*tail*/) {
  return kind.text_bytes;
}
std::size_t tail_bytes(const usc_kernel_place& place, std::string_view /*tail*/) {
  return place.text_bytes;
}
std::size_t tail_bytes(const usc_log_kind& kind, std::string_view /*tail*/) {
  return kind.name_bytes;
}
std::size_t tail_bytes(const usc_string& string, std::string_view /*tail*/) {
  return string.bytes;
}
std::size_t tail_bytes(const usc_fd& descriptor, std::string_view /*tail*/) {
  return descriptor.target_bytes + ((descriptor.flags & USC_FD_FILE) != 0 ? sizeof(usc_fd_file) : 0);
}
std::size_t tail_bytes(const usc_futex& futex, std::string_view /*tail*/) {
  return futex.bytes;
}
std::size_t tail_bytes(const usc_resource& resource, std::string_view /*tail*/) {
  return resource.name_bytes;
}
std::size_t tail_bytes(const usc_monitor& monitor, std::string_view /*tail*/) {
  return std::size_t{monitor.class_bytes} + monitor.thread_bytes;
}
std::size_t tail_bytes(const usc_look_trouble& trouble, std::string_view /*tail*/) {
  return trouble.text_bytes;
}

// No byte more than its own lengths say: nothing reads these types yet, and another record must not pass as one.
template <typename Record>
bool is_exact(const Record& record, std::string_view tail) {
  return padded(sizeof(Record) + tail_bytes(record, tail)) == sizeof(Record) + tail.size();
}

// Whether a usc_hit tells of its events. A source that this version does not know may have other records.
bool has_hits(std::uint8_t source) {
  return source < USC_SOURCE_COUNT && is_of_probes(source);
}

template <typename Record>
bool values_hold(const Record& /*record*/, std::string_view /*tail*/) {
  return true;
}
bool values_hold(const usc_event& event, std::string_view /*tail*/) {
  const bool is_moment = event.how == USC_HOW_LOGGED || event.how == USC_HOW_SENT || event.how == USC_HOW_DELIVERED ||
                         event.how == USC_HOW_HIT || event.how == USC_HOW_LEFT;
  return event.how < USC_HOW_COUNT && !is_moment && event.source != USC_SOURCE_LOGGED &&
         event.source != USC_SOURCE_SIGNAL && !has_hits(event.source);
}
bool values_hold(const usc_hit& hit, std::string_view tail) {
  return (hit.how == USC_HOW_HIT || hit.how == USC_HOW_RETURNED || hit.how == USC_HOW_OPEN ||
          hit.how == USC_HOW_LEFT) &&
         is_of_probes(hit.source) && hit.frames <= USC_KERNEL_FRAMES && is_exact(hit, tail);
}
bool values_hold(const usc_kind& kind, std::string_view tail) {
  // The name, and each argument, with its NUL.
  const std::string_view text = tail.substr(0, std::min<std::size_t>(kind.text_bytes, tail.size()));
  return is_of_probes(kind.source) && kind.args <= USC_LOGGED_VALUES && kind.text_bytes <= USC_KIND_TEXT_BYTES &&
         std::count(text.begin(), text.end(), '\0') == kind.args + 1 && text.back() == '\0' && text.front() != '\0' &&
         is_exact(kind, tail);
}
bool values_hold(const usc_stack& stack, std::string_view /*tail*/) {
  return stack.depth <= USC_MAX_FRAMES;
}
bool values_hold(const usc_meta& /*meta*/, std::string_view tail) {
  std::string_view key;
  std::string_view value;
  return split_meta(tail, key, value);
}
bool values_hold(const usc_logged& logged, std::string_view tail) {
  return logged.source != USC_SOURCE_SIGNAL && !has_hits(logged.source) && logged.values <= USC_LOGGED_VALUES &&
         logged.places <= USC_KERNEL_FRAMES && is_exact(logged, tail);
}
bool values_hold(const usc_kernel_place& place, std::string_view tail) {
  return place.place != 0 && is_exact(place, tail);
}
bool values_hold(const usc_log_kind& named, std::string_view tail) {
  return named.source != USC_SOURCE_SIGNAL && !has_hits(named.source) && (named.kind & USC_KIND_NAMED) != 0 &&
         named.name_bytes > 0 && named.name_bytes <= USC_KIND_NAME_BYTES && is_exact(named, tail);
}
bool values_hold(const usc_string& string, std::string_view tail) {
  const StringHolds holds = string_holds(string.kind);
  const std::size_t least = holds == StringHolds::VECTOR                                       ? sizeof(usc_vector)
                            : holds == StringHolds::DESCRIPTOR || holds == StringHolds::OPENED ? sizeof(usc_passed)
                                                                                               : 0;
  return string.arg < USC_STRING_ARGS && string.kind != USC_STRING_NONE && string.bytes >= least &&
         is_exact(string, tail);
}
bool values_hold(const usc_cgroup& cgroup, std::string_view tail) {
  return cgroup.cgroup != 0 && cgroup.truncated <= 1 && is_exact(cgroup, tail);
}
bool values_hold(const usc_fd& descriptor, std::string_view tail) {
  return is_exact(descriptor, tail);
}
bool values_hold(const usc_futex& futex, std::string_view tail) {
  return futex.bytes <= USC_FUTEX_WORDS && is_exact(futex, tail);
}

bool values_hold(const usc_signal& signal, std::string_view tail) {
  constexpr unsigned kLastSignal = 64;
  return signal.number != 0 && signal.number <= kLastSignal && signal.result < USC_SIGNAL_RESULT_COUNT &&
         is_exact(signal, tail);
}
bool values_hold(const usc_thread_look& thread, std::string_view /*tail*/) {
  return thread.state < USC_THREAD_STATES && thread.timed <= USC_TIMED_UNKNOWN;
}
bool values_hold(const usc_waited& waited, std::string_view /*tail*/) {
  return waited.what < USC_WAITED_KINDS && waited.wants < USC_WANTS_KINDS;
}
bool values_hold(const usc_resource& resource, std::string_view tail) {
  return resource.type < USC_RESOURCE_TYPES && resource.access >= USC_ACCESS_READ &&
         resource.access <= (USC_ACCESS_READ | USC_ACCESS_WRITE) && resource.at <= USC_RESOURCE_AT_LOOK &&
         is_exact(resource, tail);
}
bool values_hold(const usc_held_lock& lock, std::string_view /*tail*/) {
  return lock.kind < USC_LOCK_KINDS && lock.mode <= USC_LOCK_WRITE;
}
bool values_hold(const usc_monitor& monitor, std::string_view tail) {
  return monitor.what < USC_MONITOR_KINDS && is_exact(monitor, tail);
}
bool values_hold(const usc_look_trouble& trouble, std::string_view tail) {
  return trouble.text_bytes != 0 && is_exact(trouble, tail);
}

// A copy of the fixed part, which may lie anywhere.
template <typename Record>
Record fixed_part(std::span<const std::byte> bytes) {
  Record record{};
  std::memcpy(static_cast<void*>(&record), bytes.data(), sizeof(Record));
  return record;
}

template <typename Record>
std::string_view behind(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()) + sizeof(Record), bytes.size() - sizeof(Record)};
}

template <typename Record>
constexpr RecordType describe_record(std::string_view name) {
  return {
      name, sizeof(Record),
      [](std::span<const std::byte> bytes) { return tail_bytes(fixed_part<Record>(bytes), behind<Record>(bytes)); },
      [](std::span<const std::byte> bytes) { return values_hold(fixed_part<Record>(bytes), behind<Record>(bytes)); }};
}

constexpr std::array kRecordTypes = [] {
  std::array<RecordType, kTypeNumbers> types{};
#define USC_X(constant, number, name, type) types[number] = describe_record<type>(name);
#include "uscope/lists/record_type.def"
#undef USC_X
  return types;
}();

}  // namespace

const RecordType* record_type(std::uint16_t number) {
  return number < kRecordTypes.size() && kRecordTypes[number].fixed_bytes != 0 ? &kRecordTypes[number] : nullptr;
}

std::span<const __u64> frames_of(const usc_stack& stack) {
  return {stack.frames, std::min<std::size_t>(stack.depth, tail_of(stack).size() / sizeof(__u64))};
}

bool split_meta(std::string_view tail, std::string_view& key, std::string_view& value) {
  ByteReader in(std::as_bytes(std::span(tail)));
  const std::string_view first = in.c_string();
  const std::string_view second = in.c_string();
  if (!in.ok()) return false;
  key = first;
  value = second;
  return true;
}

}  // namespace uscope::trace

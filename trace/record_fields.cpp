// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/record_fields.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "support/text.h"
#include "trace/argument_list.h"
#include "trace/loss_class.h"
#include "trace/names.h"
#include "trace/record_type.h"
#include "trace/string_kind.h"

namespace uscope::trace {
namespace {

enum class Form : std::uint8_t { NUMBER, HEX, TEXT, HOW, ABI, ENDED, LOSS, SOURCE, STATE, PAD };

struct FieldInfo {
  std::uint16_t type;
  std::string_view name;
  std::uint16_t offset;
  std::uint16_t bytes;  // of one element
  std::uint16_t count;  // of elements; 0: not an array
  bool is_signed;
  Form form;
};

template <typename Field>
constexpr FieldInfo describe_field(std::uint16_t type, std::string_view name, std::size_t offset, Form form) {
  using Element = std::remove_all_extents_t<Field>;
  return {type,
          name,
          static_cast<std::uint16_t>(offset),
          static_cast<std::uint16_t>(sizeof(Element)),
          static_cast<std::uint16_t>(std::extent_v<Field>),
          std::is_signed_v<Element>,
          form};
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type and a field cannot be in parentheses
constexpr FieldInfo kFields[] = {
#define USC_X(record, field, form)                                                  \
  describe_field<std::remove_reference_t<decltype(std::declval<record&>().field)>>( \
      kTypeOf<record>, #field, offsetof(record, field), Form::form),
#include "uscope/lists/record_field.def"
#undef USC_X
};
// NOLINTEND(bugprone-macro-parentheses)

std::uint64_t read_number(const std::byte* at, std::size_t bytes, bool is_signed) {
  std::uint64_t number = 0;
  std::memcpy(&number, at, bytes);  // x86-64 is little-endian
  if (is_signed && bytes < sizeof(number) && (number >> (8 * bytes - 1) & 1) != 0)
    number |= ~std::uint64_t{0} << 8 * bytes;
  return number;
}

// The number's name, or the number where this version knows none.
RecordValue named(std::string_view name, std::uint64_t number) {
  if (name.empty()) return number;
  return std::string(name);
}

RecordValue value_of(const FieldInfo& field, const std::byte* at) {
  const std::uint64_t number = read_number(at, field.bytes, field.is_signed);
  const auto small = static_cast<std::uint32_t>(number);
  switch (field.form) {
    case Form::HEX:
      return HexNumber{number};
    case Form::HOW:
      return named(how_name(small), number);
    case Form::ABI:
      return named(abi_name(small), number);
    case Form::ENDED:
      return ended_name(static_cast<std::uint32_t>(number));
    case Form::LOSS:
      return named(loss_name(small), number);
    case Form::STATE:
      return named(file_state_name(small), number);
    default:
      break;
  }
  if (field.is_signed) return static_cast<std::int64_t>(number);
  return number;
}

RecordField read_field(const FieldInfo& field, const RawRecord& record) {
  const std::byte* at = record.bytes.data() + field.offset;
  if (field.form == Form::TEXT)
    return {std::string(field.name), {std::string(fixed_text(reinterpret_cast<const char*>(at), field.count))}};
  if (field.form == Form::SOURCE) {
    const std::uint8_t source = source_of(record);
    return {std::string(field.name), {named(source_name(source), source)}};
  }
  RecordField out{std::string(field.name), {}, field.count != 0};
  const std::size_t count = field.count ? field.count : 1;
  for (std::size_t i = 0; i < count; i++) out.values.push_back(value_of(field, at + i * field.bytes));
  return out;
}

// Builds the fields of what follows the fixed part.
class Tail {
 public:
  Tail(const RawRecord& record, std::vector<RecordField>& fields) : record_(record), fields_(fields) {}

  void text(const char* name, std::string_view bytes) { fields_.push_back({name, {std::string(bytes)}}); }
  void hex(const char* name, std::string_view bytes) { fields_.push_back({name, {hex_of(bytes)}}); }
  void list(const char* name, std::vector<RecordValue> values) { fields_.push_back({name, std::move(values), true}); }

  template <typename Record>
  [[nodiscard]] std::string_view bytes(std::size_t count, std::size_t skip = 0) const {
    return record_.data<Record>(skip, count);
  }
  [[nodiscard]] const RawRecord& record() const { return record_; }

 private:
  const RawRecord& record_;
  std::vector<RecordField>& fields_;
};

// "FILE+0xOFFSET", file 0 being memory; "!" behind it where the place is exact.
std::string frame_text(std::uint64_t frame) {
  return std::to_string(usc_frame_file(frame)) + "+" + hex_number(usc_frame_place(frame)) +
         (usc_frame_is_exact(frame) != 0 ? "!" : "");
}

void add_frames(Tail& tail) {
  std::vector<std::uint64_t> frames;
  frames_of(tail.record(), frames);
  std::vector<RecordValue> texts;
  texts.reserve(frames.size());
  for (const std::uint64_t frame : frames) texts.emplace_back(frame_text(frame));
  tail.list("frames", std::move(texts));
}

void add_exec(Tail& tail) {
  const auto exec = tail.record().as<usc_exec>();
  tail.text("path", tail.bytes<usc_exec>(exec.path_bytes));
  const ExecArguments arguments = exec_arguments(exec, tail.record().data<usc_exec>(0, std::string_view::npos));
  std::vector<RecordValue> words;
  for (const std::string_view word : split_nul(arguments.list)) words.emplace_back(std::string(word));
  tail.list("argv", std::move(words));
  if (arguments.end.empty()) return;
  std::vector<RecordValue> last;
  for (const std::string_view word : split_nul(arguments.end)) last.emplace_back(std::string(word));
  tail.list("argv_end", std::move(last));
}

void add_file_info(Tail& tail) {
  const FileInfoTail info = file_info_tail(tail.record());
  std::vector<RecordValue> segments;
  for (const usc_segment& segment : info.segments)
    segments.emplace_back(hex_number(segment.offset) + "+" + hex_number(segment.size) + " at " +
                          hex_number(segment.address));
  tail.list("segment", std::move(segments));
  tail.hex("build_id", info.build_id);
  tail.text("path", info.path);
  tail.text("trouble", info.trouble);
}

// Numbers of `size` bytes each.
std::vector<RecordValue> numbers_of(std::string_view bytes, std::size_t size) {
  std::vector<RecordValue> numbers;
  for (std::size_t i = 0; i + size <= bytes.size(); i += size)
    numbers.emplace_back(read_number(reinterpret_cast<const std::byte*>(bytes.data()) + i, size, false));
  return numbers;
}

void add_places(Tail& tail) {
  const std::size_t count = tail.record().as<usc_logged>().places;
  tail.list("place", numbers_of(tail.bytes<usc_logged>(count * sizeof(std::uint32_t)), sizeof(std::uint32_t)));
}

void add_hit_frames(Tail& tail) {
  const auto hit = tail.record().as<usc_hit>();
  const std::size_t size = (hit.flags & USC_HIT_ADDRESSES) != 0 ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
  tail.list("frame", numbers_of(tail.bytes<usc_hit>(hit.frames * size), size));
}

void add_kind(Tail& tail) {
  std::vector<RecordValue> texts;
  for (const std::string_view text : split_nul(tail.bytes<usc_kind>(tail.record().as<usc_kind>().text_bytes)))
    texts.emplace_back(std::string(text));
  tail.list("text", std::move(texts));
}

void add_descriptor(Tail& tail) {
  const auto fd = tail.record().as<usc_fd>();
  const std::size_t before = (fd.flags & USC_FD_FILE) != 0 ? sizeof(usc_fd_file) : 0;
  if (before != 0) {
    usc_fd_file file{};
    const std::string_view bytes = tail.bytes<usc_fd>(before);
    std::memcpy(static_cast<void*>(&file), bytes.data(), std::min(bytes.size(), sizeof(file)));
    tail.list("file", {file.dev, file.ino, std::uint64_t{file.space}});
  }
  tail.text("target", tail.bytes<usc_fd>(fd.target_bytes, before));
}

void add_string(Tail& tail) {
  const auto string = tail.record().as<usc_string>();
  const std::string_view bytes = tail.bytes<usc_string>(string.bytes);
  const StringHolds holds = string_holds(string.kind);
  const bool is_redacted = (string.flags & USC_STRING_REDACTED) != 0;
  const bool is_text = holds == StringHolds::TEXT || holds == StringHolds::TEXT_NUL || holds == StringHolds::DATA;
  if (is_text || (holds == StringHolds::ADDRESS && is_redacted))
    tail.text("text", bytes);
  else
    tail.hex("text", bytes);
}

void add_meta(Tail& tail) {
  std::string_view key;
  std::string_view value;
  if (!meta_of(tail.record(), key, value)) return;
  tail.text("key", key);
  tail.text("value", value);
}

void add_tail(Tail& tail) {
  const RawRecord& record = tail.record();
  switch (record.head.type) {
    case USC_RECORD_STACK:
      return add_frames(tail);
    case USC_RECORD_EXEC:
      return add_exec(tail);
    case USC_RECORD_FILE:
      return tail.text("path", file_path_of(record));
    case USC_RECORD_CGROUP:
      return tail.text("path", cgroup_path_of(record));
    case USC_RECORD_FILE_INFO:
      return add_file_info(tail);
    case USC_RECORD_SAMPLE:
      return tail.hex("data", tail.bytes<usc_sample>(record.as<usc_sample>().bytes));
    case USC_RECORD_META:
      return add_meta(tail);
    case USC_RECORD_JIT_NAME:
      return tail.text("name", tail.bytes<usc_jit_name>(record.as<usc_jit_name>().name_bytes));
    case USC_RECORD_LOGGED:
      return add_places(tail);
    case USC_RECORD_HIT:
      return add_hit_frames(tail);
    case USC_RECORD_KIND:
      return add_kind(tail);
    case USC_RECORD_KERNEL_PLACE:
      return tail.text("text", tail.bytes<usc_kernel_place>(record.as<usc_kernel_place>().text_bytes));
    case USC_RECORD_STRING:
      return add_string(tail);
    case USC_RECORD_FD:
      return add_descriptor(tail);
    case USC_RECORD_FUTEX:
      return tail.hex("words", tail.bytes<usc_futex>(record.as<usc_futex>().bytes));
    case USC_RECORD_RESOURCE:
      return tail.text("name", tail.bytes<usc_resource>(record.as<usc_resource>().name_bytes));
    case USC_RECORD_MONITOR: {
      const auto monitor = record.as<usc_monitor>();
      tail.text("class", tail.bytes<usc_monitor>(monitor.class_bytes));
      return tail.text("thread", tail.bytes<usc_monitor>(monitor.thread_bytes, monitor.class_bytes));
    }
    case USC_RECORD_LOOK_TROUBLE:
      return tail.text("text", tail.bytes<usc_look_trouble>(record.as<usc_look_trouble>().text_bytes));
    case USC_RECORD_LOG_KIND:
      return tail.text("name", tail.bytes<usc_log_kind>(record.as<usc_log_kind>().name_bytes));
    default:
      return;
  }
}

}  // namespace

std::string_view record_type_name(std::uint16_t type) {
  switch (type) {
#define USC_X(constant, number, name, type) \
  case number:                              \
    return name;
#include "uscope/lists/record_type.def"
#undef USC_X
    default:
      return "";
  }
}

std::vector<std::string> record_type_names() {
  return {
#define USC_X(constant, number, name, type) name,
#include "uscope/lists/record_type.def"
#undef USC_X
  };
}

std::vector<RecordField> fields_of(const RawRecord& record) {
  std::vector<RecordField> fields;
  for (const FieldInfo& field : kFields)
    if (field.type == record.head.type && field.form != Form::PAD) fields.push_back(read_field(field, record));
  Tail tail(record, fields);
  add_tail(tail);
  return fields;
}

}  // namespace uscope::trace

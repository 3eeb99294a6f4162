// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/string_filter.h"

#include <algorithm>
#include <cstring>

#include "support/socket_address.h"
#include "trace/argument_list.h"
#include "trace/passed_file.h"
#include "trace/record_builder.h"
#include "trace/record_type.h"
#include "trace/string_kind.h"

namespace uscope::trace {
namespace {

// Up to `bytes` of a tail, after `skip` of it.
std::string_view part_of(std::string_view tail, std::size_t skip, std::size_t bytes) {
  return skip < tail.size() ? tail.substr(skip, bytes) : std::string_view();
}

// A new record with this fixed part and tail.
template <typename Record>
const usc_record& rebuild(std::vector<char>& bytes, const Record& fixed, const std::string& tail) {
  bytes = RecordBuilder<Record>(fixed).add(tail).take();
  return *reinterpret_cast<const usc_record*>(bytes.data());
}

}  // namespace

std::string StringFilter::filter_text(const std::string& text) const {
  return redactor_.hides(text) ? std::string(kRedacted) : text;
}

const usc_record& StringFilter::filter(const usc_record& record) {
  if (redactor_.empty() && strings_) return record;
  if (record.type == USC_RECORD_STRING) return filter_string(record_as<usc_string>(record));
  if (record.type == USC_RECORD_EXEC) return filter_exec(record_as<usc_exec>(record));
  return record;
}

// The buffers of one call are compared together, as one text, and each by itself; those behind the last known length
// as if they were one. `head` is a usc_vector, `bytes` are those in the buffers.
bool StringFilter::hides_buffers(std::string_view head, std::string_view bytes, bool is_cut) const {
  if (redactor_.hides(bytes, is_cut)) return true;
  usc_vector vector{};
  std::memcpy(&vector, head.data(), std::min(head.size(), sizeof(vector)));
  for (const std::uint64_t length : vector.length) {
    const std::string_view buffer = bytes.substr(0, length);
    if (!buffer.empty() && redactor_.hides(buffer)) return true;
    bytes.remove_prefix(buffer.size());
  }
  return !bytes.empty() && redactor_.hides(bytes);
}

const usc_record& StringFilter::filter_string(const usc_string& string) {
  const StringHolds holds = string_holds(string.kind);
  if (holds == StringHolds::NUMBERS || holds == StringHolds::STRUCTURE || holds == StringHolds::OPENED)
    return string.head;
  if (holds == StringHolds::MESSAGES) return filter_messages(string);
  if (holds == StringHolds::ARGUMENTS) return filter_arguments(string);
  std::string_view text = part_of(tail_of(string), 0, string.bytes);
  const std::string_view head = holds == StringHolds::VECTOR ? text.substr(0, sizeof(usc_vector)) : std::string_view();
  text.remove_prefix(head.size());
  if (holds == StringHolds::TEXT_NUL && text.ends_with('\0')) text.remove_suffix(1);  // getcwd's
  const bool is_cut = (string.flags & USC_STRING_TRUNCATED) != 0;
  const bool hides = holds == StringHolds::VECTOR       ? hides_buffers(head, text, is_cut)
                     : holds == StringHolds::ADDRESS    ? redactor_.hides(socket_address_text(text), is_cut)
                     : holds == StringHolds::DESCRIPTOR ? redactor_.hides(passed_file(text).name)
                                                        : redactor_.hides(text, is_cut);
  if (!hides) return string.head;
  usc_string fixed{};
  std::memcpy(static_cast<void*>(&fixed), &string, sizeof(fixed));
  fixed.flags = static_cast<__u16>((fixed.flags & ~USC_STRING_TRUNCATED) | USC_STRING_REDACTED);
  const std::string tail = holds == StringHolds::DESCRIPTOR ? without_path(text)
                           : is_content(string.kind)        ? std::string(head)
                                                            : std::string(kRedacted);
  fixed.bytes = static_cast<__u32>(tail.size());
  return rebuild(bytes_, fixed, tail);
}

// Of each message, what is to be hidden is left out: its address, or what was kept of its data.
const usc_record& StringFilter::filter_messages(const usc_string& string) {
  std::string tail(part_of(tail_of(string), 0, string.bytes));
  bool hides = false;
  for (std::size_t at = 0; at + sizeof(usc_message) <= tail.size(); at += sizeof(usc_message)) {
    usc_message message{};
    std::memcpy(&message, tail.data() + at, sizeof(message));
    const std::string_view address(message.address,
                                   std::min<std::size_t>(message.address_bytes, sizeof(message.address)));
    const std::string_view data(message.data, std::min<std::size_t>(message.data_bytes, sizeof(message.data)));
    const bool hides_address = !address.empty() && redactor_.hides(socket_address_text(address));
    const bool hides_data = !data.empty() && redactor_.hides(data, message.first > data.size());
    hides = hides || hides_address || hides_data;
    if (hides_address) {
      message.address_bytes = 0;
      std::memset(message.address, 0, sizeof(message.address));
    }
    if (hides_data) {
      message.data_bytes = 0;
      std::memset(message.data, 0, sizeof(message.data));
    }
    std::memcpy(tail.data() + at, &message, sizeof(message));
  }
  if (!hides) return string.head;
  usc_string fixed{};
  std::memcpy(static_cast<void*>(&fixed), &string, sizeof(fixed));
  return rebuild(bytes_, fixed, tail);
}

const usc_record& StringFilter::filter_arguments(const usc_string& string) {
  const std::string_view list = part_of(tail_of(string), 0, string.bytes);
  const std::string tail = redactor_.redact_list(list, (string.flags & USC_STRING_TRUNCATED) != 0);
  usc_string fixed{};
  std::memcpy(static_cast<void*>(&fixed), &string, sizeof(fixed));
  fixed.bytes = static_cast<__u32>(tail.size());
  return rebuild(bytes_, fixed, tail);
}

const usc_record& StringFilter::filter_exec(const usc_exec& exec) {
  const std::string_view path = part_of(tail_of(exec), 0, exec.path_bytes);
  ExecArguments arguments = exec_arguments(exec, tail_of(exec));
  if (!strings_) arguments.list = arguments.end = {};
  const bool is_cut = arguments.is_cut;
  const std::string new_path =
      redactor_.hides(path, path.size() >= USC_PATH_BYTES - 1) ? std::string(kRedacted) : std::string(path);
  const std::string new_arguments = redactor_.redact_list(arguments.list, is_cut);
  usc_exec fixed{};
  std::memcpy(static_cast<void*>(&fixed), &exec, sizeof(fixed));
  fixed.path_bytes = static_cast<__u32>(new_path.size());
  fixed.argv_bytes = static_cast<__u32>(new_arguments.size());
  // Whether it was cut off, and no more, is to be seen from it; where the list is left out, that it is.
  fixed.argv_total = fixed.argv_bytes + (is_cut || !strings_ ? 1U : 0U);
  std::string tail = new_path + new_arguments;
  add_argument_end(tail, redactor_.redact_list(arguments.end, false));
  return rebuild(bytes_, fixed, tail);
}

}  // namespace uscope::trace

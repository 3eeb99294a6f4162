// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/hit_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "analyzer/read/catalog.h"
#include "cli/render/units.h"
#include "support/text.h"
#include "syscalls/errno_names.h"
#include "trace/how.h"
#include "trace/names.h"

namespace uscope::cli {
namespace {

constexpr std::int64_t kLikeAnAddress = std::int64_t{1} << 40U;  // numbers are seldom as large

using analyzer::EventRow;
using analyzer::EventString;

struct Form {
  int bits = 64;
  bool is_signed = true;
  bool may_be_address = false;
  bool is_pointer = false;
  bool is_bool = false;
};

// u32, __s64, uint16_t, int8_t.
std::optional<Form> sized_form(std::string_view word) {
  while (word.starts_with('_')) word.remove_prefix(1);
  if (word.ends_with("_t")) word.remove_suffix(2);
  const std::size_t digits = std::min(word.find_first_of("0123456789"), word.size());
  const std::string_view base = word.substr(0, digits);
  const bool is_signed = base == "s" || base == "int";
  if (!is_signed && base != "u" && base != "uint") return std::nullopt;
  int bits = 0;
  const auto read = std::from_chars(word.data() + digits, word.data() + word.size(), bits);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return std::nullopt;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
  return Form{.bits = bits, .is_signed = is_signed};
}

// What is not known is a signed number of 64 bits.
Form form_of(std::string_view type) {
  if (type.find('*') != std::string_view::npos) return {.is_signed = false, .is_pointer = true};
  Form form;
  bool is_unsigned = false;
  bool is_long = false;
  while (!type.empty()) {
    const std::size_t end = std::min(type.find(' '), type.size());
    const std::string_view word = type.substr(0, end);
    type.remove_prefix(std::min(end + 1, type.size()));
    if (const auto sized = sized_form(word)) return *sized;
    if (word == "unsigned") is_unsigned = true;
    if (word == "long") is_long = true;
    if (word == "unsigned" || (word == "int" && form.bits == 64 && !is_long)) form.bits = std::min(form.bits, 32);
    if (word == "short") form.bits = 16;
    if (word == "char") form.bits = 8;
    if (word == "bool" || word == "_Bool") form.is_bool = true;
    if (word == "size_t") is_unsigned = true;
    if (word == "uintptr_t") is_unsigned = form.may_be_address = true;
    if (word == "pid_t" || word == "enum") form.bits = 32;
    if (word == "uid_t" || word == "gid_t") {
      form.bits = 32;
      is_unsigned = true;
    }
    if (is_long) form.bits = 64;
  }
  form.is_signed = !is_unsigned;
  form.may_be_address = form.may_be_address || (is_unsigned && is_long);
  return form;
}

std::string hit_argument_text(const EventRow& event, std::size_t arg) {
  const auto string = std::find_if(event.strings.begin(), event.strings.end(),
                                   [arg](const EventString& one) { return one.arg == static_cast<int>(arg); });
  if (string != event.strings.end()) return printable_in_quotes(string->value);
  const auto value = event.args.at(arg);
  return value ? typed_value_text(event.arguments[arg].type, *value) : "?";
}

// Functions of the kernel that return a signed number, or a pointer, may return a negated error number instead
// (ERR_PTR). Those of programs do not.
std::string kernel_error_name(const EventRow& event) {
  if (event.source != trace::source_name(USC_SOURCE_KFUNCTION) || !syscalls::is_error(*event.result)) return "";
  const Form form = form_of(event.result_type);
  return form.is_pointer || (form.is_signed && !form.is_bool) ? std::string(analyzer::error_name(-*event.result)) : "";
}

// Where the trace has no type for it, a number that is like an address, of the program or of the kernel, is written as
// one.
std::string hit_result_text(const EventRow& event) {
  const std::int64_t result = *event.result;
  if (event.result_type.empty()) {
    const bool is_like_address = result >= kLikeAnAddress || result < -kLikeAnAddress;
    return is_like_address ? hex_number(static_cast<std::uint64_t>(result)) : std::to_string(result);
  }
  if (const std::string error = kernel_error_name(event); !error.empty()) return std::to_string(result) + " " + error;
  return typed_value_text(event.result_type, result);
}

}  // namespace

std::string typed_value_text(const std::string& type, std::int64_t value) {
  const Form form = form_of(type);
  // The upper part of a register that holds less is undefined.
  const auto unused = static_cast<unsigned>(64 - form.bits);
  const std::uint64_t bits = static_cast<std::uint64_t>(value) << unused >> unused;
  if (form.is_bool) return (bits & 0xffU) != 0 ? "true" : "false";
  if (form.is_pointer) return bits == 0 ? "NULL" : hex_number(bits);
  if (form.may_be_address && bits >= static_cast<std::uint64_t>(kLikeAnAddress)) return hex_number(bits);
  if (!form.is_signed) return std::to_string(bits);
  return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
}

std::string hit_arguments_text(const EventRow& event) {
  std::string out;
  for (std::size_t i = 0; i < event.arguments.size() && i < event.args.size(); i++) {
    const std::string& name = event.arguments[i].name;
    out += (i == 0 ? "" : ", ") + (name.empty() ? "" : printable(name) + "=") + hit_argument_text(event, i);
  }
  return out;
}

std::string hit_end_text(const EventRow& event) {
  std::string out;
  if (trace::is_unfinished(event.how, event.dur_ns.has_value()))
    out = event.source == trace::source_name(USC_SOURCE_OFFCPU) ? " (not over)" : " = ? (has not returned)";
  if (event.how == trace::how_name(USC_HOW_LEFT)) out = " = ? (left)";
  if (event.result) out = " = " + hit_result_text(event);
  if (event.dur_ns) out += fmt::format(" <{}>", human_duration(static_cast<double>(*event.dur_ns)));
  return out;
}

}  // namespace uscope::cli

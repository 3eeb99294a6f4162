// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/structure_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "cli/render/units.h"
#include "support/text.h"
#include "syscalls/structures.h"
#include "syscalls/syscall_table.h"
#include "trace/names.h"

namespace uscope::cli {
namespace {

using analyzer::EventRow;
using syscalls::FieldForm;
using syscalls::FieldMeaning;
using syscalls::Layout;
using syscalls::LayoutField;

constexpr std::uint64_t kLastSignal = 64;
constexpr int kMostDepth = 4;  // of structures in structures

std::string layout_text(const Layout& layout, std::string_view bytes, bool hides_zeros, int depth);

// "[INT RT_2]"; of a set with most signals those that are not in it: "~[KILL STOP]".
std::string signals_text(std::uint64_t set) {
  constexpr int kSignals = 64;
  const bool inverted = std::popcount(set) > kSignals / 2;
  if (inverted) set = ~set;
  std::string out;
  for (int number = 1; number <= kSignals; number++) {
    if ((set >> (number - 1) & 1U) == 0) continue;
    const std::string name = signal_name(number);
    out += (out.empty() ? "" : " ") + (name.starts_with("SIG") ? name.substr(3) : name);
  }
  return fmt::format("{}[{}]", inverted ? "~" : "", out);
}

std::uint64_t number_at(std::string_view bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof(number)));
  return number;
}

std::string meaning_text(const FieldMeaning& meaning, std::uint64_t number) {
  switch (meaning.form) {
    case FieldForm::kHex:
      return hex_or_zero(number);
    case FieldForm::kOctal:
      return fmt::format("{:#o}", number);
    case FieldForm::kSignal:
      return number == 0 || number > kLastSignal ? std::to_string(number)
                                                 : signal_name(static_cast<std::int64_t>(number));
    case FieldForm::kHandler:
      if (number <= 1) return number == 0 ? "SIG_DFL" : "SIG_IGN";
      return hex_number(number);
    default:
      return std::to_string(number);
  }
}

std::string member_number(const Layout& layout, const LayoutField& field, std::string_view bytes) {
  const std::uint64_t number = number_at(bytes);
  const FieldMeaning meaning = syscalls::field_meaning(layout, field.name);
  if (meaning.set != nullptr && syscalls::has_name(*meaning.set, number))
    return syscalls::flags_text(*meaning.set, number);
  if (meaning.form != FieldForm::kNumber) return meaning_text(meaning, number);
  if (field.kind == LayoutField::kPointer) return number == 0 ? "NULL" : hex_number(number);
  if (field.kind == LayoutField::kUnsigned) return std::to_string(number);
  const unsigned unused = 64 - 8U * field.bytes;
  return std::to_string(static_cast<std::int64_t>(number << unused) >> unused);
}

std::string element_text(const Layout& layout, const LayoutField& field, std::string_view bytes, int depth) {
  if (field.kind == LayoutField::kLayout) return layout_text(*field.layout, bytes, false, depth + 1);
  if (field.kind == LayoutField::kSignals || std::string_view(field.name) == "sa_mask")
    return signals_text(number_at(bytes));
  return member_number(layout, field, bytes);
}

std::string member_text(const Layout& layout, const LayoutField& field, std::string_view bytes, int depth) {
  if (field.kind == LayoutField::kText) return printable_in_quotes(std::string(bytes.substr(0, bytes.find('\0'))));
  if (field.count == 1) return element_text(layout, field, bytes, depth);
  std::string out;
  for (std::size_t at = 0; at + field.bytes <= bytes.size(); at += field.bytes)
    out += (at == 0 ? "" : ", ") + element_text(layout, field, bytes.substr(at, field.bytes), depth);
  return "[" + out + "]";
}

// `hides_zeros`: fields of zero behind the first one are left out, of structures to which kernels add fields.
std::string layout_text(const Layout& layout, std::string_view bytes, bool hides_zeros, int depth) {
  if (depth > kMostDepth) return "{…}";
  const bool is_number = layout.fields.size() == 1 && *layout.fields.front().name == '\0';
  std::string out;
  for (const LayoutField& field : layout.fields) {
    const std::size_t size = std::size_t{field.bytes} * field.count;
    std::string_view own = bytes.substr(std::min<std::size_t>(field.offset, bytes.size()), size);
    if (own.size() < size && field.kind != LayoutField::kText) break;
    if (hides_zeros && !out.empty() && own.find_first_not_of('\0') == std::string_view::npos) continue;
    const std::string text = member_text(layout, field, own, depth);
    if (is_number) {
      const bool has_marks = field.kind == LayoutField::kSignals || field.kind == LayoutField::kText || field.count > 1;
      return has_marks ? text : "[" + text + "]";
    }
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", field.name, text);
  }
  return "{" + out + "}";
}

const Layout* layout_of(const EventRow& event, std::string_view call, std::size_t arg) {
  const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(event.args[i].value_or(0)); };
  if (call == "fcntl") return syscalls::fcntl_structure(word(1));
  if (call == "bpf") return syscalls::bpf_structure(word(0));
  return syscalls::structure_of(call, arg);
}

// A socket option's value: most are a number.
std::string option_text(const EventRow& event, std::string_view bytes) {
  const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(event.args[i].value_or(0)); };
  const Layout* layout = syscalls::option_structure(word(1), word(2));
  const bool is_text = layout != nullptr && layout->fields.front().kind == LayoutField::kText;
  if (layout != nullptr && (is_text || bytes.size() >= layout->bytes)) return layout_text(*layout, bytes, false, 0);
  if (bytes.size() == sizeof(std::int32_t)) return fmt::format("[{}]", static_cast<std::int32_t>(number_at(bytes)));
  return data_in_quotes(bytes);
}

}  // namespace

std::optional<std::string> fixed_text(const EventRow& event, std::size_t arg, std::string_view bytes) {
  const usc_abi abi = trace::abi_of_name(event.abi).value_or(USC_ABI_X86_64);
  const std::string_view call = syscalls::syscall_wide_name(abi, event.call);
  if (call == "setsockopt" || call == "getsockopt") return option_text(event, bytes);
  const Layout* layout = layout_of(event, call, arg);
  if (layout == nullptr) return std::nullopt;
  const bool is_sized = call == "clone3" || call == "openat2" || call == "mount_setattr" || call == "open_tree_attr" ||
                        call == "landlock_create_ruleset" || call == "file_setattr" || call == "bpf";
  const std::size_t least = std::size_t{layout->bytes} / 2 * 2;  // the kernel side counts in pairs
  if (!is_sized && bytes.size() < least) return std::nullopt;
  return layout_text(*layout, bytes, is_sized, 0);
}

}  // namespace uscope::cli

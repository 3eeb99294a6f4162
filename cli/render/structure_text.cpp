// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/structure_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
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
constexpr int kMostDepth = 4;              // of structures in structures
constexpr std::size_t kMostElements = 32;  // shown of an array

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

// Whether the structure's own bytes, or the argument behind it, say how long it is: kernels add fields to these, and
// what is 0 behind the first field is left out.
bool is_sized(std::string_view call, const Layout& layout, std::string_view bytes) {
  constexpr std::array kCalls = {
      "clone3",       "openat2", "mount_setattr", "open_tree_attr", "landlock_create_ruleset",
      "file_setattr", "bpf",     "getxattrat",    "setxattrat"};
  return std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end() ||
         syscalls::length_in(layout, bytes).has_value();
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
    case FieldForm::kAddress:
      return number == 0 ? "NULL" : hex_number(number);
    case FieldForm::kHandler:
      if (number <= 1) return number == 0 ? "SIG_DFL" : "SIG_IGN";
      return hex_number(number);
    default:
      return std::to_string(number);
  }
}

std::string member_number(const Layout& layout, const LayoutField& field, std::string_view bytes) {
  std::uint64_t number = number_at(bytes);
  if (field.kind == LayoutField::kBits) number = number >> field.shift & ((std::uint64_t{1} << field.width) - 1);
  const FieldMeaning meaning = syscalls::field_meaning(layout, field.name);
  if (meaning.set != nullptr && syscalls::has_name(*meaning.set, number))
    return syscalls::flags_text(*meaning.set, number);
  if (meaning.form != FieldForm::kNumber) return meaning_text(meaning, number);
  if (field.kind == LayoutField::kPointer) return number == 0 ? "NULL" : hex_number(number);
  if (field.kind == LayoutField::kUnsigned || field.kind == LayoutField::kBits) return std::to_string(number);
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
  if (field.kind == LayoutField::kBytes) return data_in_quotes(bytes);
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
    const bool is_short = field.kind == LayoutField::kText || (field.kind == LayoutField::kBytes && !own.empty());
    if (own.size() < size && !is_short) break;
    if (hides_zeros && !out.empty() && own.find_first_not_of('\0') == std::string_view::npos) continue;
    const std::string text = member_text(layout, field, own, depth);
    if (field.kind == LayoutField::kBits && text == "0") continue;
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
  if (call == "ioctl") return syscalls::ioctl_structure(word(1));
  if (call == "landlock_add_rule") return syscalls::landlock_structure(word(1));
  if (call == "seccomp") return syscalls::seccomp_structure(word(0));
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

// "{flags=0, …}": of a structure that is cut.
std::string with_mark(std::string text, bool cut) {
  if (!cut) return text;
  const bool has_brace = text.ends_with('}');
  if (has_brace) text.pop_back();
  return text + (has_brace && !text.ends_with('{') ? ", …" : "…") + (has_brace ? "}" : "");
}

}  // namespace

std::optional<std::string> fixed_text(const EventRow& event, std::size_t arg, std::string_view bytes, bool cut) {
  const usc_abi abi = trace::abi_of_name(event.abi).value_or(USC_ABI_NATIVE);
  const std::string_view call = syscalls::syscall_wide_name(abi, event.call);
  if (call == "setsockopt" || call == "getsockopt") return with_mark(option_text(event, bytes), cut);
  const Layout* layout = layout_of(event, call, arg);
  if (layout == nullptr) return std::nullopt;
  const bool sized = is_sized(call, *layout, bytes);
  const std::size_t least = std::size_t{layout->bytes} / 2 * 2;  // the kernel side counts in pairs
  if (!sized && bytes.size() < least) return std::nullopt;
  const std::size_t length = syscalls::length_in(*layout, bytes).value_or(layout->bytes);
  return with_mark(layout_text(*layout, bytes.substr(0, length), sized, 0), cut && bytes.size() < length);
}

std::optional<std::string> array_text(const EventRow& event, std::size_t arg, std::string_view bytes, bool cut) {
  const usc_abi abi = trace::abi_of_name(event.abi).value_or(USC_ABI_NATIVE);
  const Layout* layout = syscalls::structure_of(syscalls::syscall_wide_name(abi, event.call), arg);
  if (layout == nullptr) return std::nullopt;
  std::string out;
  std::size_t count = 0;
  for (; bytes.size() >= layout->bytes && count < kMostElements; count++) {
    std::string text = layout_text(*layout, bytes.substr(0, layout->bytes), false, 0);
    if (text.starts_with('[')) text = text.substr(1, text.size() - 2);  // a number
    out += (count == 0 ? "" : ", ") + text;
    bytes.remove_prefix(layout->bytes);
  }
  if (cut || !bytes.empty()) out += (count == 0 ? "" : ", ") + std::string("…");
  return "[" + out + "]";
}

std::string nodes_text(std::string_view bytes, bool cut) {
  std::string out;
  std::size_t count = 0;
  for (; bytes.size() >= sizeof(std::uint64_t) && count < kMostElements; count++) {
    out += fmt::format("{}{:016x}", count == 0 ? "" : ", ", number_at(bytes.substr(0, sizeof(std::uint64_t))));
    bytes.remove_prefix(sizeof(std::uint64_t));
  }
  if (cut || !bytes.empty()) out += (count == 0 ? "" : ", ") + std::string("…");
  return "[" + out + "]";
}

}  // namespace uscope::cli

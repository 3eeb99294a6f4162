// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/probes/usdt_notes.h"

#include <gelf.h>

#include <array>
#include <charconv>
#include <cstring>
#include <span>
#include <utility>

#include "support/byte_reader.h"
#include "symbolizer/code/register_names.h"
#include "symbolizer/names/demangle.h"
#include "uscope/arch/arch.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMaxNotes = 16u << 20;  // bytes of the section
constexpr std::size_t kMostNotes = 65536;
constexpr std::size_t kMostName = 256;
constexpr std::size_t kMostArguments = 6;
constexpr std::size_t kMostWords = 64;  // sys/sdt.h has twelve arguments at most
constexpr std::uint32_t kStapsdt = 3;   // NT_STAPSDT

// "5", "-24", "0x10": the whole text.
std::optional<std::int64_t> number_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

// "sym", "sym+8", "8+sym": the address of the symbol, and what is added.
std::optional<std::uint64_t> address_in(std::string_view text, const SymbolSearch& address_of) {
  const std::size_t sign = text.find_first_of("+-", 1);
  std::string_view symbol = text.substr(0, sign);
  std::int64_t added = 0;
  if (sign != std::string_view::npos) {
    std::string_view rest = text.substr(sign);
    if (const auto front = number_of(symbol); front && rest.starts_with('+')) {
      added = *front;
      symbol = rest.substr(1);
    } else if (const auto back = number_of(rest)) {
      added = *back;
    } else {
      return std::nullopt;
    }
  }
  if (symbol.empty()) return std::nullopt;
  const auto found = address_of(symbol);
  if (!found) return std::nullopt;
  return *found + static_cast<std::uint64_t>(added);
}

// "-24(%R)", "(%R)", "sym(%PC)"
bool read_memory(std::string_view text, std::uint64_t address, const SymbolSearch& address_of, FoundArgument& out) {
  const std::size_t open = text.find("(%");
  if (open == std::string_view::npos || !text.ends_with(')')) return false;
  const auto reg = register_of_name(text.substr(open + 2, text.size() - open - 3));
  if (!reg) return false;
  out.from = FoundArgument::From::kMemory;
  out.reg = *reg;
  const std::string_view displacement = text.substr(0, open);
  if (*reg == USC_REG_PC) {
    const auto target = address_in(displacement, address_of);
    if (!target) return false;
    out.offset = static_cast<std::int64_t>(*target - address);
    return true;
  }
  if (displacement.empty()) return true;
  const auto offset = number_of(displacement);
  if (!offset) return false;
  out.offset = *offset;
  return true;
}

std::string type_of(std::uint8_t bytes, bool is_signed) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kNames = {{{"unsigned char", "signed char"},
                                                                          {"unsigned short", "short"},
                                                                          {"unsigned int", "int"},
                                                                          {"unsigned long", "long"}}};
  const std::size_t size = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  return is_signed ? kNames[size].second : kNames[size].first;
}

// "-4@%edi"
std::optional<FoundArgument> parse_argument(std::string_view text, std::uint64_t address,
                                            const SymbolSearch& address_of) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  const auto size = number_of(text.substr(0, at));
  if (!size) return std::nullopt;
  FoundArgument out;
  out.is_signed = *size < 0;
  const std::int64_t bytes = out.is_signed ? -*size : *size;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return std::nullopt;
  out.bytes = static_cast<std::uint8_t>(bytes);
  out.type = type_of(out.bytes, out.is_signed);
  const std::string_view operand = text.substr(at + 1);
  if (operand.starts_with('$')) {
    const auto value = number_of(operand.substr(1));
    if (!value) return std::nullopt;
    out.from = FoundArgument::From::kConstant;
    out.offset = *value;
    return out;
  }
  if (operand.starts_with('%')) {
    const auto reg = register_of_name(operand.substr(1));
    if (!reg || *reg == USC_REG_PC) return std::nullopt;
    out.reg = *reg;
    return out;
  }
  if (!read_memory(operand, address, address_of, out)) return std::nullopt;
  return out;
}

std::optional<UsdtNote> read_note(ByteReader in, std::uint64_t base_now) {
  UsdtNote note;
  note.address = in.fixed<std::uint64_t>();
  const auto base = in.fixed<std::uint64_t>();
  note.semaphore = in.fixed<std::uint64_t>();
  note.provider = bounded_utf8(in.c_string(), kMostName);
  note.name = bounded_utf8(in.c_string(), kMostName);
  note.arguments = std::string(in.c_string());
  if (!in.ok() || note.provider.empty() || note.name.empty()) return std::nullopt;
  const std::uint64_t moved = base_now != 0 ? base_now - base : 0;
  note.address += moved;
  if (note.semaphore != 0) note.semaphore += moved;
  return note;
}

}  // namespace

std::vector<UsdtNote> read_usdt_notes(const std::vector<ElfSection>& sections) {
  std::vector<UsdtNote> notes;
  std::uint64_t base_now = 0;
  for (const ElfSection& section : sections)
    if (section.name == ".stapsdt.base") base_now = section.header.sh_addr;
  for (const ElfSection& section : sections) {
    if (section.name != ".note.stapsdt" || section.header.sh_type != SHT_NOTE) continue;
    Elf_Data* data = section_data(section, kMaxNotes);
    std::size_t at = 0;
    GElf_Nhdr header;
    std::size_t owner = 0;
    std::size_t descriptor = 0;
    while (data != nullptr && notes.size() < kMostNotes) {
      at = gelf_getnote(data, at, &header, &owner, &descriptor);
      if (at == 0) break;
      const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
      constexpr std::string_view kOwner("stapsdt\0", 8);
      if (header.n_type != kStapsdt || header.n_namesz != kOwner.size() ||
          std::memcmp(bytes + owner, kOwner.data(), kOwner.size()) != 0)
        continue;
      if (auto note = read_note(ByteReader(std::span(bytes + descriptor, header.n_descsz)), base_now))
        notes.push_back(std::move(*note));
    }
  }
  return notes;
}

UsdtArguments parse_usdt_arguments(std::string_view text, std::uint64_t address, const SymbolSearch& address_of) {
  UsdtArguments out;
  for (std::size_t number = 0; number < kMostWords; number++) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    auto argument = parse_argument(word, address, address_of);
    std::string name = "arg" + std::to_string(number);
    if (!argument) {
      out.unreadable.push_back(std::move(name));
    } else if (out.kept.size() == kMostArguments) {
      out.too_many.push_back(std::move(name));
    } else {
      argument->name = std::move(name);
      out.kept.push_back(std::move(*argument));
    }
  }
  return out;
}

}  // namespace uscope::symbolizer

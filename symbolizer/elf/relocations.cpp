// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/elf/relocations.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "symbolizer/elf/machine.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMostDynamic = std::size_t{1} << 16;      // bytes of PT_DYNAMIC
constexpr std::uint64_t kMostTable = std::uint64_t{256} << 20;  // bytes of one table
constexpr std::size_t kMostRelocations = std::size_t{16} << 20;
constexpr std::int64_t kRelr = 36;  // DT_RELR and DT_RELRSZ, which the elf.h of glibc before 2.36 lacks
constexpr std::int64_t kRelrSize = 35;

template <typename T>
std::vector<T> entries_of(const std::vector<std::byte>& bytes) {
  std::vector<T> entries(bytes.size() / sizeof(T));
  if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(T));
  return entries;
}

}  // namespace

Relocations::Relocations(Elf* elf, const Read& read) {
  std::map<std::int64_t, std::uint64_t> tags;
  std::size_t headers = 0;
  if (elf_getphdrnum(elf, &headers) != 0) return;
  for (std::size_t i = 0; i < headers; i++) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_DYNAMIC) continue;
    const auto bytes = read(header.p_vaddr, std::min<std::uint64_t>(header.p_filesz, kMostDynamic));
    for (const Elf64_Dyn& entry : entries_of<Elf64_Dyn>(bytes)) {
      if (entry.d_tag == DT_NULL) break;
      tags.emplace(entry.d_tag, entry.d_un.d_val);
    }
    break;
  }
  const auto tag = [&](std::int64_t name) {
    const auto at = tags.find(name);
    return at == tags.end() ? 0 : at->second;
  };
  symbols_ = tag(DT_SYMTAB);
  add_table(read, tag(DT_RELA), tag(DT_RELASZ), true);
  add_table(read, tag(DT_REL), tag(DT_RELSZ), false);
  add_table(read, tag(DT_JMPREL), tag(DT_PLTRELSZ), tag(DT_PLTREL) != DT_REL);
  add_relr(read, tag(kRelr), tag(kRelrSize));
  std::sort(all_.begin(), all_.end(), [](const One& a, const One& b) { return a.at < b.at; });
}

void Relocations::add_table(const Read& read, std::uint64_t table, std::uint64_t size, bool with_addends) {
  if (table == 0 || size == 0) return;
  const auto bytes = read(table, std::min(size, kMostTable));
  const auto add = [&](std::uint64_t at, std::uint64_t info, std::uint64_t addend) {
    const std::uint32_t type = ELF64_R_TYPE(info);
    const std::uint8_t changed = relocated_bytes(type);
    if (changed == 0 || all_.size() >= kMostRelocations) return;
    One one;
    one.at = at;
    one.address = addend;
    one.bytes = changed;
    one.is_address = type == kRelative;
    one.is_called = type == kIndirectRelative;
    one.in_place = !with_addends;
    if (type == kAbsolute || type == kGlobalData || type == kJumpSlot)
      one.symbol = static_cast<std::uint32_t>(ELF64_R_SYM(info));
    all_.push_back(one);
  };
  if (with_addends)
    for (const Elf64_Rela& one : entries_of<Elf64_Rela>(bytes))
      add(one.r_offset, one.r_info, static_cast<std::uint64_t>(one.r_addend));
  else
    for (const Elf64_Rel& one : entries_of<Elf64_Rel>(bytes)) add(one.r_offset, one.r_info, 0);
}

// Addresses of words, each followed by bits for the 63 words behind it (gABI, SHT_RELR).
void Relocations::add_relr(const Read& read, std::uint64_t table, std::uint64_t size) {
  if (table == 0 || size == 0) return;
  std::uint64_t next = 0;
  const auto add = [&](std::uint64_t at) {
    if (all_.size() >= kMostRelocations) return;
    One one;
    one.at = at;
    one.is_address = true;
    one.in_place = true;
    all_.push_back(one);
  };
  for (const std::uint64_t entry : entries_of<std::uint64_t>(read(table, std::min(size, kMostTable)))) {
    if ((entry & 1U) == 0) {
      add(entry);
      next = entry + 8;
      continue;
    }
    for (unsigned bit = 1; bit < 64; bit++)
      if ((entry >> bit & 1U) != 0) add(next + (bit - 1) * std::uint64_t{8});
    next += std::uint64_t{63} * 8;
  }
}

bool Relocations::touch(std::uint64_t low, std::uint64_t high) const {
  constexpr std::uint64_t kMostBytes = 16;  // that one relocation changes
  const std::uint64_t first = low >= kMostBytes ? low - kMostBytes : 0;
  auto one = std::lower_bound(all_.begin(), all_.end(), first, [](const One& a, std::uint64_t b) { return a.at < b; });
  for (; one != all_.end() && one->at < high; ++one)
    if (one->at + one->bytes > low) return true;
  return false;
}

Relocations::Word Relocations::word_at(std::uint64_t address) const {
  const auto one =
      std::lower_bound(all_.begin(), all_.end(), address, [](const One& a, std::uint64_t b) { return a.at < b; });
  if (one == all_.end() || one->at != address)
    return {touch(address, address + 8) ? Says::kUnknown : Says::kNothing, 0};
  if (!one->is_address) return {Says::kUnknown, 0};
  return one->in_place ? Word{Says::kNothing, 0} : Word{Says::kAddress, one->address};
}

std::vector<std::uint64_t> Relocations::own_addresses(const Read& read) const {
  std::vector<std::uint64_t> found;
  for (const One& one : all_) {
    if (one.symbol != 0 && symbols_ != 0) {
      const auto symbol =
          entries_of<Elf64_Sym>(read(symbols_ + std::uint64_t{one.symbol} * sizeof(Elf64_Sym), sizeof(Elf64_Sym)));
      if (!symbol.empty() && symbol.front().st_shndx != SHN_UNDEF)
        found.push_back(symbol.front().st_value + one.address);
    } else if ((one.is_address || one.is_called) && !one.in_place) {
      found.push_back(one.address);
    } else if (one.is_address || one.is_called) {
      const auto word = entries_of<std::uint64_t>(read(one.at, sizeof(std::uint64_t)));
      if (!word.empty()) found.push_back(word.front());
    }
  }
  return found;
}

}  // namespace uscope::symbolizer

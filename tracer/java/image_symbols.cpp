// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/java/image_symbols.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMostHeaders = 64;
constexpr std::uint64_t kMostDynamic = 256;
constexpr std::uint32_t kLongestChain = 4096;
constexpr std::size_t kLongestName = 128;

std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace

Result<ImageSymbols> ImageSymbols::at(MemoryReader& memory, std::uint64_t base) {
  const auto head = memory.get<Elf64_Ehdr>(base);
  if (!head || std::memcmp(static_cast<const void*>(head->e_ident), ELFMAG, SELFMAG) != 0 ||
      head->e_ident[EI_CLASS] != ELFCLASS64)
    return Error{fmt::format("no 64-bit ELF image at {:#x}", base), ""};
  ImageSymbols image(memory);
  Elf64_Phdr dynamic{};
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(head->e_phnum, kMostHeaders); i++) {
    const auto part = memory.get<Elf64_Phdr>(base + head->e_phoff + i * sizeof(Elf64_Phdr));
    if (!part) break;
    if (part->p_type == PT_LOAD && part->p_offset == 0) image.bias_ = base - part->p_vaddr;
    if (part->p_type == PT_DYNAMIC) dynamic = *part;
  }
  if (!image.take_dynamic(base, image.bias_ + dynamic.p_vaddr, dynamic.p_memsz))
    return Error{fmt::format("the ELF image at {:#x} has no table of dynamic symbols with DT_GNU_HASH", base), ""};
  return image;
}

// glibc has put addresses of this process into the table, musl leaves the library's own there.
bool ImageSymbols::take_dynamic(std::uint64_t base, std::uint64_t address, std::uint64_t size) {
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(size / sizeof(Elf64_Dyn), kMostDynamic); i++) {
    const auto entry = memory_->get<Elf64_Dyn>(address + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    const std::uint64_t value = entry->d_un.d_ptr >= base ? entry->d_un.d_ptr : bias_ + entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names_ = value;
    if (entry->d_tag == DT_SYMTAB) symbols_ = value;
    if (entry->d_tag == DT_GNU_HASH) hash_ = value;
  }
  return names_ != 0 && symbols_ != 0 && hash_ != 0;
}

std::optional<std::uint64_t> ImageSymbols::find(std::string_view name) const {
  struct Head {
    std::uint32_t buckets, first, filters, shift;
  };
  const auto head = memory_->get<Head>(hash_);
  if (!head || head->buckets == 0) return std::nullopt;
  const std::uint32_t hash = hash_of(name);
  const std::uint64_t buckets = hash_ + sizeof(Head) + std::uint64_t{head->filters} * sizeof(std::uint64_t);
  const std::uint64_t chains = buckets + std::uint64_t{head->buckets} * sizeof(std::uint32_t);
  const auto start = memory_->get<std::uint32_t>(buckets + std::uint64_t{hash % head->buckets} * sizeof(std::uint32_t));
  if (!start || *start < head->first) return std::nullopt;
  for (std::uint64_t number = *start; number - *start < kLongestChain; number++) {
    const auto link = memory_->get<std::uint32_t>(chains + (number - head->first) * sizeof(std::uint32_t));
    if (!link) break;
    if ((*link | 1U) == (hash | 1U)) {
      const auto symbol = memory_->get<Elf64_Sym>(symbols_ + number * sizeof(Elf64_Sym));
      if (symbol && symbol->st_shndx != SHN_UNDEF &&
          memory_->c_string(names_ + symbol->st_name, kLongestName) == std::string(name))
        return bias_ + symbol->st_value;
    }
    if ((*link & 1U) != 0) break;
  }
  return std::nullopt;
}

std::uint64_t image_base_of(std::uint32_t tid, std::string_view path_end) {
  std::ifstream maps(fmt::format("/proc/{}/maps", tid));
  for (std::string line; std::getline(maps, line);) {
    std::string_view name = line;
    if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
    if (!name.ends_with(path_end)) continue;
    std::istringstream fields(line);
    std::uint64_t start = 0;
    std::uint64_t offset = 0;
    char dash = 0;
    std::string end;
    std::string access;
    fields >> std::hex >> start >> dash >> end >> access >> offset;
    if (fields && offset == 0) return start;
  }
  return 0;
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/symbols_plt.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "symbolizer/code/plt_stub.h"
#include "symbolizer/elf/machine.h"
#include "symbolizer/names/demangle.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMaxPlt = 16u << 20;
constexpr std::uint64_t kMaxRelocations = 48u << 20;
constexpr std::uint64_t kMostNameBytes = 1u << 30;
constexpr int kMostStubTables = 16;  // of relocations, and of stubs: linkers write two and three
constexpr std::uint64_t kMostRelocationBytes = 128u << 20;

struct Slots {
  std::unordered_map<std::uint64_t, std::string_view> by_address;  // of the GOT slot
  std::vector<std::string_view> by_push;                           // .rela.plt in order
};

// The name for a relocation: its symbol's name, or that of the IFUNC at its addend.
class RelocationNames {
 public:
  RelocationNames(const std::vector<ElfSection>& sections, const ElfSection& relocations, const SymbolTable& symbols)
      : symbols_(symbols) {
    if (relocations.header.sh_link >= sections.size()) return;
    const ElfSection& table = sections[relocations.header.sh_link];
    if (table.header.sh_type != SHT_DYNSYM || table.header.sh_link >= sections.size()) return;
    table_ = section_data(table, kMostRelocationBytes);
    strings_ = section_data(sections[table.header.sh_link], kMostNameBytes);
  }

  [[nodiscard]] std::string_view of(const GElf_Rela& relocation) const {
    const auto type = GELF_R_TYPE(relocation.r_info);
    if (type == kIndirectRelative) {
      const auto symbol = symbols_.containing(static_cast<std::uint64_t>(relocation.r_addend));
      const bool exact = symbol && symbol->start == static_cast<std::uint64_t>(relocation.r_addend);
      return exact ? symbol->name : "";
    }
    if (type != kJumpSlot && type != kGlobalData) return "";
    GElf_Sym symbol;
    if (table_ == nullptr || strings_ == nullptr) return "";
    if (gelf_getsym(table_, static_cast<int>(GELF_R_SYM(relocation.r_info)), &symbol) == nullptr) return "";
    if (symbol.st_name >= strings_->d_size) return "";
    const char* name = static_cast<const char*>(strings_->d_buf) + symbol.st_name;
    const std::size_t room = std::min(strings_->d_size - symbol.st_name, kMaxMangledName);
    const std::size_t length = strnlen(name, room);
    return length < room ? std::string_view(name, length) : "";
  }

 private:
  const SymbolTable& symbols_;
  Elf_Data* table_ = nullptr;
  Elf_Data* strings_ = nullptr;
};

void read_slots(const std::vector<ElfSection>& sections, const SymbolTable& symbols, Slots& slots) {
  int tables = 0;
  for (const ElfSection& section : sections) {
    if (tables == kMostStubTables) break;
    if (section.header.sh_type != SHT_RELA || (section.header.sh_flags & SHF_ALLOC) == 0) continue;
    Elf_Data* data = section_data(section, kMaxRelocations);
    if (data == nullptr) continue;
    tables++;
    const bool plt = section.name == ".rela.plt";
    const RelocationNames names(sections, section, symbols);
    const int count = static_cast<int>(data->d_size / sizeof(Elf64_Rela));
    for (int i = 0; i < count; i++) {
      GElf_Rela relocation;
      if (gelf_getrela(data, i, &relocation) == nullptr) break;
      const std::string_view name = names.of(relocation);
      if (plt) slots.by_push.push_back(name);
      if (!name.empty()) slots.by_address.emplace(relocation.r_offset, name);
    }
  }
}

// The name of the stub whose code this is; empty if it is not certain.
std::string_view stub_name(std::span<const std::uint8_t> code, std::uint64_t address, const Slots& slots) {
  const PltStubCode stub = read_plt_stub(code, address);
  if (stub.kind == PltStubCode::Kind::kSlot) {
    const auto slot = slots.by_address.find(stub.value);
    return slot == slots.by_address.end() ? "" : slot->second;
  }
  return stub.kind == PltStubCode::Kind::kNumber && stub.value < slots.by_push.size() ? slots.by_push[stub.value] : "";
}

}  // namespace

PltTable::PltTable(const std::vector<ElfSection>& sections, const SymbolTable& symbols) {
  Slots slots;
  bool read = false;
  for (const ElfSection& section : sections) {
    if (section.name != ".plt" && section.name != ".plt.sec" && section.name != ".plt.got") continue;
    Elf_Data* data = section.executable() ? section_data(section, kMaxPlt) : nullptr;
    if (data == nullptr || areas_.size() >= kMostStubTables) continue;
    if (!read) read_slots(sections, symbols, slots);
    read = true;
    const std::uint64_t stub_size = plt_stub_bytes(section.header.sh_entsize);
    const std::uint64_t start = section.header.sh_addr;
    areas_.push_back({start, start + data->d_size, stub_size});
    const auto* code = static_cast<const std::uint8_t*>(data->d_buf);
    for (std::uint64_t at = 0; at + stub_size <= data->d_size; at += stub_size) {
      const std::string_view name = stub_name({code + at, stub_size}, start + at, slots);
      if (!name.empty()) names_.emplace(start + at, name);
    }
  }
}

std::optional<PltStub> PltTable::containing(std::uint64_t address) const {
  for (const Area& area : areas_) {
    if (address < area.low || address >= area.high) continue;
    const std::uint64_t start = address - (address - area.low) % area.stub_size;
    const auto name = names_.find(start);
    if (name == names_.end()) return std::nullopt;
    return PltStub{demangle(name->second) + "@plt", start};
  }
  return std::nullopt;
}

std::size_t PltTable::footprint() const {
  constexpr std::size_t kNode = 96;
  return names_.size() * kNode;
}

}  // namespace uscope::symbolizer
